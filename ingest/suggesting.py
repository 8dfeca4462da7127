"""Proposes a mapping file from the field names and values of a log."""

import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from evalsets.errors import BadInputError
from ingest.adapters.mapping_paths import compile_path
from ingest.field_names import CHUNK_NAMES, FIELD_NAMES
from ingest.normalising import instant, number
from ingest.reading.envelopes import records_at, usual_place
from ingest.reading.probing import Probe
from ingest.reading.sources import SourceFile

_DEEPEST = 3
_ROLE_KEYS = ("role", "sender", "author", "type", "from")
_TEXT_KEYS = ("content", "text", "message", "body", "value")
_ROLES = {"user", "human", "assistant", "ai", "bot", "system"}
_PLAIN_KEY = re.compile(r"^[A-Za-z_][A-Za-z0-9_]*$")


class _Field(NamedTuple):
    path: str
    values: list[Any]
    depth: int

    @property
    def last(self) -> str:
        return re.split(r"[.]", self.path)[-1].strip('"').lower()


def suggest(found: Probe) -> str:
    """Return a mapping file, as YAML with comments, for the records of a probed file. Raises BadInputError for none."""
    records = _records(found)
    if not records:
        raise BadInputError(f"{found.file.name!r} holds no records to propose a mapping from ({found.container}).")
    fields = list(_fields(records))
    section = _conversation(fields) or _messages(fields) or _flat(fields, records)
    header = [
        f"# Proposed from {len(records)} records of {_shown_name(found.file)}. Look at it with",
        "# `errata ingest PATH --mapping THIS_FILE --dry-run`, and mend what is not right.",
        f"source: {_source_name(found.file)}",
    ]
    return "\n".join([*header, *section, *_left_over(fields, section)]) + "\n"


def _records(found: Probe) -> list[dict[str, Any]]:
    sample = found.values
    if found.is_one_document and sample and (place := usual_place(sample[0])):
        sample = records_at(place, sample[0]) or sample
    return [value for value in sample if isinstance(value, dict)][:500]


def _fields(records: list[dict[str, Any]]) -> Iterator[_Field]:
    gathered: dict[str, list[Any]] = {}
    for record in records:
        for path, value in _leaves(record, "", 0):
            gathered.setdefault(path, []).append(value)
    for path, values in gathered.items():
        yield _Field(path, [value for value in values if value is not None], path.count("."))


def _leaves(record: dict[str, Any], prefix: str, depth: int) -> Iterator[tuple[str, Any]]:
    for key, value in record.items():
        name = key if _PLAIN_KEY.match(str(key)) else f'"{key}"'
        path = f"{prefix}.{name}" if prefix else name
        if isinstance(value, dict) and depth < _DEEPEST:
            yield from _leaves(value, path, depth + 1)
        else:
            yield path, value


def _best(fields: list[_Field], names: tuple[str, ...], fits: Callable[[list[Any]], bool]) -> _Field | None:
    for name in names:
        matching = [field for field in fields if field.last == name and field.values and fits(field.values)]
        if matching:
            return min(matching, key=lambda field: field.depth)
    return None


def _are_texts(values: list[Any]) -> bool:
    return all(isinstance(value, str) for value in values)


def _are_ids(values: list[Any]) -> bool:
    return all(isinstance(value, (str, int)) and not isinstance(value, bool) for value in values)


def _are_times(values: list[Any]) -> bool:
    return _all_parse(values, instant)


def _are_numbers(values: list[Any]) -> bool:
    return _all_parse(values, number) and not all(isinstance(value, bool) for value in values)


def _all_parse(values: list[Any], parse: Callable[[Any], Any]) -> bool:
    try:
        return all(parse(value) is not None for value in values[:50])
    except (ValueError, TypeError, OverflowError, ArithmeticError):
        return False


def _are_chunks(values: list[Any]) -> bool:
    return all(isinstance(value, list) for value in values) and any(values)


def _are_votes(values: list[Any]) -> bool:
    return all(isinstance(value, (str, int, float, bool)) for value in values)


_FITS: dict[str, Callable[[list[Any]], bool]] = {
    "id": _are_ids,
    "session_id": _are_ids,
    "user_id": _are_ids,
    "asked_at": _are_times,
    "retrieved": _are_chunks,
    "feedback": _are_votes,
    **dict.fromkeys(("latency_ms", "input_tokens", "output_tokens", "cost"), _are_numbers),
}


