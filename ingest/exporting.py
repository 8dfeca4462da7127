"""Writes the canonical interactions of the log store: one JSON object a line, or Parquet with a folder a day."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import orjson

from ingest.log_store import LogStore

FIELDS = (
    "interaction_id",
    "source",
    "session_id",
    "user_id",
    "asked_at",
    "question",
    "answer",
    "retrieved",
    "feedback",
    "feedback_comment",
    "model",
    "prompt_version",
    "latency_ms",
    "input_tokens",
    "output_tokens",
    "cost",
    "error",
    "stream_cut",
    "metadata",
)
"""The fields of an exported interaction, in order."""
_PAGE = 5_000

_ROWS = """
WITH page AS (
    SELECT * FROM interactions
    WHERE (asked_at >= $since OR $since IS NULL)
        AND (coalesce(asked_at, 'epoch'::TIMESTAMPTZ), interaction_id) > ($at, $id)
    ORDER BY coalesce(asked_at, 'epoch'::TIMESTAMPTZ), interaction_id LIMIT $page
),
chunks AS (
    SELECT r.number,
        list({'chunk_id': r.chunk_id, 'doc_id': r.doc_id, 'text': t.text, 'score': r.score, 'rank': r.rank,
              'stage': r.stage} ORDER BY r.rank) AS retrieved
    FROM retrieved AS r SEMI JOIN page USING (number) LEFT JOIN chunk_texts AS t USING (text_hash)
    GROUP BY r.number
)
SELECT p.interaction_id, source, session_id, user_id, asked_at, question, answer, coalesce(retrieved, []), feedback,
    feedback_comment, model, prompt_version, latency_ms, input_tokens, output_tokens, cost, error, stream_cut, metadata
FROM page AS p LEFT JOIN chunks USING (number)
ORDER BY coalesce(asked_at, 'epoch'::TIMESTAMPTZ), interaction_id
"""
_MEMORY_LIMIT = "1GB"
_SLICE = 50_000
"""Interactions written at a time: their chunks are gathered in memory."""
_PARQUET = """
COPY (
    WITH slice AS (SELECT * FROM interactions WHERE rowid >= {first} AND rowid < {first} + {slice})
    SELECT i.interaction_id, source, session_id, user_id, asked_at, question, answer,
        coalesce(retrieved, []) AS retrieved, feedback, feedback_comment, model, prompt_version, latency_ms,
        input_tokens, output_tokens, cost, error, stream_cut, metadata,
        coalesce(strftime(asked_at AT TIME ZONE 'UTC', '%Y-%m-%d'), 'unknown') AS day
    FROM slice AS i LEFT JOIN (
        SELECT r.number,
            list({'chunk_id': r.chunk_id, 'doc_id': r.doc_id, 'text': t.text, 'score': r.score, 'rank': r.rank,
                  'stage': r.stage} ORDER BY r.rank) AS retrieved
        FROM retrieved AS r SEMI JOIN slice USING (number) LEFT JOIN chunk_texts AS t USING (text_hash)
        GROUP BY r.number
    ) USING (number)
    WHERE getvariable('since') IS NULL OR asked_at >= getvariable('since')
) TO '{folder}' (
    FORMAT parquet, PARTITION_BY (day), COMPRESSION zstd, OVERWRITE_OR_IGNORE, FILENAME_PATTERN 'from_{first}_{{i}}'
)
"""


def iter_lines(store: LogStore, *, since: datetime | None = None) -> Iterator[bytes]:
    """Yield every interaction as one line of JSON, oldest first; `since` leaves out what was asked before."""
    at, after = datetime.fromtimestamp(0).astimezone(), ""
    while True:
        with store.unit() as connection:
            found = connection.execute(_ROWS, {"since": since, "at": at, "id": after, "page": _PAGE}).fetchall()
        for row in found:
            values = dict(zip(FIELDS, row, strict=True))
            values["metadata"] = orjson.loads(values["metadata"]) if values["metadata"] else None
            yield orjson.dumps(values, option=orjson.OPT_APPEND_NEWLINE | orjson.OPT_UTC_Z)
        if len(found) < _PAGE:
            return
        at, after = found[-1][4] or at, found[-1][0]


def write_parquet(store: LogStore, folder: Path, *, since: datetime | None = None) -> int:
    """Write Parquet files into a folder `day=YYYY-MM-DD` for each day; return how many interactions were written."""
    folder.mkdir(parents=True, exist_ok=True)
    with store.unit() as connection:
        connection.execute("SET VARIABLE since = CAST(? AS TIMESTAMPTZ)", [since])
        connection.execute(f"SET memory_limit = '{_MEMORY_LIMIT}'")
        connection.execute("SET preserve_insertion_order = false")
        last = connection.execute("SELECT coalesce(max(rowid), -1) FROM interactions").fetchall()[0][0]
        target = str(folder).replace("'", "''")
        return sum(connection.execute(_parquet(target, first)).fetchall()[0][0] for first in range(0, last + 1, _SLICE))


def _parquet(target: str, first: int) -> str:
    return (
        _PARQUET.replace("{folder}", target)
        .replace("{first}", str(first))
        .replace("{slice}", str(_SLICE))
        .replace("{{i}}", "{i}")
    )
