"""Mining a workspace again hands over what changed, and review holds what it would after a full run."""

import json
import shutil
from pathlib import Path

import pytest

from curation_app.cli.entry import run
from curation_app.review_store import ReviewStore
from curation_app.service.mining import MinedWorkspace, draw_from_queue, mine_workspace
from curation_app.service.starting import make_workspace
from curation_app.workspace import Workspace
from evalsets.errors import ExitCode
from ingest.corpus.store import add
from ingest.log_store import LogStore
from ingest.mining.candidates import Candidate
from tests.bench.mining_log import build

FIRST, ALL = 2_000, 2_080
CONFIG = '[signals]\ndisabled = ["slow", "costly"]\n[queue]\nlimit = 150\n'
"""What is usual for a model is as of the last full run, so what stands out from it may differ a little afterwards."""


def held(workspace: Workspace) -> dict[str, Candidate]:
    return {candidate.candidate_id: candidate for candidate, _ in ReviewStore(workspace.review_path).candidates()}


def queue(workspace: Workspace, mined: MinedWorkspace) -> list[Candidate]:
    """Return what review holds of the queue, in its order."""
    candidates = held(workspace)
    return [candidates[each.candidate_id] for each in mined.report.queued]


def is_whole(mined: MinedWorkspace) -> bool:
    return len(mined.report.candidates) == len(mined.report.queued) > 0


def after_a_full_run(workspace: Workspace, folder: Path) -> list[Candidate]:
    """Return the queue as a review store has it that takes over a full run of the same log, corpus and set."""
    shutil.copytree(workspace.root, folder)
    other = Workspace(folder)
    other.review_path.unlink()
    return queue(other, mine_workspace(other, full=True))


