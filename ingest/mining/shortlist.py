"""The short list: what goes to review of all that was flagged, and with which chance each came there.

The best by priority come first. The rest of the places is spread over the signals evenly, whatever they weigh, and
drawn at random, so that weak signals are seen too and rates can be estimated. Both engines run the same SQL.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ingest.settings import QueueSettings
from ingest.signals.engine import SignalEngine
from ingest.signals.registry import all_signals

CONTROL = "control"

CROWDED = """
SELECT line, session
FROM (
    SELECT line, session, row_number() OVER (PARTITION BY session ORDER BY raised DESC, lot) AS place
    FROM ranks
    WHERE raised IS NOT NULL AND session IN (
        SELECT session FROM ranks WHERE raised IS NOT NULL GROUP BY session HAVING count(*) > :per_session
    )
) AS placed
WHERE place > :per_session
"""
_ELIGIBLE = "raised IS NOT NULL AND line NOT IN (SELECT line FROM crowded)"
_FLOOR = f"""
SELECT min(raised) FROM (SELECT raised FROM ranks WHERE {_ELIGIBLE} ORDER BY raised DESC LIMIT {{reach}}) AS best
"""  # noqa: S608 - our own SQL
_STRATA = """
SELECT r.sampling_signal, r.raised > {floor} AS is_top, count(*) AS total, count(*) - count(c.line) AS eligible
FROM ranks AS r LEFT JOIN crowded AS c ON c.line = r.line
WHERE r.raised IS NOT NULL
GROUP BY r.sampling_signal, r.raised > {floor}
"""
_CHOSEN = f"""
SELECT line, priority, sampling_signal, probability
FROM (
    SELECT
        r.line,
        r.raised AS priority,
        r.sampling_signal,
        s.probability,
        s.is_top OR row_number() OVER (PARTITION BY r.sampling_signal, s.is_top ORDER BY r.lot) <= s.quota AS is_chosen
    FROM (SELECT * FROM ranks WHERE {_ELIGIBLE}) AS r
    JOIN (VALUES {{strata}}) AS s(signal, is_top, quota, below, probability)
        ON s.signal = r.sampling_signal AND s.is_top = (r.raised > {{floor}})
    WHERE r.lot < s.below
) AS drawn
WHERE is_chosen
"""  # noqa: S608 - our own SQL
_LOTS = 16**12
_SLACK = 1.5
"""Lots are looked at a little beyond those that should do; all of them where these were too few."""


class Shortlist(NamedTuple):
    """How many flagged interactions were chosen."""

    kept: int


class Stratum(NamedTuple):
    """The flagged interactions that one signal weighs most in: those above the floor, or those below."""

    signal: str
    is_top: bool
    total: int
    eligible: int
    """Of these, what a session's share leaves."""
    quota: int = 0
    """How many are chosen."""

    def values(self, slack: float) -> str:
        """Return the row that the SQL is given: which lots are looked at, and the chance to be chosen."""
        share = self.quota / self.eligible * slack if self.eligible and not self.is_top else 1.0
        below = f"{int(share * _LOTS):012x}" if share < 1 else "g"
        is_top = "true" if self.is_top else "false"
        return f"('{self.signal}', {is_top}, {self.quota}, '{below}', cast({self.quota / self.total!r} AS double))"


def weights_select(queue: QueueSettings) -> str:
    """Return a SELECT of each signal with its weight, its place and the bit of its place."""
    rows = [
        f"('{signal.name}', cast({queue.weight(signal.name)!r} AS double), {place}, cast({1 << place} AS bigint))"
        for place, signal in enumerate(all_signals())
    ]
    return f"SELECT * FROM (VALUES {', '.join(rows)}) AS w(signal, weight, place, bit)"  # noqa: S608 - our own names


def keep_crowded(engine: SignalEngine, queue: QueueSettings) -> None:
    """Leave the table `crowded` from `ranks`: what a session has more of than the queue takes."""
    engine.keep("crowded", CROWDED, {"per_session": queue.per_session})


def shortlist(engine: SignalEngine, queue: QueueSettings) -> Shortlist:
    """Leave the table `chosen` from `ranks`: line, priority, sampling_signal and probability, at most `queue.limit`.

    Leaves out what stands in `crowded`. The chance of each is how many of its stratum were chosen among all that were
    flagged in it.
    """
    floor = f"cast({_floor(engine, queue)!r} AS double)"
    strata = with_quotas([Stratum(*row) for row in engine.rows(_STRATA.format(floor=floor))], queue.limit)
    wanted = sum(stratum.quota for stratum in strata)
    if not strata:
        strata = [Stratum("", is_top=True, total=1, eligible=0)]
    for slack in (_SLACK, float(_LOTS)):
        values = ", ".join(stratum.values(slack) for stratum in strata)
        engine.keep("chosen", _CHOSEN.format(strata=values, floor=floor), {})
        kept = int(engine.rows("SELECT count(*) FROM chosen")[0][0])
        if kept == wanted:
            break
    return Shortlist(kept)


def _floor(engine: SignalEngine, queue: QueueSettings) -> float:
    """Return the priority above which all are chosen: none ties with one that is not."""
    ((eligible,),) = engine.rows(f"SELECT count(*) FROM ranks WHERE {_ELIGIBLE}")  # noqa: S608 - our own SQL
    if eligible <= queue.limit:
        return -1.0
    by_priority = round(queue.limit * (1 - queue.signal_share))
    ((floor,),) = engine.rows(_FLOOR.format(reach=by_priority + 1))
    return float(floor)


def with_quotas(strata: Sequence[Stratum], limit: int) -> list[Stratum]:
    """Choose all at the top, and spread the other places over the signals evenly; what one cannot fill goes on."""
    top = [stratum._replace(quota=stratum.eligible) for stratum in strata if stratum.is_top]
    rest = [stratum for stratum in strata if not stratum.is_top]
    quotas = _even_shares(
        {stratum.signal: stratum.eligible for stratum in rest}, limit - sum(each.quota for each in top)
    )
    return [*top, *(stratum._replace(quota=quotas[stratum.signal]) for stratum in rest)]


def _even_shares(sizes: Mapping[str, int], places: int) -> dict[str, int]:
    """Give each as many as the others, or all it has; the smallest first, so that what it leaves goes to the larger."""
    quotas: dict[str, int] = {}
    for signal in sorted(sizes, key=lambda signal: (sizes[signal], signal)):
        quotas[signal] = min(sizes[signal], places // (len(sizes) - len(quotas)))
        places -= quotas[signal]
    return quotas
