"""The models of an eval set: its items in use, what is retired, what is known to fail, and its lineage."""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, date, datetime
from functools import cached_property
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, FiniteFloat

from evalsets.items import Item, Mode, Split, StrictModel

SCHEMA_VERSION = 1


class KnownFailing(StrictModel):
    """An item that is known to fail: it still runs, is reported apart and does not gate."""

    id: str = Field(min_length=1)
    reason: str = Field(min_length=1)
    owner: str = Field(min_length=1)
    since: date
    review_by: date


class RetiredItem(StrictModel):
    """An item taken out of use, kept whole with the reason; items are never deleted."""

    item: Item
    reason: str = Field(min_length=1)
    retired_on: date
    retired_by: str = ""


class AllowedCheck(StrictModel):
    """A failing check that a person let pass for one version, and why."""

    code: str = Field(min_length=1)
    reason: str = Field(min_length=1)
    allowed_by: str = ""


class HoldoutSummary(StrictModel):
    """What the main file says of the held-out items: how many, a hash of their ids, and their file's hash."""

    count: int = Field(ge=0)
    ids_hash: str
    content_hash: str


def _to_utc_seconds(moment: datetime) -> datetime:
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return aware.astimezone(UTC).replace(microsecond=0)


UtcSeconds = Annotated[datetime, AfterValidator(_to_utc_seconds)]
Items = Annotated[tuple[Item, ...], AfterValidator(lambda items: tuple(sorted(items, key=lambda item: item.id)))]
KnownFailures = Annotated[
    tuple[KnownFailing, ...], AfterValidator(lambda all_: tuple(sorted(all_, key=lambda k: k.id)))
]
RetiredItems = Annotated[
    tuple[RetiredItem, ...], AfterValidator(lambda all_: tuple(sorted(all_, key=lambda r: r.item.id)))
]


class EvalSet(StrictModel):
    """One version of an eval set. Items are held in the order of their ids, so two sets compare by content."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    schema_link: str = Field("", alias="$schema")
    schema_version: Literal[1] = 1
    name: str = Field(min_length=1)
    part: Split = Split.DEV
    """`holdout` marks the separate file of the held-out items."""
    version: int = Field(0, ge=0)
    """0: never frozen."""
    parent_hash: str = ""
    content_hash: str = ""
    frozen_at: UtcSeconds | None = None
    frozen_by: str = ""
    signed_off_by: str = ""
    note: str = ""
    thresholds: dict[str, FiniteFloat] = Field(default_factory=dict)
    allowed: tuple[AllowedCheck, ...] = ()
    holdout: HoldoutSummary | None = None
    known_failing: KnownFailures = ()
    retired: RetiredItems = ()
    items: Items = ()

    @cached_property
    def by_id(self) -> dict[str, Item]:
        """Return the items in use by id."""
        return {item.id: item for item in self.items}

    @cached_property
    def known_failing_ids(self) -> frozenset[str]:
        """Return the ids of the items that are known to fail."""
        return frozenset(entry.id for entry in self.known_failing)

    def mode_counts(self) -> dict[Mode, int]:
        """Count the items in use by mode; every mode is a key."""
        counts = Counter(item.mode for item in self.items)
        return {mode: counts[mode] for mode in Mode}

    def changed(self, **fields: Any) -> "EvalSet":
        """Return the set with some fields replaced, in order again and with nothing cached from before."""
        return EvalSet.model_validate({name: getattr(self, name) for name in EvalSet.model_fields} | fields)

    def model_copy(self, *, update: Mapping[str, Any] | None = None, deep: bool = False) -> "EvalSet":
        """Do as `changed`: a plain copy would carry cached look-ups that no longer fit."""
        return super().model_copy(deep=True).changed(**(update or {})) if deep else self.changed(**(update or {}))


def wire_item(item: Item) -> dict[str, Any]:
    """Return one item as JSON-ready values: the essential fields always, the others when they say something."""
    wire: dict[str, Any] = item.model_dump(mode="json", exclude_defaults=True)
    complete_item(wire)
    return wire


def complete_item(wire: dict[str, Any]) -> None:
    """Give an item's JSON-ready values the essential fields that are left out where they say nothing."""
    wire.setdefault("gold_chunk_ids", [])
    wire.setdefault("expected", "")
