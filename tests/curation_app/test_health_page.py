from datetime import date
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from curation_app import session_keys
from curation_app.labels import DecisionKind, LabelContent
from curation_app.review_items import Decision
from curation_app.review_store import ReviewStore
from curation_app.sample import LOG_PATH, MAPPING_PATH
from curation_app.service.drifting import drift_in_workspace, plan_repair, repair, send_to_review
from curation_app.service.freezing import freeze_plan, open_freeze_desk, plan_items
from curation_app.service.set_coverage import coverage_of
from curation_app.service.set_health import Review, health_of, record_review
from curation_app.service.set_places import whole_corpus
from curation_app.service.starting import make_workspace
from curation_app.workspace import WORKSPACE_VARIABLE, Workspace
from evalsets.items import GoldChunk, Item, Mode
from evalsets.sets.file import load
from evalsets.sets.freezing import Stamp, publish
from ingest.corpus.store import add
from ingest.loading import ingest
from ingest.log_store import LogStore
from tests.evalsets.set_samples import item

PAGE = Path("curation_app/pages/health.py").resolve()
TEXTS = {
    "kb-1#0": "Refunds for annual plans are paid within 30 days of the request.",
    "kb-2#0": "The VPN client is in the portal, under Downloads, for every employee.",
    "kb-3#0": "Travel above 500 euros is approved by the manager before it is booked.",
}


def gold_item(id_: str, question: str, chunk_id: str, **more: Any) -> Item:
    return item(id_, question, gold_chunk_ids=(chunk_id,), gold_chunks=(), expected="it is there", **more)


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    made = make_workspace(tmp_path / "shop").workspace
    monkeypatch.setenv(WORKSPACE_VARIABLE, str(made.root))
    load_corpus(made, TEXTS)
    items = [
        gold_item("refunds", "How long do refunds take?", "kb-1#0", last_reviewed_on=date(2026, 1, 5)),
        gold_item("vpn", "Where is the VPN client kept?", "kb-2#0", mode=Mode.REFUSAL),
        gold_item("travel", "Who approves travel above 500 euros?", "kb-3#0", added_on=date(2026, 10, 12)),
    ]
    publish(plan_items(made, "", items, Stamp("first", "Ada")))
    return made


def load_corpus(workspace: Workspace, texts: dict[str, str]) -> None:
    rows = [f'{{"chunk_id": "{key}", "doc_id": "{key[:4]}", "text": "{text}"}}\n' for key, text in texts.items()]
    path = workspace.root / "corpus.jsonl"
    path.write_text("".join(rows), encoding="utf-8")
    store = LogStore(workspace.logs_path)
    with store.unit() as connection:
        connection.execute("DELETE FROM corpus_chunks")
    add([path], store)


def opened() -> AppTest:
    page = AppTest.from_file(str(PAGE), default_timeout=20)
    page.session_state["reviewer"] = "Bo"
    page.run()
    assert not page.exception
    return page


def test_the_oldest_items_come_first_and_a_review_becomes_one_version(workspace: Workspace) -> None:
    page = opened()
    controls = [control.key for control in page.segmented_control]
    assert controls[0] == session_keys.review_key("refunds")
    page.segmented_control(key=session_keys.review_key("refunds")).set_value("still right")
    page.segmented_control(key=session_keys.review_key("vpn")).set_value("correct it")
    page.segmented_control(key=session_keys.review_key("travel")).set_value("retire")
    page.text_input(key=session_keys.review_key("travel", "reason")).set_value("the policy is gone")
    next(button for button in page.button if button.label == "Record the review").click().run()
    assert not page.exception
    assert "Frozen as version 2" in page.success[0].value
    now = load(workspace.sets_folder / "failures")
    confirmed = now.by_id["refunds"]
    assert confirmed.reviewed_by is not None
    assert (confirmed.last_reviewed_on, confirmed.reviewed_by.name) > (date(2026, 1, 5), "")
    assert [entry.reason for entry in now.retired] == ["the policy is gone"]
    waiting = ReviewStore(workspace.review_path).next_item("Bo")
    assert waiting is not None
    assert waiting.candidate.known_item_id == "vpn"


