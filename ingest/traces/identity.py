"""Bring the spellings of trace ids, span ids and times together."""

import base64
import binascii
import re
from datetime import UTC, datetime, timedelta
from typing import Any

TRACE_SOURCE = "trace"
"""The source of every interaction known by a trace id, so that one trace exported by two tools is one interaction."""
_HEX = re.compile(r"[0-9a-f]+")
_PLAIN_ID = re.compile(r"(?!0+$)(?:[0-9a-f]{16}){1,2}")
_BASE64_SIZES = {12: 8, 11: 8, 24: 16, 22: 16}
"""Length of a base64 text, with and without padding, and the bytes of the id it spells."""
_ISO = re.compile(
    r"(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9})\d*)?)?)?"
    r"\s*(Z|UTC|[+-]\d{2}(?::?\d{2})?|)",
    re.IGNORECASE,
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NS_OF_MAGNITUDE = ((10**11, 10**9), (10**14, 10**6), (10**17, 10**3))
_LAST_NS = 2**63 - 1


def hex_id(value: Any) -> str:
    """Return a trace or span id as lower-case hex without `0x` or `tr-`; other ids as they are, no id as ''.

    Base64 (protobuf's JSON), upper case, bytes and integers of one id give the same text. All zeros mean no id.
    """
    if isinstance(value, str) and _PLAIN_ID.fullmatch(value):
        return value
    if isinstance(value, bytes | bytearray):
        return _hex_of_bytes(bytes(value))
    if isinstance(value, int) and not isinstance(value, bool):
        return format(value, "032x" if value >= 1 << 64 else "016x") if value > 0 else ""
    if not isinstance(value, str):
        return ""
    text = value.strip()
    plain = text.lower().removeprefix("tr-").removeprefix("0x")
    if _HEX.fullmatch(plain):
        return plain if plain.strip("0") else ""
    size = _BASE64_SIZES.get(len(text))
    return _hex_of_base64(text, size) or text if size else text


def _hex_of_bytes(value: bytes) -> str:
    if len(value) in {24, 12}:  # hex that a protobuf reader took for base64: encoding it again gives it back
        again = base64.b64encode(value).decode().lower()
        if _HEX.fullmatch(again):
            return again
    return value.hex() if any(value) else ""


def _hex_of_base64(text: str, size: int) -> str:
    padded = text + "=" * (-len(text) % 4)
    try:
        raw = base64.b64decode(padded.translate(str.maketrans("-_", "+/")), validate=True)
    except (binascii.Error, ValueError):
        return ""
    return raw.hex() if len(raw) == size and any(raw) else ""


def nanoseconds(value: Any) -> int:
    """Return a time as nanoseconds since 1970 UTC, 0 when there is none; never through a float for integers.

    Takes epoch numbers or their text in s, ms, us or ns (told by magnitude), ISO texts with up to nine digits of a
    second, and datetimes. A time without a zone is UTC, as the tools read here write it.
    """
    if isinstance(value, bool) or value is None:
        return 0
    if isinstance(value, int):
        return _scaled(value)
    if isinstance(value, float):
        return _scaled_float(value)
    if isinstance(value, datetime):
        return _of_datetime(value)
    if isinstance(value, str):
        return _of_text(value.strip())
    return 0


def _scaled(value: int) -> int:
    if value <= 0:
        return 0
    for limit, factor in _NS_OF_MAGNITUDE:
        if value < limit:
            return value * factor
    return min(value, _LAST_NS)


def _scaled_float(value: float) -> int:
    if not 0 < value < float(_LAST_NS):
        return 0
    for limit, factor in _NS_OF_MAGNITUDE:
        if value < limit:
            return round(value * factor)
    return int(value)


def _of_datetime(value: datetime) -> int:
    moment = value if value.tzinfo else value.replace(tzinfo=UTC)
    nanosecond = getattr(value, "nanosecond", 0)  # pandas timestamps have one
    return ((moment - _EPOCH) // timedelta(microseconds=1)) * 1000 + int(nanosecond)


def _of_text(text: str) -> int:
    if text.isdecimal():
        return _scaled(int(text)) if len(text) <= 20 else 0  # noqa: PLR2004 - longer than any 64-bit number
    found = _ISO.fullmatch(text)
    if found is None:
        return _of_number_text(text)
    year, month, day, hour, minute, second, fraction, zone = found.groups()
    try:
        moment = datetime(  # noqa: DTZ001 - the zone is subtracted below
            int(year), int(month), int(day), int(hour or 0), int(minute or 0), min(int(second or 0), 59)
        )
    except ValueError:
        return 0
    seconds = (moment - datetime(1970, 1, 1)) // timedelta(seconds=1) - _offset_s(zone)  # noqa: DTZ001 - as above
    return max(0, seconds * 10**9 + int((fraction or "").ljust(9, "0")))


def _of_number_text(text: str) -> int:
    try:
        return _scaled_float(float(text))
    except ValueError:
        return 0


def _offset_s(zone: str) -> int:
    if zone[:1] not in {"+", "-"}:
        return 0
    digits = zone[1:].replace(":", "")
    offset = int(digits[:2]) * 3600 + int(digits[2:] or 0) * 60
    return offset if zone[0] == "+" else -offset


def moment_of(ns: int) -> datetime | None:
    """Return the UTC time at `ns` nanoseconds since 1970, to the microsecond; None for 0."""
    try:
        return _EPOCH + timedelta(microseconds=ns // 1000) if ns > 0 else None
    except OverflowError:
        return None
