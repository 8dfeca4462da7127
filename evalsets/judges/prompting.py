"""What a judge model is shown: instructions from files that can be overridden, and texts fenced as data."""

import hashlib
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

from evalsets.errors import BadInputError
from evalsets.metrics.base import ScoredCase

PROMPT_NAMES = ("verdict", "claims")


class JudgePrompts(NamedTuple):
    """The instructions of the two questions a judge is asked."""

    verdict: str
    claims: str


def load_prompts(folder: Path | None = None) -> JudgePrompts:
    """Return the package's prompts; `verdict.md` or `claims.md` of the folder stands in for the package's own.

    Raises BadInputError when the folder is not there or holds neither file.
    """
    if folder is not None and not any((folder / f"{name}.md").is_file() for name in PROMPT_NAMES):
        raise BadInputError(f"no prompt stands in {str(folder)!r}: put verdict.md, claims.md or both there")
    return JudgePrompts(*(_read(name, folder) for name in PROMPT_NAMES))


def _read(name: str, folder: Path | None) -> str:
    own = folder / f"{name}.md" if folder is not None else None
    if own is not None and own.is_file():
        return own.read_text("utf-8")
    return files(__name__.rpartition(".")[0]).joinpath("prompts", f"{name}.md").read_text("utf-8")


def verdict_request(case: ScoredCase) -> str:
    """Return the question, what is expected and the answer, each fenced."""
    expected = case.item.expected
    facts = "\n".join(f"- {' or '.join(fact)}" for fact in case.item.answer_facts)
    if facts:
        expected = f"{expected}\n\nThe answer must say:\n{facts}".strip()
    if not case.item.is_answerable:
        expected = "Nothing: the documents do not cover this question, so the assistant should decline."
    return _fenced([("QUESTION", case.item.question), ("EXPECTED", expected), ("ANSWER", case.answer or "")])


def claims_request(case: ScoredCase) -> str:
    """Return the question, the passages in list order and the answer, each fenced."""
    passages = [(f"PASSAGE {number}", chunk.text) for number, chunk in enumerate(case.retrieved, 1)]
    return _fenced([("QUESTION", case.item.question), *passages, ("ANSWER", case.answer or "")])


def _fenced(blocks: Sequence[tuple[str, str]]) -> str:
    """Fence each text by a key that none of them holds: the same texts always give the same key."""
    key = _key([text for _, text in blocks])
    return "\n\n".join(f"<<{name} {key}\n{text.strip()}\n{key} {name}>>" for name, text in blocks)


def _key(texts: Sequence[str]) -> str:
    digest = hashlib.sha256("\x1e".join(texts).encode("utf-8", "surrogatepass")).hexdigest()
    return next(key for start in range(len(digest)) if not any((key := digest[start : start + 12]) in t for t in texts))
