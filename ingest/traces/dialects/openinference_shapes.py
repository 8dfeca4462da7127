"""Where the attributes of OpenInference spans stand, looked for once for all spans that have the same keys."""

from functools import lru_cache
from typing import NamedTuple

from openinference.semconv.trace import RerankerAttributes, SpanAttributes

from ingest.traces.dialects import openinference as full
from ingest.traces.documents import FLAT_METADATA, place_of

_ABSENT = -1
_PLAIN_DOCUMENT = frozenset(full.PLAIN_DOCUMENT)
_MESSAGE_FIELDS = frozenset({"message.role", "message.content"})
_ELSEWHERE = (*full.OTHER_MARKS, RerankerAttributes.RERANKER_QUERY)
_GROUPS_ELSEWHERE = frozenset({*full.ANNOTATIONS, FLAT_METADATA})
"""Keys and groups of keys of spans that are left to the full reader."""
_MOST_SHAPES = 1 << 12
_Groups = dict[str, dict[int, dict[str, int]]]


class Message(NamedTuple):
    """The places of a message's parts."""

    role: int
    content: int


class Document(NamedTuple):
    """The places of a passage's parts, and its rank."""

    rank: int
    chunk_id: int
    content: int
    score: int
    metadata: int


class Shape(NamedTuple):
    """The place of each attribute among the keys of a span; -1 for what is not there."""

    keys: tuple[str, ...]
    kind: int
    session: int
    user: int
    version: int
    metadata: int
    tags: int
    input: int
    input_type: int
    output: int
    output_type: int
    tokens_in: int
    tokens_out: int
    cost: int
    models: list[int]
    builds_prompt: bool
    asked: list[Message] | None
    """The last one first; None when one is more than a role and a text."""
    replied: list[Message] | None
    documents: list[Document] | None
    """None unless the first is there and each has an id, a text, a score and metadata."""
    has_documents: bool


@lru_cache(maxsize=_MOST_SHAPES)
def shape_of(keys: tuple[str, ...]) -> Shape | None:
    """Return the shape of spans with these keys; None when they speak another dialect, or more than this one."""
    known = set(keys)
    if full.KIND not in known or len(known) < len(keys) or not known.isdisjoint(_ELSEWHERE):
        return None
    groups: _Groups = {}
    for at, key in enumerate(keys):
        if (place := place_of(key)) is not None:
            groups.setdefault(place.prefix, {}).setdefault(place.number, {})[place.rest] = at
    return _shape(keys, groups) if _GROUPS_ELSEWHERE.isdisjoint(groups) else None


def _shape(keys: tuple[str, ...], groups: _Groups) -> Shape:
    at = {key: place for place, key in enumerate(keys)}
    return Shape(
        keys,
        at[full.KIND],
        session=at.get(SpanAttributes.SESSION_ID, _ABSENT),
        user=at.get(SpanAttributes.USER_ID, _ABSENT),
        version=at.get(SpanAttributes.LLM_PROMPT_TEMPLATE_VERSION, _ABSENT),
        metadata=at.get(SpanAttributes.METADATA, _ABSENT),
        tags=at.get(SpanAttributes.TAG_TAGS, _ABSENT),
        input=at.get(full.INPUT, _ABSENT),
        input_type=at.get(SpanAttributes.INPUT_MIME_TYPE, _ABSENT),
        output=at.get(full.OUTPUT, _ABSENT),
        output_type=at.get(SpanAttributes.OUTPUT_MIME_TYPE, _ABSENT),
        tokens_in=at.get(SpanAttributes.LLM_TOKEN_COUNT_PROMPT, _ABSENT),
        tokens_out=at.get(SpanAttributes.LLM_TOKEN_COUNT_COMPLETION, _ABSENT),
        cost=at.get(full.COST, _ABSENT),
        models=[at[key] for key in full.MODEL_KEYS if key in at],
        builds_prompt=full.only_builds_prompt(at),
        asked=_messages(groups.get(full.ASKED, {})),
        replied=_messages(groups.get(full.REPLIED, {})),
        documents=_documents(groups.get(full.DOCUMENTS, {})),
        has_documents=full.DOCUMENTS in groups,
    )


def _messages(group: dict[int, dict[str, int]]) -> list[Message] | None:
    messages = [
        Message(fields.get("message.role", _ABSENT), fields.get("message.content", _ABSENT))
        for _, fields in sorted(group.items(), reverse=True)
    ]
    is_plain = all(_MESSAGE_FIELDS.issuperset(fields) for fields in group.values())
    return messages if is_plain else None


def _documents(group: dict[int, dict[str, int]]) -> list[Document] | None:
    if 0 not in group or any(fields.keys() != _PLAIN_DOCUMENT for fields in group.values()):
        return None
    return [Document(rank, *(fields[name] for name in full.PLAIN_DOCUMENT)) for rank, fields in sorted(group.items())]
