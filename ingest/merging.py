"""Brings staged tables into the store in one transaction: new rows in, changed rows replaced, the same rows left."""

from collections.abc import Sequence
from typing import NamedTuple

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ingest.columnar import Tables, drained
from ingest.ingest_report import InteractionCounts
from ingest.passages import number_passages
from ingest.staging import INTERACTION_COLUMNS

_KEYS = ("interaction_id", "source", "version_ns")
_CONTENT = tuple(name for name in INTERACTION_COLUMNS if name not in _KEYS)
_COLUMNS = ", ".join(("interaction_id", "source", *_CONTENT, "version_ns"))
_STAGED_COLUMNS = ", ".join(f"s.{name}" for name in ("interaction_id", "source", *_CONTENT, "version_ns"))
_HASHED = ", ".join(_CONTENT)
_LINK_HASHES = """
SELECT row AS link_row, bit_xor(hash(rank, chunk_id, doc_id, text_hash, score, stage)) AS links_hash
FROM staged_links GROUP BY row
"""
_LINKED = f"linked AS ({_LINK_HASHES})"
_CONTENT_HASH = f"format('{{:016x}}', hash({_HASHED}, links_hash))"
_SET = ", ".join(f"{name} = s.{name}" for name in (*_CONTENT, "version_ns"))

# Of several states of one interaction in a group the newest stays; of equals the longer answer, then any one for good.
# Between ingests, of equals the one read later stays.
_COMPARE = f"""
CREATE OR REPLACE TEMP TABLE compared AS
WITH {_LINKED},
hashed AS (
    SELECT row, interaction_id, version_ns, length(coalesce(answer, '')) AS size, user_id, asked_at,
        {_CONTENT_HASH} AS content_hash
    FROM staged_interactions LEFT JOIN linked ON link_row = row
)
SELECT s.row, s.interaction_id, s.content_hash,
    CASE
        WHEN s.user_id IN (SELECT value FROM forgotten WHERE kind = 'user') THEN 'forgotten'
        WHEN s.asked_at < (SELECT max(CAST(value AS TIMESTAMPTZ)) FROM forgotten WHERE kind = 'before') THEN 'forgotten'
        WHEN e.interaction_id IS NULL THEN 'new'
        WHEN e.content_hash = s.content_hash AND e.version_ns >= s.version_ns THEN 'unchanged'
        WHEN s.version_ns < e.version_ns THEN 'older'
        WHEN s.version_ns = e.version_ns AND e.ingest_id = $ingest_id THEN 'rival'
        ELSE 'changed'
    END AS outcome,
    s.version_ns, s.size, coalesce(e.number, $first_number + s.row) AS number
FROM hashed AS s LEFT JOIN interactions AS e USING (interaction_id)
"""  # noqa: S608 - our own column names
# Done apart, since answers take long to read and hardly ever decide.
_SETTLE_RIVALS = """
UPDATE compared AS c SET outcome = CASE
    WHEN (c.size, c.content_hash) < (length(coalesce(e.answer, '')), e.content_hash) THEN 'older' ELSE 'changed'
END
FROM interactions AS e WHERE c.outcome = 'rival' AND e.interaction_id = c.interaction_id
"""
# Nothing has to be compared when every id is new and stands once, as in a log that is read for the first time.
_IS_ALL_NEW = """
SELECT NOT EXISTS (SELECT 1 FROM forgotten)
    AND NOT EXISTS (SELECT 1 FROM staged_ids SEMI JOIN interactions USING (interaction_id))
    AND count(*) = count(DISTINCT interaction_id)
FROM staged_ids
"""
# Not that of one that was deleted either: mining remembers the highest that it saw.
_FIRST_NUMBER = """
SELECT 1 + greatest(
    (SELECT coalesce(max(number), 0) FROM interactions),
    (SELECT coalesce(max(CAST(value AS BIGINT)), 0) FROM mining_state WHERE name = 'last_number')
)
"""
_APPEND = f"""
INSERT INTO interactions ({_COLUMNS}, content_hash, ingest_id, number)
SELECT {_STAGED_COLUMNS}, {_CONTENT_HASH}, $ingest_id, $first_number + row FROM staged_interactions AS s
"""  # noqa: S608 - our own column names
_HAS_RIVALS = "SELECT count(*) FROM compared WHERE outcome = 'rival'"
_HAS_REPEATS = "SELECT count(*) - count(DISTINCT interaction_id) FROM compared"
_DROP_REPEATS = """
CREATE OR REPLACE TEMP TABLE compared AS
SELECT * FROM compared
QUALIFY row_number() OVER (PARTITION BY interaction_id ORDER BY version_ns DESC, size DESC, content_hash DESC) = 1
"""
_INSERT = f"""
INSERT INTO interactions ({_COLUMNS}, content_hash, ingest_id, number)
SELECT {_STAGED_COLUMNS}, c.content_hash, $ingest_id, c.number
FROM staged_interactions AS s JOIN compared AS c USING (row) WHERE c.outcome = 'new'
"""  # noqa: S608 - our own column names
_UPDATE = f"""
UPDATE interactions AS i SET {_SET}, content_hash = c.content_hash, ingest_id = $ingest_id
FROM staged_interactions AS s JOIN compared AS c USING (row)
WHERE i.interaction_id = s.interaction_id AND c.outcome = 'changed'
"""  # noqa: S608 - our own column names
_DELETE_LINKS = """
DELETE FROM retrieved_passages WHERE number IN (SELECT number FROM compared WHERE outcome = 'changed')
"""
_INSERT_LINKS = """
INSERT INTO retrieved_passages
SELECT c.number, l.rank, l.passage, l.score FROM numbered_links AS l JOIN compared AS c USING (row)
"""
_APPEND_LINKS = """
INSERT INTO retrieved_passages SELECT $first_number + row, rank, passage, score FROM numbered_links
"""
_STORED_ROWS = "SELECT row FROM compared WHERE outcome IN ('new', 'changed')"
_INSERT_TEXTS = """
INSERT INTO chunk_texts
SELECT text_hash, any_value(text) FROM staged_texts AS t
WHERE NOT EXISTS (SELECT 1 FROM chunk_texts AS c WHERE c.text_hash = t.text_hash)
GROUP BY text_hash
"""
_INSERT_ALIASES = """
INSERT INTO interaction_aliases
SELECT DISTINCT source, alias, interaction_id
FROM staged_aliases ANTI JOIN interaction_aliases USING (source, alias, interaction_id)
"""
_NEWEST_VOTES = """
CREATE OR REPLACE TEMP TABLE incoming_votes AS
SELECT * FROM (SELECT *, row_number() OVER () AS place FROM staged_votes)
QUALIFY row_number() OVER (PARTITION BY event_key ORDER BY given_at DESC NULLS LAST, place DESC) = 1
"""
_KNOWN_VOTES = """
DELETE FROM incoming_votes AS n USING feedback_events AS e
WHERE n.event_key = e.event_key AND n.target_id = e.target_id
    AND n.value_number IS NOT DISTINCT FROM e.value_number AND n.value_text IS NOT DISTINCT FROM e.value_text
    AND n.comment IS NOT DISTINCT FROM e.comment AND n.given_at IS NOT DISTINCT FROM e.given_at
"""
_REPLACED_VOTES = "DELETE FROM feedback_events WHERE event_key IN (SELECT event_key FROM incoming_votes)"
_INSERT_VOTES = """
INSERT INTO feedback_events
SELECT event_key, source, target_kind, target_id, name, value_number, value_text, scorer_kind, comment, given_at,
    (SELECT coalesce(max(ordinal), 0) FROM feedback_events) + row_number() OVER (ORDER BY place), NULL, NULL, $ingest_id
FROM incoming_votes
"""


