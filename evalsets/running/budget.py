"""What a run may spend in calls, seconds and cost; it stops the run between calls, never within one."""

import time

from evalsets.running.settings import RunSettings


class Budget:
    """Counts what was spent; `exhausted` names the limit that was reached, or is empty."""

    def __init__(self, settings: RunSettings) -> None:
        self._max_calls = settings.max_calls
        self._max_cost = settings.max_cost
        self._max_seconds = settings.max_seconds
        self._ends_at = time.monotonic() + settings.max_seconds if settings.max_seconds else None
        self.calls = 0
        self.cost = 0.0

    def exhausted(self) -> str:
        """Return the reason why no further call may start, or an empty text."""
        if self._max_calls is not None and self.calls >= self._max_calls:
            return f"the budget of {self._max_calls} calls is used up"
        if self._ends_at is not None and time.monotonic() >= self._ends_at:
            return f"the budget of {self._max_seconds:g} seconds is used up"
        if self._max_cost is not None and self.cost >= self._max_cost:
            return f"the budget of {self._max_cost:g} (cost) is used up"
        return ""

    def spend(self, value: object) -> None:
        """Add the cost that an answer states."""
        answer = getattr(value, "answer", value)
        self.cost += getattr(answer, "cost", None) or 0.0
