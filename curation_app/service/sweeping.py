"""Run a pipeline of a workspace over a grid of its settings."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from curation_app.service.running import (
    RunRequest,
    carry_out,
    pipeline_sections,
    surroundings,
    workspace_or_none,
)
from curation_app.service.set_references import resolve
from evalsets.errors import BadInputError
from evalsets.pipelines.base import Pipeline
from evalsets.pipelines.loading import build_pipeline
from evalsets.report import Report
from evalsets.running.runner import Observer
from evalsets.sweep import Sweep, points, run_sweep

_BUILT_IN = {"keyword": {"kind": "keyword"}, "logged": {"kind": "logged"}}


class SweepRequest(NamedTuple):
    """A run request for every point, the grid, and what the person expects to see."""

    run: RunRequest
    grid: Mapping[str, tuple[Any, ...]]
    expectation: str
    out: Path | None = None


class SweepResult(NamedTuple):
    """The sweep and the folder it was written to."""

    sweep: Sweep
    folder: Path


def carry_out_sweep(
    request: SweepRequest, folder: Path | None, observer_of: Callable[[str], Observer | None] = lambda _: None
) -> SweepResult:
    """Run every point of the grid; the expectation is on disk before the first call."""
    if not request.expectation.strip():
        raise BadInputError("a sweep starts with what you expect to see; say it with --expect")
    workspace = workspace_or_none(folder)
    section = _section(request.run.pipeline, pipeline_sections(workspace))
    around = surroundings(workspace, request.run.corpus)

    def pipeline_at(settings: Mapping[str, Any]) -> Pipeline:
        options = _with_settings(section, {name: value for name, value in settings.items() if name != "k"})
        return build_pipeline(
            str(options.pop("kind", "keyword")), options, around, name=request.run.pipeline or "keyword"
        )

    for settings in points(request.grid):
        pipeline_at(settings)  # an option that does not exist is named before anything is run or written

    def run_point(settings: Mapping[str, Any], path: Path) -> Report:
        run_settings = request.run.settings.model_copy(update={"k": settings.get("k", request.run.settings.k)})
        point = request.run._replace(out=path, settings=run_settings, resume=request.run.resume and path.is_file())
        return carry_out(point, folder, observer_of(path.stem), pipeline=pipeline_at(settings)).report

    eval_set = resolve(request.run.set_ref, folder).eval_set
    plan = Sweep(
        set=f"{eval_set.name} version {eval_set.version}",
        pipeline=request.run.pipeline or "keyword",
        grid=dict(request.grid),
        expectation=request.expectation.strip(),
        written_at=datetime.now(UTC).isoformat(timespec="seconds"),
    )
    target = request.out or _default_folder(folder, eval_set.name)
    return SweepResult(run_sweep(plan, target, run_point), target)


def _section(name: str, sections: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    known = {**_BUILT_IN, **sections}
    if (chosen := name or "keyword") in known:
        return known[chosen]
    if ":" in chosen and not chosen.startswith("http"):
        return {"kind": "python", "target": chosen}
    raise BadInputError(f"there is no pipeline {chosen!r} to sweep; name one of {', '.join(known)}, or module:attr")


def _with_settings(section: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the section with the settings of one point: arguments of the object for Python, options for the others."""
    if section.get("kind") == "python":
        return {**section, "options": {**section.get("options", {}), **settings}}
    return {**section, **settings}


def _default_folder(folder: Path | None, set_name: str) -> Path:
    workspace = workspace_or_none(folder)
    if workspace is None:
        raise BadInputError("outside a workspace a sweep needs --out FOLDER, where its reports are written")
    return workspace.runs_folder / "sweeps" / f"{set_name}-{datetime.now(UTC).strftime('%Y%m%dT%H%M%SZ')}"
