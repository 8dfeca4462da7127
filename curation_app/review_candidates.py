"""Candidates in review.duckdb: how they are written and read, and taken over from a run of mining."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

import duckdb
from pydantic_core import PydanticSerializationError, from_json, to_json

from curation_app.labels import double_label_draw
from curation_app.review_rows import rows_of
from evalsets.items import Source
from ingest.mining.candidates import Candidate

if TYPE_CHECKING:
    from ingest.mining.candidate_reading import Queued
    from ingest.mining.run import MiningReport

SHORT_QUESTION = 300

_COLUMNS = {
    "candidate_id": "VARCHAR",
    "interaction_id": "VARCHAR",
    "source": "VARCHAR",
    "case_source": "VARCHAR",
    "question": "VARCHAR",
    "signals": "VARCHAR[]",
    "suggested_mode": "VARCHAR",
    "priority": "DOUBLE",
    "sampling_signal": "VARCHAR",
    "inclusion_probability": "DOUBLE",
    "group_id": "VARCHAR",
    "group_size": "INTEGER",
    "group_first_at": "TIMESTAMPTZ",
    "group_last_at": "TIMESTAMPTZ",
    "known_item_id": "VARCHAR",
    "language": "VARCHAR",
    "model": "VARCHAR",
    "prompt_version": "VARCHAR",
    "asked_at": "TIMESTAMPTZ",
    "double_label_draw": "DOUBLE",
}
"""What is told of a candidate in small columns, by which lists filter and sort; a refresh keeps the others."""

_OF_THE_QUEUE = ("inclusion_probability", "group_id", "group_size", "group_first_at", "group_last_at")
"""What changes as the queue does around a candidate."""

_APART = ("priority", "known_item_id", *_OF_THE_QUEUE)
"""What changes while the session stays as it is: read from the columns, and not written with the session."""

STORED_CANDIDATE = f"s.body, {', '.join(f'c.{name}' for name in _APART)}"
"""What `candidate_of` reads, of a row `s` of candidate_sessions and its row `c` of candidates."""

_HANDED = f"""
    CREATE OR REPLACE TEMP TABLE handed AS
    SELECT {", ".join(f"unnest(?::{kind}[]) AS {name}" for name, kind in _COLUMNS.items())}
"""
_PUT_ROWS = f"""
    INSERT INTO candidates BY NAME
    SELECT *, ? AS batch, ?::TIMESTAMPTZ AS added_at
    FROM (FROM handed EXCEPT SELECT {", ".join(_COLUMNS)} FROM candidates)
    ON CONFLICT (candidate_id)
        DO UPDATE SET {", ".join(f"{name} = excluded.{name}" for name in _COLUMNS if name != "candidate_id")}
"""  # noqa: S608 - our own names
_TOLD = """
    CREATE OR REPLACE TEMP TABLE told AS
    SELECT unnest(?::VARCHAR[]) AS candidate_id, unnest(?::VARCHAR[]) AS body, unnest(?::VARCHAR[]) AS digest
"""
_REFRESH = f"""
    UPDATE candidates AS c SET {", ".join(f"{name} = q.{name}" for name in _OF_THE_QUEUE)}
    FROM (
        SELECT unnest(?::VARCHAR[]) AS candidate_id,
            {", ".join(f"unnest(?::{_COLUMNS[name]}[]) AS {name}" for name in _OF_THE_QUEUE)}
    ) AS q
    WHERE c.candidate_id = q.candidate_id AND ({", ".join(f"c.{name}" for name in _OF_THE_QUEUE)})
        IS DISTINCT FROM ({", ".join(f"q.{name}" for name in _OF_THE_QUEUE)})
