"""What an engine must do to run the signals: keep the result of a SELECT under a name, with values bound."""

import re
from collections.abc import Mapping
from typing import Any, Protocol

Value = str | float | int | bool

_PLACE = re.compile(r"(?<![:\w]):([a-z_]+)")


class SignalEngine(Protocol):
    """DuckDB on one machine, or Spark on many; both read the same SQL."""

    def keep(self, name: str, select: str, values: Mapping[str, Value]) -> None:
        """Run `select` and keep its rows as the table `name`; `:word` in it stands for `values["word"]`."""
        ...

    def rows(self, select: str) -> list[tuple[Any, ...]]:
        """Return the few rows of `select`."""
        ...


def bound_values(select: str, values: Mapping[str, Value]) -> dict[str, Value]:
    """Return those of `values` that `select` has a place for."""
    return {name: values[name] for name in sorted(set(_PLACE.findall(select)))}


def with_dollar_places(select: str) -> str:
    """Return `select` with DuckDB's `$word` for `:word`."""
    return _PLACE.sub(r"$\1", select)
