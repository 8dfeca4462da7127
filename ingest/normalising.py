"""Turn what logs write for a text, number or time into one form, and name the values that do not fit."""

import json
import math
import re
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple, TypeVar
from zoneinfo import ZoneInfo

import orjson
import pyarrow as pa

from ingest.literals import literal
from ingest.printed import has_lists_without_commas, may_be_printed, printed
from ingest.written_times import DateOrder, order_seen, written_time

MISSING_MARKERS = frozenset(
    {"", "null", "None", "NaN", "__REDACTED__", "redacted-by-litellm", "default-message-value", "<NA>"}
)
"""Texts that stand for no value: placeholders of tracers that hide content, and of data frames."""
_MISSING_NUMBERS = frozenset({"", "null", "none", "nan", "n/a", "na", "-", "--", "inf", "-inf", "infinity", "<na>"})
_MONGO_KEYS = frozenset({"$oid", "$date", "$numberLong", "$numberInt", "$numberDouble", "$numberDecimal", "$uuid"})
_LITERAL_LIMIT = 1_000_000
_DEEPEST_MENDED = 200
_HALVES = re.compile(r"\\u[dD][89a-fA-F]")
"""What begins the escape of half a character."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_TEXT = re.compile(r"^-?\d+(\.\d+)?([eE]\+?\d+)?$")
_TO_MICROSECONDS = {"s": 1_000_000, "ms": 1_000, "us": 1}
_UNIT_LIMITS = (("s", 10**11), ("ms", 10**14), ("us", 10**17))
Parsed = TypeVar("Parsed")


class Column(NamedTuple):
    """A normalised column: `values` as long as what went in, `faults` by row number for values that do not fit."""

    values: list[Any]
    faults: dict[int, str]


class Instant(NamedTuple):
    """A time in UTC, and whether it came without a zone."""

    at: datetime
    is_naive: bool


def text(value: Any) -> str | None:
    """Return a value as text: message parts joined, markers of missing content as None, other structures as JSON."""
    if isinstance(value, str):
        return None if value in MISSING_MARKERS or not value.strip() else value
    if value is None or value is False:
        return None
    if isinstance(value, (list, dict)):
        plain = of_mongo(value)
        return _text_of_parts(value) if plain is value else text(plain)
    return str(value)


def of_mongo(value: Any) -> Any:
    """Return what MongoDB's extended JSON wraps, such as `{"$oid": "…"}` or `{"$date": …}`, else `value` itself."""
    if isinstance(value, dict) and len(value) == 1:
        ((key, inner),) = value.items()
        if key in _MONGO_KEYS:
            return of_mongo(inner)
    return value


def _text_of_parts(value: list[Any] | dict[str, Any]) -> str | None:
    if isinstance(value, dict):
        for key in ("text", "content", "value"):
            if isinstance(value.get(key), (str, list, dict)):
                return text(value[key])
        return _written_out(value) if value else None
    parts = [part for part in map(text, value) if part]
    return "\n".join(parts) or None


def _written_out(value: dict[str, Any]) -> str:
    try:
        return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:  # a number beyond 64 bits
        return json.dumps(value, default=str, ensure_ascii=False)


