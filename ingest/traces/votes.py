"""Read what formats say about a vote: whose it is, and its least ambiguous value."""

import re
from typing import Any

from ingest.adapters.base import Caution
from ingest.interaction import FeedbackEvent

_PLAIN_LABEL = re.compile(
    r"(thumbs?[-_ ]?(up|down)|like|dislike|liked|disliked|up|down|good|bad|yes|no|positive|negative)"
)
_HUMAN_NAME = re.compile(
    r"user|human|thumb|feedback|rating|like|vote|csat|helpful|satisf|reaction|star|customer|end.?user", re.IGNORECASE
)
_SCORERS = {
    "human": "human",
    "annotation": "human",
    "app": "human",
    "llm": "model",
    "llm_judge": "model",
    "ai_judge": "model",
    "model": "model",
    "eval": "model",
    "auto_eval": "model",
    "code": "code",
    "api": "",
    "": "",
}


def vote_value(score: Any, label: Any) -> float | str | bool | None:
    """Return the label when it is a plain yes or no, which a lone number is not; else the score, else the label."""
    if isinstance(label, str) and _PLAIN_LABEL.fullmatch(label.strip().lower()):
        return label
    if isinstance(score, bool | int | float):
        return score
    if isinstance(score, str) and score.strip():
        return score
    return label if isinstance(label, str) and label.strip() else None


def unclear_scorer(event: FeedbackEvent) -> Caution | None:
    """Return the caution that a score came through an API and is not called like a user's, so it is left out."""
    if event.scorer_kind != "code":
        return None
    return Caution(
        f"unclear-score:{event.name}",
        f"the score {event.name!r} was sent through an API, as users' votes and scripts' scores are, and is not called "
        f"like a vote: it is left out. If users give it, declare it as [logs.scores.{event.name}] in errata.toml.",
    )


def scorer_kind(stated: Any, name: str) -> str:
    """Return human, model or code from what a format states; where it only says API, from the name of the score.

    Both a user's thumb and a script send scores through an API, so there only a name such as `user_feedback` counts
    as human.
    """
    known = _SCORERS.get(stated.strip().lower() if isinstance(stated, str) else "", "")
    if known:
        return known
    return "human" if _HUMAN_NAME.search(name) else "code"