class Merged(NamedTuple):
    """What became of a group."""

    counts: InteractionCounts
    votes: int
    """Votes that were not there before."""


def merge(
    connection: duckdb.DuckDBPyConnection, group: list[Tables], *, ingest_id: int, with_spans: bool = False
) -> Merged:
    """Merge a group of blocks and empty it; call it inside a transaction.

    `with_spans` says that texts of the group belong to staged spans, whose interactions come later.
    """
    tables = _concatenated(group)
    group.clear()
    sizes, links = _Sizes(*(table.num_rows for table in tables)), tables.links
    are_new = bool(sizes.interactions) and _are_all_new(connection, tables.interactions)
    interactions = drained(_with_link_hashes(connection, tables)) if are_new else tables.interactions
    for name, table in zip(_VIEWS, (interactions, *tables[1:]), strict=True):
        connection.register(name, table)
    # From here on only the engine holds what is read once, so that it is freed while it is stored.
    del tables, table, interactions
    try:
        merged = _merged(connection, sizes, links, ingest_id, are_new=are_new)
        if with_spans and sizes.texts:
            connection.execute(_INSERT_TEXTS)
        return merged
    finally:
        for name in _VIEWS:
            connection.unregister(name)


class _Sizes(NamedTuple):
    interactions: int
    links: int
    texts: int
    votes: int
    aliases: int


_VIEWS = ("staged_interactions", "staged_links", "staged_texts", "staged_votes", "staged_aliases")


