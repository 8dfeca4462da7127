"""Finds out from all values of a log whether its dates in numbers have the month first or the day."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ingest.adapters.base import Caution
from ingest.adapters.mapping_file import FieldSpec, MappingFile
from ingest.adapters.mapping_paths import compile_path
from ingest.reading.blocks import line_parts, read_part, whole_blocks
from ingest.reading.probing import Probe
from ingest.reading.unwrapping import Layers
from ingest.written_times import DateOrder, OrderSeen, order_seen

Place = tuple[str, str]
"""A section of a mapping, and a field in it."""
_OF_MESSAGES = frozenset({"user", "assistant"})
_TIMES = ("asked_at", "updated_at", "given_at")


class MappedFile(NamedTuple):
    """A file, the mapping that reads it, and what is around its records."""

    probe: Probe
    mapping: MappingFile
    layers: Layers


class DateOrders(NamedTuple):
    """A mapping that says the order of its dates, and a date of each field where nothing decides it."""

    mapping: MappingFile
    open: Mapping[str, str]

    def cautions(self) -> Iterator[Caution]:
        """Yield what to tell the user of each field that is left open."""
        for field, date in self.open.items():
            unsure = f"{field} has dates such as {date!r}, which may be read month first or day first; none decides"
            yield Caution("open_date_order", f"{unsure}, so month first: say `date_order: mdy` or `dmy` in the mapping")


def settled(mapping: MappingFile, files: Sequence[MappedFile]) -> DateOrders:
    """Return the mapping with the order of day and month that its files' dates tell.

    Files are read for it only when their first records hold dates that are possible both ways, and only up to the
    first date that is not.
    """
    fields = dict(_time_fields(mapping))
    said = {spec.path: spec.date_order for spec in fields.values() if spec.date_order != "auto"}
    mapping = _with_orders(mapping, {place: said[spec.path] for place, spec in fields.items() if spec.path in said})
    specs = {place: spec for place, spec in fields.items() if spec.path not in said}
    seen = {place: OrderSeen() for place in specs}
    for file in files:
        if undecided := [place for place in specs if seen[place].order == "auto"]:
            found = _seen_in(file, {place: specs[place] for place in undecided})
            seen |= {place: seen[place].plus(found[place]) for place in undecided}
    orders = {place: found.order for place, found in seen.items() if found.order != "auto"}
    still_open = {place[1]: found.either for place, found in seen.items() if found.is_open}
    return DateOrders(_with_orders(mapping, orders), still_open)


def _time_fields(mapping: MappingFile) -> Iterator[tuple[Place, FieldSpec]]:
    for section in ("interactions", "feedback"):
        for name in _TIMES:
            spec = getattr(getattr(mapping, section), name, None)
            if isinstance(spec, FieldSpec) and spec.path:
                yield (section, name), spec


def _seen_in(file: MappedFile, specs: Mapping[Place, FieldSpec]) -> dict[Place, OrderSeen]:
    """Return what the dates of one file tell: its first records, and where these leave it open, the others."""
    seen = {place: OrderSeen() for place in specs}
    waiting = list(specs)
    for values in _blocks(file):
        records = [value for value in values if isinstance(value, dict)]
        for place in waiting:
            seen[place] = seen[place].plus(order_seen(_values(file.mapping, specs[place].path, records)))
        waiting = [place for place in waiting if seen[place].is_open]
        if not waiting:
            break
    return seen


def _blocks(file: MappedFile) -> Iterator[list[Any]]:
    found = file.probe
    if file.layers.are_none:
        yield found.sample
    if found.container == "lines":
        for part in line_parts(found, layers=file.layers):
            yield read_part(part).block.values
    else:
        for block in whole_blocks(found, layers=file.layers):
            yield block.block.values


def _values(mapping: MappingFile, written: str, records: list[dict[str, Any]]) -> Iterator[Any]:
    """Yield the values of a path; in a log of messages, of a path below the two that a turn is made of."""
    path = compile_path(written)
    section = mapping.interactions
    if path.chain and path.chain[0] in _OF_MESSAGES and section is not None and (section.messages or section.turns):
        path = compile_path(".".join(path.chain[1:]))
        if section.turns is not None:
            talks = (compile_path(section.turns.list).get(record) for record in records)
            records = [message for talk in talks if isinstance(talk, list) for message in talk]
    yield from map(path.get, records)


def _with_orders(mapping: MappingFile, orders: Mapping[Place, DateOrder]) -> MappingFile:
    for (section, name), order in orders.items():
        part = getattr(mapping, section)
        spec = getattr(part, name).model_copy(update={"date_order": order})
        mapping = mapping.model_copy(update={section: part.model_copy(update={name: spec})})
    return mapping
