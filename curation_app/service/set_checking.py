"""What `errata check` does: the set a person means, held against its corpus and the version before."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from curation_app.service.set_places import gold_corpus
from curation_app.service.set_references import resolve
from curation_app.workspace import find_workspace
from evalsets.chunks import Chunk
from evalsets.corpus_file import read_corpus
from evalsets.errors import BadInputError
from evalsets.eval_set import AllowedCheck, EvalSet
from evalsets.sets.check_formats import item_lines
from evalsets.sets.checks import CheckReport, check
from evalsets.sets.gold_texts import gold_texts_file, load_gold_texts


class CheckRequest(NamedTuple):
    """What a person asked to be checked, and how strictly."""

    reference: str
    corpus_file: Path | None = None
    against: str = ""
    allow: tuple[str, ...] = ()
    reason: str = ""
    tolerance: float = 0.05


class Checked(NamedTuple):
    """The report, with the file and the line of each item for annotations."""

    report: CheckReport
    path: str
    lines: Mapping[str, int]


def check_set(request: CheckRequest, workspace: Path | None) -> Checked:
    """Check the set that the request names."""
    if request.allow and not request.reason.strip():
        raise BadInputError("--allow needs --reason: say why the check may fail.")
    found = resolve(request.reference, workspace)
    texts = load_gold_texts(gold_texts_file(found.path)) if found.path else {}
    report = check(
        found.eval_set,
        corpus=_corpus(request, found.eval_set, workspace),
        parent=resolve(request.against, workspace).eval_set if request.against else None,
        texts=texts,
        tolerance=request.tolerance,
        allow=[AllowedCheck(code=code, reason=request.reason) for code in request.allow],
    )
    lines = item_lines(found.path.read_bytes()) if found.path else {}
    return Checked(report, _shown_path(found.path), lines)


def _shown_path(path: Path | None) -> str:
    if path is None:
        return ""
    here = Path.cwd()
    return str(path.resolve().relative_to(here)) if path.resolve().is_relative_to(here) else str(path)


def _corpus(request: CheckRequest, eval_set: EvalSet, workspace: Path | None) -> Mapping[str, Chunk] | None:
    if request.corpus_file is not None:
        return {chunk.chunk_id: chunk for chunk in read_corpus(request.corpus_file)}
    try:
        space = find_workspace(workspace)
    except BadInputError:
        if workspace is not None:
            raise
        return None
    return gold_corpus(space, eval_set.items)
