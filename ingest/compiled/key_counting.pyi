import numpy as np
import numpy.typing as npt

def count_keys(view: npt.NDArray[np.uint8]) -> tuple[int, int]: ...
