"""Says whether a mapping is plain enough for DuckDB to read the log itself, and which columns that needs."""

from typing import Any, NamedTuple

import jmespath
import orjson

from ingest.adapters.mapping_chunks import METADATA_DOCS, METADATA_IDS
from ingest.adapters.mapping_columns import mapped_keys
from ingest.adapters.mapping_file import NUMBER_FIELDS, TEXT_FIELDS, InteractionsSection, MappingFile, RetrievedSpec
from ingest.adapters.mapping_paths import compile_path
from ingest.fast.sql import CHUNK_PARTS, Tree, any_of, chunk_sql, declared, literal, quoted, value
from ingest.reading.probing import Probe
from ingest.settings import PrivacySettings

FAST_BYTES = 4 << 20
"""From which size on a second way of reading pays."""
_LABELS = {*TEXT_FIELDS, *NUMBER_FIELDS, "feedback"}
"""What may be a constant; the texts and the vote among them may have a `map`."""


class FastPlan(NamedTuple):
    """SQL for the lines of one file; a row whose marks are not all as they should be is left to the mapping reader."""

    columns: str
    """The `columns` of read_json, as a literal: every value as text."""
    typed_columns: str
    """The same with numbers as such: faster, as long as every one of them is a number."""
    fields: dict[str, str]
    """SQL of each mapped field that has a path, as text."""
    links: str
    """SQL of the list of (p, score), p being a hash of the passage; empty when none is mapped."""
    passages: str
    """SQL of the list of (p, chunk_id, doc_id, text).

    Where no path is mapped to an id, the places in a chunk's metadata follow that may hold one.
    """
    is_odd: str
    """True for a row that fails a condition, or in which a dotted key stands as such."""
    is_missing: str
    """True for a row without an object or list that paths lead through: a fault where errors were ignored."""
    mapped: list[str]
    """Top-level keys that need not be kept as metadata."""
    has_rest: bool
    """Whether keys that nothing maps are to be kept."""
    counted: "Counted | None"
    """Columns that tell how many keys of a row are mapped and have a value; None when they cannot tell."""
    partitions: dict[str, str]
    """What the folders say of every row and no path reads; kept as metadata."""


class Counted(NamedTuple):
    """What each stands for one key that has a value: fields, parts of chunks, and SQL of how many keys lie between."""

    fields: list[str]
    parts: list[str]
    between: str


def fast_plan(mapping: MappingFile, found: Probe, privacy: PrivacySettings) -> FastPlan | None:
    """Return the plan for a mapping of plain fields over plain lines, None when the mapping reader has to do it all."""
    section = mapping.interactions
    if section is None or not _has_plain_lines(found) or privacy.names:
        return None
    if section.turns or section.messages or section.trace or section.aliases:
        return None
    chains = _field_chains(section)
    chunks = _chunk_chains(section.retrieved)
    conditions = _conditions(mapping)
    if chains is None or chunks is None or conditions is None:
        return None
    paths = _Paths(chains, chunks, conditions, found.file.partitions)
    if not paths.partitions.keys().isdisjoint(paths.beyond_folders):
        return None
    tree = _tree(paths)
    return None if tree is None else _plan(section, tree, paths)


class _Paths(NamedTuple):
    """All that is read of a record, and what the folders of its file say."""

    fields: dict[str, tuple[str, ...]]
    chunks: dict[str, tuple[str, ...]]
    conditions: list["_Condition"]
    partitions: dict[str, str]

    @property
    def beyond_folders(self) -> set[str]:
        """The keys that are read as other than plain texts, of which folders must not say anything."""
        keys = {key for key, _, _ in self.conditions}
        keys |= {chain[0] for name, chain in self.fields.items() if len(chain) > 1 or name in NUMBER_FIELDS}
        return keys | ({self.chunks["list"][0]} if self.chunks else set())


def _has_plain_lines(found: Probe) -> bool:
    return found.container == "lines" and not found.has_prefixes


def _field_chains(section: InteractionsSection) -> dict[str, tuple[str, ...]] | None:
    chains = {}
    for name, spec in section.fields().items():
        if spec.start or name == "stream_cut" or (spec.const is not None and spec.path):
            return None
        if not (name in _LABELS or (spec.path and not spec.map)) or (spec.map and name in NUMBER_FIELDS):
            return None
        if not spec.path:
            continue
        chain = compile_path(spec.path).chain
        if chain is None:
            return None
        chains[name] = chain
    return chains if "question" in chains and (section.id is None or "id" in chains) else None


def _chunk_chains(spec: RetrievedSpec | None) -> dict[str, tuple[str, ...]] | None:
    if spec is None:
        return {}
    if spec.arrays or spec.rows or not spec.list or not spec.text:
        return None
    written = {name: path for name in ("list", *CHUNK_PARTS) if (path := getattr(spec, name))}
    chains = {name: compile_path(path).chain for name, path in written.items()}
    known = {name: chain for name, chain in chains.items() if chain is not None}
    return known | _in_metadata(known) if len(known) == len(chains) else None