def number(value: Any) -> float | None:
    """Return a finite number or None; accepts numbers in text, also with a decimal comma. Raises ValueError."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, (int, float)):
        return float(value) if math.isfinite(value) else None
    if value is None or str(value).strip().lower() in _MISSING_NUMBERS:
        return None
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, dict) and (plain := of_mongo(value)) is not value:
        return number(plain)
    return _number_of_text(str(value).strip())


def _number_of_text(written: str) -> float:
    if re.fullmatch(r"-?\d+,\d+", written):
        written = written.replace(",", ".")
    parsed = float(written.replace("_", "x"))
    if not math.isfinite(parsed):
        raise ValueError(written)
    return parsed


def integer(value: Any) -> int | None:
    """Return a whole number or None; 8.0 is 8. Raises ValueError."""
    if type(value) is int:
        return value
    parsed = number(value)
    return None if parsed is None else round(parsed)


def instant(value: Any, *, unit: str = "auto", zone: tzinfo = UTC, date_order: DateOrder = "auto") -> Instant | None:
    """Return the UTC time of a text, an epoch in s, ms, us or ns, or a datetime; naive times are in `zone`.

    The unit of an epoch follows from the size of its integer part unless it is given. Raises ValueError.
    """
    if isinstance(value, str):
        value = value.strip()
        if value in MISSING_MARKERS or value == "NaT":
            return None
        if not _EPOCH_TEXT.match(value):
            return _located(written_time(value, date_order), zone)
        value = int(value) if value.lstrip("-").isdigit() else Decimal(value)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, datetime):
        return _located(value, zone)
    if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
        return Instant(_from_epoch(value, unit), is_naive=False)
    if isinstance(value, dict) and (plain := of_mongo(value)) is not value:
        return instant(plain, unit=unit, zone=zone, date_order=date_order)
    raise ValueError(value)


def _located(at: datetime, zone: tzinfo) -> Instant:
    if at.tzinfo is None:
        return Instant(at.replace(tzinfo=zone).astimezone(UTC), is_naive=True)
    return Instant(at.astimezone(UTC), is_naive=False)


def _from_epoch(value: float | Decimal, unit: str) -> datetime:
    if unit == "auto":
        size = abs(int(value))
        unit = next((name for name, limit in _UNIT_LIMITS if size < limit), "ns")
    if unit == "ns":
        return _EPOCH + timedelta(microseconds=int(value) // 1000)
    return _EPOCH + timedelta(microseconds=round(value * _TO_MICROSECONDS[unit]))


def zone_named(name: str) -> tzinfo:
    """Return a time zone by its IANA name, with UTC read without a lookup; raises KeyError for an unknown one."""
    return UTC if name.upper() in ("UTC", "Z") else ZoneInfo(name)


_ONLY_TEXT = ({str}, {str, type(None)}, {type(None)})


def text_column(values: Sequence[Any]) -> list[str | None]:
    """Normalise a column of texts; a column of plain strings, the usual case, costs a look at its types and blanks."""
    if set(map(type, values)) in _ONLY_TEXT and MISSING_MARKERS.isdisjoint(values):
        written = list(values)
        if all(map(str.strip, filter(None, written))):
            return written
    return [text(value) for value in values]


def number_column(values: Sequence[Any], name: str) -> Column:
    """Normalise a column of numbers."""
    kinds = set(map(type, values))
    if kinds <= {float, type(None)}:
        return Column([None if value is None or not math.isfinite(value) else value for value in values], {})
    return _each(values, number, name, "is not a number")


def integer_column(values: Sequence[Any], name: str) -> Column:
    """Normalise a column of whole numbers."""
    if set(map(type, values)) <= {int, type(None)}:
        return Column(list(values), {})
    return _each(values, integer, name, "is not a whole number")


class InstantColumn(NamedTuple):
    """A column of UTC datetimes, its faults, and how many came without a zone."""

    values: list[datetime | None]
    faults: dict[int, str]
    naive: int


def instant_column(
    values: Sequence[Any], name: str, *, unit: str = "auto", zone: tzinfo = UTC, date_order: DateOrder = "auto"
) -> InstantColumn:
    """Normalise a column of times; ISO texts with a zone, the usual case, are read by Arrow at once.

    Dates in numbers are read as `date_order` says, or as all values of the column tell.
    """
    if unit == "auto" and set(map(type, values)) in _ONLY_TEXT and (read := _read_iso(values)) is not None:
        return InstantColumn(read, {}, 0)
    order = order_seen(values).order if date_order == "auto" else date_order
    parsed = _each(values, lambda value: instant(value, unit=unit, zone=zone, date_order=order), name, "is not a time")
    naive = sum(1 for entry in parsed.values if entry is not None and entry.is_naive)
    return InstantColumn([entry and entry.at for entry in parsed.values], parsed.faults, naive)


def _read_iso(values: Sequence[Any]) -> list[datetime | None] | None:
    """Return the instants of texts that are all ISO 8601 with a zone, else None."""
    try:
        return pa.array(values, pa.string()).cast(pa.timestamp("us", "UTC")).to_pylist()  # type: ignore[no-any-return]
    except (pa.ArrowException, ValueError, OverflowError):
        return None


def _each(values: Iterable[Any], parse: Callable[[Any], Parsed], name: str, complaint: str) -> Column:
    out: list[Any] = []
    faults: dict[int, str] = {}
    for row, value in enumerate(values):
        try:
            out.append(parse(value))
        except (ValueError, TypeError, OverflowError, InvalidOperation, ArithmeticError):
            out.append(None)
            faults[row] = f"{name} {_shortened(value)} {complaint}"
    return Column(out, faults)


def _shortened(value: Any, limit: int = 60) -> str:
    shown = repr(value)
    return shown if len(shown) <= limit else shown[:limit] + "…"


def parsed_list(value: Any) -> Any:
    """Return what JSON or a printed structure in a text holds (of at most a million characters), else the text itself.

    Printed as by Python, numpy or DuckDB: see `ingest.printed`.
    """
    if not isinstance(value, str) or value[:1] not in ("[", "{", "(") or len(value) > _LITERAL_LIMIT:
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        found = _parsed_literal(value)
    return without_lone_surrogates(found)[0] if may_hold_halves(value) else found


def may_hold_halves(written: str) -> bool:
    """Return whether a text spells escapes of halves of characters, two of which make one."""
    return bool(_HALVES.search(written))


def _parsed_literal(value: str) -> Any:
    if not may_be_printed(value):
        return value
    if not has_lists_without_commas(value):
        try:
            return literal(value)
        except ValueError:
            pass
    try:
        return printed(value)
    except (ValueError, TypeError, OverflowError):
        return value


def without_lone_surrogates(value: Any) -> tuple[Any, bool]:
    """Return a value of JSON with halves of characters replaced, which no file can hold, and whether there were any."""
    try:
        orjson.dumps(value)
    except (TypeError, orjson.JSONEncodeError, RecursionError):
        mended = _mend(value, 0)
        return mended, mended != value
    return value, False


def _mend(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if depth > _DEEPEST_MENDED:
        return None
    if isinstance(value, list):
        return [_mend(entry, depth + 1) for entry in value]
    if isinstance(value, dict):
        return {_mend(key, depth + 1): _mend(entry, depth + 1) for key, entry in value.items()}
    return value
