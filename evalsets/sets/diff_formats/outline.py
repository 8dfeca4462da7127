"""The outline of a difference that the text and Markdown renderings share: groups by mode, entries, detail lines."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from evalsets.eval_set import KnownFailing
from evalsets.items import Fact, Item, Mode
from evalsets.sets.diff import ItemChange, KnownFailingChange, RetiredChange, SetDiff
from evalsets.sets.word_diff import Part, Segment, word_diff

_TOLD_ELSEWHERE = frozenset(
    {"content_hash", "parent_hash", "version", "schema_link", "note", "frozen_at", "frozen_by", "signed_off_by"}
)
EXCERPT_LENGTH = 240


class Detail(NamedTuple):
    """One line under an entry."""

    label: str
    segments: tuple[Segment, ...]


class Entry(NamedTuple):
    """One item that came (+), went (-) or changed (~)."""

    sign: str
    item_id: str
    headline: str
    what: str
    details: tuple[Detail, ...]


class Group(NamedTuple):
    """The entries of one mode with the counts before and after."""

    mode: Mode
    before: int
    after: int
    entries: tuple[Entry, ...]


class Outline(NamedTuple):
    """A difference laid out for reading."""

    title: str
    summary: str
    note: str
    counts: tuple[Group, ...]
    known_failing: tuple[Entry, ...]
    set_details: tuple[Detail, ...]
    total_before: int
    total_after: int


def outline(change: SetDiff, chunk_texts: Mapping[str, str]) -> Outline:
    """Lay a difference out by mode; `chunk_texts` gives the text of gold chunks by id where it is known."""
    entries: dict[Mode, list[Entry]] = {mode: [] for mode in Mode}
    for mode, entry in _entries(change, chunk_texts):
        entries[mode].append(entry)
    return Outline(
        title=f"{change.name}: version {change.before_version} to {change.after_version}",
        summary=_summary(change),
        note=next((str(each.after) for each in change.header if each.field == "note"), ""),
        counts=tuple(
            Group(mode, change.modes_before[mode], change.modes_after[mode], tuple(entries[mode])) for mode in Mode
        ),
        known_failing=tuple(_known_failing_entry(each) for each in change.known_failing),
        set_details=tuple(_set_details(change)),
        total_before=sum(change.modes_before.values()),
        total_after=sum(change.modes_after.values()),
    )


def _summary(change: SetDiff) -> str:
    counts = change.kind_counts()
    if change.known_failing:
        counts["known failing"] = len(change.known_failing)
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "no case differs"


def _entries(change: SetDiff, chunk_texts: Mapping[str, str]) -> Iterator[tuple[Mode, Entry]]:
    returned = {each.id for each in change.retired if each.after is None}
    for item in change.added:
        what = "back in use" if item.id in returned else "added"
        yield item.mode, Entry("+", item.id, item.question, what, tuple(_describe(item, chunk_texts)))
    for each in change.changed:
        kinds = ", ".join(each.kinds)
        yield each.after.mode, Entry("~", each.after.id, each.after.question, kinds, tuple(_compare(each, chunk_texts)))
    for item in change.removed:
        retired = change.retirements.get(item.id)
        if retired is None:
            yield item.mode, Entry("-", item.id, item.question, "removed without being retired", ())
        else:
            by = f" by {retired.retired_by}" if retired.retired_by else ""
            reason = Detail("reason", (_same(f"{retired.reason} ({retired.retired_on}{by})"),))
            yield item.mode, Entry("-", item.id, item.question, "retired", (reason,))


def _same(text: str) -> Segment:
    return Segment(Part.SAME, text)


def _replaced(before: str, after: str) -> tuple[Segment, ...]:
    both = (Segment(Part.REMOVED, before), Segment(Part.ADDED, after))
    return tuple(segment for segment in both if segment.text)


def _describe(item: Item, chunk_texts: Mapping[str, str]) -> Iterator[Detail]:
    if item.expected:
        yield Detail("expected", (_same(item.expected),))
    for chunk_id in item.gold_chunk_ids:
        yield Detail("gold", (_same(_chunk_line(chunk_id, chunk_texts)),))
    for fact in item.answer_facts:
        yield Detail("fact", (_same(_fact_line(fact)),))
    for phrase in item.forbidden:
        yield Detail("must not say", (_same(phrase),))
    if item.tags:
        yield Detail("tags", (_same(", ".join(item.tags)),))


def _chunk_line(chunk_id: str, chunk_texts: Mapping[str, str]) -> str:
    text = " ".join(chunk_texts.get(chunk_id, "").split())
    excerpt = text if len(text) <= EXCERPT_LENGTH else text[: EXCERPT_LENGTH - 1] + "…"
    return f'{chunk_id}: "{excerpt}"' if excerpt else chunk_id


def _fact_line(fact: Fact) -> str:
    return " | ".join(fact)


def _compare(change: ItemChange, chunk_texts: Mapping[str, str]) -> Iterator[Detail]:
    before, after = change.before, change.after
    for field in sorted(change.fields, key=lambda name: name != "mode"):
        match field:
            case "question" | "expected" | "note":
                yield Detail(field, tuple(word_diff(getattr(before, field), getattr(after, field))))
            case "gold_chunk_ids":
                yield from _members(
                    "gold",
                    [_chunk_line(id_, chunk_texts) for id_ in before.gold_chunk_ids],
                    [_chunk_line(id_, chunk_texts) for id_ in after.gold_chunk_ids],
                )
            case "gold_chunks":
                yield from _gold_text_changes(change)
            case "answer_facts":
                yield from _members(
                    "fact", [_fact_line(f) for f in before.answer_facts], [_fact_line(f) for f in after.answer_facts]
                )
            case "forbidden":
                yield from _members("must not say", before.forbidden, after.forbidden)
            case "tags":
                yield from _members("tags", before.tags, after.tags)
            case _:
                yield Detail(
                    field.replace("_", " "), _replaced(_plain(getattr(before, field)), _plain(getattr(after, field)))
                )


def _members(label: str, before: tuple[str, ...] | list[str], after: tuple[str, ...] | list[str]) -> Iterator[Detail]:
    if sorted(before) == sorted(after):
        yield Detail(label, (_same("same entries in another order"),))
    for entry in before:
        if entry not in after:
            yield Detail(label, (Segment(Part.REMOVED, entry),))
    for entry in after:
        if entry not in before:
            yield Detail(label, (Segment(Part.ADDED, entry),))


def _gold_text_changes(change: ItemChange) -> Iterator[Detail]:
    before = {chunk.chunk_id: chunk for chunk in change.before.gold_chunks}
    for chunk in change.after.gold_chunks:
        old = before.get(chunk.chunk_id)
        if old is not None and old.text_hash != chunk.text_hash:
            what = f"{chunk.chunk_id}: its text is not the one it was labelled with before"
            yield Detail("gold", (_same(what),))
        elif old is not None and old != chunk:
            yield Detail("gold", (_same(f"{chunk.chunk_id}: document "), *_replaced(old.doc_id, chunk.doc_id)))


def _plain(value: object) -> str:
    if value is None or value in ((), ""):
        return ""
    if hasattr(value, "model_dump_json"):
        return str(value.model_dump_json(exclude_defaults=True))
    if isinstance(value, tuple):
        return ", ".join(_plain(entry) for entry in value)
    return str(value)


def _known_failing_entry(change: KnownFailingChange) -> Entry:
    sign = "+" if change.before is None else "-" if change.after is None else "~"
    now = change.after or change.before
    words = {"+": "now known to fail", "-": "no longer known to fail", "~": "changed"}
    details = (Detail("entry", _replaced(_failing_line(change.before), _failing_line(change.after))),)
    return Entry(sign, change.id, now.reason if now else "", words[sign], details)


def _failing_line(entry: KnownFailing | None) -> str:
    if entry is None:
        return ""
    return f"{entry.reason} (owner {entry.owner}, since {entry.since}, review by {entry.review_by})"


def _set_details(change: SetDiff) -> Iterator[Detail]:
    for each in change.header:
        if each.field not in _TOLD_ELSEWHERE:
            yield Detail(each.field.replace("_", " "), _replaced(_plain_header(each.before), _plain_header(each.after)))
    yield from (_retired_detail(each) for each in change.retired if each.before is not None)


def _retired_detail(change: RetiredChange) -> Detail:
    before, after = (entry.reason if entry else "" for entry in (change.before, change.after))
    what = "back in use" if change.after is None else "reason changed"
    return Detail(f"retired {change.id}", (_same(f"{what}: "), *_replaced(before, after)))


def _plain_header(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} = {value[key]}" for key in sorted(value))
    if hasattr(value, "count") and hasattr(value, "ids_hash"):
        return f"{value.count} held-out items, {value.content_hash}"  # type: ignore[attr-defined]  # a HoldoutSummary
    return _plain(value)
