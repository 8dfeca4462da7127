"""Reads a large log of plain fields with DuckDB itself; rows that are not clean are left to the mapping reader.

The log is read into a file of its own first, so that the store is held only while a slice of it is merged.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa

from evalsets.chunks import chunk_text_hash
from ingest.adapters.mapping_file import MappingFile
from ingest.adapters.mapping_paths import compile_path
from ingest.adapters.mapping_values import mapped_value
from ingest.fast_plan import FastPlan, with_missing
from ingest.interaction import FeedbackEvent
from ingest.privacy import Redactor
from ingest.privacy_patterns import HINT_PATTERN
from ingest.reading.blocks import LinePart, ReadBlock, read_part
from ingest.spooling import scratch_folder
from ingest.staging import VOTE_FIELD, declared_vote

SLICE_ROWS = 250_000
_MEMORY = "450MB"
_BATCH = 20_000
_CHECKED_ROWS = 8
_LARGEST_OBJECT = 8 << 20
_EMPTY = "CAST(NULL AS VARCHAR)"


class OddLine(NamedTuple):
    """A line that the mapping reader has to read, with its number in the file."""

    number: int
    raw: bytes


class FastStage:
    """One log in a DuckDB file of its own: rows as read, chunk texts, hashed users, redacted texts, metadata."""

    def __init__(self, path: Path, log: Path, plan: FastPlan, mapping: MappingFile, redactor: Redactor) -> None:
        """Open an empty stage at `path`."""
        self.path, self.log, self.plan, self.mapping, self.redactor = path, log, plan, mapping, redactor
        self.connection = duckdb.connect(str(path), config={"memory_limit": _MEMORY})
        self.connection.execute("SET TimeZone = 'UTC'")
        # The stage is read once and thrown away: packing it would cost more than it saves.
        self.connection.execute("SET force_compression = 'uncompressed'")
        self.rows = 0
        self.has_rest = False
        """Whether any line has a key that nothing maps."""

    def close(self) -> None:
        """Close the file; it may be attached to the store from then on."""
        self.connection.close()

    def fill(self) -> list[OddLine] | None:
        """Read the log; return the lines left to the mapping reader, None when all of them have to be."""
        if not self._read(ignore_errors=False) and not self._read(ignore_errors=True):
            return None
        odd = self._odd_lines()
        if odd is None:
            return None
        self._hash_texts()
        self._hash_users()
        self._redact()
        return odd

    def _source(self, columns: str, *, ignore_errors: bool) -> str:
        return (
            f"read_json($log, format = 'newline_delimited', columns = {columns},"
            f" maximum_object_size = {_LARGEST_OBJECT}, ignore_errors = {ignore_errors})"
        )

    def _read(self, *, ignore_errors: bool) -> bool:
        plan = self.plan
        fields = ", ".join(f"{sql} AS {name}" for name, sql in plan.fields.items())
        clean = with_missing(plan, are_clean=not ignore_errors)
        source = self._source(plan.columns, ignore_errors=ignore_errors)
        texts = f"(SELECT unnest({plan.texts}) AS text FROM {source})"  # noqa: S608 - quoted names
        try:
            self.connection.execute(
                f"CREATE OR REPLACE TABLE log_rows AS SELECT {fields}, {plan.links} AS links,"  # noqa: S608 - quoted names
                f" coalesce({clean}, FALSE) AS is_clean FROM {source}",
                {"log": str(self.log)},
            )
            if plan.retrieved:
                self.connection.execute(
                    f"CREATE OR REPLACE TABLE raw_texts AS SELECT hash(text) AS h, any_value(text) AS text FROM {texts}"  # noqa: S608
                    " WHERE text IS NOT NULL GROUP BY ALL",
                    {"log": str(self.log)},
                )
            self._read_rest(ignore_errors=ignore_errors)
        except duckdb.Error:
            return False
        self.rows = self._count("SELECT count(*) FROM log_rows")
        return True

    def _read_rest(self, *, ignore_errors: bool) -> None:
        """Keep what nothing maps, row by row in the order of the file, when there is anything of the kind."""
        if not self.plan.has_rest:
            return
        mapped = self.plan.mapped
        options = f"maximum_object_size = {_LARGEST_OBJECT}, ignore_errors = {ignore_errors}"
        values: dict[str, Any] = {"log": str(self.log), "mapped": mapped}
        # Counting needs no order and writes nothing, so it is far cheaper than keeping a row for each line.
        found = self.connection.execute(_COUNT_RESTS.replace("{options}", options), values).fetchall()
        self.has_rest = bool(found[0][0])
        if self.has_rest:
            patch = "{" + ", ".join(f"{_json_key(key)}: null" for key in mapped) + "}"
            self.connection.execute(_REST.replace("{options}", options), {**values, "patch": patch})

    def _odd_lines(self) -> list[OddLine] | None:
        """Find the lines of rows that are not clean, by their place among the lines that are not blank."""
        wanted = self.connection.execute("SELECT rowid FROM log_rows WHERE NOT is_clean ORDER BY rowid").fetchall()
        odd_rows = {row for (row,) in wanted}
        if not odd_rows:
            return [] if self._has_all_rests() else None
        if len(odd_rows) * 2 > self.rows:
            return None
        checks = dict(
            self.connection.execute(
                "SELECT rowid, id FROM log_rows WHERE is_clean ORDER BY hash(rowid) LIMIT ?", [_CHECKED_ROWS]
            ).fetchall()
        )
        last = max(self.connection.execute("SELECT max(rowid) FROM log_rows WHERE is_clean").fetchall()[0][0] or 0, 0)
        checks.setdefault(last, None)
        return self._collected(odd_rows, checks)

    def _collected(self, odd_rows: set[int], checks: dict[int, Any]) -> list[OddLine] | None:
        odd = []
        row = -1
        with self.log.open("rb") as stream:
            for number, line in enumerate(stream, 1):
                if line.isspace():
                    continue
                row += 1
                if row in odd_rows:
                    odd.append(OddLine(number, line.rstrip(b"\r\n")))
                elif (native := checks.get(row)) is not None and native.encode() not in line and native.isascii():
                    return None
        return odd if row + 1 == self.rows and self._has_all_rests() else None

    def _has_all_rests(self) -> bool:
        return not self.has_rest or self._count("SELECT count(*) FROM rests") == self.rows

    def _hash_texts(self) -> None:
        """Hash each chunk text once, as everywhere, and redact it."""
        self.connection.execute("CREATE OR REPLACE TABLE texts (h UBIGINT, text_hash VARCHAR, text VARCHAR)")
        if not self.plan.retrieved:
            return
        for batch in self._batches("SELECT h, text FROM raw_texts"):
            hashes = [chunk_text_hash(text) for _, text in batch]
            redacted = self.redactor.column([text for _, text in batch])
            self._append("texts", [[h for h, _ in batch], hashes, redacted], [pa.uint64(), pa.string(), pa.string()])

    def _hash_users(self) -> None:
        self.connection.execute("CREATE OR REPLACE TABLE users (logged VARCHAR, hashed VARCHAR)")
        if "user_id" not in self.plan.fields:
            return
        for batch in self._batches("SELECT DISTINCT user_id FROM log_rows WHERE is_clean AND user_id IS NOT NULL"):
            users = [user for (user,) in batch]
            self._append("users", [users, list(map(self.redactor.hash_user, users))], [pa.string(), pa.string()])

    def _redact(self) -> None:
        self.connection.execute(
            "CREATE OR REPLACE TABLE redacted"
            " (row BIGINT, question VARCHAR, answer VARCHAR, error VARCHAR, rest VARCHAR)"
        )
        if not self.redactor.settings.redact:
            return
        names = [name for name in ("question", "answer", "error") if name in self.plan.fields]
        columns = [name if name in names else _EMPTY for name in ("question", "answer", "error")]
        rest = "rest" if self.has_rest else _EMPTY
        joined = "log_rows POSITIONAL JOIN rests" if self.has_rest else "log_rows"
        hints = " OR ".join(
            f"regexp_matches({name}, $hint)" for name in [*names, *(["rest"] if rest == "rest" else [])]
        )
        query = (
            f"SELECT log_rows.rowid, {', '.join(columns)}, {rest} FROM {joined}"  # noqa: S608 - our own names
            f" WHERE is_clean AND ({hints})"
        )
        kinds = [pa.int64(), *[pa.string()] * 4]
        for batch in self._batches(query, {"hint": HINT_PATTERN}):
            row, *texts, rests = ([entry[at] for entry in batch] for at in range(5))
            kept = [written and self.redactor.json(written) for written in rests]
            self._append("redacted", [row, *map(self.redactor.column, texts), kept], kinds)

    def _batches(self, query: str, values: dict[str, Any] | None = None) -> Iterator[list[Any]]:
        with self.connection.cursor() as reading:
            reading.execute(query, values or {})
            while batch := reading.fetchmany(_BATCH):
                yield batch

    def _append(self, table: str, columns: list[list[Any]], kinds: list[Any]) -> None:
        arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
        names = [f"c{at}" for at in range(len(arrays))]
        self.connection.register("appended", pa.table(arrays, names=names))
        self.connection.execute(f"INSERT INTO {table} SELECT * FROM appended")  # noqa: S608 - our own table names
        self.connection.unregister("appended")

    def votes(self) -> Iterator[FeedbackEvent]:
        """Yield the votes that stand in the records themselves."""
        section = self.mapping.interactions
        if section is None or section.feedback is None:
            return
        comment = "feedback_comment" if "feedback_comment" in self.plan.fields else _EMPTY
        at = "asked_at" if "asked_at" in self.plan.fields else "CAST(NULL AS TIMESTAMPTZ)"
        query = (
            f"SELECT id, feedback, {comment}, {at} FROM log_rows WHERE is_clean AND feedback IS NOT NULL ORDER BY rowid"  # noqa: S608
        )
        source, spec = self.mapping.source, section.feedback
        for native, value, said, given_at in (entry for batch in self._batches(query) for entry in batch):
            meant = declared_vote(mapped_value(spec, value)) if spec.map else value
            if meant is not None:
                vote = FeedbackEvent(source, "interaction", native, VOTE_FIELD, meant)
                key = f"in-record:{source}:{native}"
                yield vote._replace(comment=said and self.redactor.text(said), given_at=given_at, event_id=key)

    def _count(self, query: str) -> int:
        return int(self.connection.execute(query).fetchall()[0][0])

    def missing_paths(self, sample: list[Any]) -> list[str]:
        """Return the mapped keys that neither the sample nor any clean row has."""
        section = self.mapping.interactions
        specs = section.fields() if section else {}
        sums = ", ".join(f"count({name})" for name in self.plan.fields)
        counts = self.connection.execute(f"SELECT {sums} FROM log_rows").fetchall()[0]  # noqa: S608 - our own names
        return [
            specs[name].path
            for name, count in zip(self.plan.fields, counts, strict=True)
            if not count and not any(compile_path(specs[name].path).is_in(value) for value in sample)
        ]

    def slices(self) -> Iterator[tuple[int, int]]:
        """Yield the row ranges to merge one after the other."""
        for first in range(0, self.rows, SLICE_ROWS):
            yield first, min(first + SLICE_ROWS, self.rows)

    def views(self, first: int, end: int) -> list[str]:
        """Return the statements that make a slice of the attached stage the relations a merge reads."""
        plan = self.plan

        def field(name: str, kind: str = "VARCHAR") -> str:
            return f"r.{name}" if name in plan.fields else f"CAST(NULL AS {kind})"

        def text(name: str) -> str:
            return f"CASE WHEN c.row IS NULL THEN {field(name)} ELSE c.{name} END AS {name}"

        rest = "CASE WHEN c.row IS NULL THEN m.rest ELSE c.rest END" if self.has_rest else _EMPTY
        rests = "LEFT JOIN stage.rests AS m ON m.rowid = r.rowid" if self.has_rest else ""
        version = f"coalesce(epoch_us({field('updated_at', 'TIMESTAMPTZ')}) * 1000, 0)"
        source = self.mapping.source.replace("'", "''")
        section = self.mapping.interactions
        stage = section.retrieved.stage if section and section.retrieved else "retriever"
        within = f"r.is_clean AND r.rowid >= {first} AND r.rowid < {end}"
        return [
            f"""CREATE OR REPLACE TEMP VIEW staged_interactions AS
            SELECT r.rowid AS row, '{source}:' || r.id AS interaction_id, '{source}' AS source,
                {field("session_id")} AS session_id, u.hashed AS user_id,
                {field("asked_at", "TIMESTAMPTZ")} AS asked_at, {text("question")}, {text("answer")},
                {field("model")} AS model, {field("prompt_version")} AS prompt_version,
                {field("latency_ms", "DOUBLE")} AS latency_ms,
                {field("input_tokens", "BIGINT")} AS input_tokens, {field("output_tokens", "BIGINT")} AS output_tokens,
                {field("cost", "DOUBLE")} AS cost, {text("error")}, FALSE AS stream_cut, {rest} AS metadata,
                {version} AS version_ns, {_EMPTY} AS cautions
            FROM stage.log_rows AS r LEFT JOIN stage.redacted AS c ON c.row = r.rowid
                LEFT JOIN stage.users AS u ON u.logged = {field("user_id")} {rests}
            WHERE {within}""",  # noqa: S608 - names of our own, numbers, and the quoted source
            f"""CREATE OR REPLACE TEMP VIEW staged_links AS
            SELECT l.row, '{source}:' || l.id AS interaction_id,
                CAST(l.rank AS INTEGER) AS rank, l.link.chunk_id AS chunk_id, l.link.doc_id AS doc_id,
                t.text_hash, l.link.score AS score, '{stage.replace("'", "''")}' AS stage, 'explicit' AS id_origin
            FROM (
                SELECT r.rowid AS row, r.id, unnest(r.links) AS link, generate_subscripts(r.links, 1) - 1 AS rank
                FROM stage.log_rows AS r WHERE {within}
            ) AS l LEFT JOIN stage.texts AS t ON t.h = l.link.h"""  # noqa: S608 - as above
            if plan.retrieved
            else _NO_LINKS,
            _TEXTS if first == 0 else f"{_TEXTS} LIMIT 0",
        ]


_COUNT_RESTS = """
SELECT count(*) FROM (
    SELECT any_value(keys) AS keys
    FROM (
        SELECT json_keys(json) AS keys FROM read_json_objects($log, format = 'newline_delimited', {options})
    ) GROUP BY hash(keys)
) WHERE NOT list_has_all($mapped, keys)
"""
_REST = """
CREATE OR REPLACE TABLE rests AS
SELECT CASE WHEN list_has_all($mapped, json_keys(json)) THEN NULL
    ELSE nullif(CAST(json_merge_patch(json, CAST($patch AS JSON)) AS VARCHAR), '{}') END AS rest