"""  # noqa: S608 - our own names


class Session(NamedTuple):
    """What is written of a candidate with its session."""

    candidate_id: str
    body: str
    digest: str
    """Of the body, so that what is stored need not be read to tell whether it is the same."""


class Handed(NamedTuple):
    """Candidates as they are written: the values of their small columns, and their sessions."""

    columns: list[list[Any]]
    sessions: list[Session]

    @property
    def candidate_ids(self) -> list[str]:
        """Their ids, in order."""
        return [session.candidate_id for session in self.sessions]


class Written(NamedTuple):
    """How many candidates were new, and how many rows and sessions of others were written again."""

    new: int
    changed: int


class TakenOver(NamedTuple):
    """Which run of mining the candidates stand as; empty when they do not stand as any did."""

    run: str = ""
    basis: str = ""
    """Names what the candidates of that run were held against besides their log."""


class Handover(NamedTuple):
    """What a run of mining reports: candidates, the queue, and the runs that these and those before them stand as."""

    handed: Handed
    queued: "Sequence[Queued]"
    taken: TakenOver
    after: TakenOver

    @property
    def is_whole(self) -> bool:
        """Whether every candidate of the queue is handed over, and not only what changed."""
        return len(self.handed.candidate_ids) == len(self.queued)


def as_handover(report: "MiningReport", basis: str, after: TakenOver) -> Handover:
    """Make ready what is taken over of a run that was told of the run `after`."""
    handed = as_handed(report.candidates, Source.PRODUCTION)
    return Handover(handed, report.queued, TakenOver(report.run, basis), after)


def take_over(connection: duckdb.DuckDBPyConnection, handover: Handover, now: datetime) -> int:
    """Write what a run of mining hands over, and remember the run; return how many candidates were new.

    Changes to other candidates than stand here make no whole: then no run is remembered, and the next hands all over.
    """
    written = write_candidates(connection, handover.handed, "", now)
    refresh_queued(connection, handover.queued)
    stands = handover.is_whole or read_taken_over(connection) == handover.after
    write_taken_over(connection, handover.taken if stands else TakenOver())
    return written.new


def as_handed(candidates: Iterable[Candidate], source: Source) -> Handed:
    """Make ready what is written of candidates, before a file is opened for it; of those of one id the last counts."""
    listed = list({candidate.candidate_id: candidate for candidate in candidates}.values())
    rows = [_row(candidate, source) for candidate in listed]
    columns = [[row[name] for row in rows] for name in _COLUMNS]
    return Handed(columns, [_session(candidate) for candidate in listed])


def write_candidates(connection: duckdb.DuckDBPyConnection, handed: Handed, batch: str, now: datetime) -> Written:
    """Add candidates, or tell anew of those that are there, which keep their date and, unless one is given, batch."""
    connection.execute(_HANDED, handed.columns)
    ((new,),) = rows_of(connection, "SELECT count(*) FROM handed ANTI JOIN candidates USING (candidate_id)")
    ((rows,),) = rows_of(connection, _PUT_ROWS, [batch, now])
    sessions = _write_sessions(connection, handed.sessions)
    if batch:
        mark_batch(connection, handed.candidate_ids, batch)
    return Written(new, rows + sessions - 2 * new)


def _write_sessions(connection: duckdb.DuckDBPyConnection, sessions: Sequence[Session]) -> int:
    """Write the sessions that are not there as they are; return how many."""
    query = "SELECT candidate_id, digest FROM candidate_sessions SEMI JOIN handed USING (candidate_id)"
    stored = dict(rows_of(connection, query))
    told = [session for session in sessions if stored.get(session.candidate_id) != session.digest]
    if told:
        connection.execute(_TOLD, [list(column) for column in zip(*told, strict=True)])
        # Rows deleted and appended cost what they hold; one updated in place has those of all candidates packed again.
        rows_of(connection, "DELETE FROM candidate_sessions WHERE candidate_id IN (SELECT candidate_id FROM told)")
        rows_of(connection, "INSERT INTO candidate_sessions BY NAME FROM told")
    return len(told)


def mark_batch(connection: duckdb.DuckDBPyConnection, candidate_ids: Sequence[str], batch: str) -> None:
    """Write the name of a batch to those of it that are there."""
    query = "UPDATE candidates SET batch = ? WHERE candidate_id IN (SELECT unnest(?::VARCHAR[]))"
    rows_of(connection, query, [batch, list(candidate_ids)])


def refresh_queued(connection: duckdb.DuckDBPyConnection, queued: "Sequence[Queued]") -> None:
    """Tell anew of every candidate in the queue with which chance it came there, and of which group it is."""
    values = [(each.candidate_id, each.inclusion_probability, *_group(each)) for each in queued]
    if values:
        rows_of(connection, _REFRESH, [list(column) for column in zip(*values, strict=True)])


def read_taken_over(connection: duckdb.DuckDBPyConnection) -> TakenOver:
    """Return the run of mining that was taken over last."""
    return TakenOver(**dict(rows_of(connection, "SELECT name, value FROM review_state")))


def write_taken_over(connection: duckdb.DuckDBPyConnection, taken: TakenOver) -> None:
    """Remember the run of mining that the candidates stand as now."""
    for pair in taken._asdict().items():
        rows_of(connection, "INSERT OR REPLACE INTO review_state VALUES (?, ?)", pair)


def candidate_of(body: str, *apart: Any) -> Candidate:
    """Read a candidate back from the values of `STORED_CANDIDATE`."""
    return Candidate.model_validate({**_of_json(body), **dict(zip(_APART, apart, strict=True))})


def _row(candidate: Candidate, source: Source) -> dict[str, Any]:
    turn = candidate.flagged_turn
    return {
        "candidate_id": candidate.candidate_id,
        "interaction_id": candidate.interaction_id,
        "source": candidate.source,
        "case_source": source.value,
        "question": _storable(turn.question[:SHORT_QUESTION]),
        "signals": [hit.signal for hit in candidate.signals],
        "suggested_mode": candidate.suggestion.mode if candidate.suggestion else "",
        "priority": candidate.priority,
        "sampling_signal": candidate.sampling_signal,
        **{name: getattr(candidate, name) for name in _OF_THE_QUEUE},
        "known_item_id": candidate.known_item_id,
        "language": candidate.language,
        "model": _storable(turn.model),
        "prompt_version": _storable(turn.prompt_version),
        "asked_at": turn.asked_at,
        "double_label_draw": double_label_draw(candidate.candidate_id),
    }


def _group(queued: "Queued") -> tuple[Any, ...]:
    group = queued.group
    return (group.group_id, group.size, group.first_at, group.last_at) if group else ("", 1, None, None)


def _session(candidate: Candidate) -> Session:
    body = _as_json(candidate.model_dump(exclude={*_APART}))
    return Session(candidate.candidate_id, body.decode(), hashlib.sha256(body).hexdigest())


def _as_json(fields: dict[str, Any]) -> bytes:
    """Write JSON: in ASCII where a log holds a lone surrogate, which so survives and breaks nothing."""
    try:
        return to_json(fields, inf_nan_mode="constants")
    except PydanticSerializationError:
        return json.dumps(fields, default=_iso).encode()


def _of_json(body: str) -> dict[str, Any]:
    try:
        fields = from_json(body)
    except ValueError:  # a lone surrogate
        fields = json.loads(body)
    return dict(fields)


def _iso(value: Any) -> str:
    return str(value.isoformat())


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
