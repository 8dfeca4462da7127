"""Stored runs: a summary beside each report, kept in step, and figures with their intervals."""

import json
import os
from typing import Any

import pytest

from curation_app.service.comparing import compare_runs, earlier_runs, finding
from curation_app.service.item_reading import read_item
from curation_app.service.playing import Knobs, play_question, play_set
from curation_app.service.run_history import baseline_summary, keep_report, load_report, stored_runs, unreadable
from curation_app.service.run_summaries import SUMMARY_SUFFIX, Measured
from curation_app.service.trending import TrendPoint, points, read_trends, slide_of
from evalsets.errors import BadInputError
from evalsets.report import Report
from evalsets.statistics import wilson_interval

pytestmark = pytest.mark.xdist_group("scores")


def test_runs_are_listed_newest_first_with_a_summary_beside_each_report(demo: Any) -> None:
    runs = stored_runs(demo.workspace)
    assert [run.summary.pipeline for run in runs][:1] == ["handbook-top1"]
    assert len(runs) == 3
    for run in runs:
        kept = json.loads(run.path.with_name(run.path.stem + SUMMARY_SUFFIX).read_text())
        assert kept["run_id"] == run.path.stem
        assert set(kept["outcomes"].values()) <= {1, 0, -1}


def test_runs_that_began_in_the_same_second_have_labels_of_their_own(demo: Any) -> None:
    run = stored_runs(demo.workspace)[0]
    twins = [run.path.with_name("twin.json"), run.path.with_name("twin.clock.json")]
    try:
        twins[0].write_bytes(run.path.read_bytes())
        twins[1].write_bytes(run.path.with_name(f"{run.path.stem}.clock.json").read_bytes())
        labels = [run.label for run in stored_runs(demo.workspace)]
        assert len(set(labels)) == len(labels) == 4
        assert f"{run.label} · twin" in labels
    finally:
        for path in demo.workspace.runs_folder.glob("twin*"):
            path.unlink()


def test_a_summary_is_made_again_when_its_report_changes(demo: Any) -> None:
    run = stored_runs(demo.workspace)[-1]
    before, written_ns = run.path.read_bytes(), run.summary.report_mtime_ns
    try:
        changed = json.loads(before) | {"headline": "changed by hand"}
        run.path.write_text(json.dumps(changed))
        os.utime(run.path, ns=(1, 1))
        assert stored_runs(demo.workspace)[-1].summary.headline == "changed by hand"
    finally:
        run.path.write_bytes(before)
        # Runs that began in the same second are told apart by this time.
        os.utime(run.path, ns=(written_ns, written_ns))


def test_a_report_from_elsewhere_is_listed_by_its_head_and_its_items_are_read_when_asked_for(demo: Any) -> None:
    run = stored_runs(demo.workspace)[-1]
    items = Report.load(run.path).items
    copied = run.path.with_name("copied.json")
    try:
        copied.write_bytes(run.path.read_bytes())
        listed = next(run for run in stored_runs(demo.workspace) if run.path == copied)
        assert listed.summary.outcomes is None
        without = {"run_id", "report_mtime_ns", "outcomes", "started_at", "latency_s"}
        assert listed.summary.model_dump(exclude=without) == run.summary.model_dump(exclude=without)
        assert listed.outcomes() == {item.id: int(item.passed) if item.is_scored else -1 for item in items}
    finally:
        for path in demo.workspace.runs_folder.glob("copied*"):
            path.unlink()


def test_headline_figures_are_the_reports_own_with_wilson_intervals(demo: Any) -> None:
    run = stored_runs(demo.workspace)[0]
    report = Report.load(run.path)
    accuracy = run.summary.figures["answer_accuracy"]
    assert accuracy.value == report.answer_accuracy
    interval = wilson_interval(report.passed, len(report.items))
    assert (accuracy.low, accuracy.high) == pytest.approx((interval.low, interval.high))
    baseline = baseline_summary(demo.workspace, "failures")
    assert baseline is not None
    assert baseline.figures["retrieval_recall"].value == demo.result.changed.findings[0].baseline


def test_a_file_that_is_no_report_is_named_with_its_fault_and_the_rest_is_listed(demo: Any) -> None:
    stray = demo.workspace.runs_folder / "stray.json"
    stray.write_text('{"not": "a report"}')
    try:
        assert len(stored_runs(demo.workspace)) == 3
        assert "is no report of a run" in unreadable(demo.workspace)[stray]
    finally:
        stray.unlink()