def _flat(fields: list[_Field], records: list[dict[str, Any]]) -> list[str]:
    lines = ["interactions:"]
    chosen: dict[str, _Field] = {}
    for name, names in FIELD_NAMES.items():
        free = [field for field in fields if field not in chosen.values()]
        best = _best(free, names, _FITS.get(name, _are_texts))
        if best is not None:
            chosen[name] = best
    if "question" not in chosen:
        raise BadInputError(_no_question(fields))
    if "retrieved" not in chosen and (rows := _chunk_rows(chosen.get("id"), fields, chosen)):
        lines.append(rows)
    lines.extend(_line(name, field, fields) for name, field in chosen.items())
    return [*lines, *_votes(chosen, records)]


def _chunk_rows(native: _Field | None, fields: list[_Field], chosen: dict[str, _Field]) -> str:
    """Recognise one row a chunk: ids repeat, and there is a column of chunk ids or texts."""
    if native is None or len(set(map(str, native.values))) == len(native.values):
        return ""
    taken = {field.path for field in chosen.values()}
    parts = []
    for name, names in CHUNK_NAMES.items():
        free = [field for field in fields if field.path not in taken or name == "score"]
        if best := _best(free, tuple(n for n in names if n != "id"), _are_numbers if name == "score" else _are_ids):
            parts.append(f"{name}: {_quoted(best.path)}")
            chosen.pop("feedback", None) if name == "score" else None
    rank = _best(fields, ("rank", "position", "order", "chunk_rank"), _are_numbers)
    group = f"group_by: {_quoted(native.path)}" + (f", rank: {_quoted(rank.path)}" if rank else "")
    return f"  retrieved: {{rows: {{{group}}}, {', '.join(parts)}}}" if parts else ""


def _votes(chosen: dict[str, _Field], records: list[dict[str, Any]]) -> list[str]:
    """Recognise votes among the records: they have the id, no question, and a field of votes."""
    question, native = compile_path(chosen["question"].path).get, chosen.get("id")
    others = [record for record in records if question(record) is None]
    fields = list(_fields(others))
    vote = _best(fields, FIELD_NAMES["feedback"], _are_votes)
    if native is None or vote is None or native.path not in {field.path for field in fields}:
        return []
    lines = [
        "feedback:",
        f"  target: {_quoted(native.path)}",
        _line("feedback", vote, fields).replace("feedback:", "value:"),
    ]
    if comment := _best(fields, FIELD_NAMES["feedback_comment"], _are_texts):
        lines.append(f"  comment: {_quoted(comment.path)}")
    if at := _best(fields, FIELD_NAMES["asked_at"], _are_times):
        lines.append(f"  at: {_quoted(at.path)}")
    return lines


def _no_question(fields: list[_Field]) -> str:
    names = ", ".join(field.path for field in fields[:20])
    return f"no field looks like a question. The fields are: {names}. Write `question:` with the path of the right one."


def _line(name: str, field: _Field, fields: list[_Field]) -> str:
    if name == "retrieved":
        return _retrieved_line(field, fields)
    if name == "feedback" and _are_texts(field.values):
        return f"  feedback: {{path: {_quoted(field.path)}, map: {{{_vote_map(field.values)}}}}}"
    if name == "asked_at" and _is_naive(field.values):
        return f"  asked_at: {{path: {_quoted(field.path)}, timezone: UTC}}  # the times carry no zone: say theirs"
    if name == "latency_ms" and "ms" not in field.last and max(map(number, field.values), default=0) < 100:  # type: ignore[type-var,operator]  # noqa: PLR2004 - most answers take longer than 100 ms
        return f"  latency_ms: {{path: {_quoted(field.path)}, unit: s}}  # taken for seconds by their size"
    return f"  {name}: {_quoted(field.path)}"


def _is_naive(values: list[Any]) -> bool:
    found = [instant(value) for value in values[:20]]
    return any(entry is not None and entry.is_naive for entry in found)


def _vote_map(values: list[str]) -> str:
    from ingest.feedback import label_vote

    seen = sorted(set(values))[:10]
    return ", ".join(f"{_quoted(value)}: {label_vote(value) or 0}" for value in seen)


def _retrieved_line(field: _Field, fields: list[_Field]) -> str:
    items = [item for value in field.values for item in value]
    if items and all(isinstance(item, dict) for item in items):
        inner = list(_fields(items[:500]))
        parts = [f"list: {_quoted(field.path)}"]
        for name, names in CHUNK_NAMES.items():
            if best := _best(inner, names, _are_numbers if name == "score" else _are_ids):
                parts.append(f"{name}: {_quoted(best.path)}")
        return f"  retrieved: {{{', '.join(parts)}}}"
    return _arrays_line(field, fields)


