"""What user code may hand over as chunks and answers, and how it comes back to `answer` in the form it had."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import pytest

from evalsets.chunks import Chunk, chunk_text_hash
from evalsets.corpus_file import read_corpus
from evalsets.errors import FaultsError
from evalsets.eval_set import EvalSet
from evalsets.judges.base import FactsJudge
from evalsets.pipelines.base import Asked
from evalsets.pipelines.faults import CallFailedError, TransientCallError, classify, retry_after_seconds
from evalsets.pipelines.native_forms import natives_of, to_answer, to_asked, to_retrieved
from evalsets.pipelines.python_object import PythonPipeline
from evalsets.pipelines.recorded import RecordedPipeline
from evalsets.running.journal import CallKey
from evalsets.running.runner import RunSettings, run
from tests.evalsets.cases import item
from tests.evalsets.run_parts import question_set


class Document:
    """As LangChain's: page_content, metadata, id."""

    def __init__(self, page_content: str, metadata: dict[str, Any] | None = None, id: str | None = None) -> None:  # noqa: A002 - LangChain's name
        self.page_content, self.metadata, self.id = page_content, metadata or {}, id


class TextNode:
    """As LlamaIndex's."""

    def __init__(self, id_: str, text: str, **metadata: str) -> None:
        self.node_id, self.text, self.metadata, self.ref_doc_id = id_, text, metadata, "manual"

    def get_content(self) -> str:
        return self.text


class NodeWithScore(NamedTuple):
    node: TextNode
    score: float


@pytest.mark.parametrize(
    ("native", "chunk"),
    [
        ("c1", Chunk("c1", "")),
        (7, Chunk("7", "")),
        (" c1 ", Chunk("c1", "")),
        ("cafe\u0301", Chunk("caf\u00e9", "")),
        (Chunk("c1", "text", "doc", 0.5), Chunk("c1", "text", "doc", 0.5)),
        ({"id": 3, "text": "t", "score": "0.25", "source": "a.md"}, Chunk("3", "t", "a.md", 0.25)),
        ({"page_content": "t", "metadata": {"chunk_id": "c9", "source": "b.md"}}, Chunk("c9", "t", "b.md")),
        ({"content": "only text"}, Chunk(chunk_text_hash("only text"), "only text")),
        (Document("t", {"source": "a.md"}, id="d1"), Chunk("d1", "t", "a.md")),
        (Document("t", {"chunk_id": "c2"}), Chunk("c2", "t")),
        (NodeWithScore(TextNode("n1", "t"), 0.75), Chunk("n1", "t", "manual", 0.75)),
        (TextNode("n1", "t", chunk_id="c3"), Chunk("c3", "t", "manual")),
    ],
)
def test_every_form_of_a_chunk_is_understood(native: Any, chunk: Chunk) -> None:
    assert to_retrieved([native]).chunks == (chunk,)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "returned None"),
        ("c1", "returned str 'c1'"),
        ({"id": "c1"}, "returned dict"),
        (3, "returned int 3"),
        ([None], "retrieved chunk 1 is NoneType None"),
        ([True], "retrieved chunk 1 is bool True"),
        ([{"title": "x"}], "neither an id nor a text"),
        ([{"id": "c1", "score": float("nan")}], "'c1' has the score nan"),
        ([{"id": "c1", "score": "high"}], "has the score 'high'"),
    ],
)
def test_what_is_no_chunk_is_named(value: Any, words: str) -> None:
    with pytest.raises(CallFailedError, match=words):
        to_retrieved(value)


@pytest.mark.parametrize(
    "value",
    [
        ("yes", ["c1"]),
        {"answer": "yes", "context": [Document("t", id="c1")]},
        {"result": "yes", "source_documents": [{"id": "c1", "text": "t"}]},
        SimpleNamespace(response="yes", source_nodes=[NodeWithScore(TextNode("c1", "t"), 0.5)]),
        {"response": {"answer": "yes"}, "retrieved": ["c1"]},
    ],
)
def test_an_ask_may_return_a_pair_a_dict_or_a_response_object(value: Any) -> None:
    asked = to_asked(value)
    assert isinstance(asked, Asked)
    assert asked.answer.text == "yes"
    assert asked.retrieved.chunks[0].chunk_id == "c1"


def test_usage_cost_and_latency_are_read_where_an_answer_states_them() -> None:
    answer = to_answer(
        {"answer": "yes", "usage": {"prompt_tokens": 5, "completion_tokens": 2}, "cost_usd": 0.1, "latency_ms": 250}
    )
    assert (answer.input_tokens, answer.output_tokens, answer.cost, answer.latency_s) == (5, 2, 0.1, 0.25)
    with pytest.raises(CallFailedError, match="returned int 7"):
        to_answer(7)


class Resumable:
    """Retrieves in one form, and fails unless `answer` is handed that form again."""

    def __init__(self, form: str, *, answers: bool) -> None:
        self.form, self.answers = form, answers
        self.seen: list[Any] = []

    def retrieve(self, question: str) -> list[Any]:
        assert question
        made: dict[str, list[Any]] = {
            "dict": [{"id": "c1", "text": "yes", "extra": {"page": 4}}],
            "langchain": [Document("yes", {"source": "a.md"}, id="c1")],
            "llamaindex": [NodeWithScore(TextNode("c1", "yes"), 0.5)],
            "id": ["c1"],
            "mixed": ["c1", {"id": "c2", "text": "yes"}],
        }
        return made[self.form]

    def answer(self, question: str, chunks: list[Any]) -> str:
        assert question
        if not self.answers:
            raise RuntimeError("not now")
        self.seen.extend(chunks)
        return "yes"


