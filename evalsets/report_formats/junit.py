"""A report as JUnit XML, which every CI reads: one case an item, errors apart from failures."""

import re
from xml.sax.saxutils import escape, quoteattr

from evalsets.report import ItemResult, Report
from evalsets.running.clock import Clock

_NOT_XML = re.compile(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_junit(report: Report, clock: Clock | None = None) -> str:
    """Return one suite a mode; a known failure is skipped, an item that could not be scored is an error."""
    suites = [_suite(report, mode, clock) for mode in sorted({item.mode.value for item in report.items})]
    counted = [item for item in report.items if not item.is_known_failing]
    attributes = _counts([*counted, *(item for item in report.items if item.is_known_failing)])
    name = f"{report.eval_set.name} version {report.eval_set.version}, {report.pipeline.name}"
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f"<testsuites name={_attribute(name)} {attributes}>\n{''.join(suites)}</testsuites>\n"
    )


def _suite(report: Report, mode: str, clock: Clock | None) -> str:
    items = [item for item in report.items if item.mode.value == mode]
    cases = "".join(_case(item, mode, _seconds(item, clock)) for item in items)
    return f"  <testsuite name={_attribute(mode)} {_counts(items)}>\n{cases}  </testsuite>\n"


def _counts(items: list[ItemResult]) -> str:
    skipped = sum(item.is_known_failing for item in items)
    errors = sum(not item.is_known_failing and not item.is_scored for item in items)
    failures = sum(not item.is_known_failing and item.is_scored and not item.passed for item in items)
    return f'tests="{len(items)}" failures="{failures}" errors="{errors}" skipped="{skipped}"'


def _case(item: ItemResult, mode: str, seconds: float | None) -> str:
    time = "" if seconds is None else f' time="{seconds:.3f}"'
    start = f"    <testcase classname={_attribute(mode)} name={_attribute(item.id)}{time}"
    told = _told(item)
    return f"{start}>\n      {told}\n    </testcase>\n" if told else f"{start}/>\n"


def _told(item: ItemResult) -> str:
    if item.is_known_failing:
        return f"<skipped message={_attribute(f'known to fail: {item.reason}')}/>"
    if item.passed:
        return ""
    kind = "failure" if item.is_scored else "error"
    lines = [f"question: {item.question}", f"expected: {item.expected}", f"answer: {item.answer or ''}"]
    lines += [f"cause: {item.cause}"] if item.cause else []
    return f"<{kind} message={_attribute(item.reason)}>{escape(_clean(chr(10).join(lines)))}</{kind}>"


def _seconds(item: ItemResult, clock: Clock | None) -> float | None:
    reading = clock.items.get(item.id) if clock else None
    return None if reading is None else (reading.retrieve_s or 0.0) + (reading.answer_s or 0.0)


def _attribute(text: str) -> str:
    return quoteattr(_clean(text))


def _clean(text: str) -> str:
    """Replace what no XML file may hold, such as control characters out of an answer."""
    return _NOT_XML.sub("\ufffd", text)
