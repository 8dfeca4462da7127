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


def as_mask(column: pa.BooleanArray) -> Mask:
    """Return an Arrow array of booleans without nulls."""
    bits = np.unpackbits(np.frombuffer(column.buffers()[1], dtype=np.uint8), bitorder="little")
    return bits[column.offset : column.offset + len(column)].astype(bool)


def is_filled(texts: pa.StringArray) -> Mask:
    """Return which texts are neither null nor empty."""
    offsets = np.frombuffer(texts.buffers()[1], dtype=np.int32)[texts.offset : texts.offset + len(texts) + 1]
    is_long = np.diff(offsets) > 0
    return np.asarray(is_long & as_mask(texts.is_valid()) if texts.null_count else is_long)


def as_strings(texts: Sequence[str | None]) -> pa.StringArray:
    """Return texts as an Arrow array, null for None."""
    encoded = [(text or "").encode() for text in texts]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    is_there = np.array([text is not None for text in texts], dtype=bool)
    buffers = [np.packbits(is_there, bitorder="little"), offsets, b"".join(encoded)]
    return pa.Array.from_buffers(pa.string(), len(encoded), [pa.py_buffer(buffer) for buffer in buffers])
