"""How fast one endpoint is called: fewer calls at once after a 429, more again as they succeed."""

import time
from types import TracebackType

import anyio


class Pace:
    """A limit on calls in flight that halves on a rate limit and grows by one a round (AIMD); a rate if one is set."""

    def __init__(self, most_in_flight: int, *, calls_per_s: float | None = None) -> None:
        self.most_in_flight = most_in_flight
        self.limit = float(most_in_flight)
        self.slowed = 0
        """How often the other side asked for fewer calls."""
        self._interval_s = 1 / calls_per_s if calls_per_s else 0.0
        self._next_at = 0.0
        self._in_flight = 0
        self._waiting = 0
        self._slowed_at = 0.0
        self._freed = anyio.Event()

    async def __aenter__(self) -> float:
        """Wait for a turn; return the time at which the call starts."""
        while self._in_flight >= int(self.limit):
            self._waiting += 1
            try:
                await self._freed.wait()
            finally:
                self._waiting -= 1
        self._in_flight += 1
        now = time.monotonic()
        if self._next_at > now or self._interval_s:
            now = await self._wait_for_slot(now)
        return now

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Free the place and wake who waits for one."""
        self._in_flight -= 1
        if self._waiting:
            self._freed.set()
            self._freed = anyio.Event()

    async def _wait_for_slot(self, now: float) -> float:
        start = max(now, self._next_at)
        self._next_at = start + self._interval_s
        try:
            await anyio.sleep(start - now)
        except BaseException:
            self._in_flight -= 1
            raise
        return time.monotonic()

    def succeeded(self) -> None:
        """Note a success: one more call at once after each round of successes."""
        if self.limit < self.most_in_flight:
            self.limit = min(float(self.most_in_flight), self.limit + 1 / self.limit)

    def rate_limited(self, *, started_at: float, retry_after_s: float | None) -> None:
        """Note a rate limit: half as many calls at once, and none before the time the other side named.

        Calls that were already under way when the limit last fell say nothing new.
        """
        now = time.monotonic()
        if retry_after_s:
            self._next_at = max(self._next_at, now + retry_after_s)
        if started_at < self._slowed_at:
            return
        self.slowed += 1
        self._slowed_at = now
        self.limit = max(1.0, min(self.limit, self._in_flight) / 2)
