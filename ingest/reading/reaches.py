"""Gives the ways to reach the records of a file: through wrappers, envelopes, data frames and answers of log stores."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from ingest.reading.envelopes import Reading, each_of, readings
from ingest.reading.probing import Probe
from ingest.reading.unwrapping import Layers
from ingest.reading.wrappers import possible_wrappers, wrapper_of

_LOOKED_AT = 200


class Reach(NamedTuple):
    """What is around the records of a file on one way to them, and the first of them."""

    layers: Layers
    values: list[Any]
    is_usual: bool = True
    """Whether the place is one where records usually stand."""


def likely_reaches(found: Probe) -> Iterator[Reach]:
    """Yield the usual ways: data frames, then the plainest way, then lists inside its values."""
    inner = _inner(found)
    for reading in inner:
        if reading.is_frame:
            yield from _inside(found, reading)
    if found.is_large:
        for reading in inner:
            if (each := each_of(reading)) is not None:
                yield Reach(Layers(records=each.place), each.records[:_LOOKED_AT], is_usual=False)
            yield from _inside(found, reading)
    if found.wrapper is not None:
        yield Reach(Layers(unwrap=found.wrapper.key), found.wrapper.values)
    yield Reach(Layers(), found.sample)
    for reading in inner:
        if not reading.is_frame:
            yield from _inside(found, reading)


def possible_reaches(found: Probe) -> Iterator[Reach]:
    """Yield every way into objects, and texts that are objects, which stand in the file's values or in their lists."""
    for wrapper in possible_wrappers(found.sample):
        yield Reach(Layers(unwrap=wrapper.key), wrapper.values, is_usual=False)
    for reading in _inner(found):
        for wrapper in possible_wrappers(reading.records[:_LOOKED_AT]):
            yield Reach(_layers(found, reading, wrapper.key), wrapper.values, is_usual=False)


def _inner(found: Probe) -> list[Reading]:
    """Return the lists inside the first value that has any: the first page of a log may be empty."""
    if found.container not in ("lines", "documents"):
        return []
    return next((lists for value in found.values if (lists := list(readings(value)))), [])


def _inside(found: Probe, reading: Reading) -> Iterator[Reach]:
    records = reading.records[:_LOOKED_AT]
    wrapper = wrapper_of(records)
    if wrapper is not None:
        yield Reach(_layers(found, reading, wrapper.key), wrapper.values, reading.is_usual)
    yield Reach(_layers(found, reading), records, reading.is_usual)


def _layers(found: Probe, reading: Reading, unwrap: str = "") -> Layers:
    """Return the layers of records in a list: where a line is wrapped, its wrapper is around the envelope."""
    return Layers(found.unwrap, reading.place, unwrap)
