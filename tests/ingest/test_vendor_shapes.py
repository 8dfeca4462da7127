"""Shapes of vendors' exports beyond the samples: decorators, older APIs, scores of every kind, offloaded payloads."""

import json
from pathlib import Path
from typing import Any, Literal

import pandas as pd
import pytest

from ingest.adapters.langfuse import ADAPTER as LANGFUSE
from ingest.adapters.langsmith import ADAPTER as LANGSMITH
from ingest.adapters.mlflow import ADAPTER as MLFLOW
from ingest.adapters.otlp import ADAPTER as OTLP
from ingest.adapters.phoenix import ADAPTER as PHOENIX
from ingest.loading import ingest
from ingest.log_store import LogStore
from ingest.settings import LogSettings, ScoreScale
from tests.ingest.ingest_support import rows, write_lines
from tests.ingest.span_reading import Read, read_values

TRACE = "0af7651916cd43dd8448eb211c80319c"
MESSAGE = {"role": "assistant", "content": "there"}


def observation(place: int, **fields: Any) -> dict[str, Any]:
    row = {
        "id": f"o{place}",
        "trace_id": TRACE,
        "type": "SPAN",
        "name": "step",
        "level": "DEFAULT",
        "environment": "default",
    }
    parent = {"parent_observation_id": "o1" if place > 1 else "", "session_id": "", "user_id": "u1"}
    times = {
        "start_time": f"2026-11-30 00:00:0{place}",
        "end_time": "2026-11-30 00:00:09",
        "updated_at": "2026-11-30 00:01:00",
    }
    return row | parent | times | {"input": "", "output": ""} | fields


def score(**fields: Any) -> dict[str, Any]:
    row = {"id": "s", "traceId": TRACE, "name": "user-feedback", "value": 1, "dataType": "NUMERIC", "source": "API"}
    return row | {"timestamp": "2026-11-30T00:05:00Z", "comment": None} | fields


def test_langfuse_decorated_functions_and_spans_called_like_retrievers_are_understood() -> None:
    passages = [{"page_content": "a", "metadata": {"chunk_id": "c1", "source": "d1"}}]
    made = read_values(
        LANGFUSE,
        [
            observation(1, name="answer", input='{"args": ["where is it?"], "kwargs": {}}', output='"there"'),
            observation(2, name="retrieve_docs", input='{"args": ["it"]}', output=json.dumps(passages)),
            observation(
                3,
                type="GENERATION",
                input=json.dumps([{"role": "user", "content": "Context: a. Question: where is it?"}]),
                output=json.dumps(MESSAGE),
                provided_model_name="gpt-x",
                usage_details={"input": 10, "output": 3},
                cost_details={"input": 0.1, "output": 0.2},
                prompt_name="qa",
                prompt_version=4,
            ),
        ],
    ).only
    assert (made.question, made.user_id, made.session_id) == ("where is it?", "u1", None)
    assert [(chunk.chunk_id, chunk.doc_id, chunk.id_origin) for chunk in made.retrieved] == [("c1", "d1", "metadata")]
    assert (made.model, made.prompt_version, made.input_tokens) == ("gpt-x", "qa@4", 10)
    assert made.cost == pytest.approx(0.3)


def test_langfuse_judges_run_in_environments_of_their_own_and_are_skipped() -> None:
    read = read_values(LANGFUSE, [observation(1, environment="langfuse-llm-as-a-judge", input="judge", output="bad")])
    assert read.skips == ["evaluator traffic (environment of Langfuse's own judges)"]


def test_a_langfuse_trace_with_observations_inside_reads_like_rows() -> None:
    inner = [
        {
            "id": "o1",
            "traceId": TRACE,
            "type": "GENERATION",
            "startTime": "2026-11-30T00:00:01Z",
            "input": None,
            "output": None,
        }
    ]
    trace: dict[str, Any] = {
        "id": TRACE,
        "timestamp": "2026-11-30T00:00:00Z",
        "name": "chat",
        "sessionId": "s1",
        "userId": None,
        "tags": [],
    }
    read = read_values(
        LANGFUSE, [trace | {"input": "where?", "output": MESSAGE, "observations": inner, "scores": [score()]}]
    )
    assert (read.only.question, read.only.answer, read.only.session_id) == ("where?", "there", "s1")
    assert [vote.value for vote in read.votes] == [1]


