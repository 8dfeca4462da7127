"""Numbers as logs write them."""

from typing import Any


def whole(value: Any) -> int | None:
    """Return a count that may be written as text or float; None when it is none."""
    number = decimal(value)
    return int(number) if number is not None and abs(number) < 2**62 else None


def decimal(value: Any) -> float | None:
    """Return a finite number that may be written as text; None when it is none."""
    if value is None or isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if abs(number) < float("inf") else None
