"""What one block of a log became: columns ready for the store, and an account of everything else in it."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

import orjson

from evalsets.chunks import canonical_chunk_id, chunk_text_hash
from ingest.adapters.base import Caution, Outcome, Reject, Skip, Span
from ingest.interaction import FeedbackEvent, Interaction, RetrievedChunk

INTERACTION_COLUMNS = (
    "interaction_id",
    "source",
    "session_id",
    "user_id",
    "asked_at",
    "question",
    "answer",
    "model",
    "prompt_version",
    "latency_ms",
    "input_tokens",
    "output_tokens",
    "cost",
    "error",
    "stream_cut",
    "metadata",
    "version_ns",
    "cautions",
)
_PLAIN_COLUMNS = tuple(name for name in INTERACTION_COLUMNS if name not in {"metadata", "cautions"})
LINK_COLUMNS = ("row", "rank", "chunk_id", "doc_id", "text_hash", "score", "stage", "id_origin")
VOTE_FIELD = "feedback"
"""The name of a vote that stands in a field of the interaction itself."""


class Block(NamedTuple):
    """Records of one file, column-wise: a line number, a parsed value and (where at hand) the raw bytes of each."""

    file: str
    lines: list[int]
    values: list[Any]
    raws: Sequence[bytes | None]


class Rows(NamedTuple):
    """Records of a block that are still in play, with their places."""

    file: str
    lines: list[int]
    values: list[Any]
    raws: Sequence[bytes | None]

    @classmethod
    def of(cls, file: str, values: list[Any]) -> "Rows":
        """Return rows whose places are not known."""
        return cls(file, [0] * len(values), values, [None] * len(values))

    def only(self, keep: Sequence[bool]) -> "Rows":
        """Return the rows for which `keep` is true."""
        kept = [row for row, wanted in enumerate(keep) if wanted]
        lines = [self.lines[row] for row in kept]
        return Rows(self.file, lines, [self.values[row] for row in kept], [self.raws[row] for row in kept])

    def reject(self, row: int, reason: str) -> Reject:
        """Return what quarantine keeps of one row."""
        raw = self.raws[row]
        shown = raw.decode("utf-8", "replace") if raw is not None else as_json(self.values[row])
        return Reject(self.file, self.lines[row], reason, shown)


class Alias(NamedTuple):
    """Another native id of an interaction."""

    source: str
    alias: str
    interaction_id: str


@dataclass(slots=True)
class StagedRows:
    """Interactions with their links, votes and spans, column-wise, and what was skipped, rejected and cautioned."""

    columns: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in INTERACTION_COLUMNS})
    links: dict[str, list[Any]] = field(default_factory=lambda: {name: [] for name in LINK_COLUMNS})
    texts: dict[str, str] = field(default_factory=dict)
    """Chunk texts by the hash of the text as logged."""
    votes: list[FeedbackEvent] = field(default_factory=list)
    aliases: list[Alias] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    spans_redacted: int = 0
    """How many of the spans are redacted already."""
    skips: Counter[str] = field(default_factory=Counter)
    rejects: list[Reject] = field(default_factory=list)
    cautions: list[Caution] = field(default_factory=list)
    caution_counts: Counter[str] = field(default_factory=Counter)
    missing_paths: set[str] = field(default_factory=set)
    """Mapped paths that lead nowhere in any record of this block."""
    found_paths: set[str] = field(default_factory=set)
    read: int = 0
    quarantined: int = 0
    """How many of the records read the rejects stand for: one bad record may be rejected for several reasons."""
    lines: int = 0
    """Lines of the file this block covers, so that line numbers of later blocks can be set right."""
    redactions: Counter[str] = field(default_factory=Counter)

    @property
    def size(self) -> int:
        """How many interactions there are."""
        return len(self.columns["interaction_id"])

    def caution(self, code: str, message: str, *, file: str = "", line: int = 0, count: int = 1) -> None:
        """Count a caution, keeping the first message of its code."""
        if not self.caution_counts[code]:
            self.cautions.append(Caution(code, message, file, line))
        self.caution_counts[code] += count

    def take(self, outcome: Outcome) -> None:
        """Add one outcome of an adapter."""
        if isinstance(outcome, Interaction):
            self._take_interaction(outcome)
        elif isinstance(outcome, Span):
            self._take_span(outcome)
        elif isinstance(outcome, FeedbackEvent):
            self.votes.append(outcome)
        elif isinstance(outcome, Skip):
            self.skips[outcome.reason] += outcome.records
        elif isinstance(outcome, Reject):
            self.rejects.append(outcome)
        else:
            self.caution(outcome.code, outcome.message, file=outcome.file, line=outcome.line)

    def _take_span(self, span: Span) -> None:
        if span.texts:
            self.texts.update(span.texts)
        self.spans.append(span)

    def _take_interaction(self, made: Interaction) -> None:
        row = self.size
        columns = self.columns
        for name in _PLAIN_COLUMNS:
            columns[name].append(getattr(made, name))
        columns["metadata"].append(as_json(made.metadata) if made.metadata else None)
        columns["cautions"].append("\n".join(made.cautions) or None)
        for chunk in made.retrieved:
            self._take_chunk(row, chunk)
        self.aliases.extend(Alias(made.source, alias, made.interaction_id) for alias in made.aliases)
        if made.feedback is not None:
            self.votes.append(vote_in_record(made))

    def _take_chunk(self, row: int, chunk: RetrievedChunk) -> None:
        text_hash = chunk.text_hash
        if chunk.text:
            text_hash = chunk_text_hash(chunk.text)
            self.texts[text_hash] = chunk.text
        links = self.links
        links["row"].append(row)
        links["rank"].append(chunk.rank)
        links["chunk_id"].append(canonical_chunk_id(chunk.chunk_id))
        links["doc_id"].append(chunk.doc_id)
        links["text_hash"].append(text_hash)
        links["score"].append(chunk.score)
        links["stage"].append(chunk.stage)
        links["id_origin"].append(chunk.id_origin)

    def interactions(self) -> list[Interaction]:
        """Return the staged interactions as objects, for previews and single records."""
        chunks: dict[int, list[RetrievedChunk]] = {}
        for row, rank, chunk_id, doc_id, text_hash, score, stage, origin in zip(*self.links.values(), strict=True):
            text = self.texts.get(text_hash)
            chunks.setdefault(row, []).append(RetrievedChunk(chunk_id, text, doc_id, score, rank, stage, origin))
        return [
            Interaction(**_object_values(dict(zip(self.columns, values, strict=True))), retrieved=tuple(found))
            for row, values in enumerate(zip(*self.columns.values(), strict=True))
            for found in [chunks.get(row, [])]
        ]


def _object_values(values: dict[str, Any]) -> dict[str, Any]:
    values["metadata"] = orjson.loads(values["metadata"]) if values["metadata"] else None
    values["cautions"] = tuple(values["cautions"].split("\n")) if values["cautions"] else ()
    return values


def vote_in_record(made: Interaction) -> FeedbackEvent:
    """Return the vote that stands in a field of an interaction, as an event on it."""
    return FeedbackEvent(
        source=made.source,
        target_kind="interaction",
        target_id=made.interaction_id.removeprefix(f"{made.source}:"),
        name=VOTE_FIELD,
        value=declared_vote(made.feedback),
        comment=made.feedback_comment,
        given_at=made.asked_at,
        event_id=f"in-record:{made.interaction_id}",
    )


def declared_vote(vote: object) -> str | None:
    """Return a vote whose meaning is declared as the label that no scale needs to be inferred for."""
    if isinstance(vote, (int, float)):
        return "up" if vote > 0 else "down" if vote < 0 else "neutral"
    return None if vote is None else str(vote)


def as_json(value: Any) -> str:
    """Return any value of a log as JSON text; what JSON does not know is written as text."""
    options = orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY
    try:
        return orjson.dumps(value, default=str, option=options).decode()
    except (TypeError, orjson.JSONEncodeError):
        import json

        return json.dumps(value, default=str, ensure_ascii=True)


def stage_outcomes(outcomes: Iterable[Outcome]) -> StagedRows:
    """Collect the outcomes of an adapter."""
    rows = StagedRows()
    for outcome in outcomes:
        rows.take(outcome)
    return rows


def nanoseconds(at: datetime | None) -> int:
    """Return a time as nanoseconds since 1970, 0 for none; the order of two states of one interaction."""
    return 0 if at is None else int(at.timestamp() * 1_000_000) * 1000
