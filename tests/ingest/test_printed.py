"""Structures that programs print into a cell or a line are read as what they print."""

from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.normalising import parsed_list

PASSAGES = [{"chunk": "kb-001#0", "text": "Open it, then: stop.", "score": 0.5}, {"chunk": "kb-2", "text": "so"}]


@pytest.mark.parametrize(
    "written",
    [
        repr(PASSAGES),
        str(np.array(PASSAGES, dtype=object)),
        "[{'chunk': kb-001#0, 'text': 'Open it, then: stop.', 'score': 0.5}, {'chunk': kb-2, 'text': so}]",
        "[{'chunk': kb-001#0, 'text': Open it, then: stop., 'score': 0.5}, {'chunk': kb-2, 'text': so}]",
        "[Row(chunk='kb-001#0', text='Open it, then: stop.', score=0.5), Row(chunk='kb-2', text='so')]",
    ],
)
def test_passages_are_read_however_they_were_printed(written: str) -> None:
    assert parsed_list(written) == PASSAGES


def test_what_duckdb_prints_is_what_it_holds() -> None:
    held = {"a": 'it\'s, "x" \\ so', "b": None, "c": 1.5, "d": True, "e": [1, 2], "f": {"g": "x: y"}, "h": ""}
    (printed,) = duckdb.execute("SELECT $held::VARCHAR", {"held": held}).fetchall()[0]
    assert parsed_list(printed) == held


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("['one text' 'another']", ["one text", "another"]),
        ("[0.5 1. 2e-05]", [0.5, 1.0, 2e-05]),
        ("[datetime.datetime(2026, 1, 2, 3, 4, tzinfo=datetime.timezone.utc)]", ["2026-01-02T03:04:00+00:00"]),
        ("[{'at': Timestamp('2026-01-02 03:04:00'), 'n': nan}]", [{"at": "2026-01-02 03:04:00", "n": None}]),
        ("{'ids': array(['a', 'b'], dtype=object)}", {"ids": ["a", "b"]}),
        ("[Document(metadata={'n': 1}, page_content=\"it's\")]", [{"metadata": {"n": 1}, "page_content": "it's"}]),
    ],
)
def test_reprs_of_python_and_numpy_are_read(written: str, value: Any) -> None:
    assert parsed_list(written) == value


@pytest.mark.parametrize("words", ["[urgent] where is it?", "[a, b]", "{x: y}", "(hi)", "['unended", "[" * 300])
def test_words_in_brackets_stay_words(words: str) -> None:
    assert parsed_list(words) == words


@given(st.text(alphabet="[]{}()'\",:= \\ab1.=", max_size=60))
def test_any_text_is_read_or_stays(written: str) -> None:
    parsed_list(written)
