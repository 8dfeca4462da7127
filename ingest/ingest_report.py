"""What an ingest says it did: every record read is accounted for as made into something, skipped or quarantined."""

from collections import Counter
from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict

from ingest.adapters.base import Caution, Reject

PATH_MISSING = "path_missing:"
"""With what the code of a caution about a mapped path begins."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class FileAccount(_Model):
    """What one file held."""

    file: str
    format: str = ""
    layout: str = ""
    size: int = 0
    """Bytes of the file as it is."""
    read: int = 0
    skipped: dict[str, int] = {}
    quarantined: int = 0
    interactions: int = 0
    """Interactions its records were made into; spans are put together later, over all files."""
    is_unchanged: bool = False
    """The same bytes were read the same way before, so that nothing had to be read again."""
    note: str = ""

    @property
    def made(self) -> int:
        """How many records were made into something."""
        return self.read - sum(self.skipped.values()) - self.quarantined


class InteractionCounts(_Model):
    """What became of the interactions."""

    new: int = 0
    changed: int = 0
    unchanged: int = 0
    older: int = 0
    """Older states of what was there in a newer one."""
    repeated: int = 0
    """Further states of an interaction in one go."""
    forgotten: int = 0
    """Left out because they were forgotten on purpose."""

    def plus(self, other: "InteractionCounts") -> "InteractionCounts":
        """Return the sums."""
        return InteractionCounts(**{name: getattr(self, name) + count for name, count in other})


class FeedbackCounts(_Model):
    """What became of the votes."""

    new: int = 0
    bound: int = 0
    unbound: int = 0


class CautionAccount(_Model):
    """A caution, how often it came and where first."""

    code: str
    message: str
    count: int = 1
    file: str = ""
    line: int = 0


class RejectAccount(_Model):
    """A quarantined record."""

    file: str
    line: int
    reason: str
    raw: str = ""


class IngestReport(_Model):
    """The account of one ingest; `read` = `made` + `skipped_total` + `quarantined`."""

    ingest_id: int = 0
    files: list[FileAccount] = []
    read: int = 0
    made: int = 0
    """Records that became interactions, votes or spans, or part of one."""
    skipped: dict[str, int] = {}
    skipped_total: int = 0
    quarantined: int = 0
    interactions: InteractionCounts = InteractionCounts()
    feedback: FeedbackCounts = FeedbackCounts()
    spans_new: int = 0
    traces_skipped: dict[str, int] = {}
    """Traces that hold no interaction, by reason."""
    cautions: list[CautionAccount] = []
    rejects: list[RejectAccount] = []
    """The first of the quarantined records."""
    redactions: dict[str, int] = {}
    seconds: float = 0.0
    stored: int = 0
    """Interactions in the store after it."""

    def warnings(self) -> list[str]:
        """Return the cautions as lines to show; mapped paths that lead nowhere are named in one."""
        lost = [path for caution in self.cautions if (path := caution.code.partition(PATH_MISSING)[2])]
        lines = [
            caution.message + (f" ({caution.count:,} times)" if caution.count > 1 else "")
            for caution in self.cautions
            if not caution.code.startswith(PATH_MISSING)
        ]
        if lost:
            named = ", ".join(map(repr, lost))
            lines.append(
                f"mapped paths that lead nowhere in any record of a file: {named}; --strict makes this an error"
            )
        return lines

    def summary(self) -> str:
        """Return the report in one line."""
        made = self.interactions
        return (
            f"read {self.read} records of {len(self.files)} files: {made.new} interactions new, {made.changed} changed,"
            f" {made.unchanged} unchanged; {self.skipped_total} skipped, {self.quarantined} quarantined"
        )


class ReportTally:
    """Gathers a report while files are read."""

    REJECTS_SHOWN = 50

    def __init__(self) -> None:
        """Start with nothing read."""
        self.files: list[FileAccount] = []
        self.rejects: list[Reject] = []
        self.cautions: dict[str, CautionAccount] = {}
        self.redactions: Counter[str] = Counter()
        self.traces_skipped: Counter[str] = Counter()

    def caution(self, caution: Caution, count: int = 1) -> None:
        """Count a caution, keeping the first message and place of its code."""
        known = self.cautions.get(caution.code)
        if known is None:
            self.cautions[caution.code] = CautionAccount(**caution._asdict(), count=count)
        else:
            known.count += count

    def take_cautions(self, cautions: Iterable[Caution]) -> None:
        """Count cautions one by one."""
        for caution in cautions:
            self.caution(caution)

    def caution_text(self, code: str, message: str, *, file: str = "") -> None:
        """Count a caution given by its words."""
        self.caution(Caution(code, message, file))

    def report(self) -> IngestReport:
        """Return the report of what was gathered; counts of the store are the caller's to add."""
        skipped: Counter[str] = Counter()
        for account in self.files:
            skipped.update(account.skipped)
        return IngestReport(
            files=self.files,
            read=sum(account.read for account in self.files),
            made=sum(account.made for account in self.files),
            skipped=dict(skipped),
            skipped_total=sum(skipped.values()),
            quarantined=sum(account.quarantined for account in self.files),
            cautions=list(self.cautions.values()),
            rejects=[
                RejectAccount(file=r.file, line=r.line, reason=r.reason, raw=r.raw[:2000])
                for r in self.rejects[: self.REJECTS_SHOWN]
            ],
            redactions=dict(self.redactions),
            traces_skipped=dict(self.traces_skipped),
        )
