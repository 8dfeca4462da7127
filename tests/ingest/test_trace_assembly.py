"""What spans of invented shapes become: the filling rules, one by one."""

import json
from typing import Any

import pytest

from ingest.adapters.base import SpanAdapter
from ingest.adapters.otlp import ADAPTER as OTLP
from tests.ingest.span_reading import read_values

ADAPTER: SpanAdapter = OTLP
TRACE = "0af7651916cd43dd8448eb211c80319c"
START = 1_795_997_562_000_000_000


def any_value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [any_value(item) for item in value]}}
    return {"stringValue": value}


def span(  # noqa: PLR0913 - the fields of a span
    span_id: str,
    parent: str = "",
    *,
    at: int = 0,
    lasting: int = 1,
    error: str = "",
    trace_id: str = TRACE,
    name: str = "",
    **attributes: Any,
) -> dict[str, Any]:
    """Return an OTLP span; `at` and `lasting` in milliseconds, attributes with `__` for dots."""
    return {
        "traceId": trace_id,
        "spanId": span_id.zfill(16),
        "parentSpanId": parent.zfill(16) if parent else "",
        "name": name or span_id,
        "startTimeUnixNano": str(START + at * 1_000_000),
        "endTimeUnixNano": str(START + (at + lasting) * 1_000_000),
        "status": {"code": 2, "message": error} if error else {},
        "attributes": [{"key": key.replace("__", "."), "value": any_value(value)} for key, value in attributes.items()],
    }


def batch(*spans: dict[str, Any], **resource: Any) -> dict[str, Any]:
    attributes = [{"key": key.replace("__", "."), "value": any_value(value)} for key, value in resource.items()]
    return {"resourceSpans": [{"resource": {"attributes": attributes}, "scopeSpans": [{"spans": list(spans)}]}]}


def chain(span_id: str = "1", parent: str = "", **fields: Any) -> dict[str, Any]:
    texts: dict[str, Any] = {"input__value": "where is it?", "output__value": "there"} | fields
    return span(span_id, parent, openinference__span__kind="CHAIN", **texts)


def llm(span_id: str, parent: str = "1", *, said: str = "there", **fields: Any) -> dict[str, Any]:
    texts: dict[str, Any] = {
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": said,
    }
    return span(span_id, parent, openinference__span__kind="LLM", **({} if not said else texts), **fields)


def documents(*chunk_ids: str, prefix: str = "retrieval.documents") -> dict[str, Any]:
    texts: dict[str, Any] = {f"{prefix}.{n}.document.id": chunk_id for n, chunk_id in enumerate(chunk_ids)}
    return texts | {f"{prefix}.{n}.document.content": f"text of {chunk_id}" for n, chunk_id in enumerate(chunk_ids)}


def retriever(span_id: str, parent: str = "1", *chunk_ids: str, **fields: Any) -> dict[str, Any]:
    return span(span_id, parent, openinference__span__kind="RETRIEVER", **documents(*chunk_ids), **fields)


def reranker(span_id: str, parent: str = "1", *chunk_ids: str, **fields: Any) -> dict[str, Any]:
    kept = documents(*chunk_ids, prefix="reranker.output_documents")
    return span(span_id, parent, openinference__span__kind="RERANKER", **kept, **fields)


def chunk_ids(*spans: dict[str, Any]) -> list[str]:
    return [chunk.chunk_id for chunk in read_values(ADAPTER, [batch(*spans)]).only.retrieved]


@pytest.mark.parametrize("seed", range(5))
def test_the_order_in_which_lines_arrive_changes_nothing(seed: int) -> None:
    lines = [
        batch(chain(lasting=9)),
        batch(retriever("2", "1", "a", "b", at=1)),
        batch(retriever("3", "1", "c", at=2), llm("4", at=3)),
        batch(span("5", "4", name="POST", http__request__method="POST", at=4)),
    ]
    assert read_values(ADAPTER, lines, shuffled_by=seed).only == read_values(ADAPTER, lines).only


def test_several_retrievals_are_put_together_in_order_of_time_each_passage_once() -> None:
    found = chunk_ids(chain(lasting=9), retriever("3", "1", "b", "c", at=3), retriever("2", "1", "a", "b", at=1))
    assert found == ["a", "b", "c"]


