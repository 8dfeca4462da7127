"""Making the next version of a set: freezing accepted items, retiring, known failures, revising, restoring."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import orjson

from evalsets.chunks import Chunk
from evalsets.errors import BadInputError, FaultsError
from evalsets.eval_set import AllowedCheck, EvalSet, wire_item
from evalsets.items import Item, Split
from evalsets.near_duplicates import likes_among
from evalsets.sets.checks import CheckReport, Finding, check
from evalsets.sets.diff import SetDiff, diff
from evalsets.sets.folder import SetFolder
from evalsets.sets.gold_texts import texts_of, with_gold_hashes
from evalsets.sets.holdout import NO_HOLDOUT, HoldoutPlan, Parts, divide, unite, with_splits, without_holdout

_KEPT = ("added_on", "source", "sampling", "origin", "logged", "group", "topic")
"""Where a case comes from does not change when it is labelled again."""


class ChecksFailedError(FaultsError):
    """A set that may not be frozen because a check fails; `report` has every finding."""

    def __init__(self, report: CheckReport, held_out: frozenset[str] = frozenset()) -> None:
        """Name each finding that blocks, and the way past it; of a held-out item only that it is one."""
        self.report = report
        blocking = [f"[{finding.code}] {_shown(finding, held_out)}" for finding in report.blocking]
        super().__init__(
            f"{len(blocking)} failing check(s) keep {report.name!r} from being frozen. "
            "Mend them, or let one pass with --allow CODE --reason WHY:",
            blocking,
        )


def _shown(finding: Finding, held_out: frozenset[str]) -> str:
    return f"held-out item {finding.item_id!r}" if finding.item_id in held_out else finding.text


class FreezePlan(NamedTuple):
    """The next version as it would be frozen, for a person to look at first."""

    folder: SetFolder
    before: EvalSet
    after: EvalSet
    """The whole set, held-out items included."""
    change: SetDiff
    report: CheckReport
    texts: Mapping[str, str]
    parent: Parts | None
    still_retired: tuple[str, ...] = ()
    """Ids of accepted items that stay out because the set has retired them."""

    @property
    def is_new(self) -> bool:
        """Whether anything differs from the newest version."""
        return not self.change.has_same_cases or self.before.thresholds != self.after.thresholds or not self.parent

    @property
    def shown_change(self) -> SetDiff:
        """What a person may see of the change: nothing of the held-out items."""
        return diff(without_holdout(self.before), without_holdout(self.after))

    @property
    def held_out_ids(self) -> frozenset[str]:
        """Ids of the items that are held out."""
        return frozenset(item.id for item in self.after.items if item.split is Split.HOLDOUT)

    @property
    def is_blocked(self) -> bool:
        """Whether a check fails that nobody has allowed."""
        return bool(self.report.blocking)


class FreezeResult(NamedTuple):
    """What a freeze did; `is_new` is false when nothing had changed and nothing was written."""

    eval_set: EvalSet
    path: Path
    change: SetDiff
    report: CheckReport
    is_new: bool
    still_retired: tuple[str, ...] = ()


class Stamp(NamedTuple):
    """Who freezes, when, why, and what they let pass."""

    note: str
    frozen_by: str
    frozen_at: datetime | None = None
    signed_off_by: str = ""
    allow: tuple[AllowedCheck, ...] = ()
    thresholds: Mapping[str, float] | None = None
    """None: as before."""

    @property
    def moment(self) -> datetime:
        """The time of the freeze; now, when none was given."""
        return self.frozen_at or datetime.now(UTC)


def freeze(  # noqa: PLR0913  # one call for a program; the pages plan first
    folder: Path,
    items: Iterable[Item],
    *,
    note: str,
    frozen_by: str,
    frozen_at: datetime | None = None,
    signed_off_by: str = "",
    corpus: Mapping[str, Chunk] | None = None,
    allow: Sequence[AllowedCheck] = (),
    thresholds: Mapping[str, float] | None = None,
    holdout: HoldoutPlan = NO_HOLDOUT,
) -> FreezeResult:
    """Freeze accepted items, with all the set already has, as the next version in `folder` (evalsets/NAME).

    Raises ChecksFailedError while a check fails that is not in `allow`.
    """
    stamp = Stamp(note, frozen_by, frozen_at, signed_off_by, tuple(allow), thresholds)
    return publish(plan_freeze(folder, items, stamp, corpus=corpus, holdout=holdout))


def plan_freeze(
    folder: Path,
    items: Iterable[Item],
    stamp: Stamp,
    *,
    corpus: Mapping[str, Chunk] | None = None,
    holdout: HoldoutPlan = NO_HOLDOUT,
) -> FreezePlan:
    """Work out the next version and check it, writing nothing."""
    base = _base(SetFolder(folder, holdout.place))
    before = base.whole
    retired_ids = {entry.item.id for entry in before.retired}
    rows = list(items)
    merged = _merged(before, [item for item in rows if item.id not in retired_ids], corpus or {})
    still_retired = tuple(sorted(item.id for item in rows if item.id in retired_ids))
    after = before.changed(items=_split(before, merged, holdout))
    return _plan(base, after, stamp, corpus)._replace(still_retired=still_retired)


def publish(plan: FreezePlan) -> FreezeResult:
    """Write a planned version; ChecksFailedError while it is blocked. Nothing is written when nothing changed."""
    if not plan.after.items and not plan.after.retired:
        raise BadInputError(f"there is nothing to freeze in {plan.folder.name!r}; accept labels first.")
    if not plan.is_new:
        plan.folder.settle()
        return _result(plan, plan.folder.load_main(), is_new=False)
    if plan.is_blocked:
        raise ChecksFailedError(plan.report, plan.held_out_ids)
    parts = divide(plan.after, parent=plan.parent)
    plan.folder.publish(parts, plan.texts, parent=plan.parent.main if plan.parent else None)
    return _result(plan, parts.main, is_new=True)


def revise(
    folder: Path,
    change: Callable[[EvalSet], EvalSet],
    stamp: Stamp,
    *,
    corpus: Mapping[str, Chunk] | None = None,
    holdout_place: Path | None = None,
) -> FreezePlan:
    """Plan a version that `change` makes from the newest one, such as a retirement or a repair of gold."""
    target = SetFolder(folder, holdout_place)
    target.load_main()
    base = _base(target)
    return _plan(base, change(base.whole), stamp, corpus)


class _Base(NamedTuple):
    """The newest version, which the next one is made from."""

    folder: SetFolder
    parent: Parts | None
    whole: EvalSet


def _base(target: SetFolder) -> _Base:
    parent = target.load_parts() if target.newest_version() else None
    return _Base(target, parent, unite(parent) if parent else EvalSet(name=target.name))


def _plan(base: _Base, after: EvalSet, stamp: Stamp, corpus: Mapping[str, Chunk] | None) -> FreezePlan:
    target, parent, before = base
    texts = texts_of(after.items, corpus or {}, target.gold_texts())
    after = after.changed(
        schema_link=f"./{target.schema_path.name}",
        version=target.newest_version() + 1,
        parent_hash=parent.main.content_hash if parent else "",
        content_hash="",
        frozen_at=stamp.moment,
        frozen_by=stamp.frozen_by,
        signed_off_by=stamp.signed_off_by,
        note=stamp.note,
        allowed=stamp.allow,
        thresholds=before.thresholds if stamp.thresholds is None else dict(stamp.thresholds),
    )
    report = check(after, corpus=corpus, parent=before, texts=texts, today=stamp.moment.date())
    return FreezePlan(target, before, after, diff(before, after), report, texts, parent)


def _merged(before: EvalSet, incoming: Sequence[Item], corpus: Mapping[str, Chunk]) -> list[Item]:
    known = before.by_id
    rows = dict(known)
    for item in incoming:
        digest = label_digest(item)
        old = known.get(item.id)
        # A label that the set has seen brings no news: what was repaired in the set since then stays repaired.
        if old is None or old.label_digest != digest:
            rows[item.id] = _over(old, item, digest)
    return [with_gold_hashes(item, corpus) for item in rows.values()]


def _over(old: Item | None, item: Item, digest: str) -> Item:
    if old is None:
        return item.model_copy(update={"label_digest": digest})
    kept = {name: getattr(old, name) for name in _KEPT if getattr(old, name)}
    merged = item.model_copy(update=kept | {"split": old.split, "label_digest": digest})
    return old if merged.model_copy(update={"label_digest": old.label_digest}) == old else merged


def label_digest(item: Item) -> str:
    """Return 12 hex digits that tell one accepted label from another; what the set itself adds does not count."""
    wire = wire_item(item.model_copy(update={"split": None, "label_digest": ""}))
    return hashlib.sha256(orjson.dumps(wire, option=orjson.OPT_SORT_KEYS)).hexdigest()[:12]


def _split(before: EvalSet, items: Sequence[Item], plan: HoldoutPlan) -> tuple[Item, ...]:
    drawn = {entry.item.id: entry.item.split for entry in before.retired if entry.item.split}
    drawn |= {item.id: item.split for item in (*items, *before.items) if item.split}
    questions = {item.id: item.question for item in items} if plan.share > 0 else {}
    alike = likes_among(questions, settled=drawn.keys())
    return tuple(with_splits(items, drawn, plan, alike))


def _result(plan: FreezePlan, main: EvalSet, *, is_new: bool) -> FreezeResult:
    return FreezeResult(main, plan.folder.head_path, plan.shown_change, plan.report, is_new, plan.still_retired)
