"""Paths of a mapping file: JMESPath, with its common shapes compiled to plain look-ups, twenty times faster."""

import hashlib
import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import jmespath
import orjson
from jmespath import functions
from jmespath.exceptions import JMESPathError

from evalsets.errors import BadInputError
from ingest.adapters.guarding import ODD_VALUE_ERRORS
from ingest.normalising import text
from ingest.traces.texts import answer_in, question_in

Getter = Callable[[Any], Any]
_FALSE_LIKE: tuple[Any, ...] = (None, False, "", [], {})


class Path(NamedTuple):
    """A compiled path: how to get its value, the top-level keys it reads, and its keys when it is a plain chain."""

    written: str
    get: Getter
    top_keys: frozenset[str]
    chain: tuple[str, ...] | None

    def is_in(self, record: Any) -> bool:
        """Whether the path leads anywhere in `record`, even to a null."""
        if self.chain is None:
            return self.get(record) is not None
        return _has_chain(record, self.chain)


class _Functions(functions.Functions):
    """What mappings may call besides JMESPath's own functions."""

    @functions.signature({"types": []})
    def _func_parse_json(self, value: Any) -> Any:
        return parsed_json(value)

    @functions.signature({"types": []})
    def _func_text(self, value: Any) -> Any:
        return text(value)

    @functions.signature({"types": []})
    def _func_last_user(self, messages: Any) -> Any:
        return last_message(messages, USER_ROLES)

    @functions.signature({"types": []})
    def _func_last_assistant(self, messages: Any) -> Any:
        return last_message(messages, ASSISTANT_ROLES)

    @functions.signature({"types": []})
    def _func_question_in(self, value: Any) -> Any:
        return question_in(value)

    @functions.signature({"types": []})
    def _func_answer_in(self, value: Any) -> Any:
        return answer_in(value)

    @functions.signature({"types": []})
    def _func_hashed(self, value: Any) -> Any:
        return hashlib.sha256(json.dumps(value, default=str).encode()).hexdigest()[:32] if value else None

    @functions.signature({"types": []})
    def _func_zipped(self, objects: Any) -> Any:
        return [entry for value in objects or [] if isinstance(value, dict) for entry in _zipped(value)]

    @functions.signature({"types": ["string", "null"]}, {"types": ["string"]})
    def _func_before(self, value: Any, mark: Any) -> Any:
        return value.partition(mark)[0] if isinstance(value, str) else None


_OPTIONS = jmespath.Options(custom_functions=_Functions())


USER_ROLES = ("user", "human")
ASSISTANT_ROLES = ("assistant", "ai", "model")


def last_message(messages: Any, roles: tuple[str, ...]) -> str | None:
    """Return the text of the last message of a role; a plain text is that message."""
    if isinstance(messages, str):
        return text(messages)
    if not isinstance(messages, list):
        return None
    for message in reversed(messages):
        if isinstance(message, list) and (found := last_message(message, roles)):
            return found
        if isinstance(message, dict) and str(message.get("role", message.get("type"))).lower() in roles:
            return text(message.get("content", message.get("parts")))
    return None


