"""The signals in order: stages first, then every definition, into one table of hits."""

from collections.abc import Container, Sequence
from datetime import datetime
from typing import NamedTuple

from evalsets.languages import LANGUAGES
from ingest.settings import QueueSettings, SignalSettings
from ingest.signals.cues import COMPLAINT, CORRECTION, DOUBT, HAND_OFF, expression
from ingest.signals.decline_hints import decline_hints
from ingest.signals.engine import SignalEngine, Value
from ingest.signals.registry import LATE_SIGNALS, STAGES, Signal, enabled_signals, stage_sql

WHERE_FOUND = "line, interaction_id, source, session_key"
WHAT_IS_SAID = "signal, kind, score, reason, is_weak, evidence_id"
_NARROW = "line, session, lot, signal, score, is_weak"
_MINUTE_US = 60_000_000


class Shares(NamedTuple):
    """The chance of an interaction to be drawn by the hash of its id, in [0, 1]."""

    control: float
    """To be kept as a control when nothing flags it."""
    support: float
    """To have its answer compared with the retrieved text."""


class Plan(NamedTuple):
    """All values that the SQL is given, and which signals run."""

    early: tuple[Signal, ...]
    late: tuple[Signal, ...]
    values: dict[str, Value]


def plan(
    signals: SignalSettings,
    queue: QueueSettings,
    *,
    now: datetime,
    shares: Shares,
    languages: Sequence[str] = LANGUAGES,
) -> Plan:
    """Settle what runs and with which values; `now` bounds which times are believed.

    `languages` are those the log is known to hold: refusals are looked for in these.
    """
    enabled = enabled_signals(signals)
    return Plan(
        tuple(signal for signal in enabled if signal.name not in LATE_SIGNALS),
        tuple(signal for signal in enabled if signal.name in LATE_SIGNALS),
        _values(signals, queue, now=now, shares=shares, hints=decline_hints(languages)),
    )


def idle_gap_us(signals: SignalSettings) -> int:
    """Return the idle gap in microseconds."""
    return int(signals.idle_gap_minutes * _MINUTE_US)


def shares_of(total: int, signals: SignalSettings, queue: QueueSettings) -> Shares:
    """Return the shares that keep controls and compared answers within their limits in a log of `total` turns."""
    return Shares(
        control=min(queue.control_share, queue.control_limit / max(1, total)),
        support=min(1.0, signals.ungrounded_rows / max(1, total)),
    )


def find_hits(engine: SignalEngine, what: Plan, *, ready: Container[str] = ()) -> None:
    """Leave the tables `turns`, `hits`, `needs` and `controls` in `engine`, which holds `logs` and `all_logs`.

    `hits` has a row for each interaction and signal: line, session, lot, signal, score and is_weak; `what_is_said`
    tells the reasons, which only the queue needs. Stages named in `ready` stand there already. `line` in `logs` is what
    the engine finds a row by fastest, and `session` a 64-bit hash: two sessions of one number are not expected in a
    lifetime. `lot` is what a part is drawn by, hex digits of a hash of the seed and the id.
    """
    find_stages(engine, what, [stage for stage in STAGES if stage not in ready])
    engine.keep("hits", f"SELECT {_NARROW} FROM (\n{union_of(what.early)}) AS found", what.values)  # noqa: S608 - our own SQL
    engine.keep("needs", stage_sql("needs"), what.values)
    engine.keep("controls", stage_sql("controls"), what.values)


def find_stages(engine: SignalEngine, what: Plan, stages: Sequence[str]) -> None:
    """Work out what the signals read."""
    for stage in stages:
        engine.keep(stage, stage_sql(stage), what.values)


def late_hits(what: Plan) -> str:
    """Return a SELECT of line, signal, score and is_weak over the signals that read `needs`; empty when none is on."""
    return f"SELECT line, signal, score, is_weak FROM (\n{union_of(what.late)}) AS late" if what.late else ""  # noqa: S608 - our own SQL


def what_is_said(signals: Sequence[Signal], lines: str) -> str:
    """Return a SELECT of what these signals say of the interactions whose lines stand in the table `lines`."""
    where = f"{WHERE_FOUND}, " if signals and signals[0].name not in LATE_SIGNALS else "line, "
    return (
        f"SELECT {where}{WHAT_IS_SAID} FROM (\n{union_of(signals)}) AS said "  # noqa: S608 - our own SQL
        f"WHERE line IN (SELECT line FROM {lines})"
    )


def union_of(signals: Sequence[Signal]) -> str:
    """Return one SELECT over all `signals`, each row with its signal's name."""
    parts = [
        f"SELECT {_given_by(signal)}, '{signal.name}' AS signal, kind, cast(score AS double) AS score, "  # noqa: S608 - names of our own files
        f"reason, is_weak, evidence_id FROM (\n{signal.sql}) AS {signal.name}"
        for signal in signals
    ]
    return "\nUNION ALL\n".join(parts)


def _given_by(signal: Signal) -> str:
    """Return how a signal names what it flags: one that reads what the others found gives the line alone."""
    return "line" if signal.name in LATE_SIGNALS else f"{WHERE_FOUND}, session, lot"


def _values(
    signals: SignalSettings, queue: QueueSettings, *, now: datetime, shares: Shares, hints: dict[str, str]
) -> dict[str, Value]:
    return {
        "now_us": int(now.timestamp() * 1_000_000),
        "idle_gap_us": idle_gap_us(signals),
        "rephrase_window_us": int(signals.rephrase_window_minutes * _MINUTE_US),
        "regenerate_us": int(signals.regenerate_seconds * 1_000_000),
        "giant_session_turns": signals.giant_session_turns,
        "slow_floor_ms": signals.slow_floor_ms,
        "slow_factor": signals.slow_factor,
        "costly_factor": signals.costly_factor,
        "complaint": expression(COMPLAINT),
        "corrected": expression((*CORRECTION, *DOUBT)),
        "hand_off": expression(HAND_OFF),
        **hints,
        "seed": f"{queue.seed}:",
        "ungrounded_below": signals.ungrounded_below,
        "frequent_users": signals.frequent_users,
        "control_share": shares.control,
        "control_below": _hash_below(shares.control),
        "sample_below": _hash_below(max(shares)),
        "support_below": _hash_below(shares.support),
    }


def _hash_below(share: float) -> str:
    """Return the bound below which eight hex digits of a hash lie with this chance; `g` is above all digits."""
    return "g" if share >= 1 else f"{int(max(0.0, share) * 0x100000000):08x}"
