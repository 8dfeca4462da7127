"""Whatever happens to a log between runs, a run over what changed finds what a full run finds."""

import random
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ingest.forgetting import forget_before, forget_user
from ingest.log_store import LogStore
from ingest.mining.candidates import Candidate
from ingest.mining.run import mine
from ingest.settings import SignalSettings
from tests.ingest.conversations import GOOD, NOW, START, add_turns, closing_turn, store_of, turn
from tests.ingest.test_mining_again import found, kept, taken_over

SIGNALS = SignalSettings(disabled=("slow", "costly"), giant_session_turns=9, frequent_users=2)
QUESTIONS = (
    *("How do I cancel my plan?", "How can I cancel my plan?", "no, I meant the yearly plan", "Where is the key?"),
    *("where is the key", "What does the trial cost?", "that does not help", "can I talk to a human", " ", "And then?"),
)
ANSWERS = (GOOD, GOOD, GOOD, "I could not find an answer to that in the documents.", "", None)
Change = Callable[[random.Random, LogStore, int], None]


def made(rng: random.Random, number: int, ingest_id: int) -> dict[str, Any]:
    """Return a random turn; its times, users and sessions are few, so that turns of different ingests meet."""
    asked_at = START + timedelta(seconds=rng.randrange(6 * 3600 // 5) * 5)
    return turn(
        number,
        rng.choice(QUESTIONS),
        rng.choice(ANSWERS),
        session_id=rng.choice([None, *(f"s{n}" for n in range(14))]),
        user_id=rng.choice([None, *(f"u{n}" for n in range(5))]),
        asked_at=rng.choice([asked_at, asked_at, asked_at, asked_at, None]),
        source=rng.choice(["log", "log", "log", "other"]),
        error=rng.choice([None, None, None, None, "timeout"]),
        ingest_id=ingest_id,
    )


def add(rng: random.Random, store: LogStore, ingest_id: int) -> None:
    add_turns(store, [made(rng, rng.randrange(1000, 10**9), ingest_id) for _ in range(rng.randrange(1, 12))])


def change(rng: random.Random, store: LogStore, ingest_id: int) -> None:
    """Change some rows as an ingest does: each keeps its number."""
    to = {"feedback": rng.choice([-1, 1]), "answer": rng.choice(ANSWERS), "question": rng.choice(QUESTIONS)}
    column = rng.choice(list(to))
    with store.unit() as connection:
        connection.execute(
            f"UPDATE interactions SET {column} = ?, ingest_id = ? WHERE number IN "  # noqa: S608 - our own column names
            "(SELECT number FROM interactions ORDER BY hash(number + ?) LIMIT ?)",
            [to[column], ingest_id, rng.randrange(1000), rng.randrange(1, 5)],
        )


def forget_someone(rng: random.Random, store: LogStore, _: int) -> None:
    forget_user(store, f"u{rng.randrange(5)}")


def forget_the_oldest(rng: random.Random, store: LogStore, _: int) -> None:
    forget_before(store, START + timedelta(minutes=rng.randrange(30)))


CHANGES: tuple[Change, ...] = (add, add, add, change, change, forget_someone, forget_the_oldest)


@pytest.mark.parametrize("seed", [0, 6, 13, 210])
def test_after_any_additions_votes_changes_and_deletions_all_is_as_after_a_full_run(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - no secret
    turns = [made(rng, number, 1) for number in range(60)]
    store, copy = (
        store_of(tmp_path, [*turns, closing_turn(), {**closing_turn("other"), "interaction_id": "other:900"}]),
        tmp_path / "copy.duckdb",
    )
    last = mine(store, SIGNALS, now=NOW)
    known: dict[str, Candidate] = {}
    taken_over(known, last)
    for ingest_id in range(2, 5):
        for one in rng.sample(CHANGES, rng.randrange(1, 4)):
            one(rng, store, ingest_id)
        last = mine(store, SIGNALS, now=NOW, since=last.run)
        shutil.copy(store.path, copy)
        whole = mine(LogStore(copy), SIGNALS, now=NOW, full=True)
        assert found(last._replace(candidates=taken_over(known, last))) == found(whole)
        assert kept(store) == kept(LogStore(copy))
