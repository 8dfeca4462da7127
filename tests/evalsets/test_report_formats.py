"""Every format byte for byte; `ERRATA_UPDATE_GOLDEN=1` writes the files anew, to be read before they are committed."""

import os
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from evalsets.comparison import compare
from evalsets.errors import BadInputError, FaultsError
from evalsets.eval_set import EvalSet
from evalsets.gating.formats import render_gate
from evalsets.gating.gate import Tolerances, evaluate
from evalsets.judges.base import FactsJudge
from evalsets.pipelines.python_object import PythonPipeline
from evalsets.report import Report
from evalsets.report_formats import format_of, render
from evalsets.report_formats.comparison_text import render_comparison_markdown, render_comparison_text
from evalsets.running.clock import CallClock, Clock
from evalsets.running.runner import CorpusState, RunSettings, run
from tests.evalsets.cases import item
from tests.evalsets.run_parts import CountingSystem

GOLDEN = Path(__file__).parent / "golden"
SHOWN_METRICS = ("hit@10", "recall@10", "declined", "grounded_tokens", "cost")
CLOCK = Clock(
    started_at="2026-11-30T09:00:00+00:00",
    finished_at="2026-11-30T09:00:02+00:00",
    wall_s=2.0,
    calls=15,
    retried=1,
    slowed=1,
    latency={"retrieve": {"median": 0.02, "p95": 0.05}, "answer": {"median": 0.4, "p95": 0.9}},
    items={"refund-days": CallClock(retrieve_s=0.02, answer_s=0.4, attempts=2)},
)


class Desk(CountingSystem):
    """A help desk whose answers cover every verdict; `before` answers worse."""

    def __init__(self, *, worse: bool = False) -> None:
        super().__init__()
        self.worse = worse

    def answer(self, question: str, chunks: list[dict[str, str]]) -> str:
        super().answer(question, chunks)
        match question:
            case "How long is the refund window?":
                return "I could not find that." if self.worse else "The answer is yes: 30 days | *really*."
            case "Who approves leave?":
                return "Nobody <b>knows</b> & nobody asks.\x07"
            case "Is the cafeteria open?":
                return "I don't have information on that."
            case "Does the portal work?":
                raise RuntimeError("the portal & its <index> are gone")
        return "Yes, from 8 to 18."


def desk_set() -> EvalSet:
    common = {"gold_chunk_ids": ("c1",), "answer_facts": ("30 days",), "tags": ("policy",)}
    return EvalSet(
        name="desk",
        version=3,
        items=(
            item(id="refund-days", question="How long is the refund window?", expected="30 days", **common),
            item(
                id="leave",
                question="Who approves leave?",
                mode="grounding_failure",
                gold_chunk_ids=("c1", "c2"),
                answer_facts=("your manager",),
            ),
            item(id="cafeteria", question="Is the cafeteria open?", mode="out_of_scope"),
            item(
                id="portal",
                question="Does the portal work?",
                mode="refusal",
                gold_chunk_ids=("c1",),
                answer_facts=("yes",),
            ),
            item(id="hours", question="When is the desk open?", gold_chunk_ids=("c9",), answer_facts=("9 to 17",)),
        ),
        known_failing=(
            {"id": "hours", "reason": "hours moved", "owner": "desk", "since": "2026-11-01", "review_by": "2027-01-01"},
        ),
    )


def desk_report(*, worse: bool = False) -> Report:
    name = "desk-before" if worse else "desk"
    pipeline = PythonPipeline(Desk(worse=worse), name=name, target_path=name)
    report = run(desk_set(), pipeline, FactsJudge(), RunSettings(max_error_share=1.0), corpus=CorpusState({"valid": 4}))
    metrics = {name: figure for name, figure in report.metrics.items() if name in SHOWN_METRICS}
    items = tuple(
        item.model_copy(
            update={
                "scores": {name: value for name, value in item.scores.items() if name in SHOWN_METRICS},
                "steps": {
                    name: step.model_copy(update={"error": _without_place(step.error)})
                    for name, step in item.steps.items()
                },
                "reason": _without_place(item.reason),
            }
        )
        for item in report.items
    )
    versions = {"errata": "1.0.0", "python": "3.11.0"}
    return report.model_copy(update={"git_commit": "0" * 40, "versions": versions, "metrics": metrics, "items": items})


