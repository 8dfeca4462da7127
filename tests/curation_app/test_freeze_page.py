from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from curation_app.labels import DecisionKind, LabelContent
from curation_app.review_items import Decision
from curation_app.review_store import ReviewStore
from curation_app.service.starting import make_workspace
from curation_app.workspace import WORKSPACE_VARIABLE, Workspace
from evalsets.items import GoldChunk, Mode
from evalsets.sets.file import load
from evalsets.sets.verifying import verify
from ingest.mining.candidates import Candidate, CandidateTurn, SignalHit

PAGE = Path("curation_app/pages/freeze.py").resolve()
QUESTIONS = ("How long do refunds take?", "Where is the VPN client kept?", "Who approves travel expenses?")


def candidate(number: int) -> Candidate:
    turn = CandidateTurn(interaction_id=f"log:{number}", question=QUESTIONS[number], answer="I do not know.")
    hit = SignalHit(signal="thumbs_down", score=0.9, reason="thumbs-down")
    return Candidate(
        candidate_id=f"c{number}",
        interaction_id=turn.interaction_id,
        source="log",
        signals=(hit,),
        priority=0.5,
        sampling_signal="thumbs_down",
        inclusion_probability=1.0,
        turns=(turn,),
    )


def label(store: ReviewStore, number: int, *, expected: str = "It is written there.", token: str = "") -> None:
    content = LabelContent(
        mode=Mode.RETRIEVAL_MISS, gold_chunks=(GoldChunk(chunk_id=f"kb-{number}"),), expected=expected
    )
    decision = Decision(f"c{number}", "ada", DecisionKind.LABEL, content, token or f"t{number}")
    store.claim(f"c{number}", "ada")
    store.submit(decision)


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    made = make_workspace(tmp_path / "shop").workspace
    monkeypatch.setenv(WORKSPACE_VARIABLE, str(made.root))
    store = ReviewStore(made.review_path)
    store.add_candidates([candidate(number) for number in range(3)])
    label(store, 0)
    label(store, 1)
    label(store, 2, expected="")
    return made


def opened() -> AppTest:
    page = AppTest.from_file(str(PAGE), default_timeout=20).run()
    assert not page.exception
    return page


def fill(page: AppTest, note: str, person: str) -> AppTest:
    page.text_input(key="freeze_note").set_value(note)
    page.text_input(key="freeze_person").set_value(person)
    page.button[0].click().run()
    assert not page.exception
    return page


def test_the_page_freezes_what_is_ready_and_says_what_the_rest_waits_for(workspace: Workspace) -> None:
    page = opened()
    assert [metric.value for metric in page.metric] == ["2", "1", "0", "2"]
    assert any("neither an expected answer nor a fact is written" in str(each.proto) for each in page.get("html"))
    fill(page, "The first two misses", "Ada")
    assert "Frozen as version 1" in page.success[0].value
    frozen = load(workspace.sets_folder / "failures")
    assert (len(frozen.items), frozen.frozen_by, frozen.note) == (2, "Ada", "The first two misses")
    assert verify(workspace.sets_folder / "failures").faults == ()
    assert "Nothing differs" in page.info[0].value


def test_a_freeze_without_a_note_is_refused_with_what_to_do(workspace: Workspace) -> None:
    page = fill(opened(), "", "Ada")
    assert "needs a note" in page.error[0].value
    assert not workspace.sets_folder.exists()


def test_with_two_reviewers_the_one_who_proposes_cannot_sign(workspace: Workspace) -> None:
    workspace.config_path.write_text("[review]\nreviewers = 2\n", encoding="utf-8")
    store = ReviewStore(workspace.review_path)
    for number in range(2):
        content = LabelContent(
            mode=Mode.RETRIEVAL_MISS, gold_chunks=(GoldChunk(chunk_id=f"kb-{number}"),), expected="It is written there."
        )
        store.claim(f"c{number}", "bo")
        store.submit(Decision(f"c{number}", "bo", DecisionKind.LABEL, content, f"second{number}"))
    page = fill(opened(), "Both read", "Ada")
    assert "Proposed" in page.success[0].value
    page = fill(opened(), "again", "Ada")
    assert not workspace.sets_folder.exists()
    page = fill(opened(), "", "Bo")
    assert "Frozen as version 1" in page.success[0].value
    frozen = load(workspace.sets_folder / "failures")
    assert (frozen.frozen_by, frozen.signed_off_by, frozen.note) == ("Ada", "Bo", "again")
