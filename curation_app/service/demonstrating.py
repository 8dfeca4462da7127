"""The whole loop on the sample: a workspace with its log and corpus, labels by its ground truth, runs and gates."""

import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from curation_app.labels import DecisionKind, LabelContent, LabelEvent
from curation_app.review_store import ReviewStore
from curation_app.sample import CORPUS_PATH, LOG_PATH, MAPPING_PATH
from curation_app.sample.truth import TurnTruth, read_truth
from curation_app.service.freezing import FreezeForm, act_on_desk
from curation_app.service.ingesting import add_corpus, run_ingest
from curation_app.service.mining import mine_workspace
from curation_app.service.running import RunRequest, carry_out
from curation_app.service.set_places import set_folder
from curation_app.service.starting import make_workspace
from curation_app.workspace import Workspace
from evalsets.gating.baseline import set_baseline
from evalsets.gating.gate import GateResult, evaluate
from evalsets.items import Author, AuthorKind, GoldChunk, Mode
from evalsets.report import Report
from ingest.mining.candidates import Candidate
from ingest.mining.run import MiningReport

SET_NAME = "failures"
MAPPING_NAME = "help-desk"
RULE = Author(name="ground truth of the sample", kind=AuthorKind.RULE)
_PIPELINES = """
# Two settings of the built-in pipeline, to compare: the second looks at one chunk only and pads its answers.
[pipelines.handbook]
kind = "keyword"

[pipelines.handbook-top1]
kind = "keyword"
top_k = 1
padding = true
"""

Tell = Callable[[str], None]


class DemoResult(NamedTuple):
    """The two gates at the end of the loop, the second of which has to fail."""

    unchanged: GateResult
    changed: GateResult


def prepare_demo(folder: Path, tell: Tell) -> Workspace:
    """Make a workspace of the sample with its log and corpus loaded and mined; leaves a filled one alone."""
    workspace = Workspace(folder.resolve())
    if not workspace.config_path.exists():
        _write_workspace(folder)
        tell(f"made a workspace in {folder}")
    if _is_filled(workspace):
        return workspace
    ingested = run_ingest(workspace, [workspace.root / LOG_PATH.name], mapping=MAPPING_NAME)
    tell(
        f"ingested {ingested.interactions.new} interactions and {ingested.feedback.bound} votes; "
        f"{ingested.quarantined} line could not be read and is kept aside (errata rejects)"
    )
    added = add_corpus(workspace, [workspace.root / CORPUS_PATH.name])
    tell(f"loaded the handbook: {added.chunks} chunks of {added.documents} documents")
    mined = _mine(workspace)
    counts = ", ".join(f"{count.flagged} {count.signal.replace('_', ' ')}" for count in mined.by_signal)
    tell(f"mined: {mined.flagged} interactions look like failures ({counts})")
    return workspace


def run_demo(folder: Path, tell: Tell) -> DemoResult:
    """Go once around the loop without a browser, telling each step in a sentence."""
    workspace = prepare_demo(folder, tell)
    labelled = label_by_truth(workspace)
    tell(
        f"labelled {labelled.failures} candidates by the sample's ground truth, and {labelled.not_failures} as no "
        "failure (on the Label page a person does this)"
    )
    act_on_desk(workspace, SET_NAME, FreezeForm(RULE.name, "first week of the help desk"))
    frozen = set_folder(workspace, SET_NAME).load_whole()
    tell(f"froze {len(frozen.items)} items as version {frozen.version} of the set {SET_NAME!r}")
    first = _run(workspace, "handbook", tell)
    set_baseline(first, set_folder(workspace, SET_NAME).root, reason="first run of the demo", moved_by=RULE.name)
    tell("made that run the baseline")
    again = _run(workspace, "handbook", tell)
    candidate = _run(workspace, "handbook-top1", tell)
    return DemoResult(evaluate(first, again), evaluate(first, candidate))


class Labelled(NamedTuple):
    """How many candidates were labelled as failures, and how many as none."""

    failures: int
    not_failures: int


def label_by_truth(workspace: Workspace) -> Labelled:
    """Label the queue by the ground truth, one item a topic, so that no item asks what another asks."""
    store = ReviewStore(workspace.review_path, workspace.settings().review)
    truths = {truth.interaction_id: truth for truth in read_truth()}
    events = list(_events([candidate for candidate, _ in store.candidates()], truths))
    store.import_events(events)
    failures = sum(event.content.mode is not None for event in events)
    return Labelled(failures, len(events) - failures)


def _events(candidates: list[Candidate], truths: Mapping[str, TurnTruth]) -> Iterator[LabelEvent]:
    topics: set[str] = set()
    for candidate in sorted(candidates, key=lambda each: (-each.priority, each.candidate_id)):
        truth = truths.get(candidate.interaction_id)
        if truth is None or (truth.failed and truth.mode is None):
            continue
        if truth.mode is not None:
            if truth.topic in topics:
                continue
            topics.add(truth.topic)
        yield LabelEvent(
            seq=0,
            token=f"truth-{candidate.candidate_id}",
            candidate_id=candidate.candidate_id,
            author=RULE,
            kind=DecisionKind.ADJUDICATE,
            content=_content(truth),
            created_at=datetime.now(UTC),
        )


def _content(truth: TurnTruth) -> LabelContent:
    note = truth.why or "nothing went wrong here"
    if truth.mode is None:
        return LabelContent(note=note)
    if truth.mode is Mode.OUT_OF_SCOPE:
        return LabelContent(mode=truth.mode, note=note, tags=("sample",))
    gold = tuple(GoldChunk(chunk_id=chunk_id, doc_id=chunk_id.split("#")[0]) for chunk_id in truth.gold_chunk_ids)
    return LabelContent(
        mode=truth.mode,
        gold_chunks=gold,
        expected=truth.expected,
        answer_facts=truth.answer_facts,
        note=note,
        tags=("sample",),
    )


def _write_workspace(folder: Path) -> None:
    workspace = make_workspace(folder).workspace
    mappings = workspace.root / "mappings"
    mappings.mkdir(exist_ok=True)
    shutil.copyfile(MAPPING_PATH, mappings / f"{MAPPING_NAME}.yaml")
    for source in (LOG_PATH, CORPUS_PATH):
        shutil.copyfile(source, workspace.root / source.name)
    text = workspace.config_path.read_text(encoding="utf-8")
    named = f'[logs.mappings]\n{MAPPING_NAME} = "mappings/{MAPPING_NAME}.yaml"'
    workspace.config_path.write_text(re.sub(r"\[logs\.mappings\]", named, text, count=1) + _PIPELINES, encoding="utf-8")


def _is_filled(workspace: Workspace) -> bool:
    """Whether the last step of preparing has left something; the steps before it may be repeated at no cost."""
    return workspace.review_path.exists() and bool(ReviewStore(workspace.review_path).known_ids())


def _mine(workspace: Workspace) -> MiningReport:
    return mine_workspace(workspace).report


def _run(workspace: Workspace, pipeline: str, tell: Tell) -> Report:
    result = carry_out(RunRequest(set_ref=SET_NAME, pipeline=pipeline), workspace.root)
    report = result.report
    tell(
        f"ran {pipeline}: recall {report.retrieval_recall or 0:.0%}, accuracy {report.answer_accuracy:.0%}, "
        f"refusal rate {report.refusal_rate:.0%}"
    )
    return report
