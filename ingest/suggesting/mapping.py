"""Proposes a mapping file from the field names and values of a log."""

import re
from itertools import chain
from typing import Any, NamedTuple

from evalsets.errors import BadInputError
from ingest.adapters.mapping_paths import compile_path
from ingest.reading.probing import Probe
from ingest.reading.reaches import likely_reaches, possible_reaches
from ingest.reading.sources import SourceFile
from ingest.suggesting.field_names import CHUNK_NAMES, ENDING_NAMES, FIELD_NAMES
from ingest.suggesting.lines import field_line, quoted
from ingest.suggesting.log_fields import (
    FITS,
    LogField,
    are_ids,
    are_numbers,
    are_texts,
    are_times,
    are_votes,
    best_field,
    field_ending,
    fields_of,
    with_clock,
)
from ingest.suggesting.talks import conversation, messages

_MARKS = frozenset("?\uff1f\u061f")
"""Question marks: Latin, full-width, Arabic."""
_MANY = 0.3
_LOOKED_AT = 500
Record = dict[str, Any]


def suggest(found: Probe) -> str:
    """Return a mapping file, as YAML with comments, for the records of a probed file. Raises BadInputError for none."""
    proposal = _best_of(found)
    fields, section = proposal.fields, proposal.section
    header = [
        f"# Proposed from {len(proposal.records)} records of {_shown_name(found.file)}. Look at it with",
        "# `errata ingest PATH --mapping THIS_FILE --dry-run`, and mend what is not right.",
        f"source: {_source_name(found.file)}",
    ]
    return "\n".join([*header, *section, *_left_over(fields, section)]) + "\n"


class _Proposal(NamedTuple):
    records: list[Record]
    fields: list[LogField]
    section: list[str]

    @property
    def score(self) -> tuple[int, int]:
        """How many fields are mapped, and how many of them stand in the record itself."""
        lines = [line.partition("#")[0] for line in self.section if line.startswith("  ")]
        return len(lines), sum("." not in line for line in lines)


def _best_of(found: Probe) -> _Proposal:
    """Return what is proposed on the way to the records on which most fields are found, and most of them not nested."""
    best: _Proposal | None = None
    nothing: BadInputError | None = None
    for reach in chain(likely_reaches(found), possible_reaches(found)):
        if not (records := [value for value in reach.values if isinstance(value, dict)][:_LOOKED_AT]):
            continue
        try:
            proposal = _proposal(records)
        except BadInputError as error:
            nothing = nothing or error
            continue
        if best is None or proposal.score > best.score:
            best = proposal
    if best is not None:
        return best
    unread = f"{found.file.name!r} holds no records to propose a mapping from ({found.container})."
    raise nothing or BadInputError(unread)


def _proposal(records: list[Record]) -> _Proposal:
    fields = fields_of(records)
    return _Proposal(records, fields, conversation(fields) or messages(fields) or _flat(fields, records))


def _flat(fields: list[LogField], records: list[Record]) -> list[str]:
    lines = ["interactions:"]
    chosen: dict[str, LogField] = {}
    for name, names in FIELD_NAMES.items():
        free = [field for field in fields if field not in chosen.values()]
        best = best_field(free, names, FITS.get(name, are_texts))
        if best is None and name in ENDING_NAMES:
            best = field_ending(free, ENDING_NAMES[name], FITS.get(name, are_texts))
        if best is None and name == "question":
            best = _asking_field(free)
        if best is not None:
            chosen[name] = best
    if "feedback" not in chosen:
        chosen.pop("feedback_comment", None)
    if "question" not in chosen:
        raise BadInputError(_no_question(fields))
    if "retrieved" not in chosen and (rows := _chunk_rows(chosen.get("id"), fields, chosen)):
        lines.append(rows)
    votes = _votes(chosen, records)
    stated = chosen if not votes else _of_questions(chosen, records)
    if "asked_at" in stated:
        stated["asked_at"] = with_clock(stated["asked_at"], [field for field in fields if field not in stated.values()])
    lines.extend(field_line(name, field, fields) for name, field in stated.items())
    return [*lines, *votes]


def _of_questions(chosen: dict[str, LogField], records: list[Record]) -> dict[str, LogField]:
    """Return the fields that records with a question have; the others are those of votes."""
    asked = compile_path(chosen["question"].path).get
    asking = {field.path for field in fields_of([record for record in records if asked(record) is not None])}
    return {name: field for name, field in chosen.items() if field.path in asking}


def _asking_field(fields: list[LogField]) -> LogField | None:
    """Return the field whose texts end in a question mark most often, where many do."""
    texts = [field for field in fields if field.values and are_texts(field.values)]
    shares = [sum(str(value).rstrip()[-1:] in _MARKS for value in field.values) / len(field.values) for field in texts]
    best = max(shares, default=0.0)
    return texts[shares.index(best)] if best >= _MANY else None


def _chunk_rows(native: LogField | None, fields: list[LogField], chosen: dict[str, LogField]) -> str:
    """Recognise one row a chunk: ids repeat, and there is a column of chunk ids or texts."""
    if native is None or len(set(map(str, native.values))) == len(native.values):
        return ""
    taken = {field.path for field in chosen.values()}
    parts = []
    for name, names in CHUNK_NAMES.items():
        free = [field for field in fields if field.path not in taken or name == "score"]
        if best := best_field(free, tuple(n for n in names if n != "id"), are_numbers if name == "score" else are_ids):
            parts.append(f"{name}: {quoted(best.path)}")
            chosen.pop("feedback", None) if name == "score" else None
    rank = best_field(fields, ("rank", "position", "order", "chunk_rank"), are_numbers)
    group = f"group_by: {quoted(native.path)}" + (f", rank: {quoted(rank.path)}" if rank else "")
    return f"  retrieved: {{rows: {{{group}}}, {', '.join(parts)}}}" if parts else ""


def _votes(chosen: dict[str, LogField], records: list[Record]) -> list[str]:
    """Recognise votes among the records: they have the id, no question, and a field of votes."""
    question, native = compile_path(chosen["question"].path).get, chosen.get("id")
    others = [record for record in records if question(record) is None]
    fields = fields_of(others)
    vote = best_field(fields, FIELD_NAMES["feedback"], are_votes)
    if native is None or vote is None or native.path not in {field.path for field in fields}:
        return []
    lines = [
        "feedback:",
        f"  target: {quoted(native.path)}",
        field_line("feedback", vote, fields).replace("feedback:", "value:"),
    ]
    if comment := best_field(fields, FIELD_NAMES["feedback_comment"], are_texts):
        lines.append(f"  comment: {quoted(comment.path)}")
    if at := best_field(fields, FIELD_NAMES["asked_at"], are_times):
        lines.append(f"  at: {quoted(at.path)}")
    return lines


def _no_question(fields: list[LogField]) -> str:
    names = ", ".join(field.path for field in fields[:20])
    return f"no field looks like a question. The fields are: {names}. Write `question:` with the path of the right one."


def _left_over(fields: list[LogField], section: list[str]) -> list[str]:
    written = "\n".join(section)
    left = [field.path for field in fields if field.path not in written][:20]
    return [f"# Not mapped, kept as metadata: {', '.join(left)}"] if left else []


def _source_name(file: SourceFile) -> str:
    stem = re.sub(r"[^a-z0-9]+", "-", file.path.stem.lower()).strip("-")
    return stem or "log"


def _shown_name(file: SourceFile) -> str:
    return file.path.name
