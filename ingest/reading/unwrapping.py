"""Takes the records of a block out of what is around them: wrappers of log collectors, and envelopes."""

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from ingest.adapters.base import Caution, Reject
from ingest.reading.envelopes import records_at
from ingest.reading.parsing import Parsed, parse_line
from ingest.reading.split_lines import PIECE
from ingest.reading.wrappers import is_piece, line_of, opened
from ingest.staging import Block

RAW_KEPT = 1 << 16
"""So many bytes of a bad record are kept."""
NO_RECORD = "log text without a record"


class Layers(NamedTuple):
    """What is around the records of a file, from the outside in."""

    outer: str = ""
    """The key of a wrapper around the envelope."""
    records: str = ""
    """The place of the records in an envelope, as `ingest.reading.envelopes` names it."""
    unwrap: str = ""
    """The key of a wrapper around each record; of several wrappers, their keys joined by dots."""
    keep: frozenset[str] = frozenset()
    """Keys that a wrapper hands on to a record that has none of that name, such as the time."""

    @property
    def are_none(self) -> bool:
        """Whether the values of the file are the records."""
        return not (self.outer or self.records or self.unwrap)

    def __str__(self) -> str:
        """Say where the records stand, '' where they are the values of the file."""
        return " > ".join(filter(None, self[:3]))


class Account(NamedTuple):
    """What is said of the records of a block beside their values."""

    file: str
    skips: Counter[str]
    rejects: list[Reject]
    cautions: list[Caution]

    def note(self, parsed: Parsed, number: int, line: bytes, *, may_be_text: bool) -> None:
        """Say what was wrong with a line; log text between records is no fault."""
        if parsed.flaw:
            message = f"{parsed.flaw}: the character was replaced, the record is kept"
            self.cautions.append(Caution("mended_text", message, self.file, number))
        elif parsed.is_text and may_be_text:
            self.skips[NO_RECORD] += 1
        else:
            self.rejects.append(Reject(self.file, number, parsed.fault, line[:RAW_KEPT].decode("utf-8", "replace")))


def taken_out(layers: Layers, block: Block, account: Account) -> Block:
    """Return the records of a block of values."""
    if layers.outer:
        block = _unwrapped(layers.outer, layers.keep, block, account)
    if layers.records:
        block = _spread(layers.records, block)
    if layers.unwrap:
        block = _unwrapped(layers.unwrap, layers.keep, block, account)
    return block


def _spread(place: str, block: Block) -> Block:
    lines: list[int] = []
    values: list[Any] = []
    for line, value in zip(block.lines, block.values, strict=True):
        found = records_at(place, value)
        found = [value] if found is None else found
        values.extend(found)
        lines.extend([line] * len(found))
    return Block(block.file, lines, values, [None] * len(lines))


class _Opened(NamedTuple):
    """A record, and its text where it is one."""

    value: Any
    raw: bytes | None = None


def _unwrapped(chain: str, keep: frozenset[str], block: Block, account: Account) -> Block:
    lines: list[int] = []
    values: list[Any] = []
    raws: list[bytes | None] = []
    unfinished = _Unfinished()
    for line, wrapper in zip(block.lines, block.values, strict=True):
        steps = (chain,) if isinstance(wrapper, dict) and chain in wrapper else tuple(chain.split("."))
        for record in _opened(steps, wrapper, line, unfinished, account):
            value, raw = _below(steps[1:], record, keep - {*steps}), record.raw
            if value is None:
                account.skips[NO_RECORD] += 1
                continue
            kept = _handed_on(wrapper, value, keep - {*steps})
            lines.append(line)
            values.append(kept)
            raws.append(raw if kept is record.value else None)
    unfinished.tell(account)
    return Block(block.file, lines, values, raws)


def _opened(
    steps: tuple[str, ...], wrapper: Any, line: int, unfinished: "_Unfinished", account: Account
) -> Iterator[_Opened]:
    """Yield what the key of a wrapper holds, unless that is log text or a piece that goes on later."""
    inner = wrapper.get(steps[0]) if isinstance(wrapper, dict) else None
    if isinstance(inner, dict):
        yield _Opened(inner)
    elif not isinstance(inner, str):
        account.skips[NO_RECORD] += 1
    elif (whole := unfinished.ended(steps[0], wrapper, inner, line)) is None:
        account.skips[PIECE] += 1
    else:
        text = whole.encode("utf-8", "replace")
        parsed = parse_line(text)
        if parsed.fault or parsed.flaw:
            account.note(parsed, line, text, may_be_text=True)
        if not parsed.fault:
            yield _Opened(parsed.value, text)


def _below(steps: tuple[str, ...], record: _Opened, keep: frozenset[str]) -> Any:
    """Return what further wrappers in a record hold, None when they hold no object."""
    value = record.value
    for step in steps:
        inner = opened(value.get(step)) if isinstance(value, dict) else None
        if not isinstance(inner, dict):
            return None
        value = _handed_on(value, inner, keep)
    return value


def _handed_on(wrapper: dict[str, Any], record: Any, keep: frozenset[str]) -> Any:
    """Return a record with what its wrapper says under keys that it has not itself."""
    if not isinstance(record, dict):
        return record
    missing = {key: wrapper[key] for key in keep if key in wrapper and record.get(key) is None}
    return {**record, **missing} if missing else record


class _Unfinished:
    """Lines that are in pieces, by the stream they are of."""

    def __init__(self) -> None:
        self.begun: dict[tuple[str, str], tuple[int, str]] = {}

    def ended(self, key: str, wrapper: dict[str, Any], inner: str, line: int) -> str | None:
        """Return the line that ends here, None when it goes on later."""
        first, before = self.begun.pop(line_of(wrapper), (line, ""))
        if not is_piece(key, wrapper):
            return before + inner
        self.begun[line_of(wrapper)] = (first, before + inner)
        return None

    def tell(self, account: Account) -> None:
        """Reject what has no end."""
        for line, text in self.begun.values():
            account.skips[PIECE] -= 1
            account.rejects.append(Reject(account.file, line, "a line in pieces has no end", text[:RAW_KEPT]))