def _zipped(value: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the objects that parallel arrays of one object make; what is no array is in each of them."""
    arrays = {key: entry for key, entry in value.items() if isinstance(entry, list)}
    rest = {key: entry for key, entry in value.items() if key not in arrays}
    longest = max(map(len, arrays.values()), default=0)
    return [{**rest, **{key: array[at] for key, array in arrays.items() if at < len(array)}} for at in range(longest)]


def parsed_json(value: Any) -> Any:
    """Return the value a JSON text holds, or the text itself when it holds none."""
    if not isinstance(value, str):
        return value
    try:
        return orjson.loads(value)
    except orjson.JSONDecodeError:
        return value


@cache
def compile_path(written: str) -> Path:
    """Compile a path; raises BadInputError that quotes it and says what JMESPath objects to."""
    try:
        parsed = jmespath.compile(written)
    except JMESPathError as error:
        if _is_a_bare_name(written):
            return Path(written, _key_getter(written), frozenset({written}), (written,))
        raise BadInputError(f"the path {written!r} is not JMESPath: {_first_line(error)}") from error
    tree: dict[str, Any] = dict(parsed.parsed)
    chain = _chain_of(tree)
    keys = frozenset(_leading_keys(tree))
    return Path(written, _compiled(tree) or _searcher(parsed, keys), keys, chain)


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]


def _is_a_bare_name(written: str) -> bool:
    return all(char.isalnum() or char in " -_:/.$" for char in written)


def _searcher(parsed: Any, keys: frozenset[str]) -> Getter:
    def search(record: Any) -> Any:
        try:
            return parsed.search(_opened(record, keys), options=_OPTIONS)
        except (JMESPathError, *ODD_VALUE_ERRORS):  # jmespath compares a number with a text by Python's rules
            return None

    return search


def _opened(record: Any, keys: frozenset[str]) -> Any:
    """Return the record with the JSON texts under `keys` parsed, as dumps of databases hold them."""
    if type(record) is not dict:
        return record
    opened = {
        key: parsed_json(value)
        for key in keys
        if type(value := record.get(key)) is str and value[:1] in ("{", "[")  # plain words stay as they are
    }
    return {**record, **opened} if opened else record


def _chain_of(tree: dict[str, Any]) -> tuple[str, ...] | None:
    if tree["type"] == "field":
        return (tree["value"],)
    if tree["type"] == "subexpression":
        chains = [_chain_of(child) for child in tree["children"]]
        if all(chain is not None for chain in chains):
            return tuple(key for chain in chains if chain for key in chain)
    return None


def _compiled(tree: dict[str, Any]) -> Getter | None:
    """Return a closure for the subset of JMESPath that nearly every mapping uses, or None for the rest of it."""
    if (chain := _chain_of(tree)) is not None:
        return _key_getter(chain[0]) if len(chain) == 1 else _chain_getter(chain)
    if tree["type"] == "literal":
        constant = tree["value"]
        return lambda _record: constant
    parts = [_compiled(child) for child in tree["children"]]
    known = [part for part in parts if part is not None]
    if len(known) != len(parts):
        return None
    return _combined(tree, known)


def _combined(tree: dict[str, Any], parts: list[Getter]) -> Getter | None:
    kind = tree["type"]
    if kind == "or_expression":
        return _either(*parts)
    if kind == "comparator" and tree["value"] in ("eq", "ne"):
        return _comparison(*parts, wants_equal=tree["value"] == "eq")
    return None


def _either(left: Getter, right: Getter) -> Getter:
    def get(record: Any) -> Any:
        value = left(record)
        return right(record) if _is_false(value) else value

    return get


def holds(path: Path, record: Any) -> bool:
    """Whether a condition holds, as JMESPath sees it: null, false and what is empty do not, the number 0 does."""
    return not _is_false(path.get(record))


def _is_false(value: Any) -> bool:
    return value is None or value is False or (isinstance(value, (str, list, dict)) and not value)


def _comparison(left: Getter, right: Getter, *, wants_equal: bool) -> Getter:
    def get(record: Any) -> bool:
        a, b = left(record), right(record)
        return (a == b and isinstance(a, bool) == isinstance(b, bool)) is wants_equal

    return get


def _key_getter(key: str) -> Getter:
    def get(record: Any) -> Any:
        return record.get(key) if type(record) is dict else None

    return get


def _chain_getter(chain: tuple[str, ...]) -> Getter:
    flat = ".".join(chain)

    def get(record: Any) -> Any:
        if type(record) is dict and flat in record:
            return record[flat]
        for key in chain:
            if type(record) is str and record[:1] == "{":
                record = parsed_json(record)
            if type(record) is not dict:
                return None
            record = record.get(key)
        return record

    return get


def _has_chain(record: Any, chain: tuple[str, ...]) -> bool:
    if isinstance(record, dict) and ".".join(chain) in record:
        return True
    for key in chain:
        record = parsed_json(record)
        if not isinstance(record, dict) or key not in record:
            return False
        record = record[key]
    return True


def _leading_keys(tree: dict[str, Any]) -> Iterator[str]:
    if tree["type"] == "field":
        yield tree["value"]
    elif tree["type"] in ("subexpression", "index_expression", "projection", "filter_projection", "pipe"):
        yield from _leading_keys(tree["children"][0])
    else:
        for child in tree["children"]:
            if isinstance(child, dict):
                yield from _leading_keys(child)
