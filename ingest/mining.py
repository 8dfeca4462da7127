"""Mine the log store: run the signals over what is new, keep what they found, and hand the best to review."""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import NamedTuple

import duckdb

from evalsets.errors import ErrataError
from ingest.candidate_reading import Shortcut, read_candidates
from ingest.candidates import Candidate
from ingest.diagnosing import CorpusSearch, diagnosed
from ingest.grouping import group_alike, recognise_known
from ingest.log_languages import languages_of
from ingest.log_store import LogStore
from ingest.mining_notes import cut_notes, log_notes, sample_notes
from ingest.mining_state import (
    FOUND_TABLES,
    choose_all_logs,
    choose_changed_logs,
    forget_findings,
    open_from,
    read_state,
    replace_findings,
    write_state,
)
from ingest.mining_sums import rank_anew, sum_up_anew, sum_up_changes
from ingest.settings import QueueSettings, SignalSettings
from ingest.shortlist import RANKS, set_weights, shortlist
from ingest.shown_turns import keep_turns, kept_turns, manner_of_showing
from ingest.signals.duckdb_engine import DuckDBSignals
from ingest.signals.pipeline import HIT_COLUMNS, Plan, find_hits, plan, shares_of

MEMORY_LIMIT = "1200MB"
MINING_VERSION = "6"
"""Raised when the same log would be mined differently, so that the next run reads all of it."""

# Of what was retrieved only that is looked at which answers are compared with: the stage `compared` fills the table.
_RETRIEVED_TEXTS = """
CREATE OR REPLACE TEMP TABLE compared (line BIGINT, interaction_id VARCHAR, source VARCHAR, session_key VARCHAR);
CREATE OR REPLACE TEMP VIEW retrieved_texts AS
WITH places AS MATERIALIZED (
    SELECT rowid AS place, interaction_id FROM retrieved SEMI JOIN compared USING (interaction_id)
)
SELECT p.interaction_id, coalesce(t.text, c.text) AS text
FROM places AS p
JOIN retrieved AS r ON r.rowid = p.place
LEFT JOIN chunk_texts AS t ON t.text_hash = r.text_hash
LEFT JOIN corpus_chunks AS c ON c.chunk_id = r.chunk_id
WHERE coalesce(t.text, c.text) IS NOT NULL
"""


class NothingToMineError(ErrataError):
    """The log store holds no interactions yet."""


class SignalCount(NamedTuple):
    """How many interactions one signal flagged, over the whole log, and how many of these weakly."""

    signal: str
    flagged: int
    weak: int


class MiningReport(NamedTuple):
    """What a run read and found; `candidates` is what goes to review, highest priority first."""

    interactions: int
    """In the log."""
    read: int
    """Of these, read by this run: all, or the sessions that changed."""
    flagged: int
    by_signal: tuple[SignalCount, ...]
    notes: tuple[str, ...]
    """What the log is like and what was left out because of it, in sentences."""
    is_incremental: bool
    candidates: tuple[Candidate, ...]


def mine(
    store: LogStore,
    signals: SignalSettings | None = None,
    queue: QueueSettings | None = None,
    *,
    now: datetime | None = None,
    full: bool = False,
) -> MiningReport:
    """Find what failed in the interactions of `store`.

    Reads only the sessions that changed since the last run, unless `full` is set or the settings changed.
    Raises NothingToMineError on an empty store.
    """
    signals, queue = signals or SignalSettings(), queue or QueueSettings()
    with store.unit() as connection:
        connection.execute(f"SET memory_limit = '{MEMORY_LIMIT}'")
        connection.execute("SET preserve_insertion_order = false")
        return _mine(connection, signals, queue, now=now or datetime.now(UTC), full=full)


