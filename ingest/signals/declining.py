"""Whether logged answers decline, for whole columns at once."""

from collections.abc import Sequence
from functools import lru_cache

from evalsets.languages import LANGUAGES
from evalsets.refusals import read_refusal


def decline_kinds(answers: Sequence[str | None], languages: Sequence[str] = LANGUAGES) -> list[str | None]:
    """Return `abstention`, `policy` or `partial` for each answer that declines in one of `languages`, else None."""
    codes = tuple(languages)
    return [None if answer is None else _kind(answer, codes) for answer in answers]


_SHORT = 300
"""Letters up to which an answer is likely to be given again, word by word."""


def _kind(answer: str, languages: tuple[str, ...]) -> str | None:
    return _short_kind(answer, languages) if len(answer) <= _SHORT else _read_kind(answer, languages)


def _read_kind(answer: str, languages: tuple[str, ...]) -> str | None:
    kind = str(read_refusal(answer, languages).kind)
    return None if kind == "none" else kind


@lru_cache(maxsize=50_000)
def _short_kind(answer: str, languages: tuple[str, ...]) -> str | None:
    """Assistants decline in the same words again and again, so this is remembered."""
    return _read_kind(answer, languages)
