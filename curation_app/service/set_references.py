"""What a person may write for a set: a file, a folder, a name, a version, or a file at a revision of git."""

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from curation_app.service.set_places import set_folder, set_names
from curation_app.workspace import Workspace, find_workspace
from evalsets.errors import BadInputError
from evalsets.eval_set import EvalSet
from evalsets.sets.file import load, parse, set_file_path
from evalsets.sets.folder import SetFolder
from evalsets.sets.gold_texts import gold_texts_file, load_gold_texts, texts_by_chunk_id

GIT_PREFIX = "git:"


class ResolvedSet(NamedTuple):
    """A set and the file it came from; `path` is empty for one out of git."""

    eval_set: EvalSet
    path: Path | None


class ResolvedPair(NamedTuple):
    """Two sets to compare and what is known of their gold texts, by chunk id."""

    before: EvalSet
    after: EvalSet
    chunk_texts: Mapping[str, str]


def resolve(reference: str, workspace: Path | None) -> ResolvedSet:
    """Load the set that a person means: FILE, FOLDER, NAME, NAME@VERSION, VERSION, git:REV:PATH, or nothing."""
    if reference.startswith(GIT_PREFIX):
        return ResolvedSet(_from_git(reference), None)
    path = Path(reference)
    if reference and path.exists() and not reference.isdigit():
        return ResolvedSet(load(path), set_file_path(path))
    name, _, version = ("", "", reference) if reference.isdigit() else reference.partition("@")
    if version and not version.isdigit():
        raise BadInputError(f"{reference!r}: a version is a number, as in {name}@2.")
    target = _named_folder(name, workspace, reference)
    number = int(version) if version else target.newest_version()
    return ResolvedSet(target.load_main(number), target.version_path(number) if version else target.head_path)


def resolve_pair(before: str, after: str, workspace: Path | None) -> ResolvedPair:
    """Load two sets to compare; without the second, the newest version of the first one's set."""
    one = resolve(before, workspace)
    other = (
        resolve(after or before.partition("@")[0] if not before.isdigit() else "", workspace)
        if not after
        else (resolve(after, workspace))
    )
    texts: dict[str, str] = {}
    for found in (one, other):
        texts |= _texts_beside(found.path)
    return ResolvedPair(one.eval_set, other.eval_set, _texts_by_id(one, other, texts))


def _texts_by_id(one: ResolvedSet, other: ResolvedSet, texts: Mapping[str, str]) -> dict[str, str]:
    return texts_by_chunk_id((*one.eval_set.items, *other.eval_set.items), texts)


def _texts_beside(path: Path | None) -> dict[str, str]:
    if path is None:
        return {}
    folder = path.parent.parent if path.parent.name == "versions" else path.parent
    candidates = (gold_texts_file(path), gold_texts_file(folder / f"{folder.name}.json"))
    return next((load_gold_texts(file) for file in candidates if file.is_file()), {})


def folder_of(reference: str, workspace: Path | None) -> SetFolder:
    """Return the folder of the set that a person means by a folder, its head file, a name, or nothing."""
    path = Path(reference)
    if reference and path.is_dir():
        return SetFolder(path.resolve())
    if reference and path.is_file():
        return SetFolder(path.resolve().parent)
    return _named_folder(reference, workspace, reference)


def _named_folder(name: str, workspace: Path | None, reference: str) -> SetFolder:
    try:
        space = find_workspace(workspace)
    except BadInputError as error:
        if not reference:
            raise
        raise BadInputError(
            f"{reference!r} is no file or folder, and there is no workspace to look in. {error}"
        ) from error
    target = set_folder(space, name)
    if not target.newest_version():
        raise BadInputError(_no_such_set(space, target.name))
    return target


def _no_such_set(space: Workspace, name: str) -> str:
    known = set_names(space)
    listed = f"the sets are {', '.join(known)}" if known else "no set is frozen yet; run `errata freeze`"
    return f"there is no frozen set {name!r} in {space.sets_folder}: {listed}."


def _from_git(reference: str) -> EvalSet:
    revision, _, path = reference.removeprefix(GIT_PREFIX).partition(":")
    if not revision or not path or revision.startswith("-"):
        raise BadInputError(f"{reference!r}: write git:REVISION:PATH, as in git:main:evalsets/failures/failures.json.")
    shown = subprocess.run(["git", "show", f"{revision}:{path}"], capture_output=True, check=False)  # noqa: S603, S607  # git is the user's own
    if shown.returncode:
        relative = subprocess.run(["git", "show", f"{revision}:./{path}"], capture_output=True, check=False)  # noqa: S603, S607  # as above
        if relative.returncode:
            words = shown.stderr.decode(errors="replace").strip()
            raise BadInputError(f"git cannot show {revision}:{path}: {words}")
        shown = relative
    return parse(shown.stdout, where=reference, name=Path(path).stem)