def prepared(
    report: MiningReport, *, search: CorpusSearch | None = None, known: Mapping[str, str] | None = None
) -> MiningReport:
    """Return the report with its candidates diagnosed, grouped and compared with the current set.

    `search` looks a question up in the corpus; `known` holds the questions of the current set by item id.
    """
    return report._replace(candidates=tuple(prepare_candidates(report.candidates, search=search, known=known)))


def prepare_candidates(
    candidates: Iterable[Candidate], *, search: CorpusSearch | None = None, known: Mapping[str, str] | None = None
) -> list[Candidate]:
    """Diagnose candidates, group those that ask the same and recognise what the set already has."""
    suggested = [diagnosed(candidate, search) for candidate in candidates]
    return recognise_known(group_alike(suggested), known or {})


def _mine(
    connection: duckdb.DuckDBPyConnection, signals: SignalSettings, queue: QueueSettings, *, now: datetime, full: bool
) -> MiningReport:
    (extent,) = connection.execute("SELECT count(*), coalesce(max(ingest_id), 0) FROM interactions").fetchall()
    total, newest = extent
    if not total:
        raise NothingToMineError("the log holds no interactions. Run `errata ingest` first.")
    before = read_state(connection)
    fingerprint = _fingerprint(signals, queue)
    is_incremental = not full and before.get("fingerprint") == fingerprint and before.get("has_shared") == "0"
    languages = before["languages"].split() if is_incremental else languages_of(connection, total)
    shares = shares_of(total, signals, queue)
    what = plan(signals, queue, now=now, shares=shares, languages=languages)
    stored = {} if is_incremental else {name: f"mined_{name}" for name in FOUND_TABLES}
    engine = DuckDBSignals(connection, signals, languages, stored=stored)
    _choose_logs(connection, what, before=before if is_incremental else {})
    connection.begin()
    find_hits(engine, what, ready={"baselines"} if is_incremental else ())
    read, shared = connection.execute(
        "SELECT (SELECT count(*) FROM logs), (SELECT count(*) FROM giants WHERE is_shared)"
    ).fetchall()[0]
    set_weights(connection, queue)
    state = {
        "fingerprint": fingerprint,
        "ingest_id": str(newest),
        "has_shared": "1" if shared else "0",
        "total": str(total),
        "languages": " ".join(languages),
        "weights": queue.model_dump_json(include={"weights"}),
        "open_from": str(open_from(connection)),
        "shown": manner_of_showing(connection, queue.context_turns),
    }
    _store_findings(connection, engine, what, before=before if is_incremental else {}, state=state)
    connection.commit()
    notes = (*log_notes(connection, signals, now), *sample_notes(total, signals))
    flagged, by_signal = _counts(connection)
    _gather_ranks(connection)
    best = shortlist(connection, queue, lower_bound="mined_ranks")
    connection.execute(f"CREATE OR REPLACE TEMP VIEW best_hits AS {_HITS_OF.format(table='best')}")
    shortcut = Shortcut(kept_turns(connection), "changed_logs") if is_incremental else None
    reading = read_candidates(connection, engine, what.values, queue, shortcut=shortcut)
    keep_turns(connection, reading.read)
    return MiningReport(
        interactions=total,
        read=read,
        flagged=flagged,
        by_signal=by_signal,
        notes=(*notes, *cut_notes(flagged - best.kept, queue)),
        is_incremental=is_incremental,
        candidates=reading.candidates,
    )


def _store_findings(
    connection: duckdb.DuckDBPyConnection,
    engine: DuckDBSignals,
    what: Plan,
    *,
    before: Mapping[str, str],
    state: Mapping[str, str],
) -> None:
    """Keep what this run found; `before` is the state that an incremental run began with, empty for a full one."""
    replace_findings(connection, is_incremental=bool(before))
    left = int(state["total"]) - _written_after(connection, int(before["ingest_id"])) if before else -1
    if before and before["total"] == str(left):
        sum_up_changes(connection, engine, what.late, what.values)
        if before["weights"] != state["weights"]:
            rank_anew(connection)
        if before["shown"] != state["shown"]:
            connection.execute("DELETE FROM mined_shown")
    else:
        if before:
            forget_findings(connection)
            connection.execute("DROP TABLE needs")
            connection.execute("CREATE TEMP VIEW needs AS SELECT * FROM mined_needs")
        sum_up_anew(connection, engine, what.late, what.values)
    write_state(connection, state)


