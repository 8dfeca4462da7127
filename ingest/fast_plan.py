"""Says whether a mapping is plain enough for DuckDB to read the log itself, and in which SQL."""

import re
from typing import Any, NamedTuple

import jmespath

from ingest.adapters.mapping_file import FieldSpec, MappingFile, RetrievedSpec
from ingest.adapters.mapping_paths import compile_path
from ingest.normalising import MISSING_MARKERS
from ingest.reading.probing import Probe
from ingest.settings import PrivacySettings

FAST_BYTES = 48 << 20
"""From which size on a second way of reading pays."""
_TEXTS = ("session_id", "user_id", "question", "answer", "model", "prompt_version", "error", "feedback_comment")
_NUMBERS = ("latency_ms", "cost")
_WHOLE = ("input_tokens", "output_tokens")
_TIMES = ("asked_at", "updated_at")
_MS_IN = {"s": 1000.0, "us": 1e-3, "ns": 1e-6}
_MARKERS = ", ".join("'" + marker.replace("'", "''") + "'" for marker in sorted(MISSING_MARKERS))
_LENGTHS = ", ".join(str(length) for length in sorted({len(marker) for marker in MISSING_MARKERS}))
_ISO = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)"
_SPACES = "' ' || chr(9) || chr(10) || chr(13)"


class FastPlan(NamedTuple):
    """SQL for one file: the declared columns, one expression a field, and when a row is clean.

    A row that is not clean is read by the mapping reader instead, from its own line.
    """

    columns: str
    """The `columns` of read_json, as a literal."""
    fields: dict[str, str]
    """SQL of each normalised field: native_id, the text, number and time fields, feedback."""
    links: str
    """SQL of the list of (chunk_id, doc_id, h, score), h being a hash of the text."""
    texts: str
    """SQL of the list of chunk texts."""
    clean: str
    mapped: list[str]
    """Top-level keys that are mapped."""
    has_rest: bool
    """Whether keys that nothing maps are to be kept."""
    retrieved: str
    """The quoted column of the chunk list; empty when none is mapped."""


def fast_plan(mapping: MappingFile, found: Probe, privacy: PrivacySettings) -> FastPlan | None:
    """Return the plan for a mapping of plain fields over plain lines, None when the mapping reader has to do it all."""
    section = mapping.interactions
    is_plain = found.container == "lines" and found.is_plain and not found.has_prefixes and not found.unwrap
    if section is None or not is_plain or found.file.partitions or mapping.records or mapping.unwrap:
        return None
    if section.turns or section.messages or section.trace or section.aliases or privacy.names or privacy.patterns:
        return None
    specs = section.fields()
    keys = {name: _plain_key(spec, name) for name, spec in specs.items()}
    conditions = _conditions(mapping)
    chunks = _chunk_keys(section.retrieved)
    if None in keys.values() or "id" not in keys or conditions is None or chunks is None:
        return None
    return _plan({name: key for name, key in keys.items() if key}, specs, chunks, conditions, mapping)


def _plain_key(spec: FieldSpec, name: str) -> str | None:
    chain = compile_path(spec.path).chain if spec.path else None
    if chain is None or len(chain) != 1 or spec.const is not None or spec.start:
        return None
    if (spec.map and name != "feedback") or name == "stream_cut" or (name in _TIMES and spec.unit != "auto"):
        return None
    return chain[0]


def _chunk_keys(spec: RetrievedSpec | None) -> dict[str, str] | None:
    if spec is None:
        return {}
    if spec.arrays or spec.rows or not spec.list or not spec.chunk_id or not spec.text or not spec.doc_id:
        return None
    keys = {
        name: getattr(spec, name) for name in ("list", "chunk_id", "doc_id", "text", "score") if getattr(spec, name)
    }
    chains = {name: compile_path(path).chain for name, path in keys.items()}
    if any(chain is None or len(chain) != 1 for chain in chains.values()):
        return None
    return {name: chain[0] for name, chain in chains.items() if chain}


def _conditions(mapping: MappingFile) -> list[tuple[str, str, bool]] | None:
    """Return conditions (key, text, whether equal) that hold for an interaction; None when they are not so simple."""
    out = []
    section = mapping.interactions
    if section is not None and section.where:
        out.append(_comparison(section.where))
    if mapping.feedback is not None:
        vote = _comparison(mapping.feedback.where) if mapping.feedback.where and not mapping.feedback.files else None
        out.append(vote and (vote[0], vote[1], not vote[2]))
    return None if None in out else [condition for condition in out if condition]


def _comparison(written: str) -> tuple[str, str, bool] | None:
    tree: dict[str, Any] = dict(jmespath.compile(written).parsed)
    if tree["type"] != "comparator" or tree["value"] not in ("eq", "ne"):
        return None
    left, right = tree["children"]
    if left["type"] != "field" or right["type"] != "literal" or not isinstance(right["value"], str):
        return None
    return left["value"], right["value"], tree["value"] == "eq"


