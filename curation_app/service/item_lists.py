"""Which items of a run a person looks at, and how to go from one to the next."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from evalsets.report import ItemResult

SHOWN_CHOICES = ("all", "failed", "not scored")
_AMONG = "among_"


class ItemFilter(NamedTuple):
    """What narrows the table of items; the same names stand in the address of a page."""

    items: str = SHOWN_CHOICES[0]
    """One of SHOWN_CHOICES."""
    mode: str = ""
    words: str = ""
    """In the id, the question or the answer, in any case."""

    def matches(self, item: ItemResult) -> bool:
        """Whether an item is shown."""
        if self.items == "failed" and (item.passed or not item.is_scored):
            return False
        if self.items == "not scored" and item.is_scored:
            return False
        if self.mode and item.mode != self.mode:
            return False
        return self.words.casefold() in f"{item.id} {item.question} {item.answer or ''}".casefold()

    def query(self) -> dict[str, str]:
        """Return what the address of the Scores page needs to say the same."""
        given = {"items": "" if self.items == SHOWN_CHOICES[0] else self.items, "mode": self.mode, "words": self.words}
        return {name: value for name, value in given.items() if value}


class ItemAddress(NamedTuple):
    """Which item of which run is read, and among which others; all of it stands in the page's address."""

    run_id: str
    item_id: str
    filters: ItemFilter = ItemFilter()

    def query(self) -> dict[str, str]:
        """Return the names and values of the address; no name is one that a field of the Scores page is bound to."""
        among = {f"{_AMONG}{name}": value for name, value in self.filters.query().items()}
        return {"of_run": self.run_id, "item": self.item_id, **among}


class Neighbours(NamedTuple):
    """Where an item stands among those that are shown; ids are empty at either end."""

    before: str
    after: str
    place: int
    """From 1; 0 when the filter leaves the item out."""
    total: int


def address_of(query: Mapping[str, str]) -> ItemAddress:
    """Return what an address names."""
    shown, mode, words = (query.get(f"{_AMONG}{name}", "") for name in ItemFilter._fields)
    filters = ItemFilter(shown if shown in SHOWN_CHOICES else SHOWN_CHOICES[0], mode, words)
    return ItemAddress(query.get("of_run", ""), query.get("item", ""), filters)


def chosen_items(items: Sequence[ItemResult], filters: ItemFilter) -> list[ItemResult]:
    """Return the items that are shown, in the order of the set."""
    return [item for item in items if filters.matches(item)]


def neighbours(items: Sequence[ItemResult], address: ItemAddress) -> Neighbours:
    """Return what comes before and after an item among those shown."""
    ids = [item.id for item in chosen_items(items, address.filters)]
    if address.item_id not in ids:
        return Neighbours("", ids[0] if ids else "", 0, len(ids))
    at = ids.index(address.item_id)
    return Neighbours(ids[at - 1] if at else "", ids[at + 1] if at + 1 < len(ids) else "", at + 1, len(ids))
