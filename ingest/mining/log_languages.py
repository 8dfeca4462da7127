"""The languages that a log holds, as a sample of its answers tells."""

from collections import Counter
from collections.abc import Iterable

import duckdb

from evalsets.languages import LANGUAGES, guess_language
from evalsets.words import tokens


def languages_of(connection: duckdb.DuckDBPyConnection, total: int) -> tuple[str, ...]:
    """Return the languages to look for refusals in: all, or in a large log those that a sample of answers is in."""
    if total < LARGE:
        return LANGUAGES
    (last,) = connection.execute("SELECT max(rowid) FROM interactions").fetchall()[0]
    starts = [last * step // _PLACES for step in range(_PLACES)]
    few = SAMPLED // _PLACES
    query = "SELECT substr(answer, 1, 300) FROM interactions WHERE rowid BETWEEN ? AND ?"
    answers = [row for start in starts for row in connection.execute(query, [start, start + few - 1]).fetchall()]
    return languages_told_by(answer for (answer,) in answers)


def languages_told_by(answers: Iterable[str | None]) -> tuple[str, ...]:
    """Return the languages that a sample of answers is in, but for rare ones, most frequent first."""
    counts = Counter(guess_language(tokens(answer)) for answer in answers if answer)
    seen = [code for code, count in counts.most_common() if count >= SAMPLED * _RARE]
    return tuple(seen) or LANGUAGES[:1]


LARGE, SAMPLED, _PLACES, _RARE = 50_000, 2_000, 20, 0.005
"""Interactions from which languages are sampled, how many answers are looked at, from how many places of the log, and
the share that counts."""