def _without_place(text: str) -> str:
    return text.partition(" (in ")[0]


def check_golden(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("ERRATA_UPDATE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["report.txt", "report.md", "report.html", "report.xml", "report.json"])
def test_a_report_is_rendered_byte_for_byte(name: str) -> None:
    check_golden(name, render(desk_report(), format_of(Path(name)), CLOCK))


def test_a_repeated_run_tells_how_steady_it_was_in_every_readable_format() -> None:
    report = run(desk_set(), PythonPipeline(Desk()), FactsJudge(), RunSettings(repeat=3, max_error_share=1.0))
    for form in ("text", "markdown", "html"):
        assert "over 3 repeats: pass rate 50.0%, passed every time 50.0%, flipped 0.0%" in render(report, form)


def test_a_comparison_is_rendered_byte_for_byte() -> None:
    comparison = compare(desk_report(worse=True), desk_report())
    check_golden("comparison.txt", render_comparison_text(comparison))
    check_golden("comparison.md", render_comparison_markdown(comparison))


def test_a_gate_is_rendered_byte_for_byte() -> None:
    result = evaluate(desk_report(), desk_report(worse=True), Tolerances(floors={"recall@10": 0.9}))
    check_golden("gate.txt", render_gate(result))
    check_golden("gate.md", render_gate(result, "markdown"))


def test_junit_counts_failures_errors_and_known_failures_apart() -> None:
    root = ET.fromstring(render(desk_report(), "junit", CLOCK))  # noqa: S314 - our own output
    assert {key: root.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "5",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
    }


def test_html_holds_no_outside_resource_and_no_markup_out_of_an_answer() -> None:
    seen: list[tuple[str, list[tuple[str, str | None]]]] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            seen.append((tag, attrs))

    page = render(desk_report(), "html")
    Reader().feed(page)
    assert {"script", "link", "img", "iframe"}.isdisjoint(tag for tag, _ in seen)
    assert not [value for _, attrs in seen for name, value in attrs if name in {"src", "href", "style", "onerror"}]
    assert "Nobody &lt;b&gt;knows&lt;/b&gt; &amp; nobody asks." in page


def test_a_report_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    report = desk_report()
    report.save(tmp_path / "report.json")
    assert Report.load(tmp_path / "report.json") == report


def test_half_a_character_in_an_answer_is_replaced_before_it_reaches_a_file(tmp_path: Path) -> None:
    system = PythonPipeline(lambda question: (f"{question} yes \ud83d", ["c1"]))
    eval_set = EvalSet(name="odd", items=(item(answer_facts=("yes",), gold_chunk_ids=("c1",)),))
    report = run(eval_set, system, FactsJudge(), journal_path=tmp_path / "journal.jsonl")
    report.save(tmp_path / "report.json")
    assert Report.load(tmp_path / "report.json").items[0].answer == "How long? yes \ufffd"
    for form in ("text", "markdown", "html", "junit", "json"):
        assert render(report, form)


def test_a_damaged_report_is_refused_with_every_fault(tmp_path: Path) -> None:
    wire = desk_report().wire()
    with pytest.raises(FaultsError, match="3 fault"):
        Report.parse({**wire, "passed": "many", "extra": 1, "headline": None}, where="report.json")
    with pytest.raises(BadInputError, match="no report of a run"):
        Report.parse({"faithfulness": 0.9}, where="figures.json")
    with pytest.raises(BadInputError, match="schema 9"):
        Report.parse({**wire, "schema_version": 9}, where="report.json")
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    with pytest.raises(BadInputError, match=r"broken.json is not JSON"):
        Report.load(tmp_path / "broken.json")
