import csv
import io
import json
import os
from datetime import date
from pathlib import Path

import pytest

from evalsets.errors import ErrataError
from evalsets.exchange import FORMATS, Defaults, lost_fields, to_items
from evalsets.exchange.base import EVERYTHING
from evalsets.items import Mode, Source
from evalsets.sets.gold_texts import texts_by_chunk_id, texts_of
from tests.evalsets.set_samples import CORPUS, hard_set, item

GOLDEN = Path(__file__).parent / "golden_exchange"
DEFAULTS = Defaults(date(2026, 11, 30))
LOSSLESS = [name for name, form in FORMATS.items() if form.keeps == EVERYTHING]


def exported(name: str) -> dict[str, bytes]:
    known = texts_of(hard_set().items, CORPUS, {})
    return FORMATS[name].write(hard_set(), texts_by_chunk_id(hard_set().items, known))


@pytest.mark.parametrize("name", FORMATS)
def test_an_export_is_byte_for_byte_the_golden_file(name: str) -> None:
    for file_name, made in exported(name).items():
        path = GOLDEN / name / file_name
        if os.environ.get("ERRATA_WRITE_GOLDEN"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(made)
        assert made == path.read_bytes()


@pytest.mark.parametrize("name", LOSSLESS)
def test_a_format_with_room_for_metadata_gives_every_item_back(name: str) -> None:
    read = FORMATS[name].read
    assert read is not None
    assert tuple(sorted(to_items(read(exported(name)), DEFAULTS), key=lambda each: each.id)) == hard_set().items


@pytest.mark.parametrize("name", LOSSLESS)
def test_what_a_person_changed_in_the_other_tool_wins(name: str) -> None:
    files = {key: raw.replace("三十天".encode(), "四十天".encode()) for key, raw in exported(name).items()}
    files = {key: raw.replace(b"\\u4e09", b"\\u56db") for key, raw in files.items()}
    read = FORMATS[name].read
    assert read is not None
    assert {each.expected for each in to_items(read(files), DEFAULTS) if each.id == "chinese"} == {"四十天"}


def test_ragas_gives_question_gold_and_expected_back_and_names_what_it_loses() -> None:
    form = FORMATS["ragas"]
    assert form.read is not None
    back = {each.question: each for each in to_items(form.read(exported("ragas")), DEFAULTS)}
    for each in hard_set().items:
        if each.question in back:
            assert back[each.question].gold_chunk_ids == each.gold_chunk_ids
            assert back[each.question].expected == each.expected
    assert "forbidden of 1 item(s)" in lost_fields(hard_set(), form)
    assert "1 retired item(s)" in lost_fields(hard_set(), form)


def test_qrels_keep_ids_with_white_space_in_one_column() -> None:
    lines = exported("qrels")["qrels.txt"].decode().splitlines()
    assert {len(line.split()) for line in lines} == {4}
    form = FORMATS["qrels"]
    assert form.read is not None
    back = {each.id: each for each in to_items(form.read(exported("qrels")), DEFAULTS)}
    assert {id_: each.gold_chunk_ids for id_, each in back.items()} == {
        each.id: each.gold_chunk_ids for each in hard_set().items
    }


def test_no_cell_of_a_csv_export_is_run_by_a_spreadsheet() -> None:
    dangerous = hard_set().changed(items=(item("a", "=HYPERLINK(1)", expected="+1", note="@SUM(1)"),), known_failing=())
    rows = list(csv.DictReader(io.StringIO(FORMATS["csv"].write(dangerous, {})["set.csv"].decode("utf-8-sig"))))
    assert (rows[0]["question"], rows[0]["expected"], rows[0]["note"]) == ("'=HYPERLINK(1)", "'+1", "'@SUM(1)")
    read = FORMATS["csv"].read
    assert read is not None
    assert to_items(read(FORMATS["csv"].write(dangerous, {})), DEFAULTS) == list(dangerous.items)


def test_promptfoo_renders_no_template_out_of_a_question() -> None:
    with_braces = hard_set().changed(items=(item("a", "What is {{ secret }}?"),), known_failing=())
    (test,) = json.loads(FORMATS["promptfoo"].write(with_braces, {})["tests.json"])
    assert test["vars"]["question"] == "{% raw %}What is {{ secret }}?{% endraw %}"


@pytest.mark.parametrize(
    ("name", "row", "question", "expected"),
    [
        ("langsmith", {"inputs": {"input": "Why?"}, "outputs": {"output": "So."}}, "Why?", "So."),
        ("langfuse", {"input": "Why?", "expectedOutput": "So."}, "Why?", "So."),
        ("openai-evals", {"input": [{"role": "user", "content": "Why?"}], "ideal": ["So.", "Thus."]}, "Why?", "So."),
        ("inspect", {"input": "Why?", "target": ["So."]}, "Why?", "So."),
        ("mlflow", {"inputs": {"q": "Why?"}, "expectations": {"expected_response": "So."}}, "Why?", "So."),
        ("deepeval", {"input": "Why?", "expected_output": "So."}, "Why?", "So."),
    ],
)
def test_a_row_that_another_tool_made_becomes_an_item(
    name: str, row: dict[str, object], question: str, expected: str
) -> None:
    read = FORMATS[name].read
    assert read is not None
    (made,) = to_items(read({"rows.jsonl": json.dumps(row).encode()}), DEFAULTS)
    assert (made.question, made.expected, made.mode, made.source) == (
        question,
        expected,
        Mode.CONTROL,
        Source.SYNTHETIC,
    )


def test_what_cannot_be_imported_is_named_all_at_once() -> None:
    rows = [{"input": "Why?", "expected_output": "", "name": "x"}] * 2
    read = FORMATS["deepeval"].read
    assert read is not None
    with pytest.raises(ErrataError, match="id 'x' stands for 2 cases"):
        to_items(read({"goldens.json": json.dumps(rows).encode()}), DEFAULTS)
