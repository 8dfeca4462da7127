"""The pages of scores, drawn without a browser: with runs, and in an empty workspace."""

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from curation_app.components.figures import rate_words
from curation_app.components.page_text import markdown_text
from curation_app.service.comparing import compare_runs, finding
from curation_app.service.run_history import stored_runs
from curation_app.service.running import RunRequest
from curation_app.service.starting import make_workspace
from curation_app.service.sweeping import SweepRequest, carry_out_sweep
from curation_app.workspace import WORKSPACE_VARIABLE

pytestmark = pytest.mark.xdist_group("scores")

PAGES = ("scores", "compare", "playground", "judge", "trends", "monitor")


def draw(pages: Path, page: str) -> AppTest:
    app = AppTest.from_file(str(pages / f"{page}.py"), default_timeout=60)
    app.session_state["reviewer"] = "Ada"
    app.run()
    assert not app.exception, [exception.message for exception in app.exception]
    return app


@pytest.mark.parametrize("page", PAGES)
def test_an_empty_workspace_says_what_to_do_first(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(WORKSPACE_VARIABLE, str(make_workspace(tmp_path).workspace.root))
    app = draw(Path("curation_app/pages").resolve(), page)
    assert app.info
    assert not app.error


def test_the_scorecard_shows_counts_and_intervals(in_demo: Path, demo: Any) -> None:
    app = draw(in_demo, "scores")
    assert [metric.label for metric in app.metric][:3] == ["Retrieval recall", "Answer accuracy", "Refusal rate"]
    recall = stored_runs(demo.workspace)[0].summary.figures["retrieval_recall"]
    assert any(rate_words(recall) in caption.value for caption in app.caption)
    assert "failed" in app.markdown[0].value


def test_a_link_may_name_the_run_by_its_id(in_demo: Path, demo: Any) -> None:
    oldest = stored_runs(demo.workspace)[-1]
    app = AppTest.from_file(str(in_demo / "scores.py"), default_timeout=60)
    app.query_params["run"] = oldest.summary.run_id
    app.run()
    assert not app.exception
    assert app.selectbox(key="run").value == oldest.summary.run_id


def test_comparing_opens_on_the_baseline_and_the_newest_run(in_demo: Path, demo: Any) -> None:
    app = draw(in_demo, "compare")
    assert app.selectbox[0].value == "baseline of the set"
    newest = stored_runs(demo.workspace)[0]
    baseline = demo.workspace.sets_folder / "failures" / "baseline.json"
    assert app.multiselect[0].value == [newest.label]
    assert f"**{markdown_text(finding(compare_runs(baseline, newest.path)), 600)}.**" == app.markdown[0].value


def test_a_sweep_shows_what_was_expected_beside_what_was_found(in_demo: Path, demo: Any) -> None:
    request = RunRequest("failures", "handbook")
    result = carry_out_sweep(SweepRequest(request, {"top_k": (1, 3)}, "recall rises"), demo.workspace.root)
    app = draw(in_demo, "compare")
    written = [markdown.value for markdown in app.markdown]
    assert "recall rises" in written
    assert markdown_text(result.sweep.finding, 1000) in written


def test_moving_a_slider_flips_the_gate(in_demo: Path) -> None:
    app = draw(in_demo, "playground")
    assert "Gate passes" in app.success[0].value
    app.slider(key="correctness").set_value(0.9).run()
    assert "Gate fails" in app.error[0].value
    app.slider(key="correctness").set_value(0.2).run()
    assert "Gate passes" in app.success[0].value


def test_the_judges_verdict_stays_hidden_while_grading(in_demo: Path, demo: Any) -> None:
    app = draw(in_demo, "judge")
    before = next(button for button in app.button if button.label == "Passes")
    assert not any("the judge says" in markdown.value for markdown in app.markdown)
    before.click().run()
    after = next(button for button in app.button if button.label == "Passes")
    assert after.key != before.key
    assert (demo.workspace.sets_folder / "failures" / "judges").is_dir()


def test_the_monitor_shows_a_card_for_each_measure_and_narrows_to_a_model(in_demo: Path) -> None:
    app = draw(in_demo, "monitor")
    assert len(app.metric) == 12
    assert app.metric[0].value == "458"
    app.selectbox(key="model").set_value("larch-2-large").run()
    assert not app.exception
    assert app.metric[0].value == "74"


def test_trends_show_the_pipeline_with_most_runs(in_demo: Path) -> None:
    app = draw(in_demo, "trends")
    assert app.selectbox(key="pipeline").value == "handbook"
