from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from ingest.mining.batches import draw_batch
from ingest.mining.candidates import Candidate, CandidateChunk, CandidateTurn, SignalHit
from ingest.mining.diagnosing import CorpusSearch, suggest
from ingest.mining.grouping import recognise_known
from ingest.mining.preparing import prepare_candidates
from ingest.settings import QueueSettings

START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def candidate(number: int, question: str = "", signal: str = "declined", **fields: object) -> Candidate:
    asked = CandidateTurn(
        interaction_id=f"log:{number}",
        asked_at=START + timedelta(days=number),
        question=question or f"Question about subject{number}",
        answer="I could not find an answer to that.",
    )
    return Candidate.model_validate(
        {
            "candidate_id": f"c{number:03d}",
            "interaction_id": asked.interaction_id,
            "source": "log",
            "signals": () if signal == "control" else (SignalHit(signal=signal, score=0.8, reason="It declined."),),
            "priority": 0.0 if signal == "control" else round(0.9 - number / 1000, 4),
            "sampling_signal": signal,
            "inclusion_probability": 0.05 if signal == "control" else 1.0,
            "turns": (asked,),
            **fields,
        }
    )


def test_a_batch_is_the_same_for_the_same_seed_in_any_order() -> None:
    pool = [candidate(n, signal="control" if n % 3 == 0 else "declined") for n in range(60)]
    first = [each.candidate.candidate_id for each in draw_batch(pool, 20, seed=4)]
    assert [each.candidate.candidate_id for each in draw_batch(pool[::-1], 20, seed=4)] == first


def test_another_seed_draws_other_controls() -> None:
    pool = [candidate(n, signal="control") for n in range(200)]
    settings = QueueSettings(control_share=1.0)
    drawn = [{e.candidate.candidate_id for e in draw_batch(pool, 10, settings=settings, seed=s)} for s in (1, 2)]
    assert drawn[0] != drawn[1]


def test_a_batch_holds_its_share_of_controls_and_says_their_chance() -> None:
    pool = [candidate(n, signal="control" if n < 50 else "declined") for n in range(150)]
    drawn = draw_batch(pool, 40, settings=QueueSettings(control_share=0.25))
    controls = [each for each in drawn if each.candidate.sampling_signal == "control"]
    assert len(controls) == 10
    assert "10 of 50 drawn at random" in controls[0].reason
    assert "chance of 0.05" in controls[0].reason


def test_a_rarer_signal_of_lower_priority_gets_a_place() -> None:
    pool = [candidate(n) for n in range(40)] + [candidate(90, signal="hand_off", priority=0.7)]
    drawn = draw_batch(pool, 10, settings=QueueSettings(control_share=0))
    assert "hand_off" in {each.candidate.sampling_signal for each in drawn}


def test_a_second_one_of_a_session_is_drawn_only_when_no_other_is_left() -> None:
    pool = [candidate(n, session_id="one" if n < 5 else f"s{n}") for n in range(10)]
    settings = QueueSettings(control_share=0)
    drawn = [each.candidate.candidate_id for each in draw_batch(pool, 8, settings=settings)]
    assert sorted(drawn[:6]) == ["c000", "c005", "c006", "c007", "c008", "c009"]
    assert drawn[6:] == ["c001", "c002"]


def test_signals_and_weeks_of_like_priority_share_a_batch() -> None:
    signals = ("declined", "error", "rephrased", "complaint")
    pool = [candidate(n, signal=signals[0 if n < 200 else n % 4], priority=0.8) for n in range(260)]
    drawn = draw_batch(pool, 40, settings=QueueSettings(control_share=0))
    by_signal = Counter(each.candidate.sampling_signal for each in drawn)
    by_week = Counter(each.candidate.flagged_turn.asked_at.isocalendar()[1] for each in drawn)  # type: ignore[union-attr]
    assert set(by_signal) == set(signals)
    assert max(by_signal.values()) <= 12
    assert max(by_week.values()) <= 4


def test_every_control_is_as_likely_to_be_drawn_as_the_others() -> None:
    pool = [candidate(n, signal="control") for n in range(20)]
    settings, seeds = QueueSettings(control_share=1.0), 2000
    drawn = Counter(
        each.candidate.candidate_id
        for seed in range(seeds)
        for each in draw_batch(pool, 5, settings=settings, seed=seed)
    )
    expected, deviation = seeds * 5 / 20, (seeds * 0.25 * 0.75) ** 0.5
    assert len(drawn) == 20
    assert all(abs(count - expected) < 4 * deviation for count in drawn.values())


def test_a_batch_holds_nobody_twice_and_as_many_as_there_are() -> None:
    pool = [candidate(n, signal=("control", "error", "declined")[n % 3], session_id=f"s{n // 4}") for n in range(60)]
    for size in (1, 7, 50, 60, 200):
        ids = [each.candidate.candidate_id for each in draw_batch(pool, size)]
        assert len(ids) == len(set(ids)) == min(size, 60)


def test_one_of_a_group_is_drawn_and_what_was_decided_or_is_known_is_not() -> None:
    pool = prepare_candidates(
        [candidate(1, "How do I cancel my plan?"), candidate(2, "how do I cancel my plan"), candidate(3)]
    )
    known = candidate(4, known_item_id="plans-1")
    drawn = draw_batch([*pool, known], 10, leave_out={"c003"})
    assert [each.candidate.candidate_id for each in drawn] == ["c001"]
    assert "stands for 2" in drawn[0].reason