FROM read_json_objects($log, format = 'newline_delimited', {options})
"""
_TEXTS = "CREATE OR REPLACE TEMP VIEW staged_texts AS SELECT text_hash, text FROM stage.texts"
_NO_LINKS = """CREATE OR REPLACE TEMP VIEW staged_links AS
SELECT CAST(0 AS BIGINT) AS row, '' AS interaction_id, 0 AS rank,
    '' AS chunk_id, '' AS doc_id, '' AS text_hash, 0.0 AS score, '' AS stage,
    '' AS id_origin LIMIT 0"""


def _json_key(key: str) -> str:
    import json

    return json.dumps(key)


def odd_blocks(file: str, odd: list[OddLine]) -> Iterator[ReadBlock]:
    """Yield the lines left to the mapping reader as parsed blocks, with their own line numbers."""
    for first in range(0, len(odd), _BATCH):
        lines = odd[first : first + _BATCH]
        part = LinePart(
            file, "", 0, 0, b"\n".join(line.raw for line in lines), "", "", has_prefixes=False, partitions={}
        )
        read = read_part(part)
        numbers = [line.number for line in lines]
        block = read.block._replace(lines=[numbers[at - 1] for at in read.block.lines])
        rejects = [reject._replace(line=numbers[reject.line - 1]) for reject in read.rejects]
        cautions = [caution._replace(line=numbers[caution.line - 1]) for caution in read.cautions]
        yield read._replace(block=block, rejects=rejects, cautions=cautions, lines=0)


@contextmanager
def fast_stage(
    folder: Path, log: Path, plan: FastPlan, mapping: MappingFile, redactor: Redactor
) -> Iterator[FastStage]:
    """Yield an empty stage in a temporary folder, which is removed afterwards."""
    with scratch_folder(folder) as place:
        stage = FastStage(place / "stage.duckdb", log, plan, mapping, redactor)
        try:
            yield stage
        finally:
            stage.close()
