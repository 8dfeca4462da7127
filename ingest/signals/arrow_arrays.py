"""Between Arrow and numpy by their buffers: pyarrow's own ways import pandas, which costs more than a small run."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Mask = npt.NDArray[np.bool_]


def as_indices(places: npt.NDArray[np.int64]) -> pa.Int64Array:
    """Return places to `take` from an Arrow array."""
    return as_column(np.asarray(places, dtype=np.int64), pa.int64())


def as_column(values: npt.NDArray[np.generic], kind: pa.DataType, is_valid: Mask | None = None) -> pa.Array:
    """Return an Arrow array of numbers, null where `is_valid` is False; `kind` is the type of `values`."""
    validity = None if is_valid is None else pa.py_buffer(np.packbits(is_valid, bitorder="little"))
    return pa.Array.from_buffers(kind, len(values), [validity, pa.py_buffer(np.ascontiguousarray(values))])


def text_buffers(texts: pa.StringArray) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
    """Return the bytes of a column and where each text begins and the last one ends in them; a null is empty."""
    texts = texts.fill_null("") if texts.null_count else texts
    _, offsets, letters = texts.buffers()
    starts = np.frombuffer(offsets, dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1] if offsets else _NONE
    return np.frombuffer(letters, dtype=np.uint8) if letters else np.zeros(0, dtype=np.uint8), starts


_NONE = np.zeros(1, dtype=np.int32)


def as_strings(texts: Sequence[str | None]) -> pa.StringArray:
    """Return texts as an Arrow array, null for None."""
    encoded = [(text or "").encode() for text in texts]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    is_there = np.array([text is not None for text in texts], dtype=bool)
    buffers = [np.packbits(is_there, bitorder="little"), offsets, b"".join(encoded)]
    return pa.Array.from_buffers(pa.string(), len(encoded), [pa.py_buffer(buffer) for buffer in buffers])
