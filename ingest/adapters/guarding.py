"""Keep one odd value from ending the rest: what reading a record may raise, and how adapters answer it."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ingest.adapters.base import Outcome, Record, Reject

ODD_VALUE_ERRORS = (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError)
"""What code that walks parsed JSON of unknown shape raises."""
_LOOKED_AT = 20


def surest(confidence: Callable[[Any], float], sample: Sequence[Any]) -> float:
    """Return the greatest confidence over the first values of a sample; a value that cannot be judged counts as 0."""
    return max((_judged(confidence, value) for value in sample[:_LOOKED_AT]), default=0.0)


def _judged(confidence: Callable[[Any], float], value: Any) -> float:
    try:
        return confidence(value)
    except ODD_VALUE_ERRORS:
        return 0.0


def guarded(read: Callable[[Any], Iterator[Outcome]], record: Record, what: str) -> Iterator[Outcome]:
    """Yield what `read` makes of a record's value, and a Reject saying it is no `what` where that breaks off."""
    try:
        yield from read(record.value)
    except ODD_VALUE_ERRORS as error:
        yield Reject(record.file, record.line, f"not {what}: {type(error).__name__}: {error}"[:500])
