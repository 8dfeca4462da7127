"""Normalises columns of logged texts with Arrow; a value that needs a closer look marks its row as odd."""

from typing import Any, NamedTuple

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from ingest.normalising import MISSING_MARKERS
from ingest.staging import as_json

Array = Any
Mask = Any
"""A numpy array of bool, one entry a row."""

_TIME = pa.timestamp("us", "UTC")
_MARKERS = pa.array(sorted(MISSING_MARKERS))
_PYTHON_SPELLINGS = pa.array(["true", "false"])
"""JSON's booleans, which the mapping reader writes as Python does."""
_LENGTHS = np.zeros(256, dtype=bool)
_LENGTHS[[*map(len, MISSING_MARKERS), 4, 5]] = True
_FIRST_BYTES = np.zeros(256, dtype=bool)
_FIRST_BYTES[[*range(33), *b"[{", 0xC2, 0xE1, 0xE2, 0xE3]] = True
"""What a blank text or a structure begins with: ASCII space, brackets, or the lead bytes of other spaces."""
_STRUCTURE = r"^[\[{]"
_ZONED = r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)$"
_NAIVE = r"^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,6})?$"
_EPOCH = r"^\d{9,18}$"
_NUMBER = r"^-?\d{1,17}(\.\d{1,17})?([eE][+-]?\d{1,2})?$"
_TO_MICROSECONDS = {"s": 1_000_000, "ms": 1_000, "us": 1}
_LAST_MICROSECOND = 250_000_000_000_000_000
"""About the year 9892; what lies beyond is no time that Python knows, or hardly."""
_UNIT_LIMITS = (("s", 10**11), ("ms", 10**14), ("us", 10**17))
_EXACT = 2.0**53


class Normalised(NamedTuple):
    """A column, and which of its rows are for the mapping reader."""

    values: Array
    odd: Mask | None


class Times(NamedTuple):
    """A column of times, its odd rows, and which rows came without a zone."""

    values: Array
    odd: Mask | None
    naive: Mask | None


def only_chunk(column: Any) -> Array:
    """Return a column of a table as one array."""
    chunks = column.chunks
    return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks) if chunks else pa.array([], column.type)


def is_structure(column: Array) -> Mask:
    """Say which texts may be lists or objects."""
    return true_rows(pc.match_substring_regex(column, _STRUCTURE))


def without_nulls(objects: Array) -> Array:
    """Leave members that are null out of JSON objects; an object of nothing else becomes null."""
    rows = np.flatnonzero(true_rows(pc.match_substring(objects, ":null")))
    if not len(rows):
        return objects
    written = objects.to_pylist()
    for row in rows:
        kept = {key: value for key, value in orjson.loads(written[row]).items() if value is not None}
        written[row] = as_json(kept) if kept else None
    return pa.array(written, objects.type)


def with_members(objects: Array | None, members: dict[str, str], size: int) -> Array:
    """Add members to `size` JSON objects that do not have them; `objects` is None, or null in a row, for none."""
    alone = as_json(members)
    if objects is None:
        return pa.repeat(alone, size)
    found = (None if written is None else orjson.loads(written) for written in objects.to_pylist())
    return pa.array([as_json(known | (members | known)) if known else alone for known in found], pa.string())


def text_array(column: Array) -> Normalised:
    """Make markers of missing content and blanks null; structures and booleans are odd."""
    rows = np.flatnonzero(_suspicious(column))
    if not len(rows):
        return Normalised(column, None)
    written = column.take(pa.array(rows))
    is_missing = pc.or_(pc.is_in(written, _MARKERS), pc.utf8_is_space(written))
    is_odd = pc.or_(pc.match_substring_regex(written, _STRUCTURE), pc.is_in(written, _PYTHON_SPELLINGS))
    return Normalised(_nulled(column, rows[true_rows(is_missing)]), _marked(len(column), rows[true_rows(is_odd)]))


def _suspicious(column: Array) -> Mask:
    """Say which texts may be anything but plain text, by their length and first byte alone."""
    if column.null_count == len(column):
        return np.zeros(len(column), dtype=bool)
    offsets = np.frombuffer(column.buffers()[1], dtype=np.int32)[column.offset : column.offset + len(column) + 1]
    sizes = np.diff(offsets)
    content = column.buffers()[2]
    out: Mask = _LENGTHS[np.minimum(sizes, 255)]
    if content is not None and content.size:
        places = np.minimum(offsets[:-1], content.size - 1)
        out |= _FIRST_BYTES[np.frombuffer(content, dtype=np.uint8)[places]]
    if column.null_count:
        out &= true_rows(column.is_valid())
    return out


def true_rows(flags: Array) -> Mask:
    """Return the rows of a column of booleans that are true."""
    return pc.fill_null(flags, fill_value=False).to_numpy(zero_copy_only=False)


