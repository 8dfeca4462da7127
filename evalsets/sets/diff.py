"""What changed between two eval sets, by meaning, such that applying the difference to the first gives the second."""

from enum import StrEnum
from typing import Any

from evalsets.errors import BadInputError
from evalsets.eval_set import EvalSet, KnownFailing, RetiredItem
from evalsets.items import Item, Mode, StrictModel

_BOOKKEEPING = "label_digest"
_BY_ITEM = frozenset({"items", "known_failing", "retired"})


class ChangeKind(StrEnum):
    """What a change of an item means to a reviewer."""

    RELABELLED = "relabelled"
    QUESTION = "question"
    GOLD = "gold"
    EXPECTED = "expected"
    FACTS = "facts"
    TAGS = "tags"
    SPLIT = "split"
    DETAILS = "details"


_KIND_OF_FIELD = {
    "mode": ChangeKind.RELABELLED,
    "question": ChangeKind.QUESTION,
    "gold_chunk_ids": ChangeKind.GOLD,
    "gold_chunks": ChangeKind.GOLD,
    "expected": ChangeKind.EXPECTED,
    "answer_facts": ChangeKind.FACTS,
    "forbidden": ChangeKind.FACTS,
    "tags": ChangeKind.TAGS,
    "language": ChangeKind.TAGS,
    "topic": ChangeKind.TAGS,
    "group": ChangeKind.TAGS,
    "sub_code": ChangeKind.TAGS,
    "split": ChangeKind.SPLIT,
}


class HeaderChange(StrictModel):
    """A field of the set itself that changed, such as its note or its version."""

    field: str
    before: Any
    after: Any


class ItemChange(StrictModel):
    """One item as it was and as it is."""

    before: Item
    after: Item

    @property
    def fields(self) -> tuple[str, ...]:
        """Return the names of the fields that differ, in the order of the model."""
        names = (name for name in Item.model_fields if name != _BOOKKEEPING)
        return tuple(name for name in names if getattr(self.before, name) != getattr(self.after, name))

    @property
    def kinds(self) -> tuple[ChangeKind, ...]:
        """Return what the change means, each meaning once, in a fixed order."""
        found = {_KIND_OF_FIELD.get(name, ChangeKind.DETAILS) for name in self.fields}
        return tuple(kind for kind in ChangeKind if kind in found)


class KnownFailingChange(StrictModel):
    """An entry of known_failing that came, went or changed."""

    id: str
    before: KnownFailing | None
    after: KnownFailing | None


class RetiredChange(StrictModel):
    """An entry of the retired items that came, went or changed."""

    id: str
    before: RetiredItem | None
    after: RetiredItem | None


class SetDiff(StrictModel):
    """All that differs between set `a` and set `b`; every tuple is in the order of the ids."""

    name: str
    before_version: int
    after_version: int
    header: tuple[HeaderChange, ...] = ()
    added: tuple[Item, ...] = ()
    removed: tuple[Item, ...] = ()
    """Items no longer in use, whether retired or gone."""
    changed: tuple[ItemChange, ...] = ()
    known_failing: tuple[KnownFailingChange, ...] = ()
    retired: tuple[RetiredChange, ...] = ()
    modes_before: dict[Mode, int]
    modes_after: dict[Mode, int]

    @property
    def is_empty(self) -> bool:
        """Whether the two sets are equal, hashes and notes included."""
        return not self.header and self.has_same_cases

    @property
    def has_same_cases(self) -> bool:
        """Whether no item, known failure or retirement differs."""
        return not (self.added or self.removed or self.changed or self.known_failing or self.retired)

    @property
    def retirements(self) -> dict[str, RetiredItem]:
        """Return the newly retired items by id."""
        return {change.id: change.after for change in self.retired if change.before is None and change.after}

    def kind_counts(self) -> dict[str, int]:
        """Count the changes by meaning; added, retired and removed count as meanings too; zeros are left out."""
        counts = {
            "added": len(self.added),
            "retired": len(self.retirements),
            "removed": sum(item.id not in self.retirements for item in self.removed),
        }
        counts |= {kind.value: sum(kind in change.kinds for change in self.changed) for kind in ChangeKind}
        return {name: count for name, count in counts.items() if count}


def diff(a: EvalSet, b: EvalSet) -> SetDiff:
    """Return what changed from `a` to `b`."""
    before, after = a.by_id, b.by_id
    return SetDiff(
        name=b.name,
        before_version=a.version,
        after_version=b.version,
        header=_header_changes(a, b),
        added=tuple(item for item in b.items if item.id not in before),
        removed=tuple(item for item in a.items if item.id not in after),
        changed=tuple(
            ItemChange(before=before[item.id], after=item)
            for item in b.items
            if item.id in before and before[item.id] != item
        ),
        known_failing=_known_failing_changes(a, b),
        retired=_retired_changes(a, b),
        modes_before=a.mode_counts(),
        modes_after=b.mode_counts(),
    )


def apply(change: SetDiff, a: EvalSet) -> EvalSet:
    """Return the set that `change` leads to from `a`; BadInputError when it was not made from `a`."""
    _require_fits(change, a)
    items = {item.id: item for item in a.items}
    items = {id_: item for id_, item in items.items() if id_ not in {gone.id for gone in change.removed}}
    items |= {item.id: item for item in change.added} | {each.after.id: each.after for each in change.changed}
    known = {entry.id: entry for entry in a.known_failing}
    retired = {entry.item.id: entry for entry in a.retired}
    known_after = {c.id: c.after for c in change.known_failing}
    retired_after = {c.id: c.after for c in change.retired}
    return a.changed(
        **{each.field: each.after for each in change.header},
        items=tuple(items.values()),
        known_failing=tuple(entry for entry in (known | known_after).values() if entry is not None),
        retired=tuple(entry for entry in (retired | retired_after).values() if entry is not None),
    )


def _require_fits(change: SetDiff, a: EvalSet) -> None:
    present = a.by_id
    expected = [*change.removed, *(each.before for each in change.changed)]
    strangers = [item.id for item in expected if present.get(item.id) != item]
    strangers += [item.id for item in change.added if item.id in present]
    if strangers:
        raise BadInputError(
            f"the difference was not made from {a.name!r} version {a.version}: {', '.join(map(repr, strangers[:5]))} "
            "are not as it expects. Apply it to the set it was made from."
        )


def _header_changes(a: EvalSet, b: EvalSet) -> tuple[HeaderChange, ...]:
    return tuple(
        HeaderChange(field=name, before=getattr(a, name), after=getattr(b, name))
        for name in EvalSet.model_fields
        if name not in _BY_ITEM and getattr(a, name) != getattr(b, name)
    )


def _known_failing_changes(a: EvalSet, b: EvalSet) -> tuple[KnownFailingChange, ...]:
    before = {entry.id: entry for entry in a.known_failing}
    after = {entry.id: entry for entry in b.known_failing}
    return tuple(
        KnownFailingChange(id=id_, before=before.get(id_), after=after.get(id_))
        for id_ in sorted(before.keys() | after.keys())
        if before.get(id_) != after.get(id_)
    )


def _retired_changes(a: EvalSet, b: EvalSet) -> tuple[RetiredChange, ...]:
    before = {entry.item.id: entry for entry in a.retired}
    after = {entry.item.id: entry for entry in b.retired}
    return tuple(
        RetiredChange(id=id_, before=before.get(id_), after=after.get(id_))
        for id_ in sorted(before.keys() | after.keys())
        if before.get(id_) != after.get(id_)
    )
