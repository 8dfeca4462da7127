"""Binds votes to interactions late, and tells up from down by all the values a score has over its whole source."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import duckdb

from ingest.settings import ScoreScale

_UP = frozenset(
    {
        *("up", "yes", "true", "good", "like", "liked", "positive", "thumbs-up", "thumbs_up", "thumbs up", "thumbsup"),
        *("thumb_up", "upvote", "helpful", "correct", "pass", "satisfied", "+1", "👍"),
    }
)
_DOWN = frozenset(
    {
        *("down", "no", "false", "bad", "dislike", "disliked", "negative", "thumbs-down", "thumbs_down", "thumbs down"),
        *("thumbsdown", "thumb_down", "downvote", "unhelpful", "not helpful", "incorrect", "wrong", "fail", "-1", "👎"),
        "unsatisfied",
    }
)
_NEITHER = frozenset(("0", "--", "neutral", "none", "mixed"))
_FEWEST_VALUES = 2
_STAR_LIMITS = {5: (2.0, 4.0), 10: (4.0, 7.0)}


class VoteCounts(NamedTuple):
    """How many votes are bound to an interaction, and how many wait for theirs."""

    bound: int
    unbound: int
    without_scale: dict[str, str]
    """Names of scores whose values cannot be told up from down, and those values."""


def label_vote(label: str) -> int | None:
    """Return +1, -1 or 0 for a label in use somewhere, None for a word that says neither."""
    folded = label.strip().lower()
    if folded in _UP:
        return 1
    if folded in _DOWN:
        return -1
    return 0 if folded in _NEITHER else None


def infer_scale(values: Iterable[float]) -> ScoreScale | None:
    """Return the scale that all values of a score name fit, None when they fit several.

    {0, 1}: 0 is down. With a negative value: the sign counts and 0 is neither. Whole numbers up to 5 or 10 with at
    least 3 among them: stars. Fractions in [0, 1]: below and above one half. A single value fits several scales.
    """
    seen = sorted(set(values))
    if seen and seen[0] < 0:
        return ScoreScale(down_to=-1e-9, up_from=1e-9)
    if len(seen) < _FEWEST_VALUES:
        return None
    if seen[-1] <= 1:
        return ScoreScale(down_to=0.4999, up_from=0.5001)
    return _stars(seen)


def _stars(seen: list[float]) -> ScoreScale | None:
    if seen[-1] < 3 or any(value != int(value) for value in seen):  # noqa: PLR2004 - 1 and 2 may mean yes and no
        return None
    for top, (down_to, up_from) in _STAR_LIMITS.items():
        if seen[-1] <= top:
            return ScoreScale(down_to=down_to, up_from=up_from)
    return None


_NUMBERS = """
SELECT source, name, list_sort(list(DISTINCT value_number)) FROM feedback_events
WHERE value_number IS NOT NULL GROUP BY source, name
"""
_LABELS = "SELECT DISTINCT value_text FROM feedback_events WHERE value_text IS NOT NULL"
_SET_NUMBERS = """
UPDATE feedback_events SET vote = CASE WHEN value_number >= $up THEN 1 WHEN value_number <= $down THEN -1 ELSE 0 END
WHERE source = $source AND name = $name AND value_number IS NOT NULL
"""
_UNSET_NUMBERS = """
UPDATE feedback_events SET vote = NULL
WHERE source = $source AND name = $name AND value_number IS NOT NULL AND vote IS NOT NULL
"""
_SET_LABEL = "UPDATE feedback_events SET vote = $vote WHERE value_text = $label AND vote IS DISTINCT FROM $vote"
_TARGETS = """
CREATE OR REPLACE TEMP TABLE vote_targets AS
SELECT f.event_key, coalesce(direct.interaction_id, named.interaction_id, last_turn.interaction_id) AS interaction_id
FROM feedback_events AS f
LEFT JOIN interactions AS direct
    ON f.target_kind <> 'session' AND direct.interaction_id = f.source || ':' || f.target_id
LEFT JOIN (
    SELECT source, alias, min(interaction_id) AS interaction_id
    FROM (
        SELECT * FROM interaction_aliases WHERE (source, alias) IN (
            SELECT DISTINCT source, target_id FROM feedback_events WHERE target_kind <> 'session')
    )
    SEMI JOIN interactions USING (interaction_id) GROUP BY source, alias
) AS named
    ON f.target_kind <> 'session' AND named.source = f.source AND named.alias = f.target_id
