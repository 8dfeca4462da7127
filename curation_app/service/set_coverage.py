"""A workspace's set against its traffic: by document asked about, week, language and model."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import duckdb

from curation_app.service.set_places import set_folder
from curation_app.workspace import Workspace
from evalsets.errors import BadInputError
from evalsets.items import Item
from evalsets.languages import guess_language
from evalsets.sets.coverage import Coverage, compare_mix
from evalsets.words import tokens
from ingest.log_store import LogStore

_LANGUAGE_SAMPLE = 5000
_TRAFFIC = {
    "week": "SELECT strftime(date_trunc('week', asked_at), '%Y-%m-%d'), count(*) FROM interactions GROUP BY 1",
    "model": "SELECT model, count(*) FROM interactions GROUP BY 1",
    "document asked about": "SELECT doc_id, count(*) FROM retrieved WHERE rank = 0 GROUP BY 1",
}
_ORIGINS = """
    SELECT left(sha256(i.interaction_id), 16), strftime(date_trunc('week', i.asked_at), '%Y-%m-%d'), i.model
    FROM interactions AS i WHERE list_contains(?, left(sha256(i.interaction_id), 16))
"""


class _Origin(NamedTuple):
    week: str | None
    model: str | None


def coverage_of(workspace: Workspace, name: str = "") -> tuple[Coverage, ...]:
    """Compare the mix of a set, without its held-out items, with that of all interactions in the log store."""
    items = set_folder(workspace, name).load_main().items
    store = LogStore(workspace.logs_path)
    if not store.exists:
        raise BadInputError("there is no traffic to compare with; run `errata ingest` first.")
    with store.unit() as connection:
        traffic = {respect: _counts(connection, query) for respect, query in _TRAFFIC.items()}
        traffic["language"] = _languages(connection)
        origins = _origins(connection, items)
    of_item: dict[str, Callable[[Item], str | None]] = {
        "document asked about": _document,
        "week": lambda item: _origin(item, origins).week,
        "language": lambda item: item.language or _language(item.question),
        "model": lambda item: _origin(item, origins).model,
    }
    return tuple(_compare(respect, [of(item) for item in items], traffic[respect]) for respect, of in of_item.items())


def _compare(respect: str, values: Sequence[str | None], traffic: dict[str, int]) -> Coverage:
    known = [value for value in values if value]
    return compare_mix(respect, Counter(known), traffic, unknown_in_set=len(values) - len(known))


def _counts(connection: duckdb.DuckDBPyConnection, query: str) -> dict[str, int]:
    return {value: count for value, count in connection.execute(query).fetchall() if value}


def _languages(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    # A fixed sample by hash: guessing the language of every question of millions would take minutes.
    query = "SELECT question FROM interactions ORDER BY hash(interaction_id) LIMIT ?"
    rows = connection.execute(query, [_LANGUAGE_SAMPLE]).fetchall()
    return dict(Counter(_language(question) for (question,) in rows))


def _language(question: str) -> str:
    return guess_language(tokens(question))


def _origins(connection: duckdb.DuckDBPyConnection, items: Sequence[Item]) -> dict[str, _Origin]:
    wanted = [item.origin.interaction for item in items if item.origin and item.origin.interaction]
    rows: list[Any] = connection.execute(_ORIGINS, [wanted]).fetchall()
    return {key: _Origin(week, model) for key, week, model in rows}


def _origin(item: Item, origins: dict[str, _Origin]) -> _Origin:
    return origins.get(item.origin.interaction, _Origin(None, None)) if item.origin else _Origin(None, None)


def _document(item: Item) -> str | None:
    return next((gold.doc_id for gold in item.gold_chunks if gold.doc_id), None)
