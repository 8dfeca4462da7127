"""A cheap first look at answers, so that the refusal detector reads only those that may decline."""

import re
from collections.abc import Sequence

from evalsets.languages import LANGUAGES, language_table
from ingest.signals.cues import expression

_ALWAYS, _NEVER = "", "^\x00$"


def decline_hints(languages: Sequence[str] = LANGUAGES) -> dict[str, str]:
    """Make the hints from the detector's own tables of `languages`, by the place that each has in the SQL.

    `decline_cue` finds the few answers that need a look, `decline_en` and its like look at them: what may decline has a
    match of the first and of one of the others. One expression for all languages would be too large for RE2's fast
    automaton. The detector looks at sentences, these at raw text; and none looks ahead, which RE2 cannot do.
    """
    hints = {f"decline_{code}": _hint(code) if code in languages else _NEVER for code in LANGUAGES}
    if len(languages) > 1:
        return {**hints, "decline_cue": _cues(languages)}
    (only,) = languages
    return {**hints, "decline_cue": _hint(only), f"decline_{only}": _ALWAYS}


def _cues(languages: Sequence[str]) -> str:
    cues = sorted({cue for code in languages for cue in language_table(code).cues})
    return expression([re.escape(cue).replace("\\ ", r"\s").replace("\\'", "'") for cue in cues])


def _hint(code: str) -> str:
    table = language_table(code)
    patterns = (table.abstention.pattern, table.policy.pattern)
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
