"""Votes that stand in records of their own, as a mapping's feedback section describes them."""

from fnmatch import fnmatch
from pathlib import PurePath
from typing import Any

from ingest.adapters.mapping_file import FeedbackSection, FieldSpec, InteractionsSection
from ingest.adapters.mapping_paths import compile_path, holds
from ingest.adapters.mapping_values import field_values, vote_values
from ingest.interaction import FeedbackEvent
from ingest.normalising import instant_column, text_column, zone_named
from ingest.staging import Rows, StagedRows


def votes_among(
    section: FeedbackSection, interactions: InteractionsSection | None, file: str, records: list[Any]
) -> list[bool]:
    """Say of each record whether it is a vote: by `files`, by `where`, else by having a value and no question."""
    if section.files and not fnmatch(PurePath(file).name, section.files):
        return [False] * len(records)
    if section.where:
        condition = compile_path(section.where)
        return [holds(condition, record) for record in records]
    if section.files or interactions is None:
        return [True] * len(records)
    has_value, has_question = compile_path(section.value.path).get, compile_path(interactions.question.path).get
    return [has_value(record) is not None and has_question(record) is None for record in records]


def stage_votes(source: str, section: FeedbackSection, rows: Rows, out: StagedRows) -> None:
    """Stage one vote a record; a record without target or value, or with a time that is none, is rejected."""
    records = rows.values
    columns = _vote_columns(section, records, out)
    times = _vote_times(section, records, out)
    for row, (target, name, value, comment, native, scorer) in enumerate(zip(*columns, strict=True)):
        complaint = times.faults.get(row) or _complaint(section, target, value)
        if complaint:
            out.rejects.append(rows.reject(row, complaint))
        elif value is None:
            out.skips["vote without a value"] += 1
        else:
            given_at = times.values[row]
            vote = FeedbackEvent(source, _target_kind(section), target, name or "feedback", value)
            out.votes.append(
                vote._replace(scorer_kind=scorer or "human", comment=comment, given_at=given_at, event_id=native)
            )


def _vote_columns(section: FeedbackSection, records: list[Any], out: StagedRows) -> list[list[Any]]:
    specs = (FieldSpec(path=section.target), section.name, None, section.comment, section.id)
    target, name, _, comment, native = (field_values(spec, records, out) for spec in specs)
    value = vote_values(section.value, records, out)
    scorer = text_column(field_values(section.scorer_kind, records, out))
    return [*map(text_column, (target, name)), value, text_column(comment), text_column(native), scorer]


def _vote_times(section: FeedbackSection, records: list[Any], out: StagedRows) -> Any:
    spec = section.given_at or FieldSpec()
    values = field_values(section.given_at, records, out)
    zone = zone_named(spec.timezone)
    return instant_column(values, "at", unit=spec.unit, zone=zone, date_order=spec.date_order)


def _complaint(section: FeedbackSection, target: Any, value: Any) -> str:
    if target is None:
        return f"vote without a target: {section.target!r} is missing"
    if isinstance(value, (dict, list)):
        return f"vote value {str(value)[:60]!r} is neither number nor text"
    return ""


def _target_kind(section: FeedbackSection) -> str:
    return "session" if section.kind == "session" else "interaction"
