"""The signals on Apache Spark, for logs that live in a lake: the same SQL and the same functions as on one machine."""

import os
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from evalsets.errors import BadInputError
from evalsets.languages import LANGUAGES
from ingest.mining.log_languages import LARGE, SAMPLED, languages_told_by
from ingest.mining.shortlist import keep_crowded, shortlist, weights_select
from ingest.settings import QueueSettings, SignalSettings
from ingest.signals.columns import SignalColumns
from ingest.signals.engine import Value, bound_values
from ingest.signals.pipeline import (
    WHAT_IS_SAID,
    WHERE_FOUND,
    Plan,
    find_hits,
    late_hits,
    plan,
    shares_of,
    what_is_said,
)
from ingest.signals.registry import stage_sql

BEST, HITS, SESSIONS = "best", "hits", "sessions"
"""Folders of the result: the short list with controls, what was found in it, and the turns around it."""

_COLUMNS = (
    "interaction_id, source, session_id, user_id, asked_at, question, answer, feedback, feedback_comment, model, "
    "prompt_version, latency_ms, cost, error, stream_cut"
)
_LOOKS_FROM = 1_000
"""Texts from which on a worker looks before Java's expressions read, which are fifty times as slow as DuckDB's."""
_FUNCTIONS = (
    "session_number(source STRING, session STRING) RETURNS BIGINT RETURN xxhash64(source, session)",
    "first_letters(text STRING, most INT) RETURNS STRING RETURN substr(text, 1, most)",
)
_RETRIEVED_TEXTS = """
SELECT interaction_id AS line, chunk.text AS text FROM exported LATERAL VIEW explode(retrieved) AS chunk
WHERE chunk.text IS NOT NULL
"""
_BEST = f"""
SELECT c.line, f.interaction_id, f.source, f.session_key, c.priority, c.sampling_signal, c.probability
FROM chosen AS c JOIN (SELECT DISTINCT {WHERE_FOUND} FROM said) AS f ON f.line = c.line
UNION ALL
SELECT line, interaction_id, source, session_key, cast(0 AS double), 'control', probability FROM controls
"""  # noqa: S608 - our own column names
# Of a session only the turns around what was chosen come back, as many as a reviewer sees: a bot's has millions.
_SESSIONS = """
WITH keyed AS (
    SELECT
        l.interaction_id,
        l.source,
        coalesce(
            o.session_key,
            CASE WHEN g.is_shared THEN NULL ELSE l.session_id END,
            concat('single:', l.interaction_id)
        ) AS session_key,
        coalesce(unix_micros(l.asked_at), 0) AS asked_us
    FROM logs AS l
    LEFT JOIN giants AS g ON g.source = l.source AND g.session_id = l.session_id
    LEFT JOIN loose AS o ON o.interaction_id = l.interaction_id
),
sessions AS (
    SELECT DISTINCT k.source, k.session_key FROM keyed AS k
    LEFT SEMI JOIN best AS c ON c.interaction_id = k.interaction_id
),
placed AS (
    SELECT k.*, row_number() OVER (
        PARTITION BY k.source, k.session_key ORDER BY k.asked_us, length(k.interaction_id), k.interaction_id
    ) AS place
    FROM keyed AS k LEFT SEMI JOIN sessions AS s ON s.source = k.source AND s.session_key = k.session_key
),
around AS (
    SELECT DISTINCT p.source, p.session_key, explode(sequence(p.place - {context}, p.place + {context})) AS place
    FROM placed AS p LEFT SEMI JOIN best AS c ON c.interaction_id = p.interaction_id
)
SELECT e.*, p.session_key
FROM placed AS p
LEFT SEMI JOIN around AS a ON a.source = p.source AND a.session_key = p.session_key AND a.place = p.place
JOIN exported AS e ON e.interaction_id = p.interaction_id
"""


class SparkMining(NamedTuple):
    """What a run on Spark read and flagged."""

    interactions: int
    flagged: int


class SparkSignals:
    """A SignalEngine over a Spark session. What it keeps is worked out at once, so that plans do not grow."""

    def __init__(self, session: Any, settings: SignalSettings, languages: Sequence[str] = LANGUAGES) -> None:
        """Register the functions; `session` is a SparkSession, refusals are looked for in `languages`."""
        self._session = session
        for function in _FUNCTIONS:
            session.sql(f"CREATE OR REPLACE TEMPORARY FUNCTION {function}")
        _register(session, SignalColumns(settings, languages, looks_from=_LOOKS_FROM))

    def keep(self, name: str, select: str, values: Mapping[str, Value]) -> None:
        """Run `select` and keep its rows as the view `name`."""
        kept = self._session.sql(select, args=bound_values(select, values)).localCheckpoint()
        kept.createOrReplaceTempView(name)

    def rows(self, select: str) -> list[tuple[Any, ...]]:
        """Return the rows of `select`."""
        return [tuple(row) for row in self._session.sql(select).collect()]


