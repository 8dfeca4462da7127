from collections.abc import Callable
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from curation_app.components.item_extras import progress_html
from curation_app.labels import DecisionKind, LabelContent
from curation_app.review_items import Decision
from curation_app.review_queue import QueueFilter
from curation_app.service.drafting import AnswerDraft
from curation_app.service.labelling import Desk, NeedsAWordError, open_desk
from curation_app.service.overview import Progress, forget_counts
from curation_app.service.starting import make_workspace
from evalsets.items import GoldChunk, Mode
from ingest.mining.candidates import Candidate

MakeCandidate = Callable[..., Candidate]
APP = str(Path(__file__).parents[2] / "curation_app" / "app.py")
GOLD = (GoldChunk(chunk_id="kb-003#0"),)


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    workspace = make_workspace(tmp_path / "workspace").workspace
    monkeypatch.setenv("ERRATA_WORKSPACE", str(workspace.root))
    forget_counts()
    return open_desk(workspace)


def opened(page: str, reviewer: str = "Ann") -> AppTest:
    app = AppTest.from_file(APP, default_timeout=30)
    if reviewer:
        app.session_state["reviewer"] = reviewer
    app.run()
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    return app


def button(app: AppTest, label: str):  # type: ignore[no-untyped-def]  # noqa: ANN201
    return next(each for each in app.button if each.label.startswith(label))


def area(app: AppTest, label: str):  # type: ignore[no-untyped-def]  # noqa: ANN201
    return next(each for each in app.text_area if each.label == label)


def test_the_name_is_asked_once_before_anything_else(desk: Desk, make_candidate: MakeCandidate) -> None:
    desk.store.add_candidates([make_candidate(1)])
    app = AppTest.from_file(APP, default_timeout=30)
    app.user.clear()
    app.run()
    assert app.header[0].value == "Who is reviewing?"
    app.text_input(key="reviewer-name").set_value("  Ann   B. ")
    button(app, "Start").click().run()
    assert app.session_state["reviewer"] == "Ann B."
    assert not app.exception


def test_fields_are_saved_one_by_one_as_they_change_and_make_the_label(
    desk: Desk, make_candidate: MakeCandidate
) -> None:
    desk.store.add_candidates([make_candidate(1, priority=0.9), make_candidate(2)])
    desk.save_fields("c00001", "Ann", {"gold_chunks": [GOLD[0].model_dump()]})
    app = opened("label")
    app.radio[0].set_value(Mode.GROUNDING_FAILURE.value).run()
    area(app, "Expected answer").set_value("Within 30 days.").run()
    area(app, "Facts the answer must contain").set_value("30 days | a month").run()
    item = desk.store.item("c00001", "Ann")
    assert item.draft.gold_chunk_ids == ("kb-003#0",)
    assert (item.draft.mode, item.draft.expected) == (Mode.GROUNDING_FAILURE, "Within 30 days.")
    desk.decide(item, "Ann", DecisionKind.LABEL, item.draft, QueueFilter())
    (accepted,) = desk.store.accepted_items()
    assert accepted.item.answer_facts == (("30 days", "a month"),)
    assert accepted.blockers == ()


@pytest.mark.usefixtures("desk")
def test_an_empty_queue_says_what_to_do() -> None:
    assert "errata mine" in opened("queue").info[0].value
    assert opened("label").header[0].value == "Nothing is left to label"


def test_the_queue_lists_filters_and_starts_labelling_under_them(desk: Desk, make_candidate: MakeCandidate) -> None:
    desk.store.add_candidates([make_candidate(1, priority=0.9), make_candidate(2, signal="abandoned")])
    app = opened("queue")
    assert "**2** candidates" in app.markdown[1].value
    app.selectbox(key="signal").set_value("abandoned").run()
    assert "**1** candidates" in app.markdown[1].value
    button(app, "Label these").click().run()
    assert not app.exception
    assert app.session_state["label_screen"].item.candidate.candidate_id == "c00002"


def test_the_review_page_shows_a_disagreement_and_settles_it_with_a_reason(
    desk: Desk, make_candidate: MakeCandidate
) -> None:
    desk.store.add_candidates([make_candidate(1)])
    for who, mode in (("Ann", Mode.GROUNDING_FAILURE), ("Bob", Mode.REFUSAL)):
        item = desk.store.item("c00001", who)
        content = LabelContent(mode=mode, gold_chunks=GOLD, expected="30 days")
        desk.store.submit(Decision("c00001", who, DecisionKind.LABEL, content, item.token))
    app = opened("review", "Cid")
    assert "**0 of 1** items got the same verdict" in app.markdown[1].value
    app.radio[0].set_value(0)
    button(app, "Settle").click().run()
    assert "needs its reason" in app.error[0].value
    app.radio[0].set_value(0)
    app.text_area[0].set_value("the chunk says so")
    button(app, "Settle").click().run()
    assert desk.store.adjudications()["c00001"].author.name == "Cid"
    assert app.success[0].value.startswith("Every disagreement is settled")


