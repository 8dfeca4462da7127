"""How much of each answer stands in the text retrieved for it, for whole columns at once."""

from collections.abc import Sequence
from typing import NamedTuple

from evalsets.grounding import token_precision, token_set
from evalsets.words import has_digit, numbers, tokens


class Support(NamedTuple):
    """The share of an answer's content words that stand in the text, and its first figure that does not."""

    share: float
    figure: str | None


def answer_support(answers: Sequence[str | None], texts: Sequence[str | None]) -> list[Support | None]:
    """Compare each answer with its text; None where either is missing or the answer has no content words."""
    return [_support(answer, text) if answer and text else None for answer, text in zip(answers, texts, strict=True)]


def _support(answer: str, text: str) -> Support | None:
    share = token_precision(answer, [text])
    if share is None:
        return None
    return Support(round(share, 4), _missing_figure(answer, text))


def _missing_figure(answer: str, text: str) -> str | None:
    figures = numbers(answer) if has_digit(answer) or not answer.isascii() else []
    if not figures:
        return None
    known = token_set([text]) if text.isascii() else {*numbers(text), *tokens(text)}
    return next((figure for figure in figures if figure not in known), None)