LEFT JOIN (
    SELECT source, session_id, arg_max(interaction_id, (coalesce(asked_at, 'epoch'::TIMESTAMPTZ), interaction_id))
        AS interaction_id
    FROM interactions
    WHERE (source, session_id) IN (
        SELECT DISTINCT source, target_id FROM feedback_events WHERE target_kind = 'session')
    GROUP BY source, session_id
) AS last_turn
    ON f.target_kind = 'session' AND last_turn.source = f.source AND last_turn.session_id = f.target_id
"""
_BIND = """
UPDATE feedback_events AS f SET interaction_id = t.interaction_id FROM vote_targets AS t
WHERE f.event_key = t.event_key AND f.interaction_id IS DISTINCT FROM t.interaction_id
"""
# A vote on the turn itself counts before one on its session; among equals the latest, then the one that came last.
_WINNERS = """
CREATE OR REPLACE TEMP TABLE winning_votes AS
WITH counting AS (
    SELECT *, (target_kind <> 'session', coalesce(given_at, 'epoch'::TIMESTAMPTZ), ordinal) AS place
    FROM feedback_events
    WHERE interaction_id IS NOT NULL AND NOT list_contains($ignored, name)
        AND (scorer_kind = 'human' OR $with_judges OR (scorer_kind = 'code' AND list_contains($named, name)))
)
SELECT interaction_id, nullif(arg_max(vote, place) FILTER (vote IS NOT NULL), 0) AS vote,
    arg_max(comment, place) FILTER (comment IS NOT NULL) AS comment
FROM counting GROUP BY interaction_id
"""
_APPLY = """
UPDATE interactions AS i SET feedback = w.vote, feedback_comment = w.comment, ingest_id = $ingest_id
FROM (
    SELECT i.interaction_id, w.vote, w.comment
    FROM interactions AS i LEFT JOIN winning_votes AS w USING (interaction_id)
    WHERE i.feedback IS DISTINCT FROM w.vote OR i.feedback_comment IS DISTINCT FROM w.comment
) AS w
WHERE i.interaction_id = w.interaction_id
"""
_COUNTS = """
SELECT count(*) FILTER (interaction_id IS NOT NULL), count(*) FILTER (interaction_id IS NULL) FROM feedback_events
"""


def bind_votes(
    connection: duckdb.DuckDBPyConnection,
    *,
    ingest_id: int,
    scales: Mapping[str, ScoreScale] | None = None,
    ignored: Iterable[str] = (),
    with_judges: bool = False,
) -> VoteCounts:
    """Set the vote of every event and the feedback of every interaction from all events there are.

    `scales` declares scores by name; the others are inferred from all their values. `ignored` names scores that are no
    verdict of a user. Judges (models and code) count only `with_judges`; a score sent through an API, which may be a
    user's or a script's, counts when `scales` names it.
    """
    undecided = _set_votes(connection, scales or {})
    connection.execute(_TARGETS)
    connection.execute(_BIND)
    connection.execute(_WINNERS, {"with_judges": with_judges, "ignored": list(ignored), "named": list(scales or {})})
    connection.execute(_APPLY, {"ingest_id": ingest_id})
    bound, unbound = connection.execute(_COUNTS).fetchall()[0]
    return VoteCounts(bound, unbound, undecided)


def _set_votes(connection: duckdb.DuckDBPyConnection, scales: Mapping[str, ScoreScale]) -> dict[str, str]:
    undecided = {}
    for source, name, values in connection.execute(_NUMBERS).fetchall():
        scale = scales.get(name) or infer_scale(values)
        if scale is None:
            undecided[name] = ", ".join(f"{value:g}" for value in values[:6])
            connection.execute(_UNSET_NUMBERS, {"source": source, "name": name})
        else:
            connection.execute(
                _SET_NUMBERS, {"up": scale.up_from, "down": scale.down_to, "source": source, "name": name}
            )
    for (label,) in connection.execute(_LABELS).fetchall():
        connection.execute(_SET_LABEL, {"vote": label_vote(label), "label": label})
    return undecided