def test_sub_codes_are_merged_on_their_page(desk: Desk, make_candidate: MakeCandidate) -> None:
    desk.store.add_candidates([make_candidate(1)])
    item = desk.store.item("c00001", "Ann")
    content = LabelContent(mode=Mode.REFUSAL, gold_chunks=GOLD, expected="x", sub_code="shy")
    desk.store.submit(Decision("c00001", "Ann", DecisionKind.LABEL, content, item.token))
    app = opened("codes")
    app.text_input[0].set_value("too careful")
    button(app, "Rename or merge all").click().run()
    assert desk.store.accepted_items()[0].item.sub_code == "too careful"


def test_the_queue_can_be_narrowed_to_the_one_batch_that_was_drawn(desk: Desk, make_candidate: MakeCandidate) -> None:
    desk.store.add_candidates([make_candidate(number) for number in (1, 2, 3)])
    desk.store.mark_batch(["c00002"], "1-seed-0")
    app = opened("queue")
    app.selectbox(key="batch").set_value("1-seed-0").run()
    assert "**1** candidates" in app.markdown[1].value
    assert not app.exception


def test_a_case_written_by_hand_waits_in_the_queue_and_a_refused_one_stays_in_the_form(desk: Desk) -> None:
    app = opened("cases")
    button(app, "Add the case").click().run()
    assert "the question is empty" in app.error[0].value
    app.text_area(key="case-question").set_value("can i get my mony back")
    button(app, "Add the case").click().run()
    assert "0 labelled, 1 to label" in app.success[0].value
    assert app.text_area(key="case-question").value == ""
    found = desk.store.next_item("Ann")
    assert found is not None
    assert found.candidate.flagged_turn.question == "can i get my mony back"


@pytest.mark.usefixtures("desk")
def test_every_page_of_the_app_runs_on_an_empty_workspace() -> None:
    for page in sorted((Path(APP).parent / "pages").glob("*.py")):
        if page.stem != "__init__":
            opened(page.stem)


def test_a_narrower_filter_leaves_no_empty_page_behind(desk: Desk, make_candidate: MakeCandidate) -> None:
    desk.store.add_candidates([make_candidate(n) for n in range(60)])
    app = opened("queue")
    app.session_state["page"] = 2
    app.run()
    app.text_input(key="text").set_value("(7)").run()
    assert not app.exception
    assert "**1** candidates" in app.markdown[1].value


def test_a_model_s_draft_is_offered_after_mode_and_gold_and_is_no_label_until_accepted(
    desk: Desk, make_candidate: MakeCandidate, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.workspace.config_path.write_text('[review]\ndraft_model = "some-model"\n', encoding="utf-8")
    draft = AnswerDraft(expected="Within 30 days.", facts=["30 days"])
    # Stands in for the model's remote interface alone.
    monkeypatch.setattr("curation_app.components.label_actions.draft_answer", lambda *_: draft)
    desk.store.add_candidates([make_candidate(1)])
    desk.save_fields("c00001", "Ann", {"gold_chunks": [GOLD[0].model_dump()]})
    app = opened("label")
    assert not [each for each in app.button if each.label.startswith("Draft by")]
    app.radio[0].set_value(Mode.GROUNDING_FAILURE.value).run()
    button(app, "Draft by some-model").click().run()
    assert area(app, "Expected answer").value == "Within 30 days."
    drafted = desk.store.item("c00001", "Ann")
    with pytest.raises(NeedsAWordError, match="some-model's draft"):
        desk.decide(drafted, "Ann", DecisionKind.LABEL, drafted.draft, QueueFilter())
    button(app, "Accept the draft").click().run()
    accepted = desk.store.item("c00001", "Ann")
    desk.decide(accepted, "Ann", DecisionKind.LABEL, accepted.draft, QueueFilter())
    (event,) = desk.store.events()
    assert (event.content.drafted_by, event.content.answer_facts) == ("", (("30 days",),))


def test_each_mode_is_counted_in_the_labels_and_in_the_frozen_set() -> None:
    progress = Progress(
        labels=2, mode_counts=((Mode.REFUSAL, 2),), set_modes=((Mode.RETRIEVAL_MISS, 5), (Mode.CONTROL, 1))
    )
    shown = progress_html(progress)
    for words in ("retrieval miss 0, 5 in the set", "refusal 2, 0 in the set", "control 0, 1 in the set"):
        assert words in shown
    assert "in the set" not in progress_html(progress._replace(set_modes=()))
