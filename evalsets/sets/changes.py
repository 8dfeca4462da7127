"""The changes a person makes to a set as a whole: retire, mark as known to fail, replace, restore."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date

from evalsets.errors import BadInputError
from evalsets.eval_set import EvalSet, KnownFailing, RetiredItem
from evalsets.items import Item

_PER_VERSION = ("version", "parent_hash", "content_hash", "frozen_at", "frozen_by", "signed_off_by", "note", "allowed")

SetChange = Callable[[EvalSet], EvalSet]


def retiring(entries: Mapping[str, str], *, by: str, on: date) -> SetChange:
    """Return the change that retires items: `entries` gives the reason by id."""

    def change(eval_set: EvalSet) -> EvalSet:
        _require_present(eval_set, entries)
        gone = tuple(
            RetiredItem(item=eval_set.by_id[id_], reason=reason, retired_on=on, retired_by=by)
            for id_, reason in entries.items()
        )
        return eval_set.changed(
            items=tuple(item for item in eval_set.items if item.id not in entries),
            known_failing=tuple(entry for entry in eval_set.known_failing if entry.id not in entries),
            retired=eval_set.retired + gone,
        )

    return change


def marking_known_failing(entries: Sequence[KnownFailing]) -> SetChange:
    """Return the change that moves items to known_failing, or replaces their entry there."""

    def change(eval_set: EvalSet) -> EvalSet:
        _require_present(eval_set, [entry.id for entry in entries])
        new = {entry.id: entry for entry in eval_set.known_failing} | {entry.id: entry for entry in entries}
        return eval_set.changed(known_failing=tuple(new.values()))

    return change


def clearing_known_failing(ids: Sequence[str]) -> SetChange:
    """Return the change that takes items out of known_failing, so that they gate again."""

    def change(eval_set: EvalSet) -> EvalSet:
        strangers = sorted(set(ids) - eval_set.known_failing_ids)
        if strangers:
            raise BadInputError(f"{', '.join(map(repr, strangers))}: not known to fail in {eval_set.name!r}.")
        return eval_set.changed(known_failing=tuple(e for e in eval_set.known_failing if e.id not in ids))

    return change


def replacing(items: Iterable[Item]) -> SetChange:
    """Return the change that puts items in place of those with the same ids."""
    new = {item.id: item for item in items}

    def change(eval_set: EvalSet) -> EvalSet:
        _require_present(eval_set, new)
        return eval_set.changed(items=tuple(new.get(item.id, item) for item in eval_set.items))

    return change


def restoring(old: EvalSet, *, by: str, on: date) -> SetChange:
    """Return the change that brings an old version back; what came after it is retired, not deleted."""

    def change(newest: EvalSet) -> EvalSet:
        reason = f"not in version {old.version}, which this version restores"
        known = {item.id for item in old.items} | {entry.item.id for entry in old.retired}
        later = tuple(
            RetiredItem(item=item, reason=reason, retired_on=on, retired_by=by)
            for item in newest.items
            if item.id not in known
        )
        later += tuple(entry for entry in newest.retired if entry.item.id not in known)
        per_version = {name: getattr(newest, name) for name in _PER_VERSION}
        return old.changed(**per_version, retired=old.retired + later, holdout=None)

    return change


def _require_present(eval_set: EvalSet, ids: Iterable[str]) -> None:
    strangers = sorted(set(ids) - eval_set.by_id.keys())
    if strangers:
        raise BadInputError(f"{', '.join(map(repr, strangers))}: no item in use of {eval_set.name!r}; see its file.")
