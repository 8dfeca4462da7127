"""Which candidates a list or a reviewer gets: filters, order, pages and states, over small columns only.

Candidates that ask the same are one entry of a list and one thing to label: their group stands for them.
"""

from collections.abc import Sequence
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict

Query = tuple[str, list[Any]]


class CandidateState(StrEnum):
    """How far a candidate has come."""

    OPEN = "open"
    IN_PROGRESS = "in progress"
    DEFERRED = "deferred"
    SKIPPED = "skipped"
    SECOND_READER = "waits for a second reader"
    DISAGREEMENT = "disagreement"
    LABELLED = "labelled"
    NOT_FAILURE = "not a failure"
    CLOSED = "closed with its group"


class QueueSort(StrEnum):
    """Orders a list can take."""

    PRIORITY = "priority"
    NEWEST = "newest"
    OLDEST = "oldest"
    GROUP = "most alike"


_ORDER = {
    QueueSort.PRIORITY: "priority DESC, candidate_id",
    QueueSort.NEWEST: "asked_at DESC NULLS LAST, candidate_id",
    QueueSort.OLDEST: "asked_at NULLS LAST, candidate_id",
    QueueSort.GROUP: "group_size DESC, priority DESC, candidate_id",
}


class QueueFilter(BaseModel):
    """What a list is narrowed to; an empty field does not narrow."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    signal: str = ""
    mode: str = ""
    """Mode that was suggested."""
    model: str = ""
    prompt_version: str = ""
    language: str = ""
    source: str = ""
    batch: str = ""
    reviewer: str = ""
    state: str = ""
    text: str = ""
    since: date | None = None
    until: date | None = None
    sort: QueueSort = QueueSort.PRIORITY


class QueueRow(NamedTuple):
    """One candidate in a list."""

    candidate_id: str
    question: str
    signals: tuple[str, ...]
    suggested_mode: str
    priority: float
    group_size: int
    known_item_id: str
    model: str
    prompt_version: str
    language: str
    asked_at: datetime | None
    state: CandidateState
    reviewer: str
    group_id: str
    """Empty for a candidate that nothing else is like."""
    first_asked_at: datetime | None
    """Of the whole group, like `group_size` and `last_asked_at`."""
    last_asked_at: datetime | None


class QueuePage(NamedTuple):
    """A page of a list, a row a group, and the number of rows in all pages."""

    rows: tuple[QueueRow, ...]
    total: int


_STATES = """
    SELECT c.*,
        CASE
            WHEN a.candidate_id IS NOT NULL THEN CASE WHEN a.mode IS NULL THEN 'not a failure' ELSE 'labelled' END
            WHEN r.verdicts > 1 THEN 'disagreement'
            WHEN r.readers = 1 AND c.double_label_draw < ? THEN 'waits for a second reader'
            WHEN r.readers >= 1 AND r.kind = 'not_failure' THEN 'not a failure'
            WHEN r.readers >= 1 THEN 'labelled'
            WHEN f.candidate_id IS NOT NULL THEN 'closed with its group'
            WHEN k.candidate_id IS NOT NULL THEN 'in progress'
            WHEN m.kind = 'defer' THEN 'deferred'
            WHEN m.kind = 'skip' THEN 'skipped'
            ELSE 'open'
        END AS state,
        coalesce(a.reviewer, r.reviewer, f.reviewer, k.reviewer, m.reviewer, '') AS reviewer,
        coalesce(nullif(c.group_id, ''), c.candidate_id) AS family,
        coalesce(g.members, 1) AS members,
        coalesce(g.first_asked_at, c.asked_at) AS first_asked_at,
        coalesce(g.last_asked_at, c.asked_at) AS last_asked_at
    FROM candidates AS c
    LEFT JOIN readings AS r ON r.candidate_id = c.candidate_id
    LEFT JOIN current_adjudications AS a ON a.candidate_id = c.candidate_id
    LEFT JOIN closed_members AS f ON f.candidate_id = c.candidate_id
    LEFT JOIN (
        SELECT group_id, count(*) AS members, min(asked_at) AS first_asked_at, max(asked_at) AS last_asked_at
        FROM candidates WHERE group_id <> '' GROUP BY group_id
    ) AS g ON g.group_id = c.group_id
    LEFT JOIN claims AS k ON k.candidate_id = c.candidate_id AND k.expires_at > ?
    LEFT JOIN (
        SELECT candidate_id, arg_max(kind, seq) AS kind, arg_max(reviewer, seq) AS reviewer FROM current_decisions
        WHERE kind IN ('defer', 'skip') GROUP BY candidate_id
    ) AS m ON m.candidate_id = c.candidate_id
