from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

class Vocabulary:
    def __init__(
        self, traits: Mapping[str, int], suffixes: Mapping[str, str], shortest: int, no_word: str, retry_marks: str
    ) -> None: ...

def measure_pairs(
    earlier: npt.NDArray[np.uint8],
    earlier_offsets: npt.NDArray[np.int32],
    later: npt.NDArray[np.uint8],
    later_offsets: npt.NDArray[np.int32],
    vocabulary: Vocabulary,
    bars: Mapping[str, float],
    verdicts: npt.NDArray[np.uint8],
    word_sets: npt.NDArray[np.float64],
    features: npt.NDArray[np.float64],
) -> int: ...
def give_verdicts(
    measured: npt.NDArray[np.uint8],
    word_sets: npt.NDArray[np.float64],
    features: npt.NDArray[np.float64],
    heads: npt.NDArray[np.float64],
    kinds: npt.NDArray[np.int8],
    scores: npt.NDArray[np.float64],
) -> int: ...