@pytest.fixture(scope="module")
def mined_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace with a corpus that was mined, and then mined again with nothing new."""
    workspace = make_workspace(tmp_path_factory.mktemp("mined") / "shop").workspace
    workspace.config_path.write_text(CONFIG)
    store = LogStore(workspace.logs_path)
    build(store, 0, FIRST, ingest_id=1)
    questions = [
        question
        for (question,) in rows(store, "SELECT question FROM interactions WHERE answer LIKE 'I am sorry%' LIMIT 20")
    ]
    chunks = [{"chunk_id": f"kb-{n}#0", "doc_id": f"kb-{n}", "text": text} for n, text in enumerate(questions)]
    corpus = workspace.root / "corpus.jsonl"
    corpus.write_text("".join(json.dumps(chunk) + "\n" for chunk in chunks))
    add([corpus], store)
    mine_workspace(workspace)
    return workspace.root


@pytest.fixture
def shop(mined_once: Path, tmp_path: Path) -> Workspace:
    return Workspace(Path(shutil.copytree(mined_once, tmp_path / "shop")))


def rows(store: LogStore, query: str) -> list[tuple[str, ...]]:
    with store.unit() as connection:
        return connection.execute(query).fetchall()


def more(workspace: Workspace) -> None:
    build(LogStore(workspace.logs_path), FIRST, ALL, ingest_id=2)


def freeze(workspace: Workspace, question: str) -> None:
    item = {"id": "known", "question": question, "gold_chunk_ids": ["kb-1#0"], "expected": "Yes.", "mode": "refusal"}
    path = workspace.root / "v1.json"
    path.write_text(json.dumps([{**item, "added_on": "2026-11-02", "source": "production"}]))
    words = ["--note", "First", "--by", "Ada", "--workspace", str(workspace.root)]
    assert run(["freeze", "--from", str(path), *words]) == ExitCode.DONE


def test_after_a_little_more_of_the_log_review_holds_the_queue_of_a_full_run(shop: Workspace, tmp_path: Path) -> None:
    freeze(shop, next(iter(held(shop).values())).flagged_turn.question)
    first = mine_workspace(shop)
    assert any(candidate.suggestion for candidate in queue(shop, first))
    assert any(candidate.known_item_id for candidate in queue(shop, first))
    more(shop)
    before = held(shop)
    again = mine_workspace(shop)
    assert 0 < len(again.report.candidates) < len(again.report.queued) / 2
    assert again.new_candidates == len(held(shop)) - len(before) > 0
    assert queue(shop, again) == after_a_full_run(shop, tmp_path / "full")


def test_a_run_over_nothing_new_changes_nothing_in_review(shop: Workspace) -> None:
    before = held(shop)
    again = mine_workspace(shop)
    assert len(again.report.candidates) < len(again.report.queued) / 2
    assert again.new_candidates == 0
    assert held(shop) == before


def test_a_review_store_that_was_deleted_has_the_full_queue_after_the_next_run(shop: Workspace, tmp_path: Path) -> None:
    shop.review_path.unlink()
    more(shop)
    again = mine_workspace(shop)
    assert again.report.is_incremental
    assert again.new_candidates == len(again.report.queued) == len(held(shop))
    assert queue(shop, again) == after_a_full_run(shop, tmp_path / "full")


def test_a_review_store_that_was_restored_has_the_full_queue_after_the_next_run(
    shop: Workspace, tmp_path: Path
) -> None:
    backup = tmp_path / "review.duckdb"
    shutil.copyfile(shop.review_path, backup)
    more(shop)
    mine_workspace(shop)
    shutil.copyfile(backup, shop.review_path)
    again = mine_workspace(shop)
    assert is_whole(again)
    assert queue(shop, again) == after_a_full_run(shop, tmp_path / "full")


def test_what_a_run_found_that_broke_off_before_review_had_it_is_handed_over_by_the_next(
    shop: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more(shop)
    with monkeypatch.context() as broken:
        broken.setattr(ReviewStore, "take_over", interrupted)
        with pytest.raises(KeyboardInterrupt):
            mine_workspace(shop)
    again = mine_workspace(shop)
    assert again.report.is_incremental
    assert is_whole(again)
    assert again.new_candidates > 0
    assert queue(shop, again) == after_a_full_run(shop, tmp_path / "full")


def interrupted(*_arguments: object, **_named: object) -> int:
    raise KeyboardInterrupt


def test_a_set_that_changed_has_every_candidate_held_against_it_once(shop: Workspace) -> None:
    asked = next(iter(held(shop).values())).flagged_turn.question
    freeze(shop, asked)
    again = mine_workspace(shop)
    assert is_whole(again)
    assert {each.known_item_id for each in queue(shop, again) if each.flagged_turn.question == asked} == {"known"}
    assert not is_whole(mine_workspace(shop))


def test_candidates_that_were_mined_elsewhere_are_told_anew_by_the_next_run(shop: Workspace) -> None:
    before = held(shop)
    elsewhere = [each.model_copy(update={"language": "xx", "inclusion_probability": 0.01}) for each in before.values()]
    ReviewStore(shop.review_path).add_candidates(elsewhere)
    assert is_whole(mine_workspace(shop))
    assert held(shop) == before


def test_a_batch_stays_marked_when_the_log_is_mined_again(shop: Workspace) -> None:
    drawn = draw_from_queue(shop, 5)
    mine_workspace(shop, full=True)
    facets = ReviewStore(shop.review_path).facets()
    assert facets["batch"] == [(drawn.name, 5)]


def test_the_command_tells_the_size_of_the_queue_and_how_many_of_it_are_new(
    shop: Workspace, capsys: pytest.CaptureFixture[str]
) -> None:
    before = len(held(shop))
    more(shop)
    capsys.readouterr()
    assert run(["mine", "--json", "--workspace", str(shop.root)]) == ExitCode.DONE
    told = json.loads(capsys.readouterr().out)
    assert told["is_incremental"] is True
    assert told["candidates"] > told["new_candidates"] == len(held(shop)) - before > 0
    assert {"interactions", "read", "flagged", "by_signal", "notes"} < told.keys()
    assert "queued" not in told
    assert run(["mine", "--workspace", str(shop.root)]) == ExitCode.DONE
    assert f"{told['candidates']} candidates queued for review, 0 of them new." in capsys.readouterr().err
