"""Reads a time as people and programs write it, and tells in which order day and month stand."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from typing import Literal, NamedTuple

DateOrder = Literal["auto", "mdy", "dmy"]
_JS_DATE = re.compile(r"^[A-Z][a-z]{2} ([A-Z][a-z]{2} \d{1,2} \d{4} [\d:]{8}) GMT([+-]\d{4})")
_CLOCK = (
    r"(?:,?(?: @| at)?[ T\u00a0\u202f]+(?P<hour>\d{1,2}):(?P<minute>\d\d)"
    r"(?::(?P<second>\d\d)(?:[.,](?P<part>\d{1,9}))?)?"
    r"(?:[ \u00a0\u202f]?(?P<half>[AaPp])\.?[Mm]\.?)?)?"
    r"(?:[ \u00a0\u202f]?(?P<zone>UTC|GMT|Z|[+-]\d\d:?\d\d))?$"
)
_NUMBERS = re.compile(r"^(?P<one>\d{1,2})(?P<mark>[/.-])(?P<two>\d{1,2})(?P=mark)(?P<year>\d{4}|\d\d)" + _CLOCK)
_YEAR_FIRST = re.compile(r"^(?P<year>\d{4})[/.-](?P<month>\d{1,2})[/.-](?P<day>\d{1,2})" + _CLOCK)
_NAMED = re.compile(
    r"^(?:[A-Za-z]{3,9},? )?"
    r"(?:(?P<name>[A-Za-z]{3,9})\.? (?P<day>\d{1,2})|(?P<day2>\d{1,2})\.? (?P<name2>[A-Za-z]{3,9})\.?),?"
    r" (?P<year>\d{4})" + _CLOCK
)
_OFFSET_AND_NAME = re.compile(r" [+-]\d{4} UTC$")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LAST_MONTH = 12
_NOON = 12


def written_time(value: str, order: DateOrder = "auto") -> datetime:
    """Return the time a text spells, without a zone where it names none. Raises ValueError.

    Of a date in numbers that is possible both ways, `order` decides; auto: day first with dots, else month first.
    """
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        pass
    if script := _JS_DATE.match(value):
        return datetime.strptime(" ".join(script.groups()), "%b %d %Y %H:%M:%S %z")
    if _OFFSET_AND_NAME.search(value):  # as Go prints it
        value = value.removesuffix(" UTC")
    return _in_figures(value, order) or _named(value) or parsedate_to_datetime(value)


def _in_figures(value: str, order: DateOrder) -> datetime | None:
    if found := _NUMBERS.match(value):
        return _of_numbers(found, order)
    if found := _YEAR_FIRST.match(value):
        return _at(found, int(found["year"]), int(found["month"]), int(found["day"]))
    return None


def _named(value: str) -> datetime | None:
    found = _NAMED.match(value)
    name = (found["name"] or found["name2"])[:3].lower() if found else ""
    if found is None or name not in _MONTHS:
        return None
    return _at(found, int(found["year"]), _MONTHS.index(name) + 1, int(found["day"] or found["day2"]))


def _of_numbers(found: re.Match[str], order: DateOrder) -> datetime:
    one, two = int(found["one"]), int(found["two"])
    is_day_first = order == "dmy" or (order == "auto" and found["mark"] == ".")
    if one > _LAST_MONTH or two > _LAST_MONTH:
        is_day_first = one > _LAST_MONTH  # the other reading is no date
    day, month = (one, two) if is_day_first else (two, one)
    year = int(found["year"])
    return _at(found, year if len(found["year"]) > 2 else 2000 + year, month, day)  # noqa: PLR2004 - two digits


def _at(found: re.Match[str], year: int, month: int, day: int) -> datetime:
    hour = int(found["hour"] or 0)
    if half := found["half"]:
        if not 1 <= hour <= _NOON:
            raise ValueError(found[0])
        hour = hour % _NOON + (_NOON if half in "Pp" else 0)
    part = int((found["part"] or "0")[:6].ljust(6, "0"))
    return datetime(
        year, month, day, hour, int(found["minute"] or 0), int(found["second"] or 0), part, tzinfo=_zone(found["zone"])
    )


def _zone(written: str | None) -> timezone | None:
    if not written:
        return None
    if written[0] not in "+-":
        return UTC
    digits = written[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-offset if written[0] == "-" else offset)


class OrderSeen(NamedTuple):
    """What the dates of a column tell of the order of day and month."""

    day_first: bool = False
    """Whether some date is possible with the day first only."""
    month_first: bool = False
    either: str = ""
    """A date that is possible both ways, and differs."""

    def plus(self, other: "OrderSeen") -> "OrderSeen":
        """Add what further dates tell."""
        return OrderSeen(
            self.day_first or other.day_first, self.month_first or other.month_first, self.either or other.either
        )

    @property
    def order(self) -> DateOrder:
        """The order that the dates tell, auto when they tell none or both."""
        if self.day_first == self.month_first:
            return "auto"
        return "dmy" if self.day_first else "mdy"

    @property
    def is_open(self) -> bool:
        """Whether there are dates that are possible both ways, and none that decides."""
        return bool(self.either) and self.order == "auto"


def order_seen(values: Iterable[object]) -> OrderSeen:
    """Return what the dates among `values` tell; dates with dots have the day first and tell nothing."""
    day_first = month_first = False
    either = ""
    for value in values:
        found = _NUMBERS.match(value.strip()) if isinstance(value, str) else None
        if found is None or found["mark"] == ".":
            continue
        one, two = int(found["one"]), int(found["two"])
        day_first = day_first or one > _LAST_MONTH
        month_first = month_first or two > _LAST_MONTH
        either = either or (value if one != two and max(one, two) <= _LAST_MONTH and isinstance(value, str) else "")
    return OrderSeen(day_first, month_first, either)