"""


_ROW = """
    candidate_id, question, signals, suggested_mode, priority, members, known_item_id, model, prompt_version, language,
    asked_at, state, reviewer, coalesce(group_id, ''), first_asked_at, last_asked_at
"""


def page_queries(filters: QueueFilter, *, share: float, now: datetime, page: int, size: int) -> tuple[Query, Query]:
    """Return the query that counts the groups of a list and the query of one page of them."""
    where, values = _conditions(filters)
    base = f"FROM ({_STATES}) AS c WHERE {where}"
    bound = [share, now, *values]
    order = _ORDER[filters.sort]
    rows = f"""
        SELECT {_ROW} FROM (
            SELECT * {base}
            QUALIFY row_number() OVER (PARTITION BY family ORDER BY state = 'closed with its group', {order}) = 1
        ) ORDER BY {order} LIMIT ? OFFSET ?
    """  # noqa: S608 - fixed clauses; every value is bound
    return (f"SELECT count(DISTINCT family) {base}", bound), (rows, [*bound, size, (page - 1) * size])


def members_query(group_ids: Sequence[str], *, share: float, now: datetime) -> Query:
    """Return the query of every member of these groups, a group after another."""
    query = f"SELECT {_ROW} FROM ({_STATES}) WHERE list_contains(?, group_id) ORDER BY group_id, asked_at, candidate_id"  # noqa: S608
    return query, [share, now, list(group_ids)]


def available_query(reviewer: str, filters: QueueFilter, *, share: float, now: datetime) -> Query:
    """Return the ids this reviewer may label, each with its group, in order.

    First what they hold, then as sorted, then what they deferred, then members of groups that were labelled already.
    Whoever takes them one by one gets one of a group: what is held, deferred or skipped stands for its group.
    """
    query, values = _available(reviewer, filters, share=share, now=now)
    order = f"holder IS NULL OR my_kind IS NOT NULL, is_repeat, my_kind IS NOT NULL, my_seq, {_ORDER[filters.sort]}"
    return f"SELECT candidate_id, family FROM ({query}) ORDER BY {order}", values  # noqa: S608 - fixed; values are bound


def browsing_query(reviewer: str, filters: QueueFilter, *, share: float, now: datetime) -> Query:
    """Return the ids this reviewer may label, one of each group, as the list shows them, whoever has deferred what."""
    query, values = _available(reviewer, filters, share=share, now=now)
    order = _ORDER[filters.sort]
    first = f"QUALIFY row_number() OVER (PARTITION BY family ORDER BY holder IS NULL, my_kind IS NULL, {order}) = 1"
    return f"SELECT candidate_id FROM ({query}) {first} ORDER BY {order}", values  # noqa: S608 - fixed


_LATEST = """
    live AS (
        SELECT candidate_id, reviewer, author_kind, kind, seq FROM label_events
        WHERE kind <> 'undo' AND token NOT IN (SELECT undoes FROM label_events WHERE undoes IS NOT NULL)
    ), latest AS (
        SELECT candidate_id, reviewer, arg_max(kind, seq) AS kind, arg_max(author_kind, seq) AS author_kind,
            max(seq) AS seq
        FROM live GROUP BY candidate_id, reviewer, kind = 'adjudicate'
    ), said AS (
        SELECT candidate_id,
            count(*) FILTER (WHERE author_kind = 'human' AND kind IN ('label', 'not_failure')) AS readers,
            count(*) FILTER (WHERE kind = 'adjudicate') AS settled,
            count(*) FILTER (WHERE kind = 'follow') AS closed,
            max(kind) FILTER (WHERE reviewer = ? AND kind <> 'adjudicate') AS my_kind,
            max(seq) FILTER (WHERE reviewer = ? AND kind <> 'adjudicate') AS my_seq
        FROM latest GROUP BY candidate_id
    ), alike AS (
        SELECT c.group_id, bool_or(t.is_answered) AS is_answered, bool_or(t.is_deferred) AS is_deferred,
            bool_or(t.is_left) AS is_left
        FROM (
            SELECT candidate_id, readers + settled > 0 AS is_answered, my_kind = 'defer' AS is_deferred,
                my_kind = 'skip' AS is_left
            FROM said
            UNION ALL SELECT candidate_id, FALSE, FALSE, reviewer <> ? FROM claims WHERE expires_at > ?
        ) AS t JOIN candidates AS c USING (candidate_id)
        WHERE c.group_id <> '' GROUP BY c.group_id
    )