@pytest.mark.parametrize("form", ["dict", "langchain", "llamaindex", "id", "mixed"])
def test_a_resumed_answer_is_given_chunks_in_the_form_they_had(
    form: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    documents, schema = ModuleType("langchain_core.documents"), ModuleType("llama_index.core.schema")
    documents.Document = Document  # type: ignore[attr-defined]
    schema.TextNode, schema.NodeWithScore = TextNode, NodeWithScore  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "langchain_core.documents", documents)
    monkeypatch.setitem(sys.modules, "llama_index.core.schema", schema)
    journal, settings = tmp_path / "journal.jsonl", RunSettings(max_error_share=1.0)
    results = []
    for answers in (False, True):
        system = Resumable(form, answers=answers)
        pipeline = PythonPipeline(system, name="r", target_path="r")
        report = run(
            question_set("one"), pipeline, FactsJudge(), settings, journal_path=journal, resume=True, retry_failed=True
        )
        results.append((report.passed, system.seen))
    assert results[1][0] == 1
    types = [type(native).__name__ for native in results[1][1]]
    expected = {
        "dict": ["dict"],
        "langchain": ["Document"],
        "llamaindex": ["NodeWithScore"],
        "id": ["str"],
        "mixed": ["Chunk", "Chunk"],
    }
    assert types == expected[form]
    if form == "dict":
        assert results[1][1][0]["extra"] == {"page": 4}


def test_a_chunk_without_an_id_is_known_by_the_gold_text_it_equals() -> None:
    text = "The window is thirty days."
    gold = item(
        id="one",
        gold_chunk_ids=("kb-1",),
        gold_chunks=({"chunk_id": "kb-1", "text_hash": chunk_text_hash(text)},),
        answer_facts=("thirty",),
    )
    report = run(
        EvalSet(name="hashed", items=(gold,)),
        PythonPipeline(lambda question: (f"thirty, {question}", [{"text": "The window  is thirty days."}])),
        FactsJudge(),
    )
    assert report.retrieval_recall == 1.0
    assert report.items[0].retrieved[0].is_gold


def test_recordings_and_corpora_are_split_at_line_feeds_alone_and_name_every_faulty_line(tmp_path: Path) -> None:
    recording, corpus = tmp_path / "r.jsonl", tmp_path / "c.jsonl"
    recording.write_text('{"id": "one", "retrieved": [], "answer": "yes\u2028indeed"}\r\n\n', encoding="utf-8-sig")
    corpus.write_text('{"id": "c1", "text": "one\u2028two\x85three"}\n', encoding="utf-8")
    assert RecordedPipeline(recording).ask(item(id="one"), 10).answer.text == "yes\u2028indeed"
    assert read_corpus(corpus) == [Chunk("c1", "one\u2028two\x85three")]
    recording.write_bytes(b'{"id": "one"}\n{"id": "one"}\nnot json\n{"answer": "x"}\n{"id": "\xff"}\n')
    with pytest.raises(FaultsError) as found:
        RecordedPipeline(recording)
    assert [fault.split(":")[0] for fault in found.value.faults] == ["line 2", "line 3", "line 4", "line 5"]


def test_natives_without_originals_are_plain_chunks() -> None:
    assert natives_of(to_retrieved([Chunk("c1", "t")])) == [Chunk("c1", "t")]
    assert CallKey("a", "ask", "c", "d").repeat == 0


@pytest.mark.parametrize(
    ("error", "is_transient"),
    [
        (ConnectionResetError("gone"), True),
        (TimeoutError(), True),
        (ValueError("bad"), False),
        (type("RateLimitError", (Exception,), {})("slow"), True),
        (type("APIStatusError", (Exception,), {"status_code": 503})("busy"), True),
        (type("APIStatusError", (Exception,), {"status_code": 401})("no key"), False),
    ],
)
def test_only_faults_that_may_pass_are_transient(error: Exception, is_transient: bool) -> None:  # noqa: FBT001 - a parameter of the test
    assert isinstance(classify(error), TransientCallError) is is_transient


def test_retry_after_is_read_in_both_forms_and_from_exceptions_of_client_libraries() -> None:
    from datetime import UTC, datetime

    now = datetime(2026, 11, 30, 9, 0, 0, tzinfo=UTC)
    assert retry_after_seconds({"retry-after": "7"}) == 7
    assert retry_after_seconds({"retry-after-ms": "1500"}) == 1.5
    assert retry_after_seconds({"retry-after": "Mon, 30 Nov 2026 09:00:30 GMT"}, now=now) == 30
    assert retry_after_seconds({"retry-after": "soon"}) is None
    response = SimpleNamespace(status_code=429, headers={"Retry-After": "3"})
    failure = classify(type("ClientError", (Exception,), {"response": response})("limit"))
    assert isinstance(failure, TransientCallError)
    assert (failure.retry_after_s, failure.is_rate_limit) == (3, True)
