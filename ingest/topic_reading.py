"""Read what questions say in the words that grow: a sample of them, and how often a phrase stands in all of them."""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, time
from typing import NamedTuple

import duckdb

from ingest.daily_reading import DailyFilter
from ingest.interaction_reading import CHOSEN, Behind, chosen_values


class PhraseCount(NamedTuple):
    """Questions that hold a phrase, in any case, since a day and before it."""

    phrase: str
    recent: int
    before: int


def sample_questions(
    connection: duckdb.DuckDBPyConnection, filters: DailyFilter, *, words: Sequence[str], limit: int
) -> list[str]:
    """Return at most `limit` questions of the days of `filters` that hold one of the words, the same ones each time."""
    rows = connection.execute(
        f"""SELECT question {CHOSEN} AND regexp_matches(lower(question), $any_word)
        ORDER BY hash(interaction_id), interaction_id LIMIT $limit""",
        {**chosen_values(Behind(filters)), "any_word": "|".join(map(re.escape, words)), "limit": limit},
    ).fetchall()
    return [row[0] for row in rows]


def count_phrases(
    connection: duckdb.DuckDBPyConnection, filters: DailyFilter, *, phrases: Sequence[str], recent_from: date
) -> list[PhraseCount]:
    """Return how many questions of the days of `filters` hold each phrase, whatever the case, as the queue counts."""
    if not phrases:
        return []
    counts = ", ".join(
        f"count(*) FILTER (is_recent AND contains(asked, $p{place})), "
        f"count(*) FILTER (NOT is_recent AND contains(asked, $p{place}))"
        for place in range(len(phrases))
    )
    row = connection.execute(
        f"""WITH chosen AS MATERIALIZED (SELECT lower(question) AS asked, asked_at >= $recent AS is_recent {CHOSEN})
        SELECT {counts} FROM chosen""",  # noqa: S608 - our own expressions
        {
            **chosen_values(Behind(filters)),
            "recent": datetime.combine(recent_from, time(), UTC),
            **{f"p{place}": phrase.lower() for place, phrase in enumerate(phrases)},
        },
    ).fetchall()[0]
    return [PhraseCount(phrase, row[2 * place], row[2 * place + 1]) for place, phrase in enumerate(phrases)]
