import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from curation_app.labels import DecisionKind
from curation_app.service.labelling import Desk
from ingest.mining.candidates import Candidate, CandidateTurn, SignalHit

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

Seat = Callable[..., Any]


def numbered(question: str) -> int:
    return int(question.rsplit("(", 1)[1].rstrip(")"))


def test_ten_items_are_labelled_by_keyboard_alone(
    desk: Desk, server: Any, reviewer: Seat, add_candidates: Callable[[int], None]
) -> None:
    add_candidates(12)
    server.start()
    ann = reviewer("Ann")
    ann.open()
    ann.wait_for_item()
    # The first with gold from the retrieved chunks.
    ann.press("2")
    ann.press("b")
    ann.write("Facts the answer must contain", "30 days")
    assert "evidence says grounding failure" in ann.page.inner_text(".errata-evidence")
    # Ctrl+Enter works from inside a field.
    ann.page.get_by_label("Expected answer").focus()
    ann.page.keyboard.type("Within 30 days.")
    second = ann.advance("Control+Enter")
    # Undone, and saved again as it was.
    first = ann.advance("u")
    assert numbered(first) == 0
    assert ann.page.get_by_label("Expected answer").input_value() == "Within 30 days."
    assert ann.advance("Control+Enter") == second
    # Gold from the corpus search.
    ann.press("1")
    ann.page.keyboard.press("/")
    ann.page.keyboard.type("refund by mail")
    ann.page.keyboard.press("Enter")
    ann.page.wait_for_selector("text=kb-004#0")
    ann.settle()
    ann.press("Escape")
    ann.page.wait_for_function("() => 'c' in window.__errataLabel.data.chunks")
    ann.press("c")
    assert "gold: kb-004#0" in ann.page.inner_text(".errata-evidence")
    ann.write("Expected answer", "By mail within one month.")
    ann.advance("Control+Enter")
    # Contradicted: refused until a word is in the note, and nothing typed is lost.
    ann.press("1")
    ann.press("b")
    ann.write("Expected answer", "Within 30 days.")
    ann.press("Control+Enter")
    assert "kb-003#0 was retrieved" in ann.status
    assert ann.page.get_by_label("Expected answer").input_value() == "Within 30 days."
    ann.write("Note", "ranked below the cut that day")
    ann.advance("Control+Enter")
    # Deferred, and the rest.
    deferred = ann.question
    ann.advance("d")
    for _ in range(7):
        ann.press("4")
        ann.advance("Control+Enter")
    kinds = Counter(event.kind for event in desk.store.events())
    assert kinds == {DecisionKind.LABEL: 11, DecisionKind.UNDO: 1, DecisionKind.DEFER: 1}
    accepted = {each.candidate_id: each for each in desk.store.accepted_items()}
    assert len(accepted) == 10
    assert accepted["c00001"].item.gold_chunk_ids == ("kb-004#0",)
    assert accepted["c00001"].item.gold_chunks[0].doc_id == "kb-004"
    assert f"c{numbered(deferred):05d}" not in accepted


def test_a_reload_and_a_killed_server_keep_what_was_typed(
    server: Any, reviewer: Seat, add_candidates: Callable[[int], None]
) -> None:
    add_candidates(3)
    server.start()
    ann = reviewer("Ann")
    ann.open()
    question = ann.wait_for_item()
    ann.press("2")
    ann.page.get_by_label("Expected answer").focus()
    ann.page.keyboard.type("typed before a reload")
    ann.settle()
    assert "saved at" in ann.status
    ann.page.reload()
    assert ann.wait_for_item() == question
    assert ann.page.get_by_label("Expected answer").input_value() == "typed before a reload"
    assert ann.page.get_by_role("radio", name="2 grounding failure").is_checked()
    ann.page.get_by_label("Expected answer").focus()
    ann.page.keyboard.press("End")
    ann.page.keyboard.type(" and before a crash")
    ann.settle()
    server.kill()
    server.start()
    ann.page.reload()
    assert ann.wait_for_item() == question
    assert ann.page.get_by_label("Expected answer").input_value() == "typed before a reload and before a crash"


def test_keys_typed_into_a_field_do_nothing_else(
    desk: Desk, server: Any, reviewer: Seat, add_candidates: Callable[[int], None]
) -> None:
    add_candidates(3)
    server.start()
    ann = reviewer("Ann")
    ann.open()
    question = ann.wait_for_item()
    text = "1234 abcdnsuvjk /? g"
    ann.write("Note", text)
    ann.write("Expected answer", text)
    assert ann.question == question
    assert desk.store.events() == []
    draft = desk.store.item("c00000", "Ann").draft
    assert (draft.note, draft.expected, draft.mode, draft.gold_chunks) == (text, text, None, ())


