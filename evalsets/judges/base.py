"""The judge interface, the fault of a judge, and the offline judge that needs no model."""

from collections.abc import Awaitable
from typing import Protocol

from evalsets.errors import ErrataError
from evalsets.judges.verdict import Verdict
from evalsets.metrics.base import ScoredCase
from evalsets.metrics.facts import missing_facts
from evalsets.words import phrase_in, token_text


class Judge(Protocol):
    """What decides whether an answer passes; `fingerprint` changes with anything that can change a verdict."""

    @property
    def name(self) -> str:
        """What reports call the judge."""

    @property
    def fingerprint(self) -> str:
        """Hash over prompt, model, parameters and code version."""

    def judge(self, case: ScoredCase) -> Verdict | Awaitable[Verdict]:
        """Return the verdict on one case that has an answer; raise `JudgeInvalidError` for an unusable one."""


class JudgeInvalidError(ErrataError):
    """A judge answered with something that is no verdict; `raw` keeps what it said."""

    code = "judge-invalid"

    def __init__(self, message: str, raw: str = "") -> None:
        """Keep the raw text beside the message."""
        self.raw = raw
        super().__init__(message)


class FactsJudge:
    """The default judge: every fact stands in the answer; without facts, the expected text does.

    An item the corpus cannot answer passes when the answer declines. Facts and text are compared as whole words,
    folded (case, white space, Unicode form, number formats). It needs no model and says the same every time.
    """

    name = "facts"
    is_model = False
    fingerprint = "facts-1"
    is_inline = True
    """Quick enough to run in place of a thread."""

    def judge(self, case: ScoredCase) -> Verdict:
        """Return the verdict on one case; an empty answer fails."""
        declined = case.refusal.is_refusal
        if not case.item.is_answerable:
            note = "declined, as it should" if declined else "answered a question the corpus does not cover"
            return Verdict(passed=declined, note=note, correct=declined, declined=declined)
        passed, note = self._compare(case)
        return Verdict(passed=passed, note=note, correct=passed, declined=declined)

    def _compare(self, case: ScoredCase) -> tuple[bool, str]:
        answer = case.answer or ""
        if not answer.strip():
            return False, "the answer is empty"
        if case.item.answer_facts:
            missed = missing_facts(case.item.answer_facts, answer)
            stated = "; ".join(repr(" / ".join(fact)) for fact in missed)
            return not missed, f"missing: {stated}" if missed else "every fact stands in the answer"
        if phrase_in(token_text(answer), case.item.expected):
            return True, "the expected text stands in the answer"
        return False, "the expected text does not stand in the answer, and the item has no facts to look for"
