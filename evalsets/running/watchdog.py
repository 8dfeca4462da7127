"""Time limits of calls and items: one timer a run, since a timer a call costs more than all else around it."""

import math
import time

import anyio

LONGEST_TICK_S = 0.1
_TICKS_A_LIMIT = 20


class Watched:
    """One item under way: its current call, when that and the item have to end, and what was tried so far."""

    __slots__ = ("attempts", "call_ends_at", "item_ends_at", "reason", "scope", "seconds", "started_at", "step")

    def __init__(self, scope: anyio.CancelScope, item_ends_at: float) -> None:
        self.scope = scope
        self.item_ends_at = item_ends_at
        self.call_ends_at = math.inf
        self.reason = ""
        self.step = ""
        self.attempts = 0
        self.started_at = 0.0
        self.seconds = 0.0

    def next_step(self, step: str) -> None:
        """Begin to count attempts and seconds anew."""
        self.step = step
        self.attempts = 0
        self.seconds = 0.0

    def begin_attempt(self, timeout_s: float) -> None:
        """Note that a call starts."""
        self.attempts += 1
        self.started_at = time.monotonic()
        self.call_ends_at = self.started_at + timeout_s

    def end_attempt(self) -> None:
        """Note that a call has ended, one way or the other."""
        self.seconds = time.monotonic() - self.started_at
        self.call_ends_at = math.inf


class Watchdog:
    """Cancels the scope of every item whose call, or which itself, takes too long."""

    def __init__(self, *, call_timeout_s: float, item_timeout_s: float) -> None:
        self._call_timeout_s = call_timeout_s
        self._item_timeout_s = item_timeout_s
        self._tick_s = min(LONGEST_TICK_S, min(call_timeout_s, item_timeout_s) / _TICKS_A_LIMIT)
        self._watched: set[Watched] = set()

    def watch(self, scope: anyio.CancelScope) -> Watched:
        """Begin to watch an item; release it when it is done."""
        watched = Watched(scope, time.monotonic() + self._item_timeout_s)
        self._watched.add(watched)
        return watched

    def release(self, watched: Watched) -> None:
        """Stop watching an item."""
        self._watched.discard(watched)

    async def keep_watch(self) -> None:
        """Look at every item under way again and again, until cancelled."""
        while True:
            await anyio.sleep(self._tick_s)
            now = time.monotonic()
            for watched in self._watched:
                if now >= watched.call_ends_at:
                    self._cut(watched, f"no answer within {self._call_timeout_s:g} s")
                elif now >= watched.item_ends_at:
                    self._cut(watched, f"the item took over {self._item_timeout_s:g} s")

    def _cut(self, watched: Watched, reason: str) -> None:
        if not watched.reason:
            watched.reason = reason
            watched.scope.cancel()