PRESSES = """
async ([key, gaps, held]) => {
  const onScreen = [];
  const press = (repeat) => {
    onScreen.push((document.querySelector(".errata-question")?.innerText || "").trim());
    const event = { key, bubbles: true, composed: true, cancelable: true, repeat };
    document.body.dispatchEvent(new KeyboardEvent("keydown", event));
  };
  for (const gap of gaps) {
    press(false);
    await new Promise(done => setTimeout(done, gap));
  }
  for (let n = 0; n < held; n++) {
    press(n > 0);
    await new Promise(done => setTimeout(done, 33));
  }
  return onScreen;
}
"""


def test_a_burst_of_keys_labels_no_item_twice_and_none_that_was_not_on_screen(
    desk: Desk, server: Any, reviewer: Seat, add_candidates: Callable[[int], None]
) -> None:
    add_candidates(200)
    server.start()
    ann = reviewer("Ann")
    ann.open()
    ann.wait_for_item()
    seen: set[str] = set()
    for gap_ms in (30, 90, 180, 300):
        seen |= set(ann.page.evaluate(PRESSES, ["n", [gap_ms] * 20, 12]))
        ann.settle()
    events = desk.store.events()
    decided = Counter(event.candidate_id for event in events)
    assert max(decided.values()) == 1
    assert {f"c{numbered(question):05d}" for question in seen if question} >= decided.keys()
    assert len(events) >= 4


def test_two_reviewers_racing_never_hold_the_same_item(
    desk: Desk, server: Any, reviewer: Seat, add_candidates: Callable[[int], None]
) -> None:
    add_candidates(260)
    server.start()
    seats = [reviewer("Ann"), reviewer("Bob")]
    for seat in seats:
        seat.open()
        seat.wait_for_item()
        seat.page.evaluate(RACE)
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline:
        rounds = [seat.page.evaluate("window.__rounds.length") for seat in seats]
        if sum(rounds) >= 200:
            break
        seats[0].page.wait_for_timeout(300)
    shown = [set(seat.page.evaluate("window.__stop = true, window.__rounds")) for seat in seats]
    assert sum(map(len, shown)) >= 200
    assert shown[0] & shown[1] == set()
    assert max(Counter(event.candidate_id for event in desk.store.events()).values()) == 1


RACE = """
() => {
  window.__rounds = [];
  let last = "";
  const step = () => {
    if (window.__stop) return;
    const state = window.__errataLabel;
    const question = document.querySelector(".errata-question")?.innerText || "";
    if (question && question !== last && state.spentToken !== state.token && !state.inFlight
        && performance.now() - state.renderedAt > 130) {
      last = question;
      window.__rounds.push(question.trim());
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "n", bubbles: true, composed: true }));
    }
    setTimeout(step, 15);
  };
  step();
}
"""


HOSTILE = (
    '<img src="http://203.0.113.9/a.png" onerror="window.__hit=1"><script>window.__hit=1</script>'
    "![x](http://203.0.113.9/b.png) [link](javascript:window.__hit=1) \u202egnp.exe\u202c $x^2$ :material/bug_report: "
)


def test_untrusted_text_shows_as_text_and_loads_nothing_from_outside(
    desk: Desk, server: Any, reviewer: Seat, make_candidate: Callable[..., Candidate]
) -> None:
    huge = HOSTILE + "long " * 1_000_000
    turn = CandidateTurn(interaction_id="t", question=HOSTILE, answer=huge, feedback_comment=HOSTILE, model=HOSTILE)
    hostile = make_candidate(1).model_copy(
        update={
            "candidate_id": "hostile",
            "interaction_id": "t",
            "priority": 9.0,
            "turns": (turn,),
            "signals": (SignalHit(signal="thumbs_down", score=1, reason=HOSTILE),),
        }
    )
    desk.store.add_candidates([hostile, make_candidate(2)])
    server.start()
    ann = reviewer("Ann")
    outside: list[str] = []
    ann.page.on("request", lambda request: None if server.url in request.url else outside.append(request.url))
    ann.open("queue")
    ann.page.wait_for_selector("text=candidates")
    ann.open()
    assert '<img src="http://203.0.113.9/a.png"' in ann.wait_for_item()
    assert "[U+202E]" in ann.question
    assert "cut: 3,000 of" in ann.page.inner_text(".errata-answer")
    assert ann.page.evaluate("window.__hit") is None
    ann.advance("n")
    assert [url for url in outside if url.startswith("http")] == []