def test_langfuse_scores_of_every_kind_keep_their_value_scorer_and_target() -> None:
    subject = {"kind": "observation", "id": "o1", "traceId": TRACE}
    votes = read_values(
        LANGFUSE,
        [
            score(id="1", dataType="BOOLEAN", value=0),
            score(id="2", dataType="CATEGORICAL", value=0, stringValue="thumbs-down"),
            score(id="3", source="EVAL", name="faithfulness", value=0.4),
            score(id="4", source="ANNOTATION", name="quality", value=3),
            score(id="5", name="faithfulness", value=0.4),
            score(id="6", traceId=None, sessionId="s1"),
            score(id="7", dataType="BOOLEAN", value=True, traceId=None, subject=subject),
        ],
    ).votes
    assert [(vote.event_id, vote.value, vote.scorer_kind, vote.target_kind, vote.target_id) for vote in votes] == [
        ("1", False, "human", "interaction", TRACE),
        ("2", "thumbs-down", "human", "interaction", TRACE),
        ("3", 0.4, "model", "interaction", TRACE),
        ("4", 3.0, "human", "interaction", TRACE),
        ("5", 0.4, "code", "interaction", TRACE),
        ("6", 1.0, "human", "session", "s1"),
        ("7", True, "human", "interaction", TRACE),
    ]


