"""What a metric is, and the case it scores: one item with what the pipeline retrieved and answered."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from evalsets.chunks import Chunk, canonical_chunk_id
from evalsets.items import Item
from evalsets.judges.verdict import Verdict
from evalsets.metrics.ranking import hits_of
from evalsets.refusals import RefusalVerdict, detect_refusal
from evalsets.words import tokens


class Half(StrEnum):
    """Which half of the pipeline a metric speaks of, and so who mends it."""

    RETRIEVAL = "retrieval"
    GENERATION = "generation"
    SAFETY = "safety"
    COST = "cost"


class Scale(StrEnum):
    """How a metric's values are averaged and bounded."""

    RATE = "rate"
    """0 or 1 an item: Wilson interval, McNemar test."""
    GRADED = "graded"
    """Between 0 and 1: BCa interval, permutation test."""
    AMOUNT = "amount"
    """A quantity with a unit: median and 95th percentile."""


class Placement(NamedTuple):
    """The gold chunks of an item, the ranks at which they were found, and how many distinct chunks came back."""

    gold: frozenset[str]
    hits: tuple[int, ...]
    returned: int


@dataclass(frozen=True, kw_only=True)
class ScoredCase:
    """One item beside what the pipeline made of it; `retrieved` in list order, `answer` None when there is none."""

    item: Item
    retrieved: Sequence[Chunk] = ()
    answer: str | None = None
    cited_ids: Sequence[str] = ()
    retrieve_s: float | None = None
    answer_s: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None
    verdict: Verdict | None = None

    @cached_property
    def ranking(self) -> tuple[str, ...]:
        """Canonical ids of the retrieved chunks in list order, a repeated id at its first rank only."""
        return tuple(dict.fromkeys(self._retrieved_ids()))

    def _retrieved_ids(self) -> list[str]:
        ids = [chunk.chunk_id for chunk in self.retrieved]
        return ids if _are_canonical(ids) else list(map(canonical_chunk_id, ids))

    @property
    def duplicates(self) -> int:
        """How many retrieved entries repeat an id that stands higher up."""
        return len(self.retrieved) - len(self.ranking)

    @property
    def gold(self) -> frozenset[str]:
        """The item's gold chunk ids; empty means retrieval metrics are undefined for it."""
        return self.placement.gold

    @property
    def hit_ranks(self) -> tuple[int, ...]:
        """Ranks, counted from 1, at which a gold chunk stands."""
        return self.placement.hits

    @cached_property
    def placement(self) -> Placement:
        """Where the gold chunks stand: all that the metrics over ids read."""
        gold = frozenset(self.item.gold_chunk_ids)
        return Placement(gold, *hits_of(self._retrieved_ids(), gold))

    @cached_property
    def context(self) -> str:
        """The retrieved texts, one paragraph each."""
        return "\n\n".join(chunk.text for chunk in self.retrieved)

    @cached_property
    def context_words(self) -> frozenset[str]:
        """The folded tokens of all retrieved texts."""
        return frozenset(tokens(self.context))

    @cached_property
    def refusal(self) -> RefusalVerdict:
        """Whether the answer declines, by the detector."""
        return detect_refusal(self.answer or "")


def _are_canonical(ids: list[str]) -> bool:
    """Tell in three calls for a whole list that no id needs mending; a space anywhere sends them the long way."""
    joined = "".join(ids)
    return joined.isascii() and joined.split() == [joined]


@dataclass(frozen=True)
class Metric:
    """One figure an item: `score` gives None where the metric is undefined (left out, counted and shown)."""

    name: str
    half: Half
    formula: str
    source: str
    measure: Callable[[ScoredCase], float | None]
    scale: Scale = Scale.GRADED
    undefined_when: str = ""
    unit: str = ""
    higher_is_better: bool = True
    is_proxy: bool = False
    """A proxy sees words, not meaning; a gate refuses it unless the set allows proxies."""

    def score(self, case: ScoredCase) -> float | None:
        """Return the figure of one case, or None when it is undefined for it."""
        return self.measure(case)

    def __str__(self) -> str:
        return self.name