"""
"""The views of the schema, folded into one pass: this query stands in the path of every key press."""


def _available(reviewer: str, filters: QueueFilter, *, share: float, now: datetime) -> Query:
    narrowed = filters.model_copy(update={"state": "", "reviewer": ""})
    where, values = _conditions(narrowed)
    query = f"""
        WITH {_LATEST}
        SELECT c.*, coalesce(nullif(c.group_id, ''), c.candidate_id) AS family,
            said.my_kind, said.my_seq, held.reviewer AS holder,
            coalesce(alike.is_answered, FALSE) AND coalesce(said.readers, 0) = 0 AS is_repeat
        FROM candidates AS c
        LEFT JOIN said ON said.candidate_id = c.candidate_id
        LEFT JOIN alike ON alike.group_id = c.group_id
        LEFT JOIN claims AS held ON held.candidate_id = c.candidate_id AND held.expires_at > ?
        WHERE coalesce(said.readers, 0) < CASE WHEN c.double_label_draw < ? THEN 2 ELSE 1 END
            AND coalesce(said.settled, 0) = 0
            AND coalesce(said.closed, 0) = 0
            AND (held.reviewer = ? OR NOT coalesce(alike.is_left, FALSE))
            AND (said.my_kind = 'defer' OR held.reviewer = ? OR NOT coalesce(alike.is_deferred, FALSE))
            AND (said.my_kind IS NULL OR said.my_kind = 'defer')
            AND (held.reviewer IS NULL OR held.reviewer = ?)
            AND {where}
    """  # noqa: S608 - fixed clauses; every value is bound
    return query, [reviewer, reviewer, reviewer, now, now, share, reviewer, reviewer, reviewer, *values]


def facet_query() -> str:
    """Return the query of (facet, value, count) over all candidates."""
    columns = {
        "mode": "suggested_mode",
        "model": "model",
        "prompt_version": "prompt_version",
        "language": "language",
        "source": "source",
        "batch": "batch",
    }
    parts = [
        f"SELECT '{facet}' AS facet, {column} AS value, count(*) AS n FROM candidates "  # noqa: S608 - fixed names
        f"WHERE coalesce({column}, '') <> '' GROUP BY ALL"
        for facet, column in columns.items()
    ]
    parts.append(
        "SELECT 'signal', signal, count(*) FROM (SELECT unnest(signals) AS signal FROM candidates) GROUP BY ALL"
    )
    parts.append("SELECT 'reviewer', reviewer, count(DISTINCT candidate_id) FROM label_events GROUP BY ALL")
    return " UNION ALL ".join(parts) + " ORDER BY facet, n DESC, value"


def row_of(row: tuple[Any, ...]) -> QueueRow:
    """Make a list row of what `page_queries` selects."""
    named = QueueRow(*row)
    return named._replace(signals=tuple(named.signals), state=CandidateState(named.state))


def _conditions(filters: QueueFilter) -> Query:
    clauses = {
        "list_contains(signals, ?)": filters.signal,
        "suggested_mode = ?": filters.mode,
        "model = ?": filters.model,
        "prompt_version = ?": filters.prompt_version,
        "language = ?": filters.language,
        "source = ?": filters.source,
        "batch = ?": filters.batch,
        "reviewer = ?": filters.reviewer,
        "state = ?": filters.state,
        "contains(lower(question), lower(?))": filters.text,
        "asked_at >= ?": filters.since,
        "asked_at < ?": filters.until + timedelta(days=1) if filters.until else None,
    }
    used = {clause: value for clause, value in clauses.items() if value}
    return " AND ".join(used) or "TRUE", list(used.values())
