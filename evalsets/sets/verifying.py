"""Walking a set's hash chain: every frozen byte is what was frozen, and every version names the one before it."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from evalsets.errors import ErrataError
from evalsets.eval_set import EvalSet
from evalsets.sets.file import canonical_bytes, load
from evalsets.sets.folder import SetFolder
from evalsets.sets.gold_texts import gold_texts_bytes, gold_texts_file, load_gold_texts
from evalsets.sets.holdout import summary


class Verification(NamedTuple):
    """What a walk of the chain found; a set is whole when `faults` is empty."""

    name: str
    versions: int
    newest_hash: str
    faults: tuple[str, ...]
    notes: tuple[str, ...]


def verify(folder: Path, *, holdout_place: Path | None = None) -> Verification:
    """Walk the chain of the set in `folder`, from its first version to its head."""
    target = SetFolder(folder, holdout_place)
    faults: list[str] = []
    notes: list[str] = []
    parent: EvalSet | None = None
    held_parent = ""
    for expected, number in enumerate(target.versions(), start=1):
        if number != expected:
            faults.append(f"version {expected} is missing; the next one is {number}")
        frozen = _frozen(target.version_path(number), faults)
        if frozen is None:
            continue
        faults += _link_faults(frozen, number, parent)
        held_parent = _walk_holdout(target, frozen, held_parent, faults, notes)
        parent = frozen
    faults += [] if target.versions() else [f"{target.name!r} has no frozen version"]
    faults += _head_faults(target)
    faults += _text_faults(target)
    notes += _changelog_notes(target, faults)
    return Verification(
        target.name, len(target.versions()), parent.content_hash if parent else "", tuple(faults), tuple(notes)
    )


def _frozen(path: Path, faults: list[str]) -> EvalSet | None:
    try:
        eval_set = load(path)
    except ErrataError as error:
        faults.append(str(error))
        return None
    if not eval_set.content_hash:
        faults.append(f"{path} has no content hash")
    if canonical_bytes(eval_set) != path.read_bytes():
        faults.append(f"{path} does not hold the bytes that were frozen")
    return eval_set


def _link_faults(frozen: EvalSet, number: int, parent: EvalSet | None) -> Iterator[str]:
    if frozen.version != number:
        yield f"the file of version {number} says it is version {frozen.version}"
    wanted = parent.content_hash if parent else ""
    if frozen.parent_hash != wanted:
        yield f"version {number} names the parent {frozen.parent_hash!r}, but the version before it is {wanted!r}"


def _walk_holdout(target: SetFolder, main: EvalSet, parent_hash: str, faults: list[str], notes: list[str]) -> str:
    if main.holdout is None:
        return parent_hash
    path = target.holdout_version_path(main.version)
    if not path.is_file():
        notes.append(f"version {main.version}: its {main.holdout.count} held-out item(s) were not at hand to verify")
        return main.holdout.content_hash
    held = _frozen(path, faults)
    if held is None:
        return parent_hash
    if summary(held) != main.holdout:
        faults.append(f"version {main.version}: its held-out file is not the one it was frozen with")
    if held.parent_hash != parent_hash:
        faults.append(f"version {main.version}: its held-out file does not follow the one before it")
    return held.content_hash


def _head_faults(target: SetFolder) -> Iterator[str]:
    newest = target.newest_version()
    if not newest:
        return
    pairs = [(target.head_path, target.version_path(newest))]
    if (held := target.holdout_version_path(newest)).is_file():
        pairs.append((target.holdout_path, held))
    for head, version in pairs:
        if not head.is_file():
            yield f"{head} is missing; it should hold the bytes of version {newest}"
        elif head.read_bytes() != version.read_bytes():
            yield f"{head} is not version {newest}; copy {version} over it, and freeze a new version for what changed"


def _text_faults(target: SetFolder) -> Iterator[str]:
    for path in (gold_texts_file(target.head_path), gold_texts_file(target.holdout_path)):
        try:
            texts = load_gold_texts(path)
        except (ErrataError, UnicodeDecodeError) as error:
            yield str(error)
            continue
        if texts and gold_texts_bytes(texts) != path.read_bytes():
            yield f"{path} does not hold the bytes that were frozen"


def _changelog_notes(target: SetFolder, faults: list[str]) -> Iterator[str]:
    if faults or not target.versions():
        return
    path = target.changelog_path
    if not path.is_file() or path.read_bytes() != target.changelog_text().encode():
        yield f"{path} says other than the versions do; the next freeze writes it anew"