def mine_on_spark(
    session: Any, source: str, target: str, *, signals: SignalSettings | None = None, queue: QueueSettings | None = None
) -> SparkMining:
    """Find what failed in the exported interactions at `source` and write the best candidates to `target`.

    `source` is what `errata logs export --format parquet` writes, or the same columns from anywhere Spark can read.
    """
    signals, queue = signals or SignalSettings(), queue or QueueSettings()
    exported = session.read.parquet(source)
    exported.createOrReplaceTempView("exported")
    for view in ("logs", "all_logs"):
        session.sql(f"SELECT {_COLUMNS}, interaction_id AS line FROM exported").createOrReplaceTempView(view)  # noqa: S608 - our own column names
    session.sql(_RETRIEVED_TEXTS).createOrReplaceTempView("retrieved_texts")
    total = exported.count()
    shares = shares_of(total, signals, queue)
    languages = _languages(session, total)
    what = plan(signals, queue, now=datetime.now(UTC), shares=shares, languages=languages)
    engine = SparkSignals(session, signals, languages)
    find_hits(engine, what)
    late = f"UNION ALL SELECT line, NULL, NULL, signal, score, is_weak FROM ({late_hits(what)}) AS late"  # noqa: S608 - our own SQL
    engine.keep("found", f"SELECT * FROM hits {late if what.late else ''}", what.values)  # noqa: S608 - our own SQL
    engine.keep("weights", weights_select(queue), {})
    engine.keep("ranks", stage_sql("ranks"), {})
    keep_crowded(engine, queue)
    shortlist(engine, queue)
    _write_best(session, engine, what, target, queue)
    return SparkMining(total, session.sql("SELECT count(*) FROM ranks").first()[0])


def _languages(session: Any, total: int) -> tuple[str, ...]:
    """Return the languages to look for refusals in: all, or in a large log those of a sample of answers."""
    if total < LARGE:
        return LANGUAGES
    drawn = f"SELECT substr(answer, 1, 300) FROM exported ORDER BY xxhash64(interaction_id) LIMIT {SAMPLED}"  # noqa: S608 - our own numbers
    return languages_told_by(row[0] for row in session.sql(drawn).collect())


def _write_best(session: Any, engine: SparkSignals, what: Plan, target: str, queue: QueueSettings) -> None:
    engine.keep("said", what_is_said(what.early, "chosen"), what.values)
    engine.keep("best", _BEST, {})
    hits = f"SELECT line, {WHAT_IS_SAID} FROM said"  # noqa: S608 - our own column names
    if what.late:
        engine.keep("said_late", what_is_said(what.late, "chosen"), what.values)
        hits = f"{hits} UNION ALL SELECT line, {WHAT_IS_SAID} FROM said_late"  # noqa: S608 - our own column names
    sessions = _SESSIONS.format(context=int(queue.context_turns))
    for folder, select in ((BEST, "SELECT * FROM best"), (HITS, hits), (SESSIONS, sessions)):
        session.sql(select).write.mode("overwrite").parquet(f"{target.rstrip('/')}/{folder}")


_LOCAL_MEMORY = "2g"
"""Spark's own default, 1g, ended on 340,000 interactions in a session that had mined before."""


def start_spark(*, master: str = "", shuffle_partitions: int = 0) -> Any:
    """Start or join a Spark session with UTC times; BadInputError when the extra is not installed.

    `master` such as `local[4]` runs it here; empty leaves it to spark-submit or the environment.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise BadInputError(
            "--engine spark needs pyspark. Install errata-evals[spark] and Java 17 or newer."
        ) from error
    builder = SparkSession.builder.appName("errata-mine").config("spark.sql.session.timeZone", "UTC")
    builder = builder.config("spark.sql.adaptive.enabled", "true").config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.sql.maxPlanStringLength", "400")
    if master.startswith("local"):
        builder = builder.config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
        builder = builder.config("spark.driver.memory", _LOCAL_MEMORY)
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if shuffle_partitions:
        builder = builder.config("spark.sql.shuffle.partitions", str(shuffle_partitions))
    return (builder.master(master) if master else builder).getOrCreate()


def _register(session: Any, columns: SignalColumns) -> None:
    from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined]

    functions = (
        ("rephrase", columns.rephrase, "kind string, score double"),
        ("supported", columns.supported, "share double, figure string"),
        ("declining", columns.declining, "string"),
        ("first_look", columns.first_look, "tinyint"),
    )
    for name, function, returns in functions:
        session.udf.register(name, arrow_udf(function, returns))