def test_a_score_through_an_api_that_may_be_a_scripts_is_left_out_until_it_is_named(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    rows = [observation(1, input="where?", output="there"), score(name="thing_ok", value=0.0)]
    log.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    feedback = []
    for name, scales in (("unnamed", {}), ("named", {"thing_ok": ScoreScale(down_to=0, up_from=1)})):
        store = LogStore(tmp_path / f"{name}.duckdb")
        report = ingest([log], store=store, logs=LogSettings(scores=scales))
        with store.unit() as connection:
            feedback.append(connection.execute("SELECT feedback FROM interactions").fetchall()[0][0])
        assert "unclear-score:thing_ok" in [caution.code for caution in report.cautions]
    assert feedback == [None, -1]


def test_score_columns_of_the_langfuse_ui_are_votes_even_when_called_like_a_column() -> None:
    row: dict[str, Any] = {"id": TRACE, "timestamp": "2026-11-30T00:00:00Z", "name": "chat", "environment": "default"}
    row.update(sessionId="s1", tags=["a"], bookmarked=False, input="where?", output="there", version=[1])
    row["user-rating"] = [0, 1]
    read = read_values(LANGFUSE, [row])
    assert [(vote.name, vote.value) for vote in read.votes] == [("version", 1), ("user-rating", 0), ("user-rating", 1)]
    assert read.only.question == "where?"


def run(place: int, run_type: str = "chain", **fields: Any) -> dict[str, Any]:
    ids = {
        "id": f"r{place}",
        "trace_id": "r1",
        "parent_run_id": "r1" if place > 1 else None,
        "dotted_order": str(place),
    }
    times = {"start_time": f"2026-11-30T00:00:0{place}", "end_time": "2026-11-30T00:00:09", "status": "success"}
    return ids | times | {"name": "step", "run_type": run_type, "session_id": "project", "extra": {}} | fields


def test_langsmith_traceable_retrievers_and_graphs_of_messages_are_understood() -> None:
    history = [
        {"type": "human", "content": "hello"},
        {"type": "ai", "content": "hi"},
        {"type": "human", "content": "where?"},
    ]
    found = {"output": [{"page_content": "a", "metadata": {"id": "c1"}}]}
    replied = {"choices": [{"message": MESSAGE}]}
    made = read_values(
        LANGSMITH,
        [
            run(1, inputs={"messages": history}, outputs={"messages": [*history, {"type": "ai", "content": "there"}]}),
            run(2, "retriever", inputs={"q": "where?"}, outputs=found),
            run(3, "llm", inputs={"messages": [history]}, outputs=replied, total_cost="0.0012", prompt_tokens=5),
        ],
    ).only
    assert (made.question, made.answer, made.session_id) == ("where?", "there", None)
    assert [chunk.chunk_id for chunk in made.retrieved] == ["c1"]
    assert (made.cost, made.input_tokens) == (0.0012, 5)


def test_langsmith_runs_of_dataset_examples_are_no_interactions() -> None:
    read = read_values(LANGSMITH, [run(1, inputs={"q": "x"}, outputs={"a": "y"}, reference_example_id="e1")])
    assert read.skips == ["evaluation run (of a dataset example)"]


def test_langsmith_payloads_stored_elsewhere_are_told_of() -> None:
    read = read_values(LANGSMITH, [run(1, inputs={}, outputs={}, inputs_s3_urls={"ROOT": {"presigned_url": "x"}})])
    assert [caution.code for caution in read.cautions] == ["payload-offloaded"]
    assert read.interactions == []


def test_langsmith_summaries_of_feedback_count_only_where_they_give_the_votes_away() -> None:
    stats = {"user_score": {"n": 3, "avg": 0.66}, "thumbs": {"n": 4, "avg": 1.0}, "user_rating": {"n": 1, "avg": 4.0}}
    votes = read_values(LANGSMITH, [run(1, inputs={"q": "x"}, outputs={"a": "y"}, feedback_stats=stats)]).votes
    assert [(vote.name, vote.value) for vote in votes] == [("thumbs", 1.0), ("user_rating", 4.0)]


def test_langsmith_feedback_tells_users_from_judges() -> None:
    records = [
        {"id": kind, "run_id": "r1", "trace_id": "r1", "key": "quality", "score": 1, "feedback_source": {"type": kind}}
        for kind in ("app", "model", "api")
    ]
    assert [vote.scorer_kind for vote in read_values(LANGSMITH, records).votes] == ["human", "model", "code"]


def test_langsmith_feedback_on_a_step_finds_its_turn_without_a_trace(tmp_path: Path, store: LogStore) -> None:
    at = {"start_time": "2026-11-02T08:00:00Z", "end_time": "2026-11-02T08:00:01Z"}
    root = {"id": "r1", "trace_id": "r1", "run_type": "chain", "inputs": {"input": "q?"}, "outputs": {"output": "a"}}
    step = {"id": "r2", "trace_id": "r1", "parent_run_id": "r1", "run_type": "llm", "inputs": {}, "outputs": {}}
    vote = {"id": "f", "run_id": "r2", "trace_id": None, "key": "thumb", "score": None, "value": False}
    votes = [vote | {"feedback_source": {"type": "app"}}, vote | {"id": "g", "run_id": None}]
    ingest([write_lines(tmp_path / "runs", [root | at, step | at])], store=store, workers=1)
    report = ingest([write_lines(tmp_path / "votes", votes)], store=store, workers=1)
    assert (report.feedback.bound, report.skipped) == (1, {"feedback without a value or a target": 1})
    assert rows(store, "SELECT value_number FROM feedback_events") == [(0.0,)]


def mlflow_span(place: int, kind: str, inputs: Any, outputs: Any) -> dict[str, Any]:
    values = {"mlflow.spanType": kind, "mlflow.spanInputs": inputs, "mlflow.spanOutputs": outputs}
    attributes = {key: json.dumps(value) for key, value in values.items()}
    times = {"start_time_unix_nano": 1_795_996_708_000_000_000 + place, "end_time_unix_nano": 1_795_996_709_000_000_000}
    parent = None if place == 1 else "0x0000000000000001"
    return {
        "name": kind.lower(),
        "span_id": f"0x{place:016x}",
        "parent_span_id": parent,
        "attributes": attributes,
    } | times


def mlflow_trace(spans: list[dict[str, Any]], **info: Any) -> Read:
    described = {"trace_id": f"tr-{TRACE}", "request_time": "2026-11-30T00:00:00Z", "state": "OK", "trace_metadata": {}}
    return read_values(MLFLOW, [{"info": described | info, "data": {"spans": spans}}])


def test_mlflow_reads_function_arguments_tools_and_expectations() -> None:
    assessments = [
        {
            "assessment_name": "expected_response",
            "expectation": {"value": "over there"},
            "source": {"source_type": "HUMAN"},
        },
        {
            "assessment_name": "user_feedback",
            "feedback": {"value": "no"},
            "source": {"source_type": "HUMAN"},
            "valid": True,
        },
        {"assessment_name": "relevance", "feedback": {"value": "yes"}, "source": {"source_type": "LLM_JUDGE"}},
        {
            "assessment_name": "user_feedback",
            "feedback": {"value": True},
            "source": {"source_type": "HUMAN"},
            "valid": False,
        },
    ]
    read = mlflow_trace(
        [
            mlflow_span(1, "AGENT", {"user_input": "where?", "thread_id": "t1", "user_id": "u1"}, {"output": "there"}),
            mlflow_span(2, "TOOL", {"query": "it"}, [{"id": "c1", "text": "a", "score": 0.5}]) | {"name": "search_kb"},
        ],
        assessments=assessments,
    )
    made = read.only
    assert (made.question, made.answer, made.session_id, made.user_id) == ("where?", "there", "t1", "u1")
    assert [chunk.chunk_id for chunk in made.retrieved] == ["c1"]
    assert (made.metadata or {})["expectations"] == {"expected_response": "over there"}
    assert [(vote.value, vote.scorer_kind) for vote in read.votes] == [("no", "human"), ("yes", "model")]


def test_an_agent_in_mlflow_says_who_asks_beside_what_is_asked() -> None:
    request = {"input": [{"role": "user", "content": "where?"}], "context": {"conversation_id": "c1", "user_id": "u1"}}
    said = {"output": [{"type": "message", "content": [{"type": "output_text", "text": "there"}]}]}
    made = mlflow_trace([mlflow_span(1, "AGENT", {"request": request}, said)]).only
    assert (made.question, made.answer, made.session_id, made.user_id) == ("where?", "there", "c1", "u1")


def test_mlflow_traces_without_spans_fall_back_to_their_previews() -> None:
    made = mlflow_trace([], request_preview='{"question": "where?"}', response_preview='"there"').only
    assert (made.question, made.answer, made.latency_ms) == ("where?", "there", None)


def test_mlflow_traces_of_a_newer_schema_are_read_by_mlflow_tracing_where_it_is_installed(shared_folder: Path) -> None:
    pytest.importorskip("mlflow")
    line = (shared_folder / "logs" / "mlflow_traces.jsonl").read_text(encoding="utf-8").splitlines()[0]
    trace = json.loads(line)
    known = read_values(MLFLOW, [trace]).only
    trace["info"]["trace_metadata"]["mlflow.trace_schema.version"] = "4"
    assert read_values(MLFLOW, [trace]).only == known


def test_phoenix_annotations_of_traces_sessions_and_models_keep_their_target_and_kind() -> None:
    kinds = [("trace_id", TRACE, "HUMAN"), ("session_id", "s1", "HUMAN"), ("span_id", "A" * 16, "LLM")]
    rows = [
        {key: target, "annotation_name": "quality", "annotator_kind": kind, "result.score": 0.0, "result.label": None}
        for key, target, kind in kinds
    ]
    votes = read_values(PHOENIX, rows).votes
    assert [(vote.target_kind, vote.target_id, vote.scorer_kind) for vote in votes] == [
        ("interaction", TRACE, "human"),
        ("session", "s1", "human"),
        ("interaction", "a" * 16, "model"),
    ]


@pytest.mark.parametrize("orient", ["columns", "index", "split", "table"])
def test_a_frame_whose_rows_are_labelled_by_their_spans_keeps_spans_and_votes(
    orient: Literal["columns", "index", "split", "table"], tmp_path: Path
) -> None:
    root, step = "a" * 16, "b" * 16
    spans = pd.DataFrame(
        {
            "context.trace_id": [TRACE, TRACE],
            "parent_id": [None, root],
            "span_kind": ["CHAIN", "LLM"],
            "start_time": ["2026-11-30T00:00:00Z", "2026-11-30T00:00:01Z"],
            "attributes.input.value": ["where?", "where?"],
            "attributes.output.value": ["there", "there"],
        },
        index=pd.Index([root, step], name="context.span_id"),
    )
    votes = pd.DataFrame(
        {"annotation_name": ["thumb"], "annotator_kind": ["HUMAN"], "result.score": [0.0], "result.label": ["down"]},
        index=pd.Index([step], name="span_id"),
    )
    for name, frame in {"spans": spans, "votes": votes}.items():
        frame.to_json(tmp_path / f"{name}.json", orient=orient)
    store = LogStore(tmp_path / "logs.duckdb")
    ingest([tmp_path / "spans.json", tmp_path / "votes.json"], store=store)
    assert rows(store, "SELECT question, answer, feedback FROM interactions") == [("where?", "there", -1)]


def test_openllmetry_decorators_write_arguments_and_json_texts() -> None:
    entities: list[tuple[str, str | None, dict[str, str]]] = [
        (
            "1",
            None,
            {"span.kind": "workflow", "entity.input": '{"args": ["where?"], "kwargs": {}}', "entity.output": '"there"'},
        ),
        ("2", "1", {"span.kind": "task", "entity.name": "retrieve", "entity.output": '[{"id": "c1", "text": "a"}]'}),
    ]
    values: list[dict[str, Any]] = [
        {"name": "step", "context": {"trace_id": "0x" + TRACE, "span_id": "0x" + span_id.zfill(16)}}
        | {"parent_id": parent and "0x" + parent.zfill(16), "start_time": "2026-11-30T00:00:00Z", "status": {}}
        | {"attributes": {f"traceloop.{key}": value for key, value in attributes.items()}}
        for span_id, parent, attributes in entities
    ]
    made = read_values(OTLP, values).only
    assert (made.question, made.answer, [chunk.chunk_id for chunk in made.retrieved]) == ("where?", "there", ["c1"])


@pytest.mark.parametrize("result", ["gen_ai.tool.call.result", "tool_response", "gcp.vertex.agent.tool_response"])
def test_tool_results_of_an_agent_that_searches_are_its_passages(result: str) -> None:
    calls = [{"role": "user", "parts": [{"type": "text", "content": "where?"}]}]
    results = [{"role": "user", "parts": [{"type": "tool_call_response", "id": "1", "result": "a"}]}]
    spans = [
        (
            "1",
            None,
            "invoke_agent",
            {"final_result": "there", "pydantic_ai.all_messages": json.dumps([*calls, *results])},
        ),
        (
            "2",
            "1",
            "execute_tool",
            {"gen_ai.tool.name": "search", result: '[{"id": "c1", "text": "a"}]'},
        ),
        (
            "3",
            "1",
            "execute_tool",
            {"gen_ai.tool.name": "weather", result: '[{"id": "w", "text": "rain"}]'},
        ),
    ]
    values: list[dict[str, Any]] = [
        {"name": operation, "context": {"trace_id": "0x" + TRACE, "span_id": "0x" + span_id.zfill(16)}}
        | {"parent_id": parent and "0x" + parent.zfill(16), "start_time": "2026-11-30T00:00:00Z", "status": {}}
        | {"attributes": attributes | {"gen_ai.operation.name": operation}}
        for span_id, parent, operation, attributes in spans
    ]
    made = read_values(OTLP, values).only
    assert (made.question, made.answer, [chunk.chunk_id for chunk in made.retrieved]) == ("where?", "there", ["c1"])


def test_runs_of_langsmith_that_hold_their_children_give_the_passages_inside() -> None:
    documents = [{"page_content": "a", "metadata": {"id": "k1"}}]
    search = {"id": "r2", "run_type": "retriever", "inputs": {"query": "where?"}, "outputs": {"documents": documents}}
    run = {
        "id": "r1",
        "trace_id": "r1",
        "run_type": "chain",
        "inputs": {"input": "where?"},
        "outputs": {"output": "there"},
    }
    times = {"start_time": "2026-11-30T00:00:01", "end_time": "2026-11-30T00:00:02"}
    held = run | times | {"child_runs": [search | times | {"child_runs": []}]}
    made = read_values(LANGSMITH, [held]).only
    assert (made.question, made.answer, [chunk.chunk_id for chunk in made.retrieved]) == ("where?", "there", ["k1"])


@pytest.mark.parametrize("is_alone", [False, True])
def test_spans_of_mlflow_are_read_without_the_info_of_their_trace(
    is_alone: bool,  # noqa: FBT001 - a parameter of the test
    tmp_path: Path,
) -> None:
    named = {"mlflow.traceRequestId": json.dumps(f"tr-{TRACE}")}
    spans = [
        mlflow_span(1, "CHAIN", {"question": "where?", "session": "s1"}, "there"),
        mlflow_span(2, "RETRIEVER", {"q": "where?"}, [{"page_content": "a", "metadata": {"chunk_id": "k1"}}]),
    ]
    spans = [span | {"attributes": span["attributes"] | named} for span in spans]
    log = write_lines(tmp_path / "spans", spans if is_alone else [{"spans": spans}])
    store = LogStore(tmp_path / "logs.duckdb")
    assert ingest([log], store=store).files[0].format == "mlflow"
    found = rows(store, "SELECT question, answer, session_id, chunk_id FROM interactions JOIN retrieved USING (number)")
    assert found == [("where?", "there", "s1", "k1")]
