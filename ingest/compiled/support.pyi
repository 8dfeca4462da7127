from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

class FunctionWords:
    def __init__(self, words: Mapping[str, int], languages: int, looked_at: int) -> None: ...

def measure_support(
    answers: npt.NDArray[np.uint8],
    answer_offsets: npt.NDArray[np.int32],
    texts: npt.NDArray[np.uint8],
    text_offsets: npt.NDArray[np.int32],
    list_offsets: npt.NDArray[np.int32],
    function_words: FunctionWords,
    words: npt.NDArray[np.int32],
    found: npt.NDArray[np.int32],
    figures: npt.NDArray[np.int32],
) -> None: ...
