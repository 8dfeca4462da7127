"""Parses one JSON text as logs really write it: NaN, lone surrogates, bad UTF-8, prefixes before the object."""

import json
import re
from typing import Any, NamedTuple

import orjson

from ingest.normalising import parsed_list, without_lone_surrogates

_BOM = b"\xef\xbb\xbf"
_ARRAY = re.compile(rb"\[\s*(?:[{\[\"\]]|$)")
_loads = orjson.loads


class Parsed(NamedTuple):
    """A parsed value, or why there is none; `flaw` names what had to be mended on the way."""

    value: Any = None
    fault: str = ""
    flaw: str = ""
    is_text: bool = False
    """There is no JSON in the line at all."""


def parse_json(raw: bytes) -> Parsed:
    """Parse one JSON value; what orjson refuses and Python writes all the same (NaN, lone surrogates) is mended."""
    try:
        return Parsed(_loads(raw))
    except orjson.JSONDecodeError as error:
        return _parse_mended(raw, str(error))


def parse_line(raw: bytes) -> Parsed:
    """Parse one line of a log, looking past a byte-order mark and past a logging prefix before the object."""
    try:
        value = _loads(raw)
    except orjson.JSONDecodeError as error:
        stripped = raw.removeprefix(_BOM).strip()
        if begins_json(stripped):
            return _parse_as_written(stripped, str(error))
        return _parse_after_prefix(stripped)
    return Parsed(unquoted(value)) if type(value) is str else Parsed(value)


def begins_json(line: bytes) -> bool:
    """Return whether a line begins an object or an array of values, not a logging prefix in brackets."""
    return line[:1] == b"{" or bool(_ARRAY.match(line))


def unquoted(value: Any) -> Any:
    """Return the object or array that a text spells which was written as JSON twice, else `value` itself."""
    if not isinstance(value, str) or value[:1] not in ("{", "["):
        return value
    try:
        return _loads(value)
    except orjson.JSONDecodeError:
        return value


def _parse_as_written(line: bytes, complaint: str) -> Parsed:
    """Parse a line that was copied out of an array, or printed from a Python dict, when it is no JSON by itself."""
    if line.endswith(b","):
        line = line[:-1]
    parsed = _parse_mended(line, complaint)
    if parsed.fault and line.startswith(b"{'"):
        printed = parsed_list(line.decode("utf-8", "replace"))
        return Parsed(printed) if isinstance(printed, dict) else parsed
    return parsed


def _parse_after_prefix(line: bytes) -> Parsed:
    start = line.find(b"{")
    attempts = 0
    while start >= 0 and attempts < 5:  # noqa: PLR2004 - a prefix holds few braces
        parsed = parse_json(line[start:])
        if not parsed.fault:
            return (
                parsed if isinstance(parsed.value, dict) else Parsed(fault="no JSON object in the line", is_text=True)
            )
        start = line.find(b"{", start + 1)
        attempts += 1
    start = line.find(b"{'")
    printed = parsed_list(line[start:].decode("utf-8", "replace")) if start >= 0 else None
    if isinstance(printed, dict):
        return Parsed(printed)
    if line.find(b'{"') >= 0:
        return Parsed(fault="the JSON after the prefix is broken or cut off")
    return Parsed(fault="no JSON object in the line", is_text=True)


def _parse_mended(raw: bytes, complaint: str) -> Parsed:
    written, flaw = _decoded(raw)
    try:
        value = json.loads(written, parse_constant=_no_number, strict=False)
    except RecursionError:
        return Parsed(fault="nested too deeply")
    except ValueError:
        return Parsed(fault=f"not JSON: {complaint}")
    mended, changed = without_lone_surrogates(value)
    return Parsed(mended, flaw=flaw or ("lone surrogate" if changed else ""))


def _decoded(raw: bytes) -> tuple[str, str]:
    try:
        return raw.decode("utf-8"), ""
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace"), "invalid UTF-8"


def _no_number(_name: str) -> None:
    return None