def test_a_reranking_replaces_what_was_retrieved_before_it_and_leaves_its_trace_in_the_metadata() -> None:
    made = read_values(
        ADAPTER,
        [batch(chain(lasting=9), retriever("2", "1", "a", "b", "c", at=1), reranker("3", "1", "c", "a", at=2))],
    ).only
    assert [(chunk.chunk_id, chunk.stage, chunk.rank) for chunk in made.retrieved] == [
        ("c", "reranker", 0),
        ("a", "reranker", 1),
    ]
    steps = (made.metadata or {})["retrieval_steps"]
    assert [(step["stage"], step["chunk_ids"]) for step in steps] == [
        ("retriever", ["a", "b", "c"]),
        ("reranker", ["c", "a"]),
    ]


def test_a_retrieval_after_the_reranking_stands_beside_it() -> None:
    found = chunk_ids(
        chain(lasting=9),
        retriever("2", "1", "a", "b", at=1),
        reranker("3", "1", "b", at=2),
        retriever("4", "1", "z", at=3),
    )
    assert found == ["b", "z"]


def test_a_postprocessor_that_names_nodes_by_id_decides_what_is_kept_with_the_texts_of_the_retriever() -> None:
    kept = '["<NodeWithScore(node=TextNode(id_=c), score=0.9)>", "<NodeWithScore(node=TextNode(id_=a), score=0.1)>"]'
    step = span("3", "1", at=2, name="Own._postprocess_nodes", openinference__span__kind="CHAIN", output__value=kept)
    made = read_values(ADAPTER, [batch(chain(lasting=9), retriever("2", "1", "a", "b", "c", at=1), step)]).only
    assert [(chunk.chunk_id, chunk.text, chunk.stage) for chunk in made.retrieved] == [
        ("c", "text of c", "reranker"),
        ("a", "text of a", "reranker"),
    ]


def test_of_nested_retrievers_the_outer_one_counts() -> None:
    assert chunk_ids(chain(lasting=9), retriever("2", "1", "b", at=1), retriever("3", "2", "a", "b", at=2)) == ["b"]


def test_retrievers_are_known_by_their_documents_when_their_kind_was_evicted() -> None:
    bare = span("2", "1", at=1, **documents("a"))
    bare["droppedAttributesCount"] = 75
    made = read_values(ADAPTER, [batch(chain(lasting=9), bare)])
    assert [chunk.chunk_id for chunk in made.only.retrieved] == ["a"]
    assert [caution.code for caution in made.cautions] == ["evicted-attributes"]
    assert "75 attributes" in made.only.cautions[0]


def test_passages_evicted_from_the_front_keep_their_places() -> None:
    cut: dict[str, Any] = {key: value for key, value in documents("a", "b", "c").items() if ".0." not in key}
    made = read_values(ADAPTER, [batch(chain(), span("2", "1", openinference__span__kind="RETRIEVER", **cut))]).only
    assert [(chunk.chunk_id, chunk.rank) for chunk in made.retrieved] == [("b", 1), ("c", 2)]


def test_evicted_passages_come_back_from_the_raw_output() -> None:
    output = json.dumps(
        {"documents": [{"id": "a", "page_content": "text of a"}, {"id": "b", "page_content": "text of b"}]}
    )
    cut: dict[str, Any] = {key: value for key, value in documents("a", "b").items() if ".0." not in key}
    made = read_values(
        ADAPTER,
        [batch(chain(), span("2", "1", openinference__span__kind="RETRIEVER", output__value=output, **cut))],
    ).only
    assert [(chunk.chunk_id, chunk.id_origin) for chunk in made.retrieved] == [("a", "output"), ("b", "explicit")]


def test_the_entry_is_the_highest_ai_span_below_http_spans() -> None:
    made = read_values(
        ADAPTER,
        [
            batch(
                span("9", "", lasting=50, name="POST /chat", http__request__method="POST"),
                span("8", "9", at=1, lasting=40, name="handler"),
                chain("1", "8", at=10, lasting=20),
                llm("2", "1", at=12),
            )
        ],
    ).only
    assert (made.question, made.answer, made.latency_ms) == ("where is it?", "there", 20.0)


def test_of_steps_side_by_side_the_first_has_the_question_and_the_last_the_answer() -> None:
    steps = [
        chain("1", "9", at=1, output__value="intent: location"),
        chain("2", "9", at=3, input__value="location of item", output__value="there"),
    ]
    made = read_values(ADAPTER, [batch(span("9", lasting=9, http__route="/chat"), *steps)]).only
    assert (made.question, made.answer) == ("where is it?", "there")


