"""What git calls to show sets: a difference by meaning for `git diff`, readable lines for `git log -p`."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from difflib import unified_diff
from pathlib import Path

from evalsets.errors import BadInputError, ErrataError
from evalsets.eval_set import EvalSet
from evalsets.items import Item
from evalsets.sets.diff import diff
from evalsets.sets.diff_formats import render_text
from evalsets.sets.diff_formats.text import visible
from evalsets.sets.file import parse
from evalsets.sets.gold_texts import gold_texts_file, load_gold_texts, texts_by_chunk_id

_ATTRIBUTES = ("evalsets/*/*.json diff=errata", "evalsets/*/versions/*.json diff=errata")
_SCHEMA = "evalsets/*/*.schema.json -diff"


def set_up_git(folder: Path) -> Iterator[str]:
    """Write .gitattributes and the repository's diff driver; yields what was done, a line each."""
    root = Path(_git(folder, "rev-parse", "--show-toplevel"))
    attributes = root / ".gitattributes"
    known = attributes.read_text(encoding="utf-8") if attributes.is_file() else ""
    missing = [line for line in (*_ATTRIBUTES, _SCHEMA) if line not in known.split("\n")]
    if missing:
        gap = "" if not known or known.endswith("\n") else "\n"
        attributes.write_text(known + gap + "".join(f"{line}\n" for line in missing), encoding="utf-8")
        yield f"wrote {attributes}; commit it"
    command = _command()
    _git(folder, "config", "diff.errata.command", f"{command} git-diff")
    _git(folder, "config", "diff.errata.textconv", f"{command} git-textconv")
    yield "git diff now shows sets by meaning in this clone; each clone runs `errata git-setup` once"


def _command() -> str:
    found = shutil.which("errata")
    beside = Path(sys.executable).with_name("errata")
    path = str(beside) if beside.is_file() else found or "errata"
    return f'"{path}"' if " " in path else path


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=False)  # noqa: S603, S607  # the user's own git
    if done.returncode:
        raise BadInputError(f"git {words[0]} failed in {str(folder)!r}: {done.stderr.strip()}")
    return done.stdout.strip()


def driver_diff(path: str, old_file: Path, new_file: Path) -> str:
    """Return the difference of two states of a file, by meaning where both are sets, else line by line."""
    old, new = (_read(file) for file in (old_file, new_file))
    name = Path(path).stem
    try:
        before = parse(old, where=f"a/{path}", name=name) if old else EvalSet(name=name)
        after = parse(new, where=f"b/{path}", name=name) if new else before.changed(items=(), version=before.version)
    except ErrataError:
        return _line_diff(path, old, new)
    texts = _texts(Path(path))
    shown = texts_by_chunk_id((*before.items, *after.items), texts)
    return f"diff by meaning a/{path} b/{path}\n{render_text(diff(before, after), chunk_texts=shown)}"


def _read(file: Path) -> bytes:
    return file.read_bytes() if file.is_file() else b""


def _texts(path: Path) -> dict[str, str]:
    folder = path.parent.parent if path.parent.name == "versions" else path.parent
    try:
        return load_gold_texts(gold_texts_file(folder / f"{folder.name}.json"))
    except ErrataError:
        return {}


def _line_diff(path: str, old: bytes, new: bytes) -> str:
    before, after = (raw.decode("utf-8", "replace").splitlines(keepends=True) for raw in (old, new))
    return "".join(unified_diff(before, after, f"a/{path}", f"b/{path}"))


def as_text(raw: bytes, where: str) -> str:
    """Return a set as lines that a person and git can compare; a file that is no set stays as it is."""
    try:
        eval_set = parse(raw, where=where, name=Path(where).stem)
    except ErrataError:
        return raw.decode("utf-8", "replace")
    lines = [f"set {eval_set.name} version {eval_set.version}", f"note: {visible(eval_set.note)}"]
    known = eval_set.known_failing
    lines += [f"known failing {entry.id}: {visible(entry.reason)} (owner {entry.owner})" for entry in known]
    for item in eval_set.items:
        lines += ["", *_item_lines(item)]
    for entry in eval_set.retired:
        lines += ["", f"retired {entry.item.id}: {visible(entry.reason)}"]
    return "\n".join(lines) + "\n"


def _item_lines(item: Item) -> Iterator[str]:
    yield f"item {item.id} ({item.mode})"
    yield f"  question: {visible(item.question)}"
    if item.expected:
        yield f"  expected: {visible(item.expected)}"
    yield from (f"  gold: {chunk_id}" for chunk_id in item.gold_chunk_ids)
    yield from (f"  fact: {visible(' | '.join(fact))}" for fact in item.answer_facts)
    yield from (f"  must not say: {visible(phrase)}" for phrase in item.forbidden)
    if item.tags:
        yield f"  tags: {', '.join(item.tags)}"
    if item.note:
        yield f"  note: {visible(item.note)}"
