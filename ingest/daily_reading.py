"""Read the numbers by day: never the interactions themselves, so that it is quick whatever the log's size."""

from datetime import date, datetime
from typing import Any, NamedTuple

import duckdb

from ingest import daily


class DailyFilter(NamedTuple):
    """What is looked at; None does not narrow. An unknown model or prompt version is the empty string."""

    first_day: date | None = None
    last_day: date | None = None
    source: str | None = None
    model: str | None = None
    prompt_version: str | None = None


class Latency(NamedTuple):
    """Median and 95th percentile in ms to three digits, with 95% bounds by ranks; None where none was logged."""

    p50: float | None = None
    p95: float | None = None
    p50_bounds: tuple[float, float] | None = None
    p95_bounds: tuple[float, float] | None = None
    timed: int = 0
    """Turns whose latency was logged."""


class DayFigures(NamedTuple):
    """What happened in one group of turns."""

    group: Any
    """The day, or the value that was grouped by."""
    interactions: int
    sessions: int
    """That began here."""
    thumbs_up: int
    thumbs_down: int
    errors: int
    cut: int
    answers: int
    priced: int
    cost: float
    cost_squares: float
    signals: dict[str, int]
    """Flagged turns by signal."""
    latency: Latency
    compared: int
    """Answers that mining compared with their retrieved text: all, or about a share of a large log."""


class DailyChoices(NamedTuple):
    """What the log holds to choose from."""

    first_day: date | None
    last_day: date | None
    sources: tuple[str, ...]
    models: tuple[str, ...]
    prompt_versions: tuple[str, ...]
    undated: int
    """Turns without a time, which no day holds."""


class DaysOf(NamedTuple):
    """When a model or prompt version was in use: its first day, and on how many days."""

    first: date
    number: int


class WordCount(NamedTuple):
    """Questions that hold a word, in a recent and in an earlier span."""

    word: str
    recent: int
    before: int


class Freshness(NamedTuple):
    """How old what we know is. `stale` documents were last written before the day asked about."""

    last_ingest_at: datetime | None
    newest_turn_at: datetime | None
    documents: int
    oldest_document: str | None
    oldest_written_at: datetime | None
    stale: tuple[str, ...]


GROUPS = {"day": "day", "model": "coalesce(model, '')", "prompt_version": "coalesce(prompt_version, '')", "all": "''"}
_NARROWED = """
    WHERE day IS NOT NULL
        AND ($first_day IS NULL OR day >= $first_day) AND ($last_day IS NULL OR day <= $last_day)
        AND ($source IS NULL OR source = $source)
        AND ($model IS NULL OR coalesce(model, '') = $model)
        AND ($prompt_version IS NULL OR coalesce(prompt_version, '') = $prompt_version)
"""
_BOUND_Z = 1.96
_ANSWERS = DayFigures._fields.index("answers")
_NO_LATENCY = Latency()


def read_figures(
    connection: duckdb.DuckDBPyConnection, filters: DailyFilter, *, by: str = "day", compared_share: float = 1.0
) -> list[DayFigures]:
    """Return the figures of each group of `by` (one of GROUPS) that has turns, in order of the group.

    `compared_share` is the share of answers that mining compared with their retrieved text.
    """
    daily.ensure_in_step(connection)
    values = filters._asdict()
    group = GROUPS[by]
    turns = connection.execute(
        f"""SELECT {group} AS part, sum(interactions)::BIGINT, sum(sessions)::BIGINT, sum(thumbs_up)::BIGINT,
            sum(thumbs_down)::BIGINT, sum(errors)::BIGINT, sum(cut)::BIGINT, sum(answers)::BIGINT, sum(priced)::BIGINT,
            sum(cost), sum(cost_squares)
        FROM daily_turns {_NARROWED} GROUP BY part ORDER BY part""",  # noqa: S608 - our own expressions
        values,
    ).fetchall()
    signals = _signals(connection, group, values)
    latencies = _latencies(connection, group, values)
    return [
        DayFigures._make(
            (*row, signals.get(row[0], {}), latencies.get(row[0], _NO_LATENCY), round(row[_ANSWERS] * compared_share))
        )
        for row in turns
    ]


def count_turns(connection: duckdb.DuckDBPyConnection) -> int:
    """Return how many turns the log holds."""
    return int(connection.execute("SELECT coalesce(sum(interactions), 0) FROM daily_turns").fetchall()[0][0])


def read_days_of(connection: duckdb.DuckDBPyConnection, filters: DailyFilter, *, by: str) -> dict[str, DaysOf]:
    """Return the days on which each group of `by` was met, the earliest first."""
    rows = connection.execute(
        f"""SELECT {GROUPS[by]} AS part, min(day) AS first, count(DISTINCT day) FROM daily_turns {_NARROWED}
        GROUP BY part ORDER BY first, part""",  # noqa: S608 - our own expressions
        filters._asdict(),
    ).fetchall()
    return {part: DaysOf(first, days) for part, first, days in rows}