def _plan(
    keys: dict[str, str],
    specs: Any,
    chunks: dict[str, str],
    conditions: list[tuple[str, str, bool]],
    mapping: MappingFile,
) -> FastPlan | None:
    scalars = list(dict.fromkeys([*keys.values(), *(key for key, _, _ in conditions)]))
    columns = dict.fromkeys(scalars, "VARCHAR")
    if chunks:
        inner = ", ".join(f"{_quoted(key)} VARCHAR" for name, key in chunks.items() if name != "list")
        columns[chunks["list"]] = f"STRUCT({inner})[]"
    inner_keys = [key.lower() for name, key in chunks.items() if name != "list"]
    if len({key.lower() for key in columns}) < len(columns) or len(set(inner_keys)) < len(inner_keys):
        return None
    fields, clean = _field_sql(keys, specs)
    clean.extend(
        f"({_quoted(key)} IS {'NOT ' if equal else ''}DISTINCT FROM {_literal(text)})"
        for key, text, equal in conditions
    )
    links, texts = "NULL", "NULL"
    if chunks:
        links, texts, chunk_clean = _chunk_sql(chunks)
        clean.append(chunk_clean)
    declared = ", ".join(f"{_literal(key)}: {_literal(kind)}" for key, kind in columns.items())
    section = mapping.interactions
    has_rest = section is not None and section.metadata == "rest"
    retrieved = _quoted(chunks["list"]) if chunks else ""
    mapped = [key for key in columns if key in {*keys.values(), chunks.get("list")}]
    return FastPlan(f"{{{declared}}}", fields, links, texts, " AND ".join(clean), mapped, has_rest, retrieved)


def _field_sql(keys: dict[str, str], specs: Any) -> tuple[dict[str, str], list[str]]:
    fields: dict[str, str] = {}
    clean: list[str] = []
    for name, key in keys.items():
        column = _quoted(key)
        fields[name] = _present(column)
        if name in _TIMES:
            fields[name] = _time(column)
            clean.append(_is_time(column))
        elif name in _NUMBERS or name in _WHOLE:
            kind = "BIGINT" if name in _WHOLE else "DOUBLE"
            factor = _MS_IN.get(specs[name].unit) if name == "latency_ms" else None
            fields[name] = f"(try_cast({column} AS {kind})" + (f" * {factor})" if factor else ")")
            clean.append(
                f"({column} IS NULL OR isfinite(try_cast({column} AS DOUBLE)) IS NOT NULL AND {_fits(column, kind)})"
            )
        else:
            clean.append(f"NOT coalesce({column} LIKE '[%' OR {column} LIKE '{{%', FALSE)")
    clean.append(f"{fields['id']} IS NOT NULL AND {fields['question']} IS NOT NULL")
    return fields, clean


def _fits(column: str, kind: str) -> str:
    finite = f"coalesce(isfinite(try_cast({column} AS DOUBLE)), FALSE)"
    return f"{finite} AND try_cast({column} AS BIGINT) = try_cast({column} AS DOUBLE)" if kind == "BIGINT" else finite


def _present(column: str) -> str:
    """Return NULL for a marker or a blank; what starts with a printable and has no marker's length is neither."""
    is_text = f"ascii({column}) > 32 AND strlen({column}) NOT IN ({_LENGTHS})"
    is_missing = f"trim({column}, {_SPACES}) = '' OR {column} IN ({_MARKERS})"
    return f"(CASE WHEN {is_text} THEN {column} WHEN {is_missing} THEN NULL ELSE {column} END)"


def _is_zoned(column: str) -> str:
    return f"regexp_full_match({column}, '{_ISO}')"


def _is_epoch(column: str) -> str:
    return f"regexp_full_match({column}, '\\d{{9,18}}')"


def _is_time(column: str) -> str:
    zoned = f"{_is_zoned(column)} AND try_cast({column} AS TIMESTAMPTZ) IS NOT NULL"
    known = f"CASE WHEN {column}[5] = '-' THEN {zoned} ELSE {_is_epoch(column)} END"
    return f"({column} IS NULL OR {known})"


def _time(column: str) -> str:
    ticks = f"try_cast({column} AS BIGINT)"
    epoch = (
        f"make_timestamptz(CASE WHEN {ticks} < 100000000000 THEN {ticks} * 1000000 WHEN {ticks} < 100000000000000"
        f" THEN {ticks} * 1000 WHEN {ticks} < 100000000000000000 THEN {ticks} ELSE {ticks} // 1000 END)"
    )
    return f"(CASE WHEN {column}[5] = '-' THEN try_cast({column} AS TIMESTAMPTZ) ELSE {epoch} END)"


def _chunk_sql(chunks: dict[str, str]) -> tuple[str, str, str]:
    column = _quoted(chunks["list"])
    part = {name: f"s.{_quoted(key)}" for name, key in chunks.items() if name != "list"}
    score = f"try_cast({part['score']} AS DOUBLE)" if "score" in part else "CAST(NULL AS DOUBLE)"
    text, raw_id = _present(part["text"]), part["chunk_id"]
    chunk_id = f"CASE WHEN strlen({raw_id}) = length({raw_id}) THEN {raw_id} ELSE nfc_normalize({raw_id}) END"
    links = (
        f"list_transform({column}, lambda s: struct_pack(chunk_id := {chunk_id},"
        f" doc_id := {_present(part['doc_id'])}, h := CASE WHEN {text} IS NULL THEN NULL ELSE hash({text}) END,"
        f" score := {score}))"
    )
    bad = [f"{_present(part['chunk_id'])} IS NULL"]
    bad.extend(f"{part[name]} LIKE '[%' OR {part[name]} LIKE '{{%'" for name in ("chunk_id", "doc_id", "text"))
    if "score" in part:
        bad.append(f"({part['score']} IS NOT NULL AND NOT coalesce(isfinite({score}), FALSE))")
    clean = f"coalesce(len(list_filter({column}, lambda s: coalesce({' OR '.join(bad)}, FALSE))) = 0, {{missing}})"
    return links, f"list_transform({column}, lambda s: {text})", clean


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def with_missing(plan: FastPlan, *, are_clean: bool) -> str:
    """Return the condition of a clean row; whether a row without a chunk list may be one is the reader's to say."""
    return re.sub(r"\{missing\}", "TRUE" if are_clean else "FALSE", plan.clean)