def test_a_held_item_is_shown_to_others_who_can_read_it(
    server: Any, reviewer: Seat, add_candidates: Callable[[int], None]
) -> None:
    add_candidates(1)
    server.start()
    ann, bob = reviewer("Ann"), reviewer("Bob")
    ann.open()
    ann.wait_for_item()
    bob.open()
    bob.page.wait_for_selector("text=Nothing is left to label")


def test_the_screen_fits_1440_by_900_and_never_scrolls_sideways_at_1024(
    server: Any, reviewer: Seat, add_candidates: Callable[[int], None]
) -> None:
    add_candidates(1)
    server.start()
    ann = reviewer("Ann")
    ann.open()
    ann.wait_for_item()
    main = "document.querySelector('[data-testid=stMain]')"
    assert ann.page.evaluate(f"{main}.scrollHeight - {main}.clientHeight") <= 0
    ann.page.set_viewport_size({"width": 1024, "height": 768})
    assert ann.page.evaluate(f"{main}.scrollWidth - {main}.clientWidth") <= 0


def test_the_name_is_asked_once_remembered_and_can_be_handed_over(
    server: Any, reviewer: Seat, add_candidates: Callable[[int], None]
) -> None:
    add_candidates(2)
    server.start()
    someone = reviewer("")
    someone.open("queue")
    someone.page.get_by_label("Your name").fill("Ann")
    someone.page.get_by_label("Your name").press("Enter")
    someone.page.get_by_text("Ann · workspace").wait_for(timeout=30_000)
    someone.page.wait_for_timeout(500)
    someone.page.reload()
    someone.page.get_by_role("button", name="Not Ann? Give another name").click(timeout=30_000)
    someone.page.get_by_label("Your name").fill("Bob")
    someone.page.get_by_label("Your name").press("Enter")
    someone.page.get_by_text("Bob · workspace").wait_for(timeout=30_000)


def test_the_buttons_decide_like_the_keys_and_keep_no_focus_for_the_next_item(
    desk: Desk, server: Any, reviewer: Seat, add_candidates: Callable[[int], None]
) -> None:
    add_candidates(5)
    server.start()
    ann = reviewer("Ann")
    ann.open()
    ann.wait_for_item()
    for name in ("Not a failure", "Skip", "Defer"):
        token = ann.token
        ann.page.get_by_role("button", name=name).focus()
        ann.page.keyboard.press("Enter")
        ann.page.wait_for_function("before => document.documentElement.dataset.errataToken !== before", arg=token)
        ann.settle()
        # Enter again: no button of the item before is still focused.
        ann.page.keyboard.press("Enter")
        ann.settle()
    ann.page.get_by_role("button", name="Undo").click()
    ann.page.wait_for_function("() => window.__errataLabel.data.status.startsWith('Taken back')")
    kinds = [event.kind.value for event in desk.store.events()]
    assert kinds == ["not_failure", "skip", "defer", "undo"]
    gold = ann.page.get_by_role("button", name="b ☆")
    gold.focus()
    ann.page.keyboard.press("Space")
    ann.page.get_by_role("button", name="b ★").wait_for()
    ann.settle()
    assert desk.store.item("c00002", "Ann").draft.gold_chunk_ids == ("kb-003#0",)


def test_a_labelled_group_is_closed_by_key_and_opened_again_by_undo(
    desk: Desk, server: Any, reviewer: Seat, make_candidate: Callable[..., Candidate]
) -> None:
    told = {"group_id": "g00000", "group_size": 3}
    members = [make_candidate(n, priority=1 - n / 100).model_copy(update=told) for n in range(3)]
    desk.store.add_candidates([*members, make_candidate(3)])
    server.start()
    ann = reviewer("Ann")
    ann.open()
    assert numbered(ann.wait_for_item()) == 0
    assert not ann.page.get_by_role("button", name="Close the group").is_visible()
    ann.press("4")
    assert numbered(ann.advance("Control+Enter")) == 3
    assert ann.page.get_by_role("button", name="Close the group of the last one: 2 more").is_visible()
    ann.press("x")
    assert "Closed 2 alike" in ann.status
    assert numbered(ann.question) == 3
    ann.press("u")
    assert "the group is open again" in ann.status
    assert ann.page.get_by_role("button", name="Close the group of the last one: 2 more").is_visible()
    ann.press("x")
    kinds = Counter(event.kind for event in desk.store.events())
    assert kinds == {DecisionKind.LABEL: 1, DecisionKind.FOLLOW: 4, DecisionKind.UNDO: 2}
    ann.page.goto(f"{ann.url}/queue")
    ann.page.get_by_text("Members of the group").click()
    ann.page.wait_for_function("() => document.querySelectorAll('[data-testid=stDataFrame]').length === 2")