def test_an_http_status_of_400_or_more_is_an_error_when_nothing_else_says_so() -> None:
    failed = span("9", "", http__response__status_code=502, name="POST /chat")
    made = read_values(ADAPTER, [batch(failed, chain("1", "9", output__value=""))]).only
    assert (made.error, made.answer) == ("HTTP 502", None)


def test_health_checks_index_building_and_judges_are_skipped_with_their_reason() -> None:
    reasons = read_values(
        ADAPTER,
        [
            batch(span("1", trace_id="a" * 32, http__route="/healthz")),
            batch(span("1", trace_id="b" * 32, openinference__span__kind="EMBEDDING", input__value="text")),
            batch(span("1", trace_id="c" * 32, openinference__span__kind="EVALUATOR", input__value="judge this")),
            batch(chain(trace_id="d" * 32), openinference__project__name="playground"),
        ],
    ).skips
    assert [reason.partition(" (")[0] for reason in reasons] == [
        "no AI span",
        "embedding only",
        "evaluator traffic or feedback carrier",
        "experiment or playground project",
    ]


def test_a_judge_inside_a_turn_is_neither_its_answer_nor_its_cost() -> None:
    judge = span("5", "1", at=5, openinference__span__kind="EVALUATOR", output__value="bad", llm__token_count__prompt=9)
    made = read_values(ADAPTER, [batch(chain(lasting=9), llm("2", llm__token_count__prompt=4), judge)]).only
    assert (made.answer, made.input_tokens) == ("there", 4)


def test_when_the_stream_is_cut_the_longer_text_of_the_model_is_the_answer() -> None:
    made = read_values(ADAPTER, [batch(chain(output__value="Open "), llm("2", said="Open Settings and"))]).only
    assert (made.answer, made.stream_cut) == ("Open Settings and", True)


def test_an_answer_that_only_differs_in_white_space_at_its_end_is_not_cut() -> None:
    made = read_values(ADAPTER, [batch(chain(output__value="Open it."), llm("2", said="Open it. \n"))]).only
    assert (made.answer, made.stream_cut) == ("Open it.", False)


def test_an_agent_answers_with_its_last_model_call_and_asks_what_the_user_said() -> None:
    asked: dict[str, Any] = {
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "where is it?",
    }
    made = read_values(
        ADAPTER,
        [
            batch(
                span("1", openinference__span__kind="AGENT", lasting=9),
                llm("2", said="", at=1, **asked),
                span("3", "1", at=2, openinference__span__kind="TOOL", input__value="search", output__value="found"),
                llm("4", said="over there", at=3, **asked),
            )
        ],
    ).only
    assert (made.question, made.answer) == ("where is it?", "over there")


def test_a_rewritten_query_stays_with_its_retrieval_and_is_not_the_question() -> None:
    search = retriever("2", "1", "a", at=1, input__value="location of item")
    made = read_values(ADAPTER, [batch(chain(lasting=9), search)]).only
    assert made.question == "where is it?"
    assert (made.metadata or {})["retrieval_steps"][0]["query"] == "location of item"


def test_a_prompt_built_around_the_question_is_not_the_question() -> None:
    prompt = "Answer from the context: a lot of text. " * 5 + "Question: where is it?"
    asked: dict[str, Any] = {
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": prompt,
    }
    made = read_values(
        ADAPTER, [batch(retriever("2", "", "a", input__value="where is it?"), llm("3", "", at=2, **asked))]
    ).only
    assert (made.question, made.answer) == ("where is it?", "there")


def test_tokens_and_cost_are_summed_over_model_calls_and_wrappers_count_once() -> None:
    counts: dict[str, Any] = {
        "llm__token_count__prompt": 10,
        "llm__token_count__completion": 2,
        "llm__cost__total": 0.5,
    }
    made = read_values(
        ADAPTER,
        [
            batch(
                chain(lasting=9),
                llm("2", at=1, llm__model_name="small", **counts),
                llm("3", at=2, llm__model_name="wrapper", **counts),
                llm("4", "3", at=3, llm__model_name="large", **counts),
            )
        ],
    ).only
    assert (made.input_tokens, made.output_tokens, made.cost, made.model) == (20, 4, 1.0, "large")