def _marked(size: int, rows: Any) -> Mask | None:
    if not len(rows):
        return None
    out = np.zeros(size, dtype=bool)
    out[rows] = True
    return out


def _nulled(column: Array, rows: Any) -> Array:
    if not len(rows):
        return column
    return pc.if_else(pa.array(_marked(len(column), rows)), pa.scalar(None, column.type), column)


def number_array(column: Array) -> Normalised:
    """Read numbers; what is not plainly one is odd."""
    if pa.types.is_floating(column.type):
        return _finite(column)
    return _parsed(column, pa.float64(), (_NUMBER,))


def integer_array(column: Array) -> Normalised:
    """Read whole numbers, also written as 8.0; others are rounded as everywhere."""
    if not pa.types.is_floating(column.type):
        try:
            return Normalised(column.cast(pa.int64()), None)
        except pa.ArrowInvalid:
            pass
    found = number_array(column)
    is_exact = true_rows(pc.less(pc.abs(found.values), _EXACT))
    rounded = pc.if_else(pa.array(is_exact), pc.round(found.values, round_mode="half_to_even"), None).cast(pa.int64())
    inexact = _marked(len(column), np.flatnonzero(~is_exact & true_rows(found.values.is_valid())))
    return Normalised(rounded, either(found.odd, inexact))


def either(first: Mask | None, second: Mask | None) -> Mask | None:
    """Return the rows of one or the other."""
    if first is None or second is None:
        return second if first is None else first
    return first | second


def _parsed(column: Array, kind: Any, patterns: tuple[str, ...]) -> Normalised:
    try:
        return _finite(column.cast(kind))
    except pa.ArrowInvalid:
        fits = np.zeros(len(column), dtype=bool)
    for pattern in patterns:
        fits |= true_rows(pc.match_substring_regex(column, pattern))
    odd = _marked(len(column), np.flatnonzero(~fits & true_rows(column.is_valid())))
    kept = pc.if_else(pa.array(fits), column, None)
    try:
        found = _finite(kept.cast(kind))
    except pa.ArrowInvalid:
        return Normalised(pa.nulls(len(column), kind), true_rows(column.is_valid()))
    return Normalised(found.values, either(odd, found.odd))


def _finite(values: Array) -> Normalised:
    if not pa.types.is_floating(values.type):
        return Normalised(values, None)
    wild = np.flatnonzero(true_rows(pc.invert(pc.is_finite(values))))
    return Normalised(values, _marked(len(values), wild))


def rounded_ids(column: Array) -> Mask:
    """Return which ids are numbers beyond 64 bits, which the engine rounded: the mapping reader reads all digits."""
    return true_rows(pc.match_substring(column, "e+"))


def time_array(column: Array, *, unit: str = "auto", is_utc: bool = True) -> Times:
    """Read times: ISO 8601 with a zone, epochs, and (when `is_utc` says that they are in UTC) ISO without a zone."""
    if unit == "auto":
        try:
            return Times(column.cast(_TIME), None, None)
        except pa.ArrowInvalid:
            pass
    zoned = true_rows(pc.match_substring_regex(column, _ZONED))
    epoch = true_rows(pc.match_substring_regex(column, _EPOCH))
    naive = true_rows(pc.match_substring_regex(column, _NAIVE)) & is_utc
    unread = ~(zoned | epoch | naive) & true_rows(column.is_valid())
    try:
        parts = [_only(column, zoned).cast(_TIME), _only(column, naive).cast(pa.timestamp("us")).cast(_TIME)]
    except pa.ArrowInvalid:
        return Times(pa.nulls(len(column), _TIME), true_rows(column.is_valid()), None)
    ticks = _only(column, epoch).cast(pa.int64())
    if unit in _TO_MICROSECONDS:
        is_far = true_rows(pc.greater(ticks, _LAST_MICROSECOND // _TO_MICROSECONDS[unit]))
        ticks, unread = pc.if_else(pa.array(is_far), None, ticks), unread | is_far
    parts.append(_of_epochs(ticks, unit))
    odd = _marked(len(column), np.flatnonzero(unread))
    return Times(pc.coalesce(*parts), odd, naive if naive.any() else None)


def _only(column: Array, rows: Mask) -> Array:
    return pc.if_else(pa.array(rows), column, pa.scalar(None, column.type))


def _of_epochs(ticks: Array, unit: str) -> Array:
    valid = true_rows(ticks.is_valid())
    values = pc.fill_null(ticks, 0).to_numpy()
    if unit == "auto":
        factors = np.select([values < limit for _, limit in _UNIT_LIMITS], list(_TO_MICROSECONDS.values()), 0)
    else:
        factors = np.full(len(values), _TO_MICROSECONDS.get(unit, 0))
    microseconds = np.where(factors > 0, values * factors, values // 1000)
    return pa.array(microseconds, pa.int64(), mask=~valid).cast(_TIME)
