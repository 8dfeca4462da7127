"""The sessions around the interactions of the queue, kept between runs, so that only new or changed ones are read."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import duckdb
from pydantic import TypeAdapter

from ingest.candidates import CandidateTurn

_TURNS = TypeAdapter(tuple[CandidateTurn, ...])
_KEPT = "SELECT interaction_id, user_id, turns FROM mined_shown SEMI JOIN best USING (interaction_id)"
_KEEP = "INSERT INTO mined_shown SELECT unnest($ids), unnest($users), unnest($turns)"
_FORGET = "DELETE FROM mined_shown WHERE interaction_id NOT IN (SELECT interaction_id FROM best)"
# A chunk without a text of its own is shown as it stands in the corpus.
_MANNER = (
    "SELECT concat($context, ':', count(*), ':', coalesce(bit_xor(hash(chunk_id, text_hash)), 0)) FROM corpus_chunks"
)


class Shown(NamedTuple):
    """What is shown of the session around an interaction, and who asked."""

    user_id: str
    turns: tuple[CandidateTurn, ...]


def manner_of_showing(connection: duckdb.DuckDBPyConnection, context: int) -> str:
    """Return what the kept sessions depend on besides the log: how much is shown around a turn, and the corpus."""
    return str(connection.execute(_MANNER, {"context": str(context)}).fetchall()[0][0])


def kept_turns(connection: duckdb.DuckDBPyConnection) -> dict[str, Shown]:
    """Return what an earlier run kept of the interactions in `best`."""
    rows = connection.execute(_KEPT).fetchall()
    return {interaction_id: Shown(user_id, _TURNS.validate_json(turns)) for interaction_id, user_id, turns in rows}


def keep_turns(connection: duckdb.DuckDBPyConnection, read: Mapping[str, Shown]) -> None:
    """Keep what this run read, and forget what is no longer in `best`."""
    connection.begin()
    connection.execute(_FORGET)
    if read:
        connection.execute(_KEEP, _columns(list(read.items())))
    connection.commit()


def _columns(read: Sequence[tuple[str, Shown]]) -> dict[str, list[str]]:
    return {
        "ids": [interaction_id for interaction_id, _ in read],
        "users": [shown.user_id for _, shown in read],
        "turns": [_TURNS.dump_json(shown.turns).decode() for _, shown in read],
    }
