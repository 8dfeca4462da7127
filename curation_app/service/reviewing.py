"""What two readers of the same candidate say: their agreement by mode, where they differ, and how that is settled."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from curation_app.labels import SETTLING_KINDS, DecisionKind, LabelContent, LabelEvent, agree
from curation_app.review_store import ReviewStore
from evalsets.items import FAILURE_MODES, AuthorKind
from evalsets.statistics import Interval, cohens_kappa, wilson_interval
from ingest.mining.candidates import Candidate

NOT_A_FAILURE = "not_failure"


class ReadingPair(NamedTuple):
    """The first two human readings of one candidate, and what settled them if they differ."""

    candidate_id: str
    first: LabelEvent
    second: LabelEvent
    settled_by: LabelEvent | None

    @property
    def agrees(self) -> bool:
        """Whether both say the same mode and gold chunks."""
        return agree(self.first, self.second)


class ModeAgreement(NamedTuple):
    """How far two readers agree on one verdict against all others; kappa is None when it cannot be told."""

    verdict: str
    used_by_first: int
    used_by_second: int
    used_by_both: int
    kappa: float | None


class AgreementReport(NamedTuple):
    """Agreement over all candidates that two people read."""

    pairs: int
    same_verdict: int
    same_verdict_interval: Interval | None
    kappa: float | None
    modes: tuple[ModeAgreement, ...]
    confusion: tuple[tuple[str, str, int], ...]
    """(first reader's verdict, second reader's verdict, count)"""


class Disagreement(NamedTuple):
    """A candidate whose readers differ."""

    candidate: Candidate
    pair: ReadingPair


def verdict_of(event: LabelEvent) -> str:
    """Return the mode of a reading, or that nothing failed."""
    return event.content.mode.value if event.kind is DecisionKind.LABEL and event.content.mode else NOT_A_FAILURE


def reading_pairs(store: ReviewStore) -> list[ReadingPair]:
    """Return every candidate that at least two people read."""
    settled = store.adjudications()
    pairs = []
    for candidate_id, events in store.readings().items():
        human = [each for each in events if each.kind in SETTLING_KINDS and each.author.kind is AuthorKind.HUMAN]
        if len(human) > 1:
            pairs.append(ReadingPair(candidate_id, human[0], human[1], settled.get(candidate_id)))
    return pairs


def agreement_report(pairs: Sequence[ReadingPair]) -> AgreementReport:
    """Measure agreement as it was before anything was settled."""
    verdicts = [(verdict_of(pair.first), verdict_of(pair.second)) for pair in pairs]
    same = sum(first == second for first, second in verdicts)
    names = [*(mode.value for mode in FAILURE_MODES), NOT_A_FAILURE]
    return AgreementReport(
        pairs=len(verdicts),
        same_verdict=same,
        same_verdict_interval=wilson_interval(same, len(verdicts)) if verdicts else None,
        kappa=nominal_kappa(verdicts),
        modes=tuple(_mode_agreement(name, verdicts) for name in names if any(name in pair for pair in verdicts)),
        confusion=tuple((first, second, count) for (first, second), count in sorted(Counter(verdicts).items())),
    )


def nominal_kappa(verdicts: Sequence[tuple[str, str]]) -> float | None:
    """Return Cohen's kappa over several categories (Cohen 1960); None without pairs or when chance explains all."""
    total = len(verdicts)
    if not total:
        return None
    observed = sum(first == second for first, second in verdicts) / total
    firsts, seconds = Counter(first for first, _ in verdicts), Counter(second for _, second in verdicts)
    by_chance = sum(firsts[name] * seconds[name] for name in firsts) / total**2
    return (observed - by_chance) / (1 - by_chance) if by_chance < 1 else None


def disagreements(store: ReviewStore, pairs: Sequence[ReadingPair]) -> list[Disagreement]:
    """Return what still has to be settled, each with its candidate."""
    open_pairs = {pair.candidate_id: pair for pair in pairs if not pair.agrees and pair.settled_by is None}
    found = {candidate.candidate_id: candidate for candidate, _ in store.candidates(list(open_pairs))}
    return [Disagreement(found[key], pair) for key, pair in open_pairs.items() if key in found]


def settle(store: ReviewStore, pair: ReadingPair, reviewer: str, content: LabelContent) -> bool:
    """Record the result that settles a disagreement; its reason stands in the note."""
    token = f"settle-{pair.first.token}-{pair.second.token}"
    return store.adjudicate(pair.candidate_id, reviewer, content, token=token)


def _mode_agreement(name: str, verdicts: Sequence[tuple[str, str]]) -> ModeAgreement:
    firsts = [first == name for first, _ in verdicts]
    seconds = [second == name for _, second in verdicts]
    both = sum(one and other for one, other in zip(firsts, seconds, strict=True))
    return ModeAgreement(name, sum(firsts), sum(seconds), both, cohens_kappa(firsts, seconds))
