"""Mine the log store: run the signals over what is new, keep what they found, and hand the best to review."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import uuid4

import duckdb

from evalsets.errors import ErrataError
from ingest.collecting import rare_collections
from ingest.log_store import LogStore
from ingest.mining.candidate_reading import CandidateRows, Queued, candidates_of, fetch_candidates, queued_of
from ingest.mining.candidates import Candidate
from ingest.mining.changed_logs import choose_all_logs, choose_changed_logs
from ingest.mining.log_languages import languages_of
from ingest.mining.notes import cut_notes, log_notes, sample_notes
from ingest.mining.said import say
from ingest.mining.shortlist import shortlist, weights_select
from ingest.mining.shown_turns import keep_shown
from ingest.mining.state import (
    IS_LATE,
    SHOWN_TABLES,
    forget_findings,
    read_state,
    replace_findings,
    write_state,
)
from ingest.mining.sums import crowd, rank_anew, sum_up, sum_up_anew, sum_up_changes
from ingest.settings import QueueSettings, SignalSettings
from ingest.signals.columns import SignalColumns
from ingest.signals.duckdb_engine import DuckDBSignals
from ingest.signals.pipeline import Plan, find_hits, plan, shares_of
from ingest.signals.quick_look import WORTH_IT

MEMORY_LIMIT = "1200MB"
MINING_VERSION = "8"
"""Raised when the same log would be mined differently, so that the next run reads all of it."""

LEARN_FROM = 60_000
"""Interactions that a full run reads from which on it learns first which letters are rare in them."""

# Of what was retrieved only that is looked at which answers are compared with: the stage `compared` fills the table.
_RETRIEVED_TEXTS = """
CREATE OR REPLACE TEMP TABLE compared (line BIGINT);
CREATE OR REPLACE TEMP VIEW retrieved_texts AS
SELECT r.number AS line, coalesce(t.text, c.text) AS text
FROM (SELECT number, text_hash, chunk_id FROM retrieved WHERE number IN (SELECT line FROM compared)) AS r
LEFT JOIN chunk_texts AS t ON t.text_hash = r.text_hash
LEFT JOIN corpus_chunks AS c ON c.chunk_id = r.chunk_id
WHERE coalesce(t.text, c.text) IS NOT NULL
"""

_OF_ALL = ("weights", "context", "corpus")
"""State on which each candidate depends, whatever changed in the log."""
_HAND_ALL = "CREATE OR REPLACE TEMP TABLE handed AS SELECT line FROM best"
# What is said late of a turn may change with others alone: how many asked the same.
_HAND_LATE = f"""
INSERT INTO handed
SELECT line FROM best
WHERE line IN (SELECT line FROM late_hits UNION ALL SELECT line FROM hits_gone WHERE {IS_LATE})
"""  # noqa: S608 - our own names


class NothingToMineError(ErrataError):
    """The log store holds no interactions yet."""


class SignalCount(NamedTuple):
    """How many interactions one signal flagged, over the whole log, and how many of these weakly."""

    signal: str
    flagged: int
    weak: int


class MiningReport(NamedTuple):
    """What a run read and found."""

    interactions: int
    """In the log."""
    read: int
    """Of these, read by this run: all, or the sessions that changed."""
    flagged: int
    by_signal: tuple[SignalCount, ...]
    notes: tuple[str, ...]
    """What the log is like and what was left out because of it, in sentences."""
    is_incremental: bool
    run: str
    """Names this run: the next one, told of it, hands over what changed since."""
    candidates: tuple[Candidate, ...]
    """To hand over to review, highest priority first: the whole queue, or what is new or changed in it."""
    queued: tuple[Queued, ...]
    """The whole queue, highest priority first."""


def mine(  # noqa: PLR0913 - what to read, by which settings, and for whom
    store: LogStore,
    signals: SignalSettings | None = None,
    queue: QueueSettings | None = None,
    *,
    now: datetime | None = None,
    full: bool = False,
    since: str = "",
) -> MiningReport:
    """Find what failed in the interactions of `store`.

    Reads only the sessions that changed since the last run, unless `full` is set or the settings changed. `since`
    names the run whose candidates whoever asks already has: the report then holds those that changed after it.
    Raises NothingToMineError on an empty store.
    """
    signals, queue = signals or SignalSettings(), queue or QueueSettings()
    with rare_collections(), ThreadPoolExecutor(1) as beside:
        with store.unit() as connection:
            connection.execute(f"SET memory_limit = '{MEMORY_LIMIT}'")
            connection.execute("SET preserve_insertion_order = false")
            report, rows = _mine(connection, signals, queue, now=now or datetime.now(UTC), full=full, since=since)
            candidates = beside.submit(candidates_of, rows)  # while what was found is written to the disk
            connection.execute("SET checkpoint_threshold = '0B'")  # to the file at once, not to its log before
            connection.commit()
            connection.execute("RESET checkpoint_threshold")
            queued = queued_of(rows)
        return report._replace(candidates=candidates.result(), queued=queued)


def _mine(  # noqa: PLR0913 - as `mine`
    connection: duckdb.DuckDBPyConnection,
    signals: SignalSettings,
    queue: QueueSettings,
    *,
    now: datetime,
    full: bool,
    since: str,
) -> tuple[MiningReport, CandidateRows]:
    """Run what there is to run, and leave it to be committed; return the report but for the candidates, and these."""
    (extent,) = connection.execute(
        "SELECT count(*), coalesce(max(ingest_id), 0), coalesce(max(number), 0) FROM interactions"
    ).fetchall()
    total, newest, last_number = extent
    if not total:
        raise NothingToMineError("the log holds no interactions. Run `errata ingest` first.")
    before = read_state(connection)
    fingerprint = _fingerprint(signals, queue)
    is_incremental = not full and before.get("fingerprint") == fingerprint and before.get("has_shared") == "0"
    before = before if is_incremental else {}
    languages = before["languages"].split() if before else languages_of(connection, total)
    shares = shares_of(total, signals, queue)
    what = plan(signals, queue, now=now, shares=shares, languages=languages)
    columns = _columns(signals, languages, before, total)
    engine = DuckDBSignals(connection, columns)
    _choose_logs(connection, what, before=before)
    connection.begin()
    engine.keep("weights", weights_select(queue), {})
    find_hits(engine, what, ready={"baselines", "bots", "horizons"} if before else ())
    read, shared = connection.execute(
        "SELECT (SELECT count(*) FROM logs), (SELECT count(*) FROM giants WHERE is_shared)"
    ).fetchall()[0]
    if before and shared:  # turns that others had in a session of their own may be in another now
        connection.rollback()
        return _mine(connection, signals, queue, now=now, full=True, since=since)
    notes = (*log_notes(connection, signals, now), *sample_notes(total, signals))
    state = {
        "fingerprint": fingerprint,
        "run": uuid4().hex,
        "ingest_id": str(newest),
        "last_number": str(last_number),
        "has_shared": "1" if shared else "0",
        "total": str(total),
        "languages": " ".join(languages),
        "weights": queue.model_dump_json(include={"weights"}),
        "context": str(queue.context_turns),
        "per_session": str(queue.per_session),
        "corpus": _corpus_state(connection),
        "learned": json.dumps(columns.learned),
    }
    are_all_there = _store_findings(connection, engine, what, before=before, state=state)
    kept = shortlist(engine, queue).kept
    say(connection, engine, what, is_incremental=bool(before))
    near = "changed_logs" if before else ""
    keep_shown(connection, engine, what.values, queue.context_turns, near=near)
    if are_all_there and since == before["run"] and all(before[name] == state[name] for name in _OF_ALL):
        connection.execute(_HAND_LATE)
    else:
        connection.execute(_HAND_ALL)
    rows = fetch_candidates(connection)
    flagged, by_signal = _counts(connection)
    report = MiningReport(
        interactions=total,
        read=read,
        flagged=flagged,
        by_signal=by_signal,
        notes=(*notes, *cut_notes(flagged - kept, queue)),
        is_incremental=is_incremental,
        run=state["run"],
        candidates=(),
        queued=(),
    )
    return report, rows


def _columns(signals: SignalSettings, languages: Sequence[str], before: Mapping[str, str], total: int) -> SignalColumns:
    """Return the functions of a run: with what the one before it learned, or a large log is to tell."""
    if before:
        return SignalColumns(signals, languages, learned=json.loads(before["learned"]))
    return SignalColumns(signals, languages, looks_from=1 if total >= LEARN_FROM else WORTH_IT)


def _store_findings(
    connection: duckdb.DuckDBPyConnection,
    engine: DuckDBSignals,
    what: Plan,
    *,
    before: Mapping[str, str],
    state: Mapping[str, str],
) -> bool:
    """Keep what this run found; `before` is the state that an incremental run began with, empty for a full one.

    Return whether only what changed was worked out, as all that was there before still is.
    """
    replace_findings(connection, is_incremental=bool(before))
    are_all_there = bool(before) and _is_all_there(connection, before)
    if not before:
        for table in ("mined_said", *SHOWN_TABLES):
            connection.execute(f"DELETE FROM {table}")  # noqa: S608 - our own table names
        sum_up(connection, engine, what)
    elif are_all_there:
        sum_up_changes(connection, engine, what)
        if before["weights"] != state["weights"]:
            rank_anew(connection, engine)
    else:
        forget_findings(connection)
        sum_up_anew(connection, engine, what)
    is_crowd_known = are_all_there and all(before[name] == state[name] for name in ("weights", "per_session"))
    crowd(connection, int(state["per_session"]), is_all=not is_crowd_known)
    if before and before["context"] != state["context"]:
        connection.execute("DELETE FROM mined_shown")
    write_state(connection, state)
    return are_all_there


def _choose_logs(connection: duckdb.DuckDBPyConnection, what: Plan, *, before: Mapping[str, str]) -> None:
    connection.execute("CREATE OR REPLACE TEMP VIEW all_logs AS SELECT * FROM interactions")
    connection.execute(_RETRIEVED_TEXTS)
    if not before:
        choose_all_logs(connection)
        return
    connection.execute("CREATE OR REPLACE TEMP TABLE baselines AS SELECT * FROM mined_baselines")
    choose_changed_logs(connection, what.values, after_ingest=int(before["ingest_id"]))


def _fingerprint(signals: SignalSettings, queue: QueueSettings) -> str:
    text = "\n".join(
        [
            MINING_VERSION,
            duckdb.__version__,
            signals.model_dump_json(),
            str((queue.seed, queue.control_share, queue.control_limit)),
        ]
    )
    return hashlib.sha256(text.encode()).hexdigest()


def _corpus_state(connection: duckdb.DuckDBPyConnection) -> str:
    """Return what changes with the corpus, whose passages are shown where the log holds none, and suggested."""
    query = "SELECT count(*) || ' ' || coalesce(epoch_us(max(added_at)), 0) FROM corpus_chunks"
    return str(connection.execute(query).fetchall()[0][0])


def _counts(connection: duckdb.DuckDBPyConnection) -> tuple[int, tuple[SignalCount, ...]]:
    """Return how many interactions any signal flagged, and how many each did."""
    rows = connection.execute("SELECT signal, flagged, weak FROM mined_counts ORDER BY signal").fetchall()
    flagged = sum(count for signal, count, _ in rows if not signal)
    return flagged, tuple(SignalCount(*row) for row in rows if row[0] and row[1])


def _is_all_there(connection: duckdb.DuckDBPyConnection, before: Mapping[str, str]) -> bool:
    """Tell whether every interaction that was there before still is: numbers stay, and newer ones are higher."""
    query = "SELECT count(*) FROM interactions WHERE number <= ?"
    return bool(connection.execute(query, [int(before["last_number"])]).fetchall()[0][0] == int(before["total"]))