def _arrays_line(field: _Field, fields: list[_Field]) -> str:
    lists = [other for other in fields if other is not field and _are_chunks(other.values)]
    parts = ["arrays: true", f"text: {_quoted(field.path)}"]
    for name, hints in (("chunk_id", ("id", "ids")), ("score", ("score", "scores", "similarity", "distances"))):
        match = next((other for other in lists if any(hint in other.last for hint in hints)), None)
        if match is not None:
            parts.append(f"{name}: {_quoted(match.path)}")
    return f"  retrieved: {{{', '.join(parts)}}}"


def _conversation(fields: list[_Field]) -> list[str] | None:
    """Recognise a record that is a whole conversation: a list of messages that each have a role."""
    for field in fields:
        items = [item for value in field.values if isinstance(value, list) for item in value]
        keys = _message_keys(items)
        if keys is None:
            continue
        role, body = keys
        inner = list(_fields([item for item in items if isinstance(item, dict)][:500]))
        lines = ["interactions:", f"  turns: {{list: {_quoted(field.path)}, role: {_quoted(role)}}}"]
        for name in ("session_id", "user_id", "model"):
            best = _best(fields, FIELD_NAMES[name], _are_ids)
            lines.extend([f"  {name}: {_quoted(best.path)}"] if best else [])
        if at := _best(inner, FIELD_NAMES["asked_at"], _are_times):
            lines.append(f"  asked_at: user.{at.path}")
        return [*lines, f"  question: user.{body}", f"  answer: assistant.{body}"]
    return None


def _message_keys(items: list[Any]) -> tuple[str, str] | None:
    objects = [item for item in items if isinstance(item, dict)]
    if not objects or len(objects) < len(items):
        return None
    for role in _ROLE_KEYS:
        if all(str(item.get(role, "")).lower() in _ROLES for item in objects):
            body = next((key for key in _TEXT_KEYS if any(key in item for item in objects)), None)
            return (role, body) if body else None
    return None


def _messages(fields: list[_Field]) -> list[str] | None:
    """Recognise records that are one message each: a role, a text and a session."""
    by_last = {field.last: field for field in fields if field.depth == 0}
    role = next(
        (by_last[key] for key in _ROLE_KEYS if key in by_last and _are_roles(by_last[key].values)),
        None,
    )
    body = next((by_last[key] for key in _TEXT_KEYS if key in by_last), None)
    session = _best(fields, FIELD_NAMES["session_id"], _are_ids)
    if role is None or body is None or session is None:
        return None
    parts = [f"session: {_quoted(session.path)}", f"role: {role.path}"]
    at = _best(fields, FIELD_NAMES["asked_at"], _are_times)
    for name, field in (("time", at), ("message_id", by_last.get("message_id") or by_last.get("id"))):
        if field is not None:
            parts.append(f"{name}: {_quoted(field.path)}")
    if parent := by_last.get("parent_id") or by_last.get("parent"):
        parts.append(f"parent_id: {_quoted(parent.path)}")
    lines = ["interactions:", f"  messages: {{{', '.join(parts)}}}"]
    if native := by_last.get("message_id") or by_last.get("id"):
        lines.extend([f"  id: user.{native.path}", f"  aliases: [assistant.{native.path}]"])
    lines.append(f"  session_id: user.{session.path}")
    lines.extend([f"  asked_at: user.{at.path}"] if at else [])
    lines.extend([f"  question: user.{body.path}", f"  answer: assistant.{body.path}"])
    chunks = _best(fields, FIELD_NAMES["retrieved"], _are_chunks)
    if chunks is not None:
        lines.append(_retrieved_line(chunks, fields).replace("list: ", "list: assistant."))
    return lines


def _are_roles(values: list[Any]) -> bool:
    return all(isinstance(value, str) and value.lower() in _ROLES for value in values)


def _left_over(fields: list[_Field], section: list[str]) -> list[str]:
    written = "\n".join(section)
    left = [field.path for field in fields if field.path not in written][:20]
    return [f"# Not mapped, kept as metadata: {', '.join(left)}"] if left else []


def _quoted(written: str) -> str:
    return (
        written if re.match(r"^[A-Za-z_][\w.-]*$", written) and written.lower() not in _YAML_WORDS else f"'{written}'"
    )


_YAML_WORDS = {"true", "false", "yes", "no", "on", "off", "null", "y", "n"}


def _source_name(file: SourceFile) -> str:
    stem = re.sub(r"[^a-z0-9]+", "-", file.path.stem.lower()).strip("-")
    return stem or "log"


def _shown_name(file: SourceFile) -> str:
    return file.path.name
