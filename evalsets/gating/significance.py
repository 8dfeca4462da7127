"""What the paired tests say of the falls a gate found, corrected over all figures that gate (Holm)."""

from collections.abc import Mapping, Sequence
from typing import Any

from evalsets.comparison import ALPHA, Change, compare
from evalsets.gating.findings import Finding
from evalsets.report import Report
from evalsets.report_formats.cells import p_words
from evalsets.statistics.paired import holm

_TESTED = frozenset({"metric", "mode"})


def with_tests(
    findings: Sequence[Finding], before: Mapping[str, Any], after: Mapping[str, Any], *, strict: bool = False
) -> list[Finding]:
    """Return the findings with the test of each beside it; a fall that may be chance passes and says so."""
    compared = compare(
        Report.parse(before, where="the baseline"), Report.parse(after, where="the current run"), strict=strict
    )
    changes = {change.name: change for change in (*compared.metrics, *compared.headline)}
    changes |= {f"mode {change.name}": change for change in compared.modes}
    gated = {finding.name: changes[finding.name] for finding in findings if _is_tested(finding, changes)}
    corrected = holm({name: change.p_value for name, change in gated.items()})
    return [
        _tested(finding, gated[finding.name], corrected[finding.name]) if _is_tested(finding, gated) else finding
        for finding in findings
    ]


def _is_tested(finding: Finding, changes: Mapping[str, Change]) -> bool:
    return finding.kind in _TESTED and finding.name in changes


def _tested(finding: Finding, change: Change, p_value: float) -> Finding:
    if finding.passed:
        return finding
    told = f"{change.test} over {change.items} items: {change.broke} broke, {change.fixed} fixed, p {p_words(p_value)}"
    if p_value <= ALPHA and change.is_worse:
        return finding._replace(sentence=f"{finding.sentence}; {told}: moved")
    return finding._replace(passed=True, sentence=f"{finding.sentence}; {told}: may be chance, lets pass")
