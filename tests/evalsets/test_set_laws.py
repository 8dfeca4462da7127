import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalsets.errors import ErrataError, FaultsError
from evalsets.eval_set import EvalSet
from evalsets.items import Item, Split
from evalsets.sets.diff import apply, diff
from evalsets.sets.file import canonical_bytes, load, parse, sealed
from evalsets.sets.folder import SetFolder
from evalsets.sets.freezing import freeze
from evalsets.sets.holdout import HoldoutPlan, draw_split, with_splits
from evalsets.sets.verifying import verify
from tests.evalsets.set_samples import CORPUS, FROZEN_AT, eval_sets, hard_items, hard_set, hard_set_changed, item


def frozen(folder: Path, items: list[Item], note: str = "n", **more: object) -> None:
    freeze(folder, items, note=note, frozen_by="Ada", frozen_at=FROZEN_AT, corpus=CORPUS, **more)  # type: ignore[arg-type]  # passed on as they are


@settings(max_examples=60)
@given(eval_sets())
def test_loading_the_canonical_bytes_gives_the_set_back(eval_set: EvalSet) -> None:
    whole = sealed(eval_set)
    assert parse(canonical_bytes(whole), where="drawn") == whole


@settings(max_examples=60)
@given(eval_sets(), st.randoms(use_true_random=False))
def test_canonical_bytes_do_not_depend_on_any_order(eval_set: EvalSet, shuffler: random.Random) -> None:
    wire = json.loads(canonical_bytes(sealed(eval_set)))
    for name in ("items", "retired", "known_failing"):
        shuffler.shuffle(wire.get(name, []))
    keys = list(wire.items())
    shuffler.shuffle(keys)
    again = parse(json.dumps(dict(keys)).encode(), where="shuffled")
    assert canonical_bytes(again) == canonical_bytes(sealed(eval_set))


@settings(max_examples=80)
@given(eval_sets(), eval_sets())
def test_applying_a_difference_to_the_first_set_gives_the_second(a: EvalSet, b: EvalSet) -> None:
    assert apply(diff(a, b), a) == b


@settings(max_examples=30)
@given(eval_sets())
def test_a_set_does_not_differ_from_itself(a: EvalSet) -> None:
    assert diff(a, a).is_empty


def test_a_difference_is_refused_by_a_set_it_was_not_made_from() -> None:
    change = diff(hard_set(), hard_set_changed())
    with pytest.raises(ErrataError, match="was not made from"):
        apply(change, hard_set_changed())


@settings(max_examples=60)
@given(st.lists(st.text("abcdef", min_size=1, max_size=5), unique=True, min_size=1, max_size=30), st.data())
def test_a_split_never_changes_whatever_is_added(ids: list[str], data: st.DataObject) -> None:
    plan = HoldoutPlan(0.4, b"key")
    first = data.draw(st.lists(st.sampled_from(ids), unique=True))
    groups = {id_: data.draw(st.sampled_from(["", "g1", "g2"])) for id_ in ids}
    rows = {id_: item(id_, f"q {id_}", group=groups[id_]) for id_ in ids}
    before = {each.id: each.split or Split.DEV for each in with_splits([rows[id_] for id_ in first], {}, plan)}
    later = HoldoutPlan(data.draw(st.sampled_from([0.0, 0.1, 0.9])), data.draw(st.sampled_from([b"key", b"other"])))
    after = {each.id: each.split for each in with_splits(rows.values(), before, later)}
    assert all(after[id_] is split for id_, split in before.items())


def test_a_drawn_split_depends_on_key_and_name_alone_and_keeps_to_its_share() -> None:
    plan = HoldoutPlan(0.3, b"secret")
    drawn = [draw_split(f"item-{number}", plan) for number in range(4000)]
    assert drawn == [draw_split(f"item-{number}", plan) for number in range(4000)]
    assert 0.27 < drawn.count(Split.HOLDOUT) / len(drawn) < 0.33
    other = [draw_split(f"item-{number}", HoldoutPlan(0.3, b"another")) for number in range(4000)]
    assert other != drawn


def test_paraphrases_of_one_group_stay_on_one_side_of_the_split() -> None:
    rows = [item(f"i{number}", f"q{number}", group=f"g{number // 5}") for number in range(200)]
    splits: dict[str, set[Split | None]] = {}
    for each in with_splits(rows, {}, HoldoutPlan(0.5, b"k")):
        splits.setdefault(each.group, set()).add(each.split)
    assert all(len(found) == 1 for found in splits.values())


@pytest.fixture(scope="module")
def frozen_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sets") / "hard"
    plan = HoldoutPlan(0.4, b"key")
    more = {"holdout": plan, "allow": ()}
    frozen(folder, hard_items()[:6], "first", **more)
    frozen(folder, hard_items(), "second", **more)
    return folder


def test_a_frozen_set_verifies(frozen_folder: Path) -> None:
    found = verify(frozen_folder)
    assert (found.versions, found.faults, found.notes) == (2, (), ())


FROZEN_FILES = (
    "hard.json",
    "versions/0001.json",
    "versions/0002.json",
    "hard.gold.jsonl",
    "hard.holdout.json",
    "hard.holdout.versions/0002.json",
)


@pytest.mark.parametrize("name", FROZEN_FILES)
def test_any_changed_byte_of_a_frozen_file_is_found(frozen_folder: Path, name: str) -> None:
    path = frozen_folder / name
    whole = path.read_bytes()
    shuffler = random.Random(name)  # noqa: S311  # a reproducible sample of places
    places = {0, len(whole) - 1, *(shuffler.randrange(len(whole)) for _ in range(60))}
    try:
        for place in places:
            changed = bytearray(whole)
            changed[place] ^= shuffler.choice([0x01, 0x02, 0x20, 0x80])
            path.write_bytes(changed)
            assert verify(frozen_folder).faults, f"byte {place} ({whole[place : place + 1]!r})"
    finally:
        path.write_bytes(whole)


def test_a_missing_version_breaks_the_chain(frozen_folder: Path) -> None:
    first = frozen_folder / "versions" / "0001.json"
    whole = first.read_bytes()
    first.unlink()
    try:
        assert any("version 1 is missing" in fault for fault in verify(frozen_folder).faults)
    finally:
        first.write_bytes(whole)


def test_a_hand_edited_frozen_file_is_refused_with_every_fault(frozen_folder: Path, tmp_path: Path) -> None:
    wire = json.loads((frozen_folder / "hard.json").read_bytes())
    wire["items"][0] |= {"mode": "hallucination", "colour": "red"}
    wire["items"].append(wire["items"][1])
    edited = tmp_path / "edited.json"
    edited.write_text(json.dumps(wire), encoding="utf-8")
    with pytest.raises(FaultsError) as caught:
        load(edited)
    assert {"unknown key", "stands 2 times", "must be 'retrieval_miss'"} <= {
        part for part in ("unknown key", "stands 2 times", "must be 'retrieval_miss'") if part in str(caught.value)
    }


def test_the_main_file_says_nothing_of_held_out_items_but_their_number_and_hashes(frozen_folder: Path) -> None:
    parts = SetFolder(frozen_folder).load_parts()
    assert parts.holdout is not None
    assert parts.main.holdout is not None
    assert parts.main.holdout.count == len(parts.holdout.items) > 0
    text = (frozen_folder / "hard.json").read_text(encoding="utf-8") + (frozen_folder / "CHANGELOG.md").read_text()
    assert not [each.id for each in parts.holdout.items if json.dumps(each.id) in text or f"`{each.id}`" in text]