def _concatenated(group: Sequence[Tables]) -> Tables:
    interactions, links, first = [], [], 0
    for tables in group:
        rows = pa.array(np.arange(first, first + tables.size))
        interactions.append(tables.interactions.append_column("row", rows))
        moved = pc.add(tables.links["row"].cast(pa.int64()), first)
        links.append(tables.links.set_column(0, "row", moved))
        first += tables.size
    rest = (pa.concat_tables([tables[at] for tables in group]) for at in (2, 3, 4))
    return Tables(pa.concat_tables(interactions), pa.concat_tables(links), *rest)


def _are_all_new(connection: duckdb.DuckDBPyConnection, interactions: pa.Table) -> bool:
    connection.register("staged_ids", interactions.select(["interaction_id"]).combine_chunks())
    try:
        return bool(connection.execute(_IS_ALL_NEW).fetchall()[0][0])
    finally:
        connection.unregister("staged_ids")


def _with_link_hashes(connection: duckdb.DuckDBPyConnection, tables: Tables) -> pa.Table:
    """Return the interactions with a hash of their links: joined here, a reader's size being unknown to the engine."""
    connection.register("staged_links", tables.links)
    try:
        found = connection.execute(_LINK_HASHES).fetchnumpy()
    finally:
        connection.unregister("staged_links")
    hashes, are_missing = np.zeros(tables.size, np.uint64), np.ones(tables.size, bool)
    hashes[found["link_row"]], are_missing[found["link_row"]] = found["links_hash"], False
    return tables.interactions.append_column("links_hash", pa.array(hashes, mask=are_missing))


def _merged(
    connection: duckdb.DuckDBPyConnection, sizes: _Sizes, links: pa.Table, ingest_id: int, *, are_new: bool
) -> Merged:
    counts = InteractionCounts()
    if sizes.interactions:
        first_number = _count(connection, _FIRST_NUMBER)
        counts = (_appended if are_new else _compared)(connection, links, ingest_id, first_number)
    if sizes.aliases:
        connection.execute(_INSERT_ALIASES)
    votes = 0
    if sizes.votes:
        for statement in (_NEWEST_VOTES, _KNOWN_VOTES, _REPLACED_VOTES):
            connection.execute(statement)
        votes = _count(connection, "SELECT count(*) FROM incoming_votes")
        connection.execute(_INSERT_VOTES, {"ingest_id": ingest_id})
    return Merged(counts, votes)


def _appended(
    connection: duckdb.DuckDBPyConnection, links: pa.Table, ingest_id: int, first_number: int
) -> InteractionCounts:
    given = {"ingest_id": ingest_id, "first_number": first_number}
    new = int(connection.execute(_APPEND, given).fetchall()[0][0])
    _store_links(connection, links, _APPEND_LINKS, {"first_number": first_number})
    connection.execute(_INSERT_TEXTS)
    return InteractionCounts(new=new)


def _store_links(
    connection: duckdb.DuckDBPyConnection, links: pa.Table, statement: str, values: dict[str, int] | None = None
) -> None:
    if not links.num_rows:
        return
    numbered = links.select(["row", "rank", "score"])
    numbered = numbered.append_column("passage", pa.array(number_passages(connection, links)))
    connection.register("numbered_links", numbered)
    try:
        connection.execute(statement, values)
    finally:
        connection.unregister("numbered_links")


def _compared(
    connection: duckdb.DuckDBPyConnection, links: pa.Table, ingest_id: int, first_number: int
) -> InteractionCounts:
    connection.execute(_COMPARE, {"ingest_id": ingest_id, "first_number": first_number})
    if _count(connection, _HAS_RIVALS):
        connection.execute(_SETTLE_RIVALS)
    repeated = _count(connection, _HAS_REPEATS)
    if repeated:
        connection.execute(_DROP_REPEATS)
    found = dict(connection.execute("SELECT outcome, count(*) FROM compared GROUP BY outcome").fetchall())
    counts = InteractionCounts(**found, repeated=repeated)
    if counts.new:
        connection.execute(_INSERT, {"ingest_id": ingest_id})
    if counts.changed:
        connection.execute(_DELETE_LINKS)
        connection.execute(_UPDATE, {"ingest_id": ingest_id})
    if counts.new + counts.changed:
        stored = connection.execute(_STORED_ROWS).fetchnumpy()["row"]
        _store_links(connection, links.filter(pc.is_in(links["row"], pa.array(stored))), _INSERT_LINKS)
        connection.execute(_INSERT_TEXTS)
    return counts


def _count(connection: duckdb.DuckDBPyConnection, query: str) -> int:
    return int(connection.execute(query).fetchall()[0][0])
