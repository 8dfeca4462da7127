"""The attributes of spans that have the same keys, as columns of texts and numbers."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Protocol

from ingest.traces.dialects.openinference_shapes import Shape
from ingest.traces.dialects.values import name_in
from ingest.traces.numbers import decimal, whole
from ingest.traces.texts import SPACES, UNPLAIN_STARTS

_EXACT = 1 << 53
_MOST_NAMES = 1 << 14
Texts = list[str | None]


class Value(Protocol):
    """The value of an attribute; at most one of these is set."""

    string_value: str | None
    int_value: str | int | None
    double_value: float | None

    def plain(self) -> Any:
        """Return the value, whatever it is."""


class Attribute(Protocol):
    """An attribute of a span."""

    @property
    def value(self) -> Value | None:
        """Its value, if it has any."""


class Unusual(Exception):  # noqa: N818 - no error: the full reader takes over
    """A value is not of the usual kind."""


class AttributeColumns:
    """The attributes of spans of one shape, one list a key; a place of -1 is of no key."""

    def __init__(self, shape: Shape, attributes: Sequence[Sequence[Attribute]], names: list[str]) -> None:
        self.shape, self.span_names, self.size = shape, names, len(names)
        self._rows = attributes
        self._columns: list[tuple[Any, ...]] = list(zip(*attributes, strict=True))
        self.nothing: list[Any] = [None] * self.size

    def texts(self, at: int) -> list[str]:
        """Return the texts at a place; raises Unusual when one is of another kind."""
        try:
            found = [attribute.value.string_value for attribute in self._columns[at]]
        except AttributeError:
            raise Unusual from None
        if None in found:
            raise Unusual
        return found

    def names(self, at: int) -> Texts:
        """Return what the texts at a place name."""
        if at < 0:
            return self.nothing
        return [
            text if text[:1] not in UNPLAIN_STARTS and text[-1:] not in SPACES else _known_name(text)
            for text in self.texts(at)
        ]

    def counts(self, at: int) -> Sequence[int | None]:
        """Return whole numbers, spelled in any way."""
        if at < 0:
            return self.nothing
        values = [attribute.value for attribute in self._columns[at]]
        written = [value and value.int_value for value in values]
        try:
            found = list(map(int, written))
        except (TypeError, ValueError):  # none at all, or no number
            return [whole(value and value.plain()) for value in values]
        return found if min(found) > -_EXACT and max(found) < _EXACT else list(map(whole, found))

    def numbers(self, at: int) -> Sequence[float | None]:
        """Return numbers, spelled in any way."""
        if at < 0:
            return self.nothing
        values = [attribute.value for attribute in self._columns[at]]
        found = [value and value.double_value for value in values]
        return [decimal(value and value.plain()) for value in values] if None in found else found

    def tags(self) -> list[Any]:
        """Return the tags of each span."""
        return [attribute.value and attribute.value.plain() for attribute in self._columns[self.shape.tags]]

    def all_of(self, row: int) -> dict[str, Any]:
        """Return all attributes of one span as plain values."""
        pairs = zip(self.shape.keys, self._rows[row], strict=True)
        return {key: attribute.value and attribute.value.plain() for key, attribute in pairs}


@lru_cache(maxsize=_MOST_NAMES)
def _known_name(text: str) -> str | None:
    return name_in({"": text}, ("",))
