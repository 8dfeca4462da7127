"""Checking a set: all errors and warnings in one report, with what a person has let pass."""

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime

from evalsets.chunks import Chunk
from evalsets.eval_set import AllowedCheck, EvalSet
from evalsets.items import StrictModel
from evalsets.sets.check_rules import RULES, Context, Finding
from evalsets.sets.check_rules.finding import Severity

__all__ = ["CheckReport", "Finding", "Severity", "check"]

DEFAULT_TOLERANCE = 0.05


class CheckReport(StrictModel):
    """Every finding about a set, errors first, then by code and item."""

    name: str
    version: int
    item_count: int
    with_corpus: bool
    findings: tuple[Finding, ...]
    allowed: tuple[AllowedCheck, ...] = ()

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that keep a set from being frozen unless they are allowed."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that a person should know of."""
        return tuple(finding for finding in self.findings if finding.severity is Severity.WARNING)

    @property
    def blocking(self) -> tuple[Finding, ...]:
        """The errors that nobody has allowed."""
        codes = {entry.code for entry in self.allowed}
        return tuple(finding for finding in self.errors if finding.code not in codes)


def check(  # noqa: PLR0913  # each is one thing the rules look at
    eval_set: EvalSet,
    *,
    corpus: Mapping[str, Chunk] | None = None,
    parent: EvalSet | None = None,
    texts: Mapping[str, str] | None = None,
    today: date | None = None,
    tolerance: float = DEFAULT_TOLERANCE,
    allow: Iterable[AllowedCheck] = (),
) -> CheckReport:
    """Check a set by every rule.

    `corpus` is chunks by id (rules on gold are skipped without it); `parent` the version before; `texts` gold texts by
    hash; `tolerance` the fall that the gate lets pass; `allow` comes on top of what the set itself records as allowed.
    """
    context = Context(eval_set, corpus, parent, texts or {}, today or datetime.now(UTC).date(), tolerance)
    findings = [finding for rule in RULES for finding in rule(context)]
    return CheckReport(
        name=eval_set.name,
        version=eval_set.version,
        item_count=len(eval_set.items),
        with_corpus=corpus is not None,
        findings=tuple(sorted(findings, key=lambda found: (found.severity, found.code, found.item_id))),
        allowed=(*eval_set.allowed, *allow),
    )
