"""The held-out part of a set: which items it gets, the file they live in, and the ledger of looks at it."""

import hashlib
import hmac
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from evalsets.errors import BadInputError
from evalsets.eval_set import EvalSet, HoldoutSummary
from evalsets.items import Item, Split


class HoldoutPlan(NamedTuple):
    """How held-out items are drawn and where they are kept."""

    share: float = 0.0
    """Chance in [0, 1) that a new item is held out."""
    key: bytes = b""
    """Secret key of the draw, so that nobody steers an item by the choice of its id."""
    place: Path | None = None
    """File, or folder, outside or inside the repository; None: beside the set."""


NO_HOLDOUT = HoldoutPlan()


def holdout_file(folder: Path, place: Path | None) -> Path:
    """Return the file of the held-out items of the set in `folder`."""
    if place is None:
        return folder / f"{folder.name}.holdout.json"
    return place if place.suffix == ".json" else place / f"{folder.name}.holdout.json"


def holdout_version_file(holdout: Path, version: int) -> Path:
    """Return the frozen copy of the held-out items at one version, beside their file."""
    return holdout.parent / f"{holdout.name.removesuffix('.json')}.versions" / f"{version:04d}.json"


def draw_split(unit: str, plan: HoldoutPlan) -> Split:
    """Draw the split of a group, or of an item that is in none, by HMAC-SHA256 of its name; nothing else decides it."""
    if plan.share <= 0:
        return Split.DEV
    if not plan.key:
        raise BadInputError(f"a holdout share of {plan.share} needs a key to draw with; set ERRATA_HOLDOUT_KEY.")
    digest = hmac.new(plan.key, unit.encode(), hashlib.sha256).digest()
    return Split.HOLDOUT if int.from_bytes(digest[:8], "big") / 2**64 < plan.share else Split.DEV


def with_splits(
    items: Iterable[Item], drawn: Mapping[str, Split], plan: HoldoutPlan, alike: Mapping[str, str] | None = None
) -> list[Item]:
    """Give each item its split: the one drawn before (`drawn`, by id), else its group's or its like's, else a new draw.

    `alike` maps the id of a new item to the id of one that asks nearly the same, so that the two stay together.
    """
    rows = list(items)
    by_group = {item.group: drawn[item.id] for item in rows if item.group and item.id in drawn}
    known = dict(drawn)
    for item in rows:
        like = known.get((alike or {}).get(item.id, ""))
        split = known.get(item.id) or (by_group.get(item.group) if item.group else None) or like
        known[item.id] = split or draw_split(item.group or item.id, plan)
        if item.group:
            by_group.setdefault(item.group, known[item.id])
    return [
        item if item.split is known[item.id] else item.model_copy(update={"split": known[item.id]}) for item in rows
    ]


class Parts(NamedTuple):
    """A set as its two files: the main one and, when anything is held out, the other."""

    main: EvalSet
    holdout: EvalSet | None


def divide(whole: EvalSet, *, parent: Parts | None) -> Parts:
    """Part a set into its main and its held-out file, each sealed and linked to its parent.

    The main part says how many items are held out and hashes them; it never names them.
    """
    from evalsets.sets.file import sealed

    held_ids = {item.id for item in whole.items if item.split is Split.HOLDOUT}
    held_ids |= {entry.item.id for entry in whole.retired if entry.item.split is Split.HOLDOUT}
    main_parent, held_parent = parent or (None, None)
    held = None
    if held_ids:
        kept = _only(whole, held_ids, keep=True)
        held = sealed(kept.changed(part=Split.HOLDOUT, parent_hash=_hash_of(held_parent), thresholds={}, allowed=()))
    main = _only(whole, held_ids, keep=False).changed(
        parent_hash=_hash_of(main_parent), holdout=summary(held) if held else None
    )
    return Parts(sealed(main), held)


def unite(parts: Parts) -> EvalSet:
    """Return the whole set from its two parts; BadInputError when they do not belong together."""
    main, held = parts
    if main.holdout is None:
        return main
    if held is None:
        raise BadInputError(
            f"{main.name!r} has {main.holdout.count} held-out item(s) in a file of their own; name it with --holdout."
        )
    if summary(held) != main.holdout:
        raise BadInputError(
            f"the held-out file is not the one that {main.name!r} version {main.version} was frozen with: "
            f"it hashes to {held.content_hash!r}, expected {main.holdout.content_hash!r}."
        )
    return main.changed(
        items=main.items + held.items,
        retired=main.retired + held.retired,
        known_failing=main.known_failing + held.known_failing,
        holdout=None,
    )


def without_holdout(whole: EvalSet) -> EvalSet:
    """Return the set without its held-out items, for people and pages."""
    held = {item.id for item in whole.items if item.split is Split.HOLDOUT}
    held |= {entry.item.id for entry in whole.retired if entry.item.split is Split.HOLDOUT}
    return whole if not held else _only(whole, held, keep=False).changed(content_hash=whole.content_hash)


def summary(held: EvalSet) -> HoldoutSummary:
    """Return what the main file may say of the held-out items."""
    ids = sorted(item.id for item in held.items) + sorted(entry.item.id for entry in held.retired)
    digest = hashlib.sha256("\n".join(ids).encode()).hexdigest()
    return HoldoutSummary(count=len(held.items), ids_hash=f"sha256:{digest}", content_hash=held.content_hash)


def _only(whole: EvalSet, ids: set[str], *, keep: bool) -> EvalSet:
    return whole.changed(
        items=tuple(item for item in whole.items if (item.id in ids) is keep),
        retired=tuple(entry for entry in whole.retired if (entry.item.id in ids) is keep),
        known_failing=tuple(entry for entry in whole.known_failing if (entry.id in ids) is keep),
        content_hash="",
    )


def _hash_of(parent: EvalSet | None) -> str:
    return parent.content_hash if parent else ""
