"""Votes are bound late, and up is told from down by all the values of a score."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.adapters.mapping_file import parse_mapping
from ingest.feedback import infer_scale, label_vote
from ingest.loading import ingest
from ingest.log_store import LogStore
from ingest.settings import LogSettings, ScoreScale
from tests.ingest.ingest_support import rows, write_lines

SCORES = """
source: s
interactions: {id: id, question: q, session_id: s, asked_at: t}
feedback: {where: score, target: of, name: name, value: score, comment: why, at: t, id: key, scorer_kind: by}
"""
TURNS: list[dict[str, Any]] = [{"id": f"i{n}", "q": f"q{n}", "s": "c", "t": 1_790_000_000 + n} for n in range(4)]


def vote(of: str, score: Any, **more: Any) -> dict[str, Any]:
    return {"of": of, "name": "thumbs", "score": score, "t": 1_790_000_100, **more}


def ingested(tmp_path: Path, store: LogStore, records: list[Any], **options: Any) -> Any:
    log = write_lines(tmp_path / f"l{len(list(tmp_path.iterdir()))}.jsonl", records)
    return ingest([log], store=store, mapping=parse_mapping(SCORES, "a test"), workers=1, **options)


def feedback(store: LogStore) -> dict[str, Any]:
    return dict(rows(store, "SELECT interaction_id, feedback FROM interactions WHERE feedback IS NOT NULL"))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0, 1], {0: -1, 1: 1}),
        ([-1, 0, 1], {-1: -1, 0: 0, 1: 1}),
        ([-1], {-1: -1}),
        ([1, 2, 3, 4, 5], {1: -1, 2: -1, 3: 0, 4: 1, 5: 1}),
        ([0.1, 0.5, 0.9], {0.1: -1, 0.5: 0, 0.9: 1}),
        ([2, 9, 10], {2: -1, 9: 1}),
        ([1], None),
        ([5], None),
        ([1, 2], None),
        ([3.5, 120.0], None),
    ],
)
def test_a_scale_follows_from_all_values_and_never_from_one(values: list[float], expected: Any) -> None:
    scale = infer_scale(values)
    if expected is None:
        assert scale is None
        return
    assert scale is not None
    assert {v: 1 if v >= scale.up_from else -1 if v <= scale.down_to else 0 for v in expected} == expected


@settings(max_examples=60)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=6))
def test_any_values_give_a_scale_whose_down_lies_below_its_up(values: list[float]) -> None:
    scale = infer_scale(values)
    assert scale is None or scale.down_to < scale.up_from


def test_labels_in_use_are_understood() -> None:
    assert [label_vote(word) for word in ("like", "GOOD", "thumbs-down", "BAD", "--", "shrug")] == [
        1,
        1,
        -1,
        -1,
        0,
        None,
    ]


def test_a_later_value_of_the_same_score_changes_what_the_earlier_meant(tmp_path: Path, store: LogStore) -> None:
    report = ingested(tmp_path, store, [*TURNS, vote("i0", 1)])
    assert feedback(store) == {}
    assert "scale_unknown:thumbs" in [caution.code for caution in report.cautions]
    ingested(tmp_path, store, [vote("i1", 5), vote("i2", 3)])
    assert feedback(store) == {"s:i0": -1, "s:i1": 1}


def test_a_declared_scale_needs_no_second_value(tmp_path: Path, store: LogStore) -> None:
    logs = LogSettings(scores={"thumbs": ScoreScale(down_to=0, up_from=1)})
    ingested(tmp_path, store, [*TURNS, vote("i0", 1)], logs=logs)
    assert feedback(store) == {"s:i0": 1}


def test_votes_come_before_after_and_twice_with_the_same_result(tmp_path: Path) -> None:
    votes = [vote("i0", 1), vote("i1", 0), vote("gone", 1)]
    found = []
    for number, order in enumerate(([TURNS, votes], [votes, TURNS], [votes, TURNS, votes])):
        store = LogStore(tmp_path / f"s{number}" / "l.duckdb")
        (tmp_path / f"in{number}").mkdir()
        for records in order:
            report = ingested(tmp_path / f"in{number}", store, records)
        found.append((feedback(store), report.feedback.bound, report.feedback.unbound))
    assert found[0] == found[1] == found[2] == ({"s:i0": 1, "s:i1": -1}, 2, 1)


def test_the_latest_vote_wins_and_the_others_stay(tmp_path: Path, store: LogStore) -> None:
    votes = [vote("i0", 1, t=1_790_000_300), vote("i0", 0, t=1_790_000_200, why="no"), vote("i1", 0), vote("i1", 1)]
    ingested(tmp_path, store, [*TURNS, *votes])
    assert feedback(store) == {"s:i0": 1, "s:i1": 1}
    assert rows(store, "SELECT count(*) FROM feedback_events") == [(4,)]


def test_judges_do_not_count_unless_asked_for(tmp_path: Path, store: LogStore) -> None:
    ingested(tmp_path, store, [*TURNS, vote("i0", 1, by="model"), vote("i1", 0)])
    assert feedback(store) == {"s:i1": -1}
    ingested(tmp_path, store, [vote("i2", 1, by="code")], logs=LogSettings(count_judges=True))
    assert feedback(store) == {"s:i0": 1, "s:i1": -1, "s:i2": 1}
    ingested(tmp_path, store, [vote("i3", 1)], logs=LogSettings(ignored_scores=["thumbs"]))
    assert feedback(store) == {}


def test_a_vote_on_a_session_stands_at_its_last_turn_only(tmp_path: Path, store: LogStore) -> None:
    mapping = parse_mapping(
        "source: s\nfeedback: {target: session, kind: session, value: {path: thumb, map: {down: -1}}}", "a test"
    )
    ingested(tmp_path, store, TURNS)
    log = write_lines(tmp_path / "v.jsonl", [{"session": "c", "thumb": "down"}])
    ingest([log], store=store, mapping=mapping, workers=1)
    assert feedback(store) == {"s:i3": -1}


def test_a_vote_in_the_record_itself_is_kept_as_an_event(tmp_path: Path, store: LogStore) -> None:
    mapping = parse_mapping(
        "source: s\ninteractions: {id: id, question: q, feedback: rating, feedback_comment: why}", "a test"
    )
    records = [{"id": n, "q": f"q{n}", "rating": n or None, "why": "w" if n == 1 else None} for n in range(6)]
    ingest([write_lines(tmp_path / "l.jsonl", records)], store=store, mapping=mapping, workers=1)
    assert feedback(store) == {"s:1": -1, "s:2": -1, "s:4": 1, "s:5": 1}
    assert rows(store, "SELECT feedback_comment FROM interactions WHERE interaction_id = 's:1'") == [("w",)]