def test_drift_is_found_repaired_and_the_rest_sent_to_label_with_both_texts(workspace: Workspace) -> None:
    load_corpus(
        workspace,
        {
            "kb-1#9": TEXTS["kb-1#0"],
            "kb-2#0": f"Getting started. {TEXTS['kb-2#0']}",
            "kb-3#0": TEXTS["kb-3#0"].replace("500", "800"),
        },
    )
    page = opened()
    page.button[0].click().run()
    assert "1 moved, 1 merged, 1 changed" in page.warning[0].value
    next(button for button in page.button if button.label.startswith("Repair")).click().run()
    assert not page.exception
    assert "Frozen as version 2" in page.success[0].value
    now = load(workspace.sets_folder / "failures")
    assert now.by_id["refunds"].gold_chunk_ids == ("kb-1#9",)
    assert now.allowed == ()
    waiting = ReviewStore(workspace.review_path).next_item("Bo")
    assert waiting is not None
    both = [chunk.text for chunk in waiting.candidate.flagged_turn.retrieved]
    assert both == [TEXTS["kb-3#0"].replace("500", "800"), TEXTS["kb-3#0"]]


def test_a_gone_chunk_makes_a_repair_that_is_let_pass_with_its_reason(workspace: Workspace) -> None:
    load_corpus(workspace, {"kb-1#9": TEXTS["kb-1#0"], "kb-2#0": TEXTS["kb-2#0"]})
    corpus = whole_corpus(workspace)
    assert corpus is not None
    drifted = drift_in_workspace(workspace, "", corpus)
    result = repair(plan_repair(workspace, "", drifted, Stamp("repair", "Ada")))
    assert [entry.reason for entry in result.eval_set.allowed] == ["gold of 1 item(s) drifted and waits for review"]
    assert send_to_review(workspace, drifted) == 1
    assert send_to_review(workspace, drifted) == 0


def test_health_counts_growth_by_week_and_names_what_nothing_is_known_of(workspace: Workspace) -> None:
    health = health_of(workspace, today=date(2026, 11, 30))
    assert [each.item.id for each in health.overdue] == ["refunds"]
    assert list(health.by_week.values()) == [1, 0, 0, 2]
    assert (health.days_to_item, health.questionable, health.looks) == (None, [], [])


def test_coverage_compares_the_set_with_the_traffic_it_came_from(workspace: Workspace) -> None:
    ingest([LOG_PATH], store=LogStore(workspace.logs_path), mapping=str(MAPPING_PATH))
    found = {each.respect: each for each in coverage_of(workspace)}
    assert set(found) == {"document asked about", "week", "language", "model"}
    assert found["week"].unknown_in_set == 3
    assert any(row.is_missing for row in found["model"].rows)


def test_a_label_given_again_corrects_the_item_under_its_own_id(workspace: Workspace) -> None:
    record_review(workspace, "", Review(to_correct=("vpn",)), by="Bo")
    store = ReviewStore(workspace.review_path)
    shown = store.next_item("Bo")
    assert shown is not None
    content = LabelContent(
        mode=Mode.RETRIEVAL_MISS,
        gold_chunks=(GoldChunk(chunk_id="kb-2#0"),),
        expected="In the portal, under Downloads.",
    )
    store.submit(Decision(shown.candidate.candidate_id, "Bo", DecisionKind.LABEL, content, shown.token))
    desk = open_freeze_desk(workspace, stamp=Stamp("corrected", "Bo"))
    assert desk.plan.report.blocking == ()
    (change,) = desk.plan.change.changed
    assert (change.after.id, change.after.mode, change.after.added_on) == (
        "vpn",
        Mode.RETRIEVAL_MISS,
        change.before.added_on,
    )
    assert freeze_plan(workspace, desk.plan).eval_set.version == 2
    assert not open_freeze_desk(workspace, stamp=Stamp("again", "Bo")).plan.is_new
