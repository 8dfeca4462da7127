import pytest

from evalsets.chunks import chunk_text_hash
from ingest.traces.documents import chunks_in, returned_chunks

TEXT = "Invoices are listed under Billing."


@pytest.mark.parametrize(
    "logged",
    [
        [{"id": "c1", "text": TEXT, "score": 0.5, "doc_id": "d1"}],
        [{"chunk_id": "c1", "content": TEXT, "similarity": 0.5, "metadata": {"document_id": "d1"}}],
        {"documents": [{"id": "c1", "page_content": TEXT, "metadata": {"source": "d1", "score": 0.5}}]},
        {"documents": [{"page_content": TEXT, "metadata": {"chunk_id": "c1", "doc_id": "d1", "score": 0.5}}]},
        [[{"id": "c1", "page_content": TEXT, "metadata": {"doc_id": "d1"}}, 0.5]],
        {"matches": [{"id": "c1", "score": 0.5, "metadata": {"text": TEXT, "doc_id": "d1"}}]},
        {"ids": [["c1"]], "documents": [[TEXT]], "metadatas": [[{"doc_id": "d1"}]], "distances": [[0.5]]},
        {"hits": {"hits": [{"_id": "c1", "_score": 0.5, "_source": {"text": TEXT, "doc_id": "d1"}}]}},
        [{"node": {"id_": "c1", "text": TEXT, "metadata": {"doc_id": "d1"}}, "score": 0.5}],
        {"output": [{"id": "c1", "text": TEXT, "score": "0.5", "doc_id": "d1"}]},
        [
            {
                "lc": 1,
                "id": ["langchain", "Document"],
                "kwargs": {"id": "c1", "page_content": TEXT, "metadata": {"doc_id": "d1", "score": 0.5}},
            }
        ],
        '[{"id": "c1", "text": "Invoices are listed under Billing.", "score": 0.5, "doc_id": "d1"}]',
        [{"id": "c1", "content": TEXT, "score": 0.5, "meta": {"doc_id": "d1"}}],
    ],
)
def test_passages_are_read_from_the_shapes_that_retrievers_log(logged: object) -> None:
    (chunk,) = chunks_in(logged)
    assert (chunk.chunk_id, chunk.text, chunk.doc_id, chunk.score, chunk.rank) == ("c1", TEXT, "d1", 0.5, 0)


def test_the_chunk_id_falls_back_to_metadata_and_then_to_the_hash_of_the_text() -> None:
    explicit, metadata, hashed = chunks_in(
        [{"id": 7, "text": TEXT}, {"text": TEXT, "metadata": {"node_id": "n1"}}, {"text": f"  {TEXT}\n"}]
    )
    assert (explicit.chunk_id, explicit.id_origin) == ("7", "explicit")
    assert (metadata.chunk_id, metadata.id_origin) == ("n1", "metadata")
    assert (hashed.chunk_id, hashed.id_origin) == (chunk_text_hash(TEXT), "text_hash")


def test_a_plain_list_of_texts_is_a_list_of_passages_with_hashes_for_ids() -> None:
    assert [chunk.text for chunk in chunks_in(["one", "two"])] == ["one", "two"]


def test_the_repr_of_a_node_gives_its_id_and_score() -> None:
    (chunk,) = chunks_in(["<NodeWithScore(node=TextNode(id_=kb-1#0), score=0.25)>"])
    assert (chunk.chunk_id, chunk.score, chunk.text) == ("kb-1#0", 0.25, None)


def test_hidden_text_never_becomes_a_passage_and_a_zero_score_stays() -> None:
    (chunk,) = chunks_in([{"id": "c1", "text": "__REDACTED__", "score": 0.0}, {"text": "__REDACTED__"}])
    assert (chunk.text, chunk.score) == (None, 0.0)


def test_scores_that_are_no_numbers_are_left_out() -> None:
    scores = [
        chunk.score for chunk in chunks_in([{"id": str(n), "score": s} for n, s in enumerate([None, "x", True, "NaN"])])
    ]
    assert scores == [None, None, None, None]


def test_passages_handed_back_beside_an_answer_are_found_only_under_their_names() -> None:
    assert [
        chunk.chunk_id for chunk in returned_chunks({"answer": "x", "source_documents": [{"id": "c1", "text": TEXT}]})
    ] == ["c1"]
    assert returned_chunks({"answer": "x", "context": TEXT}) == []
    assert returned_chunks({"messages": [{"role": "user", "content": "x"}]}) == []


@pytest.mark.parametrize(
    "logged", [None, 3, "plain text", {}, [], [None], [[[]]], {"documents": None}, {"a": {"b": []}}]
)
def test_what_holds_no_passages_gives_none_and_no_error(logged: object) -> None:
    assert [chunk for chunk in chunks_in(logged) if chunk.score] == []
