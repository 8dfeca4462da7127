"""Mine a workspace: signals over its log, suggestions by its corpus, and what its sets already hold."""

import hashlib
import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from curation_app.review_store import ReviewStore
from curation_app.service.set_places import set_folder
from curation_app.workspace import Workspace
from evalsets.errors import BadInputError
from ingest.corpus.index import CorpusIndex, keep_current
from ingest.log_store import LogStore
from ingest.mining.batches import Drawn, draw_batch
from ingest.mining.diagnosing import CorpusSearch
from ingest.mining.preparing import prepare_candidates, prepared
from ingest.mining.run import MiningReport, mine
from ingest.mining.spark_import import read_mined

if TYPE_CHECKING:
    from ingest.mining.spark_engine import SparkMining


class DrawnBatch(NamedTuple):
    """A batch and the name it carries in the review store."""

    name: str
    drawn: list[Drawn]


class MinedWorkspace(NamedTuple):
    """What mining found and how many of the candidates are new to the review store."""

    report: MiningReport
    new_candidates: int


def mine_workspace(workspace: Workspace, *, full: bool = False) -> MinedWorkspace:
    """Mine what is new in the log and hand the candidates to the review store."""
    settings = workspace.settings()
    store, review = LogStore(workspace.logs_path), ReviewStore(workspace.review_path, settings.review)
    known, taken = known_questions(workspace), review.taken_over()
    basis = _basis(known)
    since = taken.run if taken.basis == basis else ""
    report = mine(store, settings.signals, settings.queue, full=full, since=since)
    report = prepared(report, search=corpus_search(workspace, store), known=known)
    return MinedWorkspace(report, review.take_over(report, basis, after=taken))


def _basis(known: Mapping[str, str]) -> str:
    """Name what candidates are held against besides the log and its corpus: the set, and this program."""
    told = json.dumps([version("errata-evals"), sorted(known.items())])
    return hashlib.sha256(told.encode()).hexdigest()


class ImportedCandidates(NamedTuple):
    """How many candidates a result of Spark held and how many are new."""

    candidates: int
    new_candidates: int


def import_mined(workspace: Workspace, folder: Path) -> ImportedCandidates:
    """Hand the candidates that Spark mined, with their sessions, to the review store."""
    settings = workspace.settings()
    candidates = prepare_candidates(
        read_mined(folder, settings.signals, settings.queue),
        search=corpus_search(workspace, LogStore(workspace.logs_path)),
        known=known_questions(workspace),
    )
    added = ReviewStore(workspace.review_path, settings.review).add_candidates(candidates)
    return ImportedCandidates(len(candidates), added)


def mine_to_lake(workspace: Workspace, source: str, target: str, *, master: str = "") -> "SparkMining":
    """Mine exported interactions on Spark with the workspace's settings."""
    from ingest.mining.spark_engine import mine_on_spark, start_spark

    if not source or not target:
        raise BadInputError("--engine spark needs --input and --output, each a path or URL that Spark can reach.")
    settings = workspace.settings()
    session = start_spark(master=master)
    return mine_on_spark(session, source, target, signals=settings.signals, queue=settings.queue)


def corpus_search(workspace: Workspace, store: LogStore) -> CorpusSearch | None:
    """Return a search of the workspace's corpus, its index brought up to date; None when there is no corpus."""
    if not store.exists:
        return None
    index = CorpusIndex(workspace.index_folder)
    keep_current(index, store)
    chunks = index.count()
    return CorpusSearch(index.search, chunks) if chunks else None


def known_questions(workspace: Workspace) -> Mapping[str, str]:
    """Return the questions of the workspace's default set by item id; empty when nothing is frozen yet."""
    folder = set_folder(workspace)
    if not folder.newest_version():
        return {}
    return {item.id: item.question for item in folder.load_whole().items}


def draw_from_queue(workspace: Workspace, size: int, *, seed: int | None = None) -> DrawnBatch:
    """Draw a batch from the groups nobody has decided on, and mark them with its name in the review store."""
    settings = workspace.settings()
    store = ReviewStore(workspace.review_path, settings.review)
    decided = store.answered_ids()
    candidates = [candidate for candidate, _ in store.candidates()]
    drawn = draw_batch(candidates, size, settings=settings.queue, seed=seed, leave_out=decided)
    chosen = settings.queue.seed if seed is None else seed
    name = f"{size}-seed-{chosen}"
    store.mark_batch([each.candidate.candidate_id for each in drawn], name)
    return DrawnBatch(name, drawn)
