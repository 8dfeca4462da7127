"""Run a pipeline over a set of a workspace, or of a file without one."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from curation_app.service.run_summaries import keep_summary
from curation_app.service.set_references import ResolvedSet, resolve
from curation_app.workspace import Settings, Workspace, find_workspace
from evalsets.chunks import Chunk
from evalsets.corpus_file import read_corpus
from evalsets.errors import BadInputError
from evalsets.eval_set import EvalSet
from evalsets.judges.base import Judge
from evalsets.judges.making import make_judge
from evalsets.pipelines.base import Pipeline
from evalsets.pipelines.loading import Surroundings, build_pipeline, pipeline_for
from evalsets.report import Report, journal_path
from evalsets.running.clock import Clock, clock_path
from evalsets.running.clock_reading import read_clock
from evalsets.running.runner import CorpusState, Observer, run
from evalsets.running.settings import RunSettings


class RunRequest(NamedTuple):
    """What a person asks to be run; an empty `set_ref` is the workspace's default set."""

    set_ref: str = ""
    pipeline: str = ""
    responses: Path | None = None
    corpus: Path | None = None
    judge: str = ""
    out: Path | None = None
    resume: bool = False
    retry_failed: bool = False
    settings: RunSettings = RunSettings()


class RunResult(NamedTuple):
    """The report, the clock's readings, and where both were written."""

    report: Report
    clock: Clock
    path: Path


def carry_out(
    request: RunRequest, folder: Path | None, observer: Observer | None = None, *, pipeline: Pipeline | None = None
) -> RunResult:
    """Run and write the report, its clock and its journal; `folder` is the workspace's, default: here or above.

    `pipeline` stands in for the one that the request names.
    """
    workspace = workspace_or_none(folder)
    found = resolve(request.set_ref, folder)
    eval_set = found.eval_set
    pipeline = pipeline or pipeline_of(request, workspace)
    path = request.out or _default_path(workspace, eval_set, pipeline)
    report = run(
        eval_set,
        pipeline,
        judge_of(request, workspace),
        request.settings,
        journal_path=journal_path(path),
        resume=request.resume,
        retry_failed=request.retry_failed,
        observer=observer,
        corpus=_corpus_state(request, found, workspace),
    )
    report.save(path)
    clock = read_clock(journal_path(path))
    clock.save(clock_path(path))
    keep_summary(report, path)
    return RunResult(report, clock, path)


def workspace_or_none(folder: Path | None) -> Workspace | None:
    """Return the workspace, or None where there is none: a set file and a pipeline are enough to run."""
    try:
        return find_workspace(folder)
    except BadInputError:
        if folder is not None:
            raise
        return None


def pipeline_of(request: RunRequest, workspace: Workspace | None) -> Pipeline:
    """Return the pipeline of a request: recorded responses when they are given, else by name."""
    around = surroundings(workspace, request.corpus)
    if request.responses is not None:
        return build_pipeline(
            "recorded", {"path": str(request.responses.resolve())}, around, name=request.responses.stem
        )
    sections = pipeline_sections(workspace)
    reference = request.pipeline or next(iter(sections), "keyword")
    return pipeline_for(reference, sections, around)


def pipeline_sections(workspace: Workspace | None) -> dict[str, Mapping[str, Any]]:
    """Return the pipelines that errata.toml names, in its order."""
    settings = _settings(workspace)
    return {name: section.model_dump() for name, section in settings.pipelines.items()}


def surroundings(workspace: Workspace | None, corpus: Path | None) -> Surroundings:
    """Return what pipelines are made from: the corpus file given, else the workspace's chunk store."""

    def chunks() -> Sequence[Chunk]:
        if corpus is not None:
            return read_corpus(corpus)
        from curation_app.service.set_places import whole_corpus

        found = whole_corpus(workspace) if workspace is not None else None
        if not found:
            raise BadInputError("there is no corpus to search; name one with --corpus FILE, or run `errata corpus add`")
        return list(found.values())

    return Surroundings(chunks, workspace.root if workspace is not None else Path.cwd())


def judge_of(request: RunRequest, workspace: Workspace | None) -> Judge:
    """Return the judge of errata.toml, or of the kind asked for with its settings."""
    settings = _settings(workspace).judge
    chosen = settings.model_copy(update={"kind": request.judge}) if request.judge else settings
    return make_judge(chosen, root=workspace.root if workspace is not None else None)


def _corpus_state(request: RunRequest, found: ResolvedSet, workspace: Workspace | None) -> CorpusState:
    """Return what became of the gold chunks in the corpus file, else in the chunk store; unknown without either."""
    from curation_app.service.set_places import gold_corpus
    from evalsets.sets.drift import find_drift
    from evalsets.sets.gold_texts import gold_texts_file, load_gold_texts

    if request.corpus is not None:
        corpus: Mapping[str, Chunk] | None = {chunk.chunk_id: chunk for chunk in read_corpus(request.corpus)}
    else:
        corpus = gold_corpus(workspace, found.eval_set.items) if workspace is not None else None
    if corpus is None:
        return CorpusState()
    texts = load_gold_texts(gold_texts_file(found.path)) if found.path is not None else {}
    counts = find_drift(found.eval_set, corpus, texts).counts()
    gold = {chunk_id for item in found.eval_set.items for chunk_id in item.gold_chunk_ids}
    return CorpusState(
        {kind.value: count for kind, count in counts.items() if count},
        frozenset(gold & corpus.keys()),
        lambda: {chunk.chunk_id: chunk.text for chunk in surroundings(workspace, request.corpus).corpus()},
    )


def _settings(workspace: Workspace | None) -> Settings:
    return workspace.settings() if workspace is not None else Settings()


def _default_path(workspace: Workspace | None, eval_set: EvalSet, pipeline: Pipeline) -> Path:
    if workspace is None:
        raise BadInputError("outside a workspace a run needs --out FILE, where its report is written")
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S%fZ")
    name = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in pipeline.name)
    return workspace.runs_folder / f"{eval_set.name}-{name}-{stamp}.json"
