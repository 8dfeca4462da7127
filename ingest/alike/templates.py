"""How spans of one shape are written: by which keys, in which order, and with which constant values."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from ingest.compiled.spans import COUNT, COUNT_TEXT, DECIMAL, ESCAPED_TEXT, HAS_END, HAS_NAME, HAS_PARENT, TEXT
from ingest.traces.dialects.openinference_shapes import Shape, shape_of

_KINDS = {
    spelled: kind for kind in ("chain", "agent", "llm", "retriever", "embedding") for spelled in (kind, kind.upper())
}
_TEXTS, _COUNTS = frozenset({TEXT, ESCAPED_TEXT}), frozenset({COUNT, COUNT_TEXT})
_NUMBERS = frozenset({DECIMAL, COUNT})
"""A number without a fraction may be written as either."""


class Template(NamedTuple):
    """Spans that are written alike; places are those of their attributes."""

    shape: Shape
    kind: str
    constants: dict[int, str]
    """Values that are the same in all."""
    has_parent: bool
    has_end: bool
    has_name: bool


def fixed_places(keys: list[str]) -> list[int] | None:
    """Return the places of the values that tell spans apart which have the same keys; None for what is not read."""
    shape = shape_of(tuple(keys))
    if shape is None or shape.metadata >= 0 or shape.tags >= 0:
        return None
    roles = [message.role for message in (*(shape.asked or ()), *(shape.replied or ()))]
    return [place for place in (shape.kind, *roles, shape.input_type, shape.output_type) if place >= 0]


def template_of(
    known: list[Template], keys: list[str], kinds: Sequence[int], fields: int, constants: dict[int, bytes]
) -> int:
    """Add to the known templates that of a span, and return its number; -1 for spans that are not read."""
    shape = shape_of(tuple(keys))
    if shape is None or not _TEXTS.issuperset(kinds[place] for place in constants):
        return -1
    try:
        texts = {place: str(msgspec.json.decode(b'"%b"' % text)) for place, text in constants.items()}
    except msgspec.DecodeError:
        return -1
    kind = _KINDS.get(texts[shape.kind])
    if kind is None or (kind == "llm" and shape.builds_prompt) or not _has_usual_values(shape, kinds):
        return -1
    has_parent, has_end, has_name = (bool(fields & mark) for mark in (HAS_PARENT, HAS_END, HAS_NAME))
    known.append(Template(shape, kind, texts, has_parent, has_end, has_name))
    return len(known) - 1


def _has_usual_values(shape: Shape, kinds: Sequence[int]) -> bool:
    """Return whether each attribute that is read has a value of the kind that it mostly has."""
    documents, messages = shape.documents or [], [*(shape.asked or ()), *(shape.replied or ())]
    texts = {shape.session, shape.user, shape.version, shape.input, shape.output, *shape.models}
    texts.update(message.content for message in messages)
    texts.update(at for found in documents for at in (found.chunk_id, found.content, found.metadata))
    numbers = {shape.cost, *(found.score for found in documents)}
    counts = {shape.tokens_in, shape.tokens_out}
    usual = (texts, _TEXTS), (numbers, _NUMBERS), (counts, _COUNTS)
    return all(kinds[place] in wanted for places, wanted in usual for place in places if place >= 0)