def test_near_duplicates_across_weeks_form_one_group_with_its_dates() -> None:
    grouped = prepare_candidates(
        [candidate(1, "How do I cancel my plan?"), candidate(30, "How do I cancel my plan please")]
    )
    assert {each.group_size for each in grouped} == {2}
    assert len({each.group_id for each in grouped}) == 1
    assert grouped[0].group_first_at == START + timedelta(days=1)
    assert grouped[0].group_last_at == START + timedelta(days=30)


def test_a_question_of_the_current_set_is_recognised() -> None:
    known = recognise_known([candidate(1, "How do I cancel my plan?")], {"plans-1": "how do I cancel my plan"})
    assert known[0].known_item_id == "plans-1"


def test_a_different_question_is_not_taken_for_a_known_one() -> None:
    known = recognise_known([candidate(1, "How do I cancel my plan?")], {"plans-1": "How do I change my password?"})
    assert known[0].known_item_id == ""


def searched(*passages: tuple[str, float]) -> CorpusSearch:
    found = [CandidateChunk(chunk_id=chunk_id, score=score) for chunk_id, score in passages]
    return CorpusSearch(lambda _question, limit: found[:limit], chunks=100)  # type: ignore[arg-type, return-value]


def test_declined_with_a_strong_passage_in_the_corpus_suggests_a_refusal() -> None:
    suggestion = suggest(candidate(1), searched(("k1", 14.0)))
    assert suggestion is not None
    assert (suggestion.mode, suggestion.gold_chunk_ids) == ("refusal", ("k1",))


def test_declined_without_a_strong_passage_suggests_out_of_scope() -> None:
    suggestion = suggest(candidate(1), searched(("k1", 1.0)))
    assert suggestion is not None
    assert suggestion.mode == "out_of_scope"


def asked(question: str, *had: str, signal: str = "declined", kind: str = "", before: str = "") -> Candidate:
    made = candidate(1, question, signal=signal)
    turn = replace(made.turns[0], retrieved=tuple(CandidateChunk(chunk_id=each) for each in had))
    earlier = (CandidateTurn(interaction_id="log:0", question=before, answer="Yes."),) if before else ()
    hits = tuple(hit.model_copy(update={"kind": kind}) for hit in made.signals)
    return made.model_copy(update={"turns": (*earlier, turn), "signals": hits})


@pytest.mark.parametrize(
    ("had", "score", "signal", "mode"),
    [
        (("k1", "k2"), 14.0, "declined", "refusal"),
        (("k2",), 14.0, "declined", "retrieval_miss"),
        (("k2",), 1.0, "declined", "out_of_scope"),
        (("k1",), 14.0, "ungrounded", "grounding_failure"),
        (("k2",), 14.0, "ungrounded", "retrieval_miss"),
        (("k2",), 1.0, "ungrounded", "out_of_scope"),
    ],
)
def test_what_went_wrong_first_is_told_by_what_the_corpus_has_and_what_was_retrieved(
    had: tuple[str, ...], score: float, signal: str, mode: str
) -> None:
    suggestion = suggest(asked("How long is the trial period?", *had, signal=signal), searched(("k1", score)))
    assert suggestion is not None
    assert suggestion.mode == mode
    assert suggestion.gold_chunk_ids == (("k1",) if mode in {"refusal", "retrieval_miss"} else ())


def test_an_ungrounded_answer_is_for_checking_when_there_is_no_corpus() -> None:
    suggestion = suggest(asked("How long is the trial period?", "k2", signal="ungrounded"))
    assert suggestion is not None
    assert suggestion.mode == "grounding_failure"


def test_an_answer_that_declines_a_part_is_called_no_refusal() -> None:
    assert suggest(asked("How long is the trial?", "k1", kind="partial"), searched(("k1", 14.0))) is None


def test_a_question_that_points_back_is_looked_up_with_the_one_before() -> None:
    looked_up: list[str] = []

    def find(question: str, _limit: int) -> list[CandidateChunk]:
        looked_up.append(question)
        return []

    suggest(asked("How long does it last?", before="Is there a trial of Studio?"), CorpusSearch(find, chunks=100))  # type: ignore[arg-type]
    suggest(asked("How long is the trial?", before="Is there a trial of Studio?"), CorpusSearch(find, chunks=100))  # type: ignore[arg-type]
    assert looked_up == ["Is there a trial of Studio? How long does it last?", "How long is the trial?"]


def test_a_chunk_that_a_later_successful_turn_retrieved_is_suggested_as_gold() -> None:
    failed = candidate(1, "How do I cancel?", signal="rephrased")
    hit = failed.signals[0].model_copy(update={"evidence_interaction_id": "log:2"})
    later = CandidateTurn(
        interaction_id="log:2",
        question="How do I cancel the Studio plan?",
        answer="Choose Cancel under Billing.",
        retrieved=(CandidateChunk(chunk_id="k7", text="Billing: choose Cancel to end a plan."),),
    )
    both = failed.model_copy(update={"signals": (hit,), "turns": (*failed.turns, later)})
    suggestion = suggest(both)
    assert suggestion is not None
    assert (suggestion.mode, suggestion.gold_chunk_ids) == ("retrieval_miss", ("k7",))


def test_a_control_has_no_suggestion() -> None:
    assert suggest(candidate(1, signal="control"), searched(("k1", 14.0))) is None