def read_choices(connection: duckdb.DuckDBPyConnection) -> DailyChoices:
    """Return the days, sources, models and prompt versions there are."""
    daily.ensure_in_step(connection)
    row = connection.execute(
        """SELECT min(day), max(day), list(DISTINCT source ORDER BY source),
            list(DISTINCT coalesce(model, '') ORDER BY coalesce(model, '')),
            list(DISTINCT coalesce(prompt_version, '') ORDER BY coalesce(prompt_version, '')),
            coalesce(sum(interactions) FILTER (day IS NULL), 0)::BIGINT
        FROM daily_turns"""
    ).fetchall()[0]
    first, last, sources, models, versions, undated = row
    return DailyChoices(first, last, tuple(sources or ()), tuple(models or ()), tuple(versions or ()), undated)


def read_words(
    connection: duckdb.DuckDBPyConnection, filters: DailyFilter, *, recent_from: date, least: int
) -> list[WordCount]:
    """Return the words that stand in at least `least` questions since `recent_from`, with their count before it."""
    rows = connection.execute(
        """SELECT word, coalesce(sum(turns) FILTER (day >= $recent_from), 0)::BIGINT AS recent,
            coalesce(sum(turns) FILTER (day < $recent_from), 0)::BIGINT
        FROM daily_words
        WHERE day BETWEEN $first_day AND $last_day AND ($source IS NULL OR source = $source)
        GROUP BY word HAVING recent >= $least ORDER BY recent DESC, word LIMIT 5000""",
        {
            "recent_from": recent_from,
            "least": least,
            "first_day": filters.first_day,
            "last_day": filters.last_day,
            "source": filters.source,
        },
    ).fetchall()
    return [WordCount(*row) for row in rows]


def read_freshness(connection: duckdb.DuckDBPyConnection, *, stale_before: datetime) -> Freshness:
    """Return the times of the last ingest and the newest turn, and which documents are old."""
    times = connection.execute(
        "SELECT (SELECT max(finished_at) FROM ingests), (SELECT max(asked_at) FROM interactions)"
    ).fetchall()[0]
    documents = connection.execute(
        """SELECT doc_id, max(coalesce(updated_at, added_at)) AS written_at
        FROM corpus_chunks GROUP BY doc_id ORDER BY written_at, doc_id"""
    ).fetchall()
    oldest, oldest_at = documents[0] if documents else (None, None)
    stale = tuple(doc_id for doc_id, written_at in documents if written_at < stale_before)
    return Freshness._make((*times, len(documents), oldest, oldest_at, stale))


def _signals(connection: duckdb.DuckDBPyConnection, group: str, values: dict[str, Any]) -> dict[Any, dict[str, int]]:
    rows = connection.execute(
        f"SELECT {group} AS part, signal, sum(turns)::BIGINT FROM daily_signals {_NARROWED} GROUP BY part, signal",  # noqa: S608
        values,
    ).fetchall()
    found: dict[Any, dict[str, int]] = {}
    for part, signal, turns in rows:
        found.setdefault(part, {})[signal] = turns
    return found


def _latencies(connection: duckdb.DuckDBPyConnection, group: str, values: dict[str, Any]) -> dict[Any, Latency]:
    """Return median and 95th percentile with bounds from the counts by rounded latency."""
    rows = connection.execute(
        f"""WITH counts AS (
            SELECT {group} AS part, latency_ms, sum(turns)::BIGINT AS turns FROM daily_latency {_NARROWED} GROUP BY ALL
        ), ranked AS (
            SELECT part, latency_ms, sum(turns) OVER (PARTITION BY part ORDER BY latency_ms) AS upto,
                sum(turns) OVER (PARTITION BY part) AS n
            FROM counts
        )
        SELECT part,
            min(latency_ms) FILTER (upto >= 0.5 * n), min(latency_ms) FILTER (upto >= 0.95 * n),
            min(latency_ms) FILTER (upto >= 0.5 * n - $z * sqrt(0.25 * n)),
            min(latency_ms) FILTER (upto >= least(n, 0.5 * n + $z * sqrt(0.25 * n))),
            min(latency_ms) FILTER (upto >= 0.95 * n - $z * sqrt(0.0475 * n)),
            min(latency_ms) FILTER (upto >= least(n, 0.95 * n + $z * sqrt(0.0475 * n))),
            any_value(n)::BIGINT
        FROM ranked GROUP BY part""",  # noqa: S608 - our own expressions
        {**values, "z": _BOUND_Z},
    ).fetchall()
    return {row[0]: Latency(row[1], row[2], (row[3], row[4]), (row[5], row[6]), row[7]) for row in rows}
