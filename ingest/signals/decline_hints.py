"""A cheap first look at answers, so that the refusal detector reads only those that may decline."""

import re
from collections.abc import Sequence

from evalsets.languages import LANGUAGES, language_table
from ingest.signals.cues import expression

_ALWAYS, _NEVER = "", "^\x00$"


def decline_hints(languages: Sequence[str] = LANGUAGES) -> dict[str, str]:
    """Make the hints from the tables of `languages`, by the place that each has in the SQL.

    `decline_cue` finds the few answers that need a look, `decline_en` and its like look at them: what may decline has a
    match of the first and of one of the others. The detector's own patterns would be far too large for RE2's fast
    automaton (a hundred times the time); these only ask which words stand together in a sentence of the raw text.
    """
    hints = {f"decline_{code}": hint_of(code) if code in languages else _NEVER for code in LANGUAGES}
    if len(languages) > 1:
        return {**hints, "decline_cue": _cues(languages)}
    (only,) = languages
    return {**hints, "decline_cue": hint_of(only), f"decline_{only}": _ALWAYS}


def _cues(languages: Sequence[str]) -> str:
    cues = sorted({cue for code in languages for cue in language_table(code).cues})
    return expression([_any_of(cues)])


def _any_of(texts: Sequence[str]) -> str:
    """Return an expression of any of the texts that looks at each letter once, for engines that try in turn."""
    if "" in texts:
        return ""
    heads: dict[str, list[str]] = {}
    for text in texts:
        heads.setdefault(text[0], []).append(text[1:])
    parts = [_LETTERS.get(head, re.escape(head)) + _any_of(rests) for head, rests in heads.items()]
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


_LETTERS = {" ": r"\s", "'": "'"}


def hint_of(code: str) -> str:
    """Return an expression: a sentence with a word of the assistant or its sources, and one of denying."""
    about, denies, alone, always = language_table(code).hint
    letters = "a-z" if code == LANGUAGES[0] else _LATIN
    denied = rf"(?:[{letters}]*n't|(?:{denies}))(?:[^{letters}]|$)"
    parts = [
        rf"(?:^|[^{letters}])(?:{about})(?:[^{letters}]{_WITHIN})?[^{letters}]{denied}",
        rf"(?:^|[^{letters}]){denied}(?:{_WITHIN}[^{letters}])?(?:{about})(?:[^{letters}]|$)",
        rf"(?:^|[.!?:*,;>(\n`\"-]\s*)(?:{alone})",
    ]
    return expression([*parts, always] if always else parts)


_LATIN = "a-zà-öø-ÿœ"
_WITHIN = r"(?:[^.!?\n]|[.!?]\S)*"
"""What may stand between two words of a sentence; a point inside a number or a name does not end one."""
