import json
import os
import signal
import threading
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from evalsets.chunks import Chunk
from evalsets.errors import BadInputError
from evalsets.eval_set import AllowedCheck, KnownFailing
from evalsets.items import Mode, Split
from evalsets.sets.changes import (
    SetChange,
    clearing_known_failing,
    marking_known_failing,
    replacing,
    restoring,
    retiring,
)
from evalsets.sets.file import load
from evalsets.sets.folder import SetFolder
from evalsets.sets.freezing import ChecksFailedError, FreezeResult, Stamp, freeze, publish, revise
from evalsets.sets.holdout import HoldoutPlan
from evalsets.sets.verifying import verify
from tests.evalsets.set_samples import CORPUS, FROZEN_AT, hard_items, item

ON = date(2026, 12, 1)


def freeze_into(folder: Path, items: Any, note: str = "because", **more: Any) -> FreezeResult:
    return freeze(folder, items, note=note, frozen_by="Ada", frozen_at=FROZEN_AT, corpus=CORPUS, **more)


def change(folder: Path, step: SetChange, note: str = "changed") -> FreezeResult:
    return publish(revise(folder, step, Stamp(note, "Ada", FROZEN_AT), corpus=CORPUS))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "evalsets" / "shop"


def test_a_first_freeze_writes_head_version_schema_gold_texts_and_changelog(folder: Path) -> None:
    result = freeze_into(folder, hard_items())
    assert result.eval_set == load(folder) == load(folder / "versions" / "0001.json")
    assert (folder / "shop.json").read_bytes() == (folder / "versions" / "0001.json").read_bytes()
    assert json.loads((folder / "shop.schema.json").read_text())["title"] == "Errata eval set"
    assert len((folder / "shop.gold.jsonl").read_text(encoding="utf-8").strip().split("\n")) == 3
    assert "## Version 1, 30 November 2026" in (folder / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_order_of_the_items_leaves_no_trace(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "again" / "shop"
    freeze_into(folder, hard_items(), holdout=HoldoutPlan(0.5, b"key"))
    freeze_into(other, hard_items()[::-1], holdout=HoldoutPlan(0.5, b"key"))
    names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert names == sorted(str(path.relative_to(other)) for path in other.rglob("*") if path.is_file())
    assert all((folder / name).read_bytes() == (other / name).read_bytes() for name in names)


def test_versions_name_their_parent_by_hash(folder: Path) -> None:
    first = freeze_into(folder, hard_items()[:2]).eval_set
    second = freeze_into(folder, hard_items()[:4]).eval_set
    assert (second.version, second.parent_hash) == (2, first.content_hash)
    assert load(folder / "versions" / "0001.json") == first


def test_freezing_the_same_again_writes_no_version(folder: Path) -> None:
    freeze_into(folder, hard_items())
    assert not freeze_into(folder, hard_items(), note="again").is_new
    assert SetFolder(folder).versions() == [1]


def test_what_a_set_has_stays_when_its_label_is_no_longer_there(folder: Path) -> None:
    freeze_into(folder, hard_items()[:4])
    assert len(freeze_into(folder, hard_items()[4:6]).eval_set.items) == 6


def test_a_failing_check_keeps_the_set_from_being_frozen(folder: Path) -> None:
    with pytest.raises(ChecksFailedError, match="empty-expected"):
        freeze_into(folder, [item("a", "Why?", expected="")])
    assert not folder.exists()


def test_an_allowed_check_is_recorded_with_its_reason(folder: Path) -> None:
    allow = [AllowedCheck(code="empty-expected", reason="the owner writes it on Monday", allowed_by="Ada")]
    freeze_into(folder, [item("a", "Why?", expected="")], allow=allow)
    assert load(folder).allowed == tuple(allow)
    assert "the owner writes it on Monday" in (folder / "CHANGELOG.md").read_text()


def test_a_retired_item_stays_in_the_file_with_its_reason_and_does_not_come_back(folder: Path) -> None:
    freeze_into(folder, hard_items())
    change(folder, retiring({"rtl": "the office moved"}, by="Ada", on=ON))
    now = load(folder)
    assert "rtl" not in now.by_id
    assert now.retired[0].reason == "the office moved"
    again = freeze_into(folder, hard_items())
    assert (again.is_new, again.still_retired) == (False, ("rtl",))


def test_known_failures_stay_items_and_are_entered_apart(folder: Path) -> None:
    freeze_into(folder, hard_items())
    entry = KnownFailing(id="rtl", reason="no index", owner="Bo", since=ON, review_by=date(2027, 1, 1))
    change(folder, marking_known_failing([entry]))
    assert load(folder).known_failing == (entry,)
    assert "rtl" in load(folder).by_id
    change(folder, clearing_known_failing(["rtl"]))
    assert load(folder).known_failing == ()


def test_changing_what_is_not_there_names_every_stranger(folder: Path) -> None:
    freeze_into(folder, hard_items())
    with pytest.raises(BadInputError, match="'nobody', 'nothing'"):
        change(folder, retiring(dict.fromkeys(["nobody", "nothing", "rtl"], "x"), by="Ada", on=ON))


def test_restoring_makes_a_new_version_and_retires_what_came_later(folder: Path) -> None:
    first = freeze_into(folder, hard_items()[:3]).eval_set
    freeze_into(folder, [hard_items()[0].model_copy(update={"expected": "31 days"}), *hard_items()[3:5]])
    change(folder, retiring({"chinese": "x"}, by="Ada", on=ON))
    change(folder, restoring(first, by="Ada", on=ON))
    now = load(folder)
    assert (now.version, now.items) == (4, first.items)
    assert {entry.item.id for entry in now.retired} == {"emoji", "long"}
    assert verify(folder).faults == ()


def test_a_repair_of_the_set_outlives_the_label_it_came_from(folder: Path) -> None:
    freeze_into(folder, hard_items())
    repaired = hard_items()[0].model_copy(update={"expected": "30 days, says the new policy"})
    frozen = load(folder).by_id[repaired.id]
    change(folder, replacing([frozen.model_copy(update={"expected": repaired.expected})]))
    freeze_into(folder, hard_items(), note="labels have not changed")
    assert load(folder).by_id[repaired.id].expected == repaired.expected
    relabelled = hard_items()[0].model_copy(update={"expected": "45 days"})
    freeze_into(folder, [relabelled])
    assert load(folder).by_id[repaired.id].expected == "45 days"


def test_held_out_items_live_in_a_file_of_their_own_that_may_be_elsewhere(folder: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "vault"
    plan = HoldoutPlan(0.5, b"key", elsewhere)
    freeze_into(folder, hard_items(), holdout=plan)
    main, held = load(folder), load(elsewhere / "shop.holdout.json")
    assert main.holdout is not None
    assert main.holdout.count == len(held.items)
    assert {each.split for each in held.items} == {Split.HOLDOUT}
    assert {each.split for each in main.items} == {Split.DEV}
    assert verify(folder, holdout_place=elsewhere).faults == ()
    assert "not at hand" in verify(folder).notes[0]
    with pytest.raises(BadInputError, match="name it with --holdout"):
        freeze_into(folder, [item("late", "And now?")])


def test_a_split_on_the_other_side_of_a_near_duplicate_is_refused(folder: Path) -> None:
    question = "How long do refunds for annual plans take to arrive?"
    rows = [item("a", question, split=Split.DEV), item("b", f"{question} please", split=Split.HOLDOUT)]
    with pytest.raises(ChecksFailedError, match="split-leak"):
        freeze_into(folder, rows, allow=[AllowedCheck(code="near-duplicate", reason="kept")])


def test_two_freezes_at_once_make_two_versions_or_one_is_told_so(folder: Path) -> None:
    freeze_into(folder, hard_items()[:2])
    errors: list[BadInputError] = []

    def add(number: int) -> None:
        try:
            freeze_into(folder, [item(f"new-{number}", f"Question number {number}?")])
        except BadInputError as error:
            errors.append(error)

    threads = [threading.Thread(target=add, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert verify(folder).faults == ()
    assert SetFolder(folder).newest_version() == 1 + 4 - len(errors)


TOUCHES_DISK = ("fsync", "link", "replace", "rename", "unlink", "fdopen")


def freeze_and_die(folder: Path, step: int) -> int:
    """Freeze in a child that kills itself at the n-th time it touches the disk; return how the child ended."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    left = step

    def dying(call: Callable[..., Any]) -> Callable[..., Any]:
        def touch(*args: Any, **kwargs: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return call(*args, **kwargs)

        return touch

    for name in TOUCHES_DISK:
        setattr(os, name, dying(getattr(os, name)))
    freeze_into(folder, hard_items(), holdout=HoldoutPlan(0.5, b"key"))
    os._exit(0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_freeze_killed_at_any_write_leaves_a_whole_set_and_the_next_one_goes_on(tmp_path: Path) -> None:
    newest_after_kill = []
    for step in range(1, 100, 2):
        folder = tmp_path / str(step) / "shop"
        freeze_into(folder, hard_items()[:5], holdout=HoldoutPlan(0.5, b"key"))
        if freeze_and_die(folder, step) != -signal.SIGKILL:
            break
        newest = SetFolder(folder).newest_version()
        newest_after_kill.append(newest)
        assert load(folder) == load(folder / "versions" / f"{load(folder).version:04d}.json")
        freeze_into(folder, hard_items(), holdout=HoldoutPlan(0.5, b"key"))
        assert (verify(folder).faults, verify(folder).notes) == ((), ())
        assert not list(folder.rglob("*.tmp"))
    assert newest_after_kill == sorted(newest_after_kill)
    assert set(newest_after_kill) == {1, 2}
    assert len(newest_after_kill) > 12


def test_the_corpus_fills_in_document_and_hash_of_gold(folder: Path) -> None:
    bare = item("a", "Why?", gold_chunk_ids=("kb-2#0",), gold_chunks=())
    freeze(folder, [bare], note="n", frozen_by="Ada", corpus={"kb-2#0": Chunk("kb-2#0", "text", "kb-2")})
    assert load(folder).items[0].gold_chunks[0].doc_id == "kb-2"
    assert load(folder).items[0].mode is Mode.RETRIEVAL_MISS
