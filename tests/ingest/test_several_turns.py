"""A session that was logged as one trace becomes its turns; a turn of several steps stays one."""

from pathlib import Path
from typing import Any

import pytest

from ingest.loading import ingest
from ingest.log_store import LogStore
from tests.ingest.ingest_support import rows, write_lines
from tests.ingest.span_reading import read_values
from tests.ingest.test_span_ingest_is_order_free import tables, tables_after
from tests.ingest.test_trace_assembly import ADAPTER, TRACE, batch, chain, llm, retriever, span


def asked(span_id: str, parent: str, question: str, **fields: Any) -> dict[str, Any]:
    texts = {"input__value": question, "output__value": f"answer to {question}"} | fields
    return chain(span_id, parent, name="rag", lasting=4, **texts)


def session(root: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        root,
        *(asked("2", "1", "one?", at=0), retriever("3", "2", "a", at=1), llm("4", "2", at=2)),
        *(asked("5", "1", "two?", at=10), retriever("6", "5", "b", at=11), llm("7", "5", at=12)),
    ]


HTTP = span("1", name="POST /chat", lasting=20, http__request__method="POST")
SILENT = span("1", name="session", lasting=20, openinference__span__kind="CHAIN", session__id="s1", user__id="u1")


@pytest.mark.parametrize(("root", "session_id", "user_id"), [(HTTP, TRACE, None), (SILENT, "s1", "u1")])
def test_turns_below_a_root_that_says_nothing_are_interactions_of_one_session(
    root: dict[str, Any], session_id: str, user_id: str | None
) -> None:
    made = read_values(ADAPTER, [batch(*session(root))]).interactions
    assert [turn.interaction_id for turn in made] == [f"trace:{TRACE}", f"trace:{TRACE}/{'5'.zfill(16)}"]
    assert [(turn.question, turn.answer) for turn in made] == [
        ("one?", "answer to one?"),
        ("two?", "answer to two?"),
    ]
    assert [[chunk.chunk_id for chunk in turn.retrieved] for turn in made] == [["a"], ["b"]]
    assert [(turn.session_id, turn.user_id) for turn in made] == [(session_id, user_id)] * 2
    assert [turn.latency_ms for turn in made] == [4.0, 4.0]


ONE_TURN = {
    "steps of other names": [asked("2", "", "one?"), chain("3", name="answer", at=10, input__value="two?")],
    "side by side": [asked("2", "", "one?", at=0), asked("3", "", "two?", at=2)],
    "a loop": [asked("2", "", "one?"), asked("3", "", "one?", at=10)],
    "a model call after them": [asked("2", "", "one?"), asked("3", "", "two?", at=10), llm("4", "", at=20)],
    "without an answer": [asked("2", "", "one?", output__value=""), asked("3", "", "two?", at=10)],
    "below a step that speaks": [chain("1", lasting=30), asked("2", "1", "one?"), asked("3", "1", "two?", at=10)],
}


@pytest.mark.parametrize("name", ONE_TURN)
def test_a_turn_of_several_steps_stays_one(name: str) -> None:
    assert read_values(ADAPTER, [batch(*ONE_TURN[name])]).only.interaction_id == f"trace:{TRACE}"


BATCH = {"input__value": "one?", "output__value": "answer to one?\nanswer to two?"}


@pytest.mark.parametrize("starts", [(1, 10), (1, 2)])
def test_a_batch_that_returns_the_answers_of_its_steps_is_a_turn_each_also_when_they_run_side_by_side(
    starts: tuple[int, int], tmp_path: Path
) -> None:
    steps = [asked("2", "1", "one?", at=starts[0]), asked("3", "1", "two?", at=starts[1])]
    log = batch(chain("1", name="batch", lasting=30, **BATCH), *steps)
    made = read_values(ADAPTER, [log]).interactions
    assert [(turn.question, turn.answer) for turn in made] == [
        ("one?", "answer to one?"),
        ("two?", "answer to two?"),
    ]
    store = LogStore(tmp_path / "logs.duckdb")
    ingest([write_lines(tmp_path / "log.jsonl", [log])], store=store)
    assert rows(store, "SELECT question FROM interactions ORDER BY asked_at, 1") == [("one?",), ("two?",)]


def test_a_step_that_answers_more_than_its_parts_stays_one_turn() -> None:
    steps = [asked("2", "1", "one?", at=1), asked("3", "1", "two?", at=10)]
    root = chain("1", name="agent", lasting=30, **BATCH | {"output__value": "answer to one?, and answer to two?"})
    assert read_values(ADAPTER, [batch(root, *steps)]).only.interaction_id == f"trace:{TRACE}"


def test_turns_that_come_late_leave_the_ids_of_the_earlier_ones_and_the_same_tables(tmp_path: Path) -> None:
    spans = session(SILENT)
    files = [write_lines(tmp_path / f"{place}.jsonl", [batch(*spans[at])]) for place, at in enumerate(
        [slice(0, 1), slice(1, 4), slice(4, 7)])]  # fmt: skip
    whole = tables_after(tmp_path / "whole", files)
    assert tables_after(tmp_path / "late", *([file] for file in files)) == whole
    assert tables_after(tmp_path / "back", *([file] for file in files[::-1])) == whole


def test_an_interaction_whose_trace_turns_out_to_be_no_turn_is_taken_back(tmp_path: Path) -> None:
    store = LogStore(tmp_path / "logs.duckdb")
    spans = [chain(lasting=9), span("2", "1", langfuse__environment="langfuse-judges", at=1)]
    for place, part in enumerate(spans):
        ingest([write_lines(tmp_path / f"{place}.jsonl", [batch(part)])], store=store)
    assert rows(store, "SELECT count(*) FROM interactions")[0][0] == 0
    together = LogStore(tmp_path / "together" / "logs.duckdb")
    ingest([tmp_path / "0.jsonl", tmp_path / "1.jsonl"], store=together)
    assert tables(together) == tables(store)