def test_a_report_from_elsewhere_is_kept_once_and_another_file_is_refused(demo: Any) -> None:
    content = stored_runs(demo.workspace)[0].path.read_bytes()
    first = keep_report(demo.workspace, "from ci.json", content)
    try:
        assert keep_report(demo.workspace, "from ci.json", content) == first
        assert len(stored_runs(demo.workspace)) == 4
        with pytest.raises(BadInputError, match="is not JSON"):
            keep_report(demo.workspace, "broken.json", b"{")
    finally:
        for path in demo.workspace.runs_folder.glob(f"{first.stem}*"):
            path.unlink()


def test_comparing_names_what_broke_and_what_moved(demo: Any) -> None:
    runs = stored_runs(demo.workspace)
    earlier = earlier_runs(runs, demo.workspace.sets_folder, "failures")
    assert next(iter(earlier)) == "baseline of the set"
    comparison = compare_runs(earlier["baseline of the set"], runs[0].path)
    recall = comparison.headline[0]
    assert recall.movement == "moved"
    assert f"moved: retrieval recall {recall.difference * 100:+.0f} points" in finding(comparison)
    assert compare_runs(earlier["baseline of the set"], runs[0].path) is comparison


def test_an_item_is_read_with_gold_facts_unsupported_sentences_and_history(demo: Any) -> None:
    runs = stored_runs(demo.workspace)
    report = load_report(runs[0].path)
    failed = next(item for item in report.items if item.cause == "in context, left out of the answer")
    reading = read_item(demo.workspace, runs[0], failed.id, runs)
    assert reading is not None
    assert any(chunk.is_gold and chunk.text for chunk in reading.chunks)
    assert reading.facts_missed
    assert any("award-winning" in sentence for sentence in reading.unsupported), "the padding stands in no chunk"
    assert len(reading.history) == 3
    missed = next(item for item in report.items if item.cause == "in corpus, not retrieved")
    reading = read_item(demo.workspace, runs[0], missed.id, runs)
    assert reading is not None
    assert any(chunk.rank is None and chunk.is_gold for chunk in reading.chunks)
    assert read_item(demo.workspace, runs[0], "no such item", runs) is None


def test_trends_mark_the_baseline_and_tell_too_few_runs_apart_from_a_slide(demo: Any) -> None:
    trends = read_trends(demo.workspace, "failures", pipeline="handbook")
    assert len(trends.runs) == 2
    assert [mark.words for mark in trends.marks] == ["baseline"]
    shown = points(trends, "retrieval_miss")
    assert all(point.measured is not None for point in shown)
    assert slide_of(shown).words == "Too few runs to see a slide: 2 of the 5 that it takes"

    def drawn(*values: float) -> list[TrendPoint]:
        return [shown[0]._replace(place=place, measured=Measured(value=value)) for place, value in enumerate(values, 1)]

    falling = slide_of(drawn(0.9, 0.88, 0.8, 0.7, 0.6, 0.55))
    assert falling.words.startswith("Falls by 40.0 points over 6 runs (95% interval -50.0 to -25.0, p = 0.0028)")
    assert [place for place, _ in falling.ends] == [1, 6]
    assert falling.ends[0][1] > falling.ends[1][1]
    level = slide_of(drawn(0.5, 0.6, 0.4, 0.55, 0.45, 0.5))
    assert level.words.startswith("No slide over 6 runs")
    assert not level.ends


def test_the_playground_scores_as_the_runner_does(demo: Any) -> None:
    report = load_report(stored_runs(demo.workspace)[0].path)
    score = play_set(demo.workspace, "failures", Knobs(1, is_padded=True, groundedness=0.8, correctness=0.4))
    assert score.recall == report.retrieval_recall
    assert score.accuracy == report.answer_accuracy
    assert score.refusal_rate == report.refusal_rate


def test_the_playgrounds_gate_flips_with_its_bars_and_with_padding(demo: Any) -> None:
    def passes(*, is_padded: bool, groundedness: float, correctness: float) -> bool:
        return play_set(demo.workspace, "failures", Knobs(5, is_padded, groundedness, correctness)).passes

    assert passes(is_padded=False, groundedness=0.8, correctness=0.4)
    assert not passes(is_padded=False, groundedness=0.8, correctness=0.9)
    assert not passes(is_padded=True, groundedness=0.8, correctness=0.4)
    assert passes(is_padded=True, groundedness=0.3, correctness=0.4)


def test_a_typed_question_is_answered_from_the_corpus(demo: Any) -> None:
    knobs = Knobs(3, is_padded=False, groundedness=0.8, correctness=0.4)
    played = play_question(demo.workspace, "When are card payments paid out?", knobs)
    assert "two working days" in (played.case.answer or "")
    assert len(played.case.retrieved) == 3
    with pytest.raises(BadInputError, match="type a question"):
        play_question(demo.workspace, "  ", knobs)
