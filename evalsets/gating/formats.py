"""A gate's result as text and as Markdown: what moved from what to what, and which half to mend."""

from collections.abc import Iterator

from evalsets.errors import BadInputError
from evalsets.gating.gate import GateResult, look_at

GATE_FORMATS = ("text", "markdown")


def render_gate(result: GateResult, form: str = "text") -> str:
    """Return the result in one of GATE_FORMATS."""
    if form not in GATE_FORMATS:
        raise BadInputError(f"--format {form!r}: the formats are {', '.join(GATE_FORMATS)}")
    return "\n".join(_text_lines(result) if form == "text" else _markdown_lines(result)) + "\n"


def _text_lines(result: GateResult) -> Iterator[str]:
    yield from (f"note: {note}" for note in result.notes)
    yield from (f"{'pass' if finding.passed else 'FAIL'}  {finding.sentence}" for finding in result.findings)
    yield from advice(result)
    yield from (f"warning: {warning}" for warning in result.warnings)
    yield verdict(result)


def _markdown_lines(result: GateResult) -> Iterator[str]:
    yield f"### {verdict(result).capitalize()}"
    for line in [*result.notes, *advice(result), *(f"Warning: {warning}" for warning in result.warnings)]:
        yield f"\n> {line}"
    yield from ["", "| | figure | baseline | current | limit |", "|---|---|--:|--:|--:|"]
    for finding in result.findings:
        numbers = " | ".join(
            "" if number is None else f"{number:.3f}" for number in (finding.baseline, finding.current, finding.limit)
        )
        yield f"| {'pass' if finding.passed else '**fail**'} | {finding.name.replace('_', ' ')} | {numbers} |"
    told = [finding.sentence for finding in result.failures if finding.kind not in {"metric", "mode", "floor"}]
    yield from (f"\n{sentence}" for sentence in told)


def advice(result: GateResult) -> Iterator[str]:
    """Yield one sentence for each half of the pipeline that failed: what to look at."""
    for half in result.halves_to_fix:
        yield look_at(half, [finding.name for finding in result.failures if finding.half == half])


def verdict(result: GateResult) -> str:
    """Return the verdict in words."""
    if result.passed:
        return "gate passed"
    failed = len(result.failures)
    return f"gate failed: {failed} of {len(result.findings)} comparisons" if failed else "gate not passed"