def _choose_logs(connection: duckdb.DuckDBPyConnection, what: Plan, *, before: Mapping[str, str]) -> None:
    connection.execute("CREATE OR REPLACE TEMP VIEW all_logs AS SELECT * FROM interactions")
    connection.execute(_RETRIEVED_TEXTS)
    if not before:
        choose_all_logs(connection)
        return
    connection.execute("CREATE OR REPLACE TEMP TABLE baselines AS SELECT * FROM mined_baselines")
    choose_changed_logs(
        connection,
        after_ingest=int(before["ingest_id"]),
        open_from=int(before["open_from"]),
        window_us=int(what.values["rephrase_window_us"]),
    )


_HITS_OF = f"""
SELECT {HIT_COLUMNS} FROM mined_hits
WHERE rowid IN (SELECT f.rowid FROM mined_hits AS f SEMI JOIN {{table}} USING (interaction_id))
UNION ALL
SELECT {HIT_COLUMNS} FROM mined_late_hits SEMI JOIN {{table}} USING (interaction_id)
"""  # noqa: S608 - our own column names
"""All hits of the interactions in a table: what they say is read of these alone."""


def _gather_ranks(connection: duckdb.DuckDBPyConnection) -> None:
    """Leave `all_hits`, what any signal found, and `ranks`, where what was found late counts as well."""
    connection.execute(
        f"CREATE OR REPLACE TEMP VIEW all_hits AS SELECT {HIT_COLUMNS} FROM mined_hits "  # noqa: S608 - our own column names
        f"UNION ALL SELECT {HIT_COLUMNS} FROM mined_late_hits"
    )
    connection.execute(
        "CREATE OR REPLACE TEMP TABLE raised_late AS SELECT DISTINCT interaction_id FROM mined_late_hits"
    )
    late = RANKS.format(hits=f"({_HITS_OF.format(table='raised_late')})")
    connection.execute(f"CREATE OR REPLACE TEMP TABLE late_ranks AS {late}")
    connection.execute(
        "CREATE OR REPLACE TEMP VIEW ranks AS SELECT * FROM mined_ranks ANTI JOIN raised_late USING (interaction_id) "
        "UNION ALL BY NAME SELECT * FROM late_ranks"
    )


def _fingerprint(signals: SignalSettings, queue: QueueSettings) -> str:
    text = "\n".join(
        [MINING_VERSION, signals.model_dump_json(), str((queue.seed, queue.control_share, queue.control_limit))]
    )
    return hashlib.sha256(text.encode()).hexdigest()


def _counts(connection: duckdb.DuckDBPyConnection) -> tuple[int, tuple[SignalCount, ...]]:
    """Return how many interactions any signal flagged, and how many each did; what is found late was flagged before."""
    rows = connection.execute(
        "SELECT signal, flagged, weak FROM mined_counts UNION ALL "
        "SELECT signal, count(DISTINCT interaction_id), count(DISTINCT interaction_id) FILTER (is_weak) "
        "FROM mined_late_hits GROUP BY signal ORDER BY signal"
    ).fetchall()
    flagged = sum(count for signal, count, _ in rows if not signal)
    return flagged, tuple(SignalCount(*row) for row in rows if row[0] and row[1])


def _written_after(connection: duckdb.DuckDBPyConnection, ingest_id: int) -> int:
    """Count the interactions that later ingests wrote; none vanished when the others are as many as there were."""
    query = "SELECT count(*) FROM interactions WHERE ingest_id > ?"
    return int(connection.execute(query, [ingest_id]).fetchall()[0][0])