def test_the_error_is_the_cause_inside_and_a_step_that_was_made_good_is_none() -> None:
    failed = read_values(
        ADAPTER,
        [
            batch(
                chain(error="PipelineError: llm failed", output__value=""),
                llm("2", said="", error="TimeoutError: slow"),
            )
        ],
    ).only
    assert (failed.error, failed.answer) == ("TimeoutError: slow", None)
    retried = read_values(
        ADAPTER, [batch(chain(), llm("2", said="", at=1, error="RateLimitError: slow", name="gpt"), llm("3", at=2))]
    ).only
    assert (retried.error, (retried.metadata or {})["failed_steps"]) == (None, ["gpt: RateLimitError: slow"])


def test_hidden_content_never_appears_as_question_answer_or_passage() -> None:
    hidden: dict[str, Any] = {
        key: "__REDACTED__" if "content" in key else value for key, value in documents("a").items()
    }
    search = span("2", "1", openinference__span__kind="RETRIEVER", input__value="__REDACTED__", **hidden)
    read = read_values(ADAPTER, [batch(chain(input__value="__REDACTED__", output__value="__REDACTED__"), search)])
    assert read.interactions == []
    visible = read_values(ADAPTER, [batch(chain(output__value="__REDACTED__"), search)]).only
    assert (visible.answer, [(chunk.chunk_id, chunk.text) for chunk in visible.retrieved]) == (None, [("a", None)])


def test_sessions_and_users_are_found_on_any_span_or_in_its_metadata() -> None:
    stated = read_values(ADAPTER, [batch(chain(), llm("2", session__id="s1", user__id="u1"))]).only
    assert (stated.session_id, stated.user_id) == ("s1", "u1")
    noted = read_values(
        ADAPTER, [batch(chain(metadata=json.dumps({"thread_id": "t1", "user_id": "u2", "plan": "pro"})))]
    )
    assert (noted.only.session_id, noted.only.user_id, noted.only.metadata) == ("t1", "u2", {"plan": "pro"})


def test_a_vote_on_a_carrier_span_is_bound_to_the_span_it_links_to() -> None:
    vote_fields = {"name": "user_feedback", "score": 0, "annotator_kind": "HUMAN", "explanation": "wrong"}
    fields: dict[str, Any] = {f"annotations.0.annotation.{key}": value for key, value in vote_fields.items()}
    carrier = span("7", trace_id="e" * 32, openinference__span__kind="EVALUATOR", **fields)
    carrier["links"] = [{"traceId": TRACE, "spanId": "1".zfill(16)}]
    read = read_values(ADAPTER, [batch(carrier), batch(chain())])
    (vote,) = read.votes
    assert (vote.target_kind, vote.target_id, vote.value, vote.comment) == ("interaction", TRACE, 0, "wrong")
    assert read.only.interaction_id.endswith(TRACE)


def test_a_vote_on_a_session_is_kept_to_the_session() -> None:
    fields: dict[str, Any] = {
        "session.annotations.0.annotation.name": "user_rating",
        "session.annotations.0.annotation.label": "good",
    }
    (vote,) = read_values(ADAPTER, [batch(chain(session__id="s1", **fields))]).votes
    assert (vote.target_kind, vote.target_id, vote.value) == ("session", "s1", "good")


def test_votes_of_models_and_code_keep_their_kind() -> None:
    fields: dict[str, Any] = {
        f"annotations.{n}.annotation.{key}": value
        for n, kind in enumerate(["HUMAN", "LLM", "CODE"])
        for key, value in {"name": "quality", "score": 1, "annotator_kind": kind}.items()
    }
    kinds = [vote.scorer_kind for vote in read_values(ADAPTER, [batch(chain(**fields))]).votes]
    assert kinds == ["human", "model", "code"]


def test_a_bad_span_is_refused_and_its_neighbours_are_read() -> None:
    bad = {"traceId": 7, "spanId": [], "name": "x", "attributes": [{"key": "a", "value": {"intValue": "no number"}}]}
    read = read_values(ADAPTER, [batch(bad, chain())])
    assert len(read.rejects) == 1
    assert read.only.question == "where is it?"


def test_a_cycle_of_parents_ends() -> None:
    made = read_values(ADAPTER, [batch(chain("1", "2"), chain("2", "1"), llm("3", "3"))])
    assert len(made.interactions) + len(made.skips) == 1


def test_spans_without_content_say_that_capture_is_off() -> None:
    read = read_values(ADAPTER, [batch(span("1", gen_ai__operation__name="chat", gen_ai__request__model="m"))])
    assert read.skips == ["content capture is off"]
    assert [caution.code for caution in read.cautions] == ["content-capture-off"]
