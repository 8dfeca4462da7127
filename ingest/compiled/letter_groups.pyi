import numpy as np
import numpy.typing as npt

def find_groups(
    letters: npt.NDArray[np.uint8],
    offsets: npt.NDArray[np.int32],
    classes: npt.NDArray[np.uint8],
    groups: npt.NDArray[np.uint32],
    longest: int,
    found: npt.NDArray[np.uint8],
) -> None: ...