def _in_metadata(chunks: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Return where ids of chunks are looked for that no path is mapped to, numbered in their order."""
    keys = {"chunk_id": METADATA_IDS, "doc_id": METADATA_DOCS}
    unmapped = [(name, keys[name]) for name in keys if name not in chunks]
    return {f"{name}_{at}": ("metadata", key) for name, found in unmapped for at, key in enumerate(found)}


class _Condition(NamedTuple):
    """What holds for an interaction: a key is, or is not, this text."""

    key: str
    text: str
    is_equal: bool


def _conditions(mapping: MappingFile) -> list[_Condition] | None:
    """Return the conditions that hold for an interaction; None when they are not so simple."""
    found: list[_Condition | None] = []
    section = mapping.interactions
    if section is not None and section.where:
        found.append(_comparison(section.where))
    if mapping.feedback is not None:
        vote = _comparison(mapping.feedback.where) if mapping.feedback.where and not mapping.feedback.files else None
        found.append(vote and vote._replace(is_equal=not vote.is_equal))
    return None if None in found else [condition for condition in found if condition]


def _comparison(written: str) -> _Condition | None:
    tree: dict[str, Any] = dict(jmespath.compile(written).parsed)
    if tree["type"] != "comparator" or tree["value"] not in ("eq", "ne"):
        return None
    left, right = tree["children"]
    if left["type"] != "field" or right["type"] != "literal" or not isinstance(right["value"], str):
        return None
    is_word = not _is_json(right["value"])
    return _Condition(left["value"], right["value"], tree["value"] == "eq") if is_word else None


def _is_json(written: str) -> bool:
    """Whether a text looks like another JSON value, once both are text."""
    try:
        orjson.loads(written)
    except orjson.JSONDecodeError:
        return False
    return True


def _tree(read: _Paths) -> Tree | None:
    """Return all paths as one tree of keys with types for leaves; None when one leads through the value of another."""
    chains, chunks = [*read.fields.values(), *((key,) for key, _, _ in read.conditions)], read.chunks
    numbers = [chain for name, chain in read.fields.items() if name in NUMBER_FIELDS]
    inner: Tree = {}
    tree: Tree = {}
    paths: list[tuple[Tree, tuple[str, ...], Any]] = [(tree, chain, "DOUBLE") for chain in numbers]
    paths += [(tree, chain, "DOUBLE" if chain in numbers else "VARCHAR") for chain in chains]
    paths += [(tree, (".".join(chain),), "VARCHAR") for chain in chains if len(chain) > 1]
    own = {name: chain for name, chain in chunks.items() if name != "list"}
    paths += [(inner, chain, "DOUBLE" if name == "score" else "VARCHAR") for name, chain in own.items()]
    if chunks:
        paths.append((tree, chunks["list"], [inner]))
        paths += [(tree, (".".join(chunks["list"]),), "VARCHAR")] if len(chunks["list"]) > 1 else []
    return tree if all(_planted(*path) for path in paths) and _are_names_apart(tree) else None


def _planted(tree: Tree, chain: tuple[str, ...], leaf: Any) -> bool:
    for key in chain[:-1]:
        tree = tree.setdefault(key, {})
        if not isinstance(tree, dict):
            return False
    return bool(tree.setdefault(chain[-1], leaf) == leaf)


def _are_names_apart(tree: Tree) -> bool:
    """Whether DuckDB, which does not tell upper from lower case in names, can have these keys side by side."""
    if len({key.lower() for key in tree}) < len(tree):
        return False
    branches = [branch[0] if isinstance(branch, list) else branch for branch in tree.values()]
    return all(_are_names_apart(branch) for branch in branches if isinstance(branch, dict))


def _plan(section: InteractionsSection, tree: Tree, paths: _Paths) -> FastPlan:
    chains, chunks, conditions, partitions = paths
    odd = [
        f"{quoted(key)} IS {'' if equal else 'NOT '}DISTINCT FROM {literal(text)}" for key, text, equal in conditions
    ]
    every = [*chains.values(), *([chunks["list"]] if chunks else [])]
    odd.extend(f"{quoted('.'.join(chain))} IS NOT NULL" for chain in every if len(chain) > 1)
    through = [chain[:depth] for chain in every for depth in range(1, len(chain))]
    through.extend([chunks["list"]] if chunks else [])
    mapped = mapped_keys(section)
    missing = [f"{value(chain)} IS NULL" for chain in dict.fromkeys(through)]
    links = passages = ""
    if chunks:
        links, passages, missing_in_chunk = chunk_sql(chunks)
        missing.append(missing_in_chunk)
    return FastPlan(
        columns=declared(tree, "VARCHAR"),
        typed_columns=declared(tree, "DOUBLE"),
        fields={name: _value_or_partition(chain, partitions) for name, chain in chains.items()},
        links=links,
        passages=passages,
        is_odd=any_of(odd),
        is_missing=any_of(missing),
        mapped=sorted(mapped),
        has_rest=section.metadata == "rest",
        counted=_counted(paths, mapped - partitions.keys()),
        partitions={key: name for key, name in partitions.items() if key not in mapped},
    )


def _counted(paths: _Paths, mapped: frozenset[str]) -> Counted | None:
    """Say which columns stand for the keys that are mapped, each of them once."""
    chains, chunks, conditions, _ = paths
    fields = {chain: name for name, chain in chains.items() if chain[0] in mapped}
    parts = {chain: name for name, chain in chunks.items() if name in CHUNK_PARTS}
    if any(len(chain) > 1 for chain in parts):
        return None
    every = [*fields, *([chunks["list"]] if chunks else [])]
    between = {chain[:depth] for chain in every for depth in range(1, len(chain))}
    between |= {chunks["list"]} if chunks else set()
    between |= {(key,) for key, _, _ in conditions if key in mapped}
    own = [f"CAST({value(chain)} IS NOT NULL AS UTINYINT)" for chain in sorted(between - fields.keys())]
    return Counted(list(fields.values()), list(parts.values()), " + ".join(own) or "0")


def _value_or_partition(chain: tuple[str, ...], partitions: dict[str, str]) -> str:
    if chain[0] not in partitions:
        return value(chain)
    return f"coalesce({value(chain)}, {literal(partitions[chain[0]])})"
