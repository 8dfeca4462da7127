"""The demo: once around the loop on the sample, and a workspace to open the app on."""

from pathlib import Path
from typing import Any

import pytest

from curation_app.cli.entry import run
from curation_app.review_store import ReviewStore
from curation_app.service.demonstrating import SET_NAME, prepare_demo
from curation_app.service.set_places import set_folder
from curation_app.workspace import find_workspace
from evalsets.gating.baseline import history
from evalsets.items import FAILURE_MODES, AuthorKind

pytestmark = pytest.mark.xdist_group("scores")


def test_the_demo_ends_with_a_gate_that_passes_and_one_that_fails(demo: Any) -> None:
    assert demo.result.unchanged.passed
    assert not demo.result.changed.passed
    assert "retrieval" in demo.result.changed.halves_to_fix
    frozen = set_folder(demo.workspace, SET_NAME).load_whole()
    assert {item.mode for item in frozen.items} == set(FAILURE_MODES)
    assert {item.labelled_by.kind for item in frozen.items if item.labelled_by} == {AuthorKind.RULE}
    moves = history(set_folder(demo.workspace, SET_NAME).root)
    assert [move.reason for move in moves] == ["first run of the demo"]
    assert any("1 line could not be read" in line for line in demo.told)


def test_a_prepared_demo_is_mined_and_unlabelled_and_preparing_again_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["demo", "--prepare", str(tmp_path)]) == 0
    workspace = find_workspace(tmp_path)
    store = ReviewStore(workspace.review_path)
    assert store.remaining("Ada") > 50
    assert not store.accepted_items()
    capsys.readouterr()
    prepare_demo(tmp_path, lambda line: pytest.fail(f"told {line!r} although nothing was to do"))


def test_preparing_without_a_folder_says_what_to_write(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["demo", "--prepare"]) == 2
    assert "errata demo --prepare DIR" in capsys.readouterr().err
