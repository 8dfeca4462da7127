import json
from pathlib import Path

import pytest

from evalsets.errors import BadInputError, FaultsError
from evalsets.sets.file import ESSENTIAL_FIELDS, canonical_bytes, load, parse, schema_bytes, sealed
from tests.evalsets.set_samples import hard_set, item

PLAIN = {
    "id": "a",
    "question": "Why?",
    "gold_chunk_ids": [7],
    "expected": "So.",
    "mode": "refusal",
    "added_on": "2026-11-02",
    "source": "production",
}


def written(folder: Path, value: object, name: str = "plain.json") -> Path:
    path = folder / name
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def test_a_plain_list_of_the_seven_essential_keys_is_a_set_named_after_its_file(tmp_path: Path) -> None:
    eval_set = load(written(tmp_path, [PLAIN]))
    assert (eval_set.name, eval_set.version, eval_set.content_hash) == ("plain", 0, "")
    assert eval_set.items[0].gold_chunk_ids == ("7",)
    assert tuple(PLAIN) == ESSENTIAL_FIELDS


def test_every_fault_of_a_file_is_named_at_once(tmp_path: Path) -> None:
    rows = [PLAIN | {"mode": "wrong", "colour": "red"}, PLAIN | {"added_on": "soon"}, {"id": "b"}]
    with pytest.raises(FaultsError) as caught:
        load(written(tmp_path, rows))
    told = str(caught.value)
    for part in ("'wrong'", "item 'a'.colour: unknown key", "'soon'", "item 'b'.question: missing", "id 'a' stands 2"):
        assert part in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "is not JSON"),
        ("[1]", "item number 1"),
        ('"text"', "an eval set is an object"),
        ('[{"id": "a", "id": "b"}]', "key 'id' stands 2 times"),
        ('{"name": "s", "thresholds": {"recall": NaN}, "items": []}', "NaN is not JSON"),
        ('{"name": "s", "note": "\\ud800", "items": []}', "half of a surrogate pair"),
        ('{"name": "s", "items": [], "schema_version": 2}', "schema_version = 2"),
        ('{"name": "s", "items": [], "known_failing": [], "colour": 1}', "colour: unknown key"),
    ],
)
def test_a_file_that_is_no_set_is_refused_with_the_reason(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises((BadInputError, FaultsError), match=told):
        load(written(tmp_path, text))


def test_a_missing_file_says_what_to_name(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="Name a set file"):
        load(tmp_path / "nowhere.json")


def test_gold_that_repeats_or_is_not_listed_is_a_fault(tmp_path: Path) -> None:
    row = PLAIN | {"gold_chunk_ids": ["x", "x"], "gold_chunks": [{"chunk_id": "y"}]}
    with pytest.raises(FaultsError, match="holds 'x' twice") as caught:
        load(written(tmp_path, [row]))
    assert "'y', which is not in gold_chunk_ids" in str(caught.value)


def test_an_entry_of_known_failing_must_name_an_item() -> None:
    wire = json.loads(canonical_bytes(hard_set()))
    wire["known_failing"][0]["id"] = "nobody"
    with pytest.raises(FaultsError, match="known_failing names 'nobody'"):
        parse(json.dumps(wire).encode(), where="x")


def test_a_hash_that_does_not_fit_the_content_is_a_fault() -> None:
    raw = canonical_bytes(sealed(hard_set())).replace(b"14 days", b"15 days")
    with pytest.raises(FaultsError, match="changed after it was frozen"):
        parse(raw, where="x")


def test_a_set_in_another_layout_still_has_its_hash() -> None:
    wire = json.loads(canonical_bytes(sealed(hard_set())))
    wire["items"] = [each | {"note": each.get("note", "")} for each in reversed(wire["items"])]
    assert parse(json.dumps(wire, indent=4).encode(), where="x") == sealed(hard_set())


def test_a_byte_order_mark_is_no_fault() -> None:
    assert parse(b"\xef\xbb\xbf" + canonical_bytes(hard_set()), where="x") == hard_set()


def test_a_changed_set_carries_no_stale_look_ups() -> None:
    before = hard_set()
    assert "new" not in before.by_id
    after = before.model_copy(update={"items": (*before.items, item("new", "And?"))})
    assert "new" in after.by_id


def test_the_json_schema_refuses_unknown_keys() -> None:
    schema = json.loads(schema_bytes())
    assert schema["additionalProperties"] is False
    assert {"question", "mode"} <= set(schema["$defs"]["Item"]["required"])
