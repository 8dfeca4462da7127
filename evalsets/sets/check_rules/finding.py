"""What a rule sees and what it finds."""

from collections.abc import Mapping
from datetime import date
from enum import StrEnum
from typing import NamedTuple

from evalsets.chunks import Chunk
from evalsets.eval_set import EvalSet
from evalsets.items import StrictModel


class Severity(StrEnum):
    """Whether a finding keeps a set from being frozen."""

    ERROR = "error"
    WARNING = "warning"


class Finding(StrictModel):
    """One thing that is wrong or weak; `code` is what `--allow` names, `item_id` is empty when it is about the set."""

    code: str
    severity: Severity
    item_id: str = ""
    message: str

    @property
    def text(self) -> str:
        """The finding as one line."""
        return f"item {self.item_id!r}: {self.message}" if self.item_id else self.message


def error(code: str, message: str, item_id: str = "") -> Finding:
    """Return a finding that keeps a set from being frozen."""
    return Finding(code=code, severity=Severity.ERROR, item_id=item_id, message=message)


def warning(code: str, message: str, item_id: str = "") -> Finding:
    """Return a finding that a person should know of."""
    return Finding(code=code, severity=Severity.WARNING, item_id=item_id, message=message)


class Context(NamedTuple):
    """What the rules look at."""

    eval_set: EvalSet
    corpus: Mapping[str, Chunk] | None
    """The gold chunks that the corpus holds, or all of it, by id; None: no corpus was given."""
    parent: EvalSet | None
    texts: Mapping[str, str]
    """Known texts of gold chunks by hash."""
    today: date
    tolerance: float
    """The fall that the gate lets pass, as a share."""
