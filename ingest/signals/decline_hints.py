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
    hints = {f"decline_{code}": _hint(code) if code in languages else _NEVER for code in LANGUAGES}
    if len(languages) > 1:
        return {**hints, "decline_cue": _cues(languages)}
    (only,) = languages
    return {**hints, "decline_cue": _hint(only), f"decline_{only}": _ALWAYS}


def _cues(languages: Sequence[str]) -> str:
    cues = sorted({cue for code in languages for cue in language_table(code).cues})
    return expression([re.escape(cue).replace("\\ ", r"\s").replace("\\'", "'") for cue in cues])


def _hint(code: str) -> str:
    """Find a sentence with a word of the assistant or its sources and one of denying, in either order."""
    about, denies, alone, always = language_table(code).hint
    denied = rf"(?:\p{{L}}*n't|(?:{denies}))(?:[^\p{{L}}]|$)"
    parts = [
        rf"(?:^|[^\p{{L}}])(?:{about})(?:[^\p{{L}}]{_WITHIN})?[^\p{{L}}]{denied}",
        rf"(?:^|[^\p{{L}}]){denied}(?:{_WITHIN}[^\p{{L}}])?(?:{about})(?:[^\p{{L}}]|$)",
        rf"(?:^|[.!?:*,;>(\n`\"-]\s*)(?:{alone})",
    ]
    return expression([*parts, always] if always else parts)


_WITHIN = r"(?:[^.!?\n]|[.!?]\S)*"
"""What may stand between two words of a sentence; a point inside a number or a name does not end one."""
