"""How much of each answer stands in the text retrieved for it, for whole columns at once."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from evalsets.grounding import token_set, unsupported_numbers
from evalsets.words import content_tokens, tokens, without_citations

_BLANKED = str.maketrans({chr(code): " " for code in range(128) if not chr(code).isalpha()})
_NO_LETTERS_BUT_OF_TOKENS = "0123456789'`%$"


class Support(NamedTuple):
    """The share of an answer's content words that stand in the text, and its first figure that does not."""

    share: float
    figure: str | None


def answer_support(answers: Sequence[str | None], texts: Sequence[Sequence[str] | None]) -> list[Support | None]:
    """Compare each answer with its passages; None where either is missing or the answer has no content words."""
    return [_support(answer, some) if answer and some else None for answer, some in zip(answers, texts, strict=True)]


def _support(answer: str, texts: Sequence[str]) -> Support | None:
    words = content_tokens(tokens(without_citations(answer)))
    if not words:
        return None
    passages = [_passage(text) for text in texts]
    plain = "".join(passage.plain for passage in passages)
    others = [passage.words for passage in passages if passage.words]
    found = sum(1 for word in words if f" {word} " in plain or any(word in known for known in others))
    return Support(round(found / len(words), 4), next(iter(unsupported_numbers(answer, texts)), None))


class _Passage(NamedTuple):
    """What a word is looked for in: the words themselves, or a text of nothing but words and blanks."""

    plain: str
    words: frozenset[str]


@lru_cache(maxsize=4096)
def _passage(text: str) -> _Passage:
    """Read a passage, which is likely to be asked for again; most hold words alone, which need not be taken apart."""
    if text.isascii() and not any(map(text.__contains__, _NO_LETTERS_BUT_OF_TOKENS)):
        return _Passage(f" {text.lower().translate(_BLANKED)} ", frozenset())
    return _Passage("", token_set([text]))
