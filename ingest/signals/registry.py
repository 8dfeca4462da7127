"""The signals there are: each one SQL file whose first comment line says what it means."""

from functools import cache
from importlib.resources import files
from typing import NamedTuple

from evalsets.errors import BadInputError
from ingest.settings import SignalSettings

STAGES = (
    *("visits", "giants", "bots", "loose", "horizons", "baselines", "turns"),
    *("soon", "ends", "crossings", "returns", "compared", "support"),
)
"""What is worked out before any signal, in this order; each is one SQL file under `stages/`."""
LATE_SIGNALS = ("frequent",)
"""Signals that read what the others found."""


class Signal(NamedTuple):
    """One definition: a SELECT of interaction, kind, score, reason, weakness and evidence."""

    name: str
    meaning: str
    sql: str


@cache
def all_signals() -> tuple[Signal, ...]:
    """Return every signal there is, by name."""
    folder = files("ingest.signals") / "definitions"
    entries = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".sql")), key=lambda entry: entry.name)
    return tuple(_read(entry.name.removesuffix(".sql"), entry.read_text(encoding="utf-8")) for entry in entries)


@cache
def stage_sql(name: str) -> str:
    """Return the SELECT of one stage."""
    return (files("ingest.signals") / "stages" / f"{name}.sql").read_text(encoding="utf-8")


def enabled_signals(settings: SignalSettings) -> tuple[Signal, ...]:
    """Return the signals that are switched on; an unknown name in `disabled` is an error."""
    names = [signal.name for signal in all_signals()]
    unknown = sorted(set(settings.disabled) - set(names))
    if unknown:
        raise BadInputError(
            f"signals.disabled names {', '.join(map(repr, unknown))}; the signals are {', '.join(names)}."
        )
    return tuple(signal for signal in all_signals() if signal.name not in settings.disabled)


def _read(name: str, sql: str) -> Signal:
    first = sql.splitlines()[0]
    return Signal(name, first.removeprefix("--").strip(), sql)
