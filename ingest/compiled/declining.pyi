from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ingest.signals.phrase_programs import Programs

class Memory: ...

class RefusalReader:
    def __init__(
        self,
        programs: Programs,
        folded: npt.NDArray[np.uint8],
        abbreviation: int,
        languages: Sequence[Mapping[str, int]],
    ) -> None: ...
    def read(
        self,
        letters: npt.NDArray[np.uint8],
        offsets: npt.NDArray[np.int32],
        memory: Memory,
        kinds: npt.NDArray[np.uint8],
    ) -> None: ...
    def sentences(self, text: bytes) -> list[str] | None: ...
