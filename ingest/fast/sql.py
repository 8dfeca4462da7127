"""Writes the SQL with which DuckDB reads the mapped keys of JSON lines."""

from typing import Any

Tree = dict[str, Any]
"""Keys with what is under them: a tree, a list of one tree, or the type of a leaf."""
CHUNK_PARTS = ("chunk_id", "doc_id", "text", "score")


def any_of(conditions: list[str]) -> str:
    """Return SQL that is true when one of the conditions is, and false for null."""
    return f"coalesce({' OR '.join(conditions)}, FALSE)" if conditions else "FALSE"


def declared(tree: Tree, number: str) -> str:
    """Return the `columns` of read_json for a tree of keys, numbers as `number`."""
    columns = (f"{literal(key)}: {literal(_kind(branch, number))}" for key, branch in tree.items())
    return f"{{{', '.join(columns)}}}"


def _kind(branch: Any, number: str) -> str:
    if isinstance(branch, str):
        return number if branch == "DOUBLE" else branch
    if isinstance(branch, list):
        return f"{_kind(branch[0], number)}[]"
    return f"STRUCT({', '.join(f'{quoted(key)} {_kind(inner, number)}' for key, inner in branch.items())})"


def value(chain: tuple[str, ...], of: str = "") -> str:
    """Return SQL of what stands at the end of a chain of keys, in a column or in the expression `of`."""
    found, rest = (of, chain) if of else (quoted(chain[0]), chain[1:])
    for key in rest:
        found = f"struct_extract({found}, {literal(key)})"
    return found


def chunk_sql(chunks: dict[str, tuple[str, ...]]) -> tuple[str, str, str]:
    """Return SQL of the links, of the passages, and of whether some chunk leads its paths through what is no object."""
    column = value(chunks["list"])
    own = {name: chain for name, chain in chunks.items() if name in CHUNK_PARTS}
    part = {name: value(chain, "s") for name, chain in chunks.items() if name != "list"}
    part = dict.fromkeys(CHUNK_PARTS, "CAST(NULL AS VARCHAR)") | part
    score = part.pop("score")
    part = {"p": f"hash({', '.join(part.values())})", **part}
    links = f"list_transform({column}, lambda s: struct_pack(p := {part['p']}, score := {score}))"
    packed = ", ".join(f"{name} := {sql}" for name, sql in part.items())
    through = [value(chain[:depth], "s") for chain in own.values() for depth in range(1, len(chain))]
    missing = "FALSE"
    if through:
        empty = " OR ".join(f"{path} IS NULL" for path in dict.fromkeys(through))
        missing = f"len(list_filter({column}, lambda s: {empty})) > 0"
    return links, f"list_transform({column}, lambda s: struct_pack({packed}))", missing


def quoted(name: str) -> str:
    """Return a name as SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as SQL."""
    return "'" + text.replace("'", "''") + "'"
