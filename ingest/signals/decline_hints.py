"""A cheap first look at answers, so that the refusal detector reads only those that may decline."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from evalsets.languages import LANGUAGES, language_table
from ingest.signals.cues import expression


class DeclineHints(NamedTuple):
    """Two expressions, either of which finds what the refusal detector may call declining, and a little more."""

    first: str
    second: str


_TOGETHER = 5
"""How many languages one expression can hold before RE2 falls back from its fast automaton to a slow one."""
_NEVER = "^\x00$"


def decline_hints(languages: Sequence[str] = LANGUAGES) -> DeclineHints:
    """Make the hints from the detector's own tables of `languages`.

    The detector looks at sentences, these at raw text; and neither looks ahead, which RE2 cannot do.
    """
    return DeclineHints(_hint(languages[:_TOGETHER]), _hint(languages[_TOGETHER:]) if languages[_TOGETHER:] else _NEVER)


def _hint(languages: Sequence[str]) -> str:
    tables = [language_table(code) for code in languages]
    patterns = [pattern.pattern for table in tables for pattern in (table.abstention, table.policy)]
    return expression([_anywhere(_unbounded(_without_lookaround(pattern))) for pattern in patterns])


def _unbounded(pattern: str) -> str:
    """Let a bounded repeat run on, which keeps the automaton small."""
    return re.sub(r"\{0,\d+\}\??", "*", pattern)


def _anywhere(pattern: str) -> str:
    r"""Let `^` mean the start of any sentence and drop the demand that one ends."""
    return re.sub(r"(?<![\\\[])\^", r"(?:^|[.!?:*]\\s*)", pattern).replace(r"\W*$", "").replace("|$", "")


def _without_lookaround(pattern: str) -> str:
    kept, position = [], 0
    while position < len(pattern):
        if pattern.startswith(("(?!", "(?="), position):
            position = _closing(pattern, position) + 1
            continue
        kept.append(pattern[position])
        position += 1
    return "".join(kept)


def _closing(pattern: str, opening: int) -> int:
    depth = 0
    for position in range(opening, len(pattern)):
        if pattern[position - 1] == "\\" and pattern[position - 2] != "\\":
            continue
        depth += {"(": 1, ")": -1}.get(pattern[position], 0)
        if depth == 0:
            return position
    raise ValueError(f"a parenthesis of {pattern[opening : opening + 40]!r} is never closed")
