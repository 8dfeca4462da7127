"""Normalises one block of mapped records column by column, and takes out the rows that do not fit, with reasons."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ingest.adapters.mapping_chunks import MappedChunks
from ingest.adapters.mapping_file import NUMBER_FIELDS, TEXT_FIELDS, FieldSpec, InteractionsSection
from ingest.adapters.mapping_paths import compile_path
from ingest.adapters.mapping_values import MS_IN, field_values, note_naive_times, vote_values
from ingest.interaction import FeedbackEvent
from ingest.normalising import Column, instant_column, integer_column, number_column, text_column, zone_named
from ingest.staging import VOTE_FIELD, Alias, Rows, StagedRows, as_json, nanoseconds


class MappedColumns:
    """The columns of one block; faults and skips are noted by row and taken out together at the end."""

    def __init__(self, source: str, section: InteractionsSection, rows: Rows, out: StagedRows) -> None:
        """Read nothing yet; `stage` does."""
        self.source, self.section, self.rows, self.out = source, section, rows, out
        self.faults: dict[int, list[str]] = {}
        self.skipped: dict[int, str] = {}
        self.columns: dict[str, list[Any]] = {}

    def __len__(self) -> int:
        return len(self.rows.values)

    def stage(self) -> None:
        """Add the rows to what is staged: interactions, links, votes, aliases, and rejects with their reasons."""
        self.columns = {name: self._texts(name) for name in TEXT_FIELDS}
        self.columns |= {name: self._numbers(name) for name in NUMBER_FIELDS}
        self.columns["asked_at"] = self._times("asked_at")
        self.columns["version_ns"] = list(map(nanoseconds, self._times("updated_at")))
        self.columns["stream_cut"] = [value in (True, 1, "true", "True") for value in self._raw("stream_cut")]
        self._require_questions()
        native = self._native_ids()
        chunks = MappedChunks(self.section.retrieved, self.rows.values, self.faults, self.out)
        self.columns["metadata"] = self._metadata()
        self.columns["source"] = [self.source] * len(self)
        self.columns["cautions"] = [None] * len(self)
        self.columns["interaction_id"] = [f"{self.source}:{key}" for key in native]
        self._account()
        self._emit(native, chunks)

    def _spec(self, name: str) -> FieldSpec | None:
        spec: FieldSpec | None = getattr(self.section, name)
        return spec

    def _raw(self, name: str) -> list[Any]:
        return field_values(self._spec(name), self.rows.values, self.out)

    def _texts(self, name: str) -> list[str | None]:
        return text_column(self._raw(name))

    def _numbers(self, name: str) -> list[Any]:
        spec = self._spec(name)
        if spec is None:
            return [None] * len(self)
        if spec.start:
            return self._durations(spec)
        parse: Callable[[Sequence[Any], str], Column] = integer_column if name.endswith("tokens") else number_column
        parsed = parse(self._raw(name), name)
        self._note_faults(parsed.faults)
        if name == "latency_ms" and (factor := MS_IN.get(spec.unit)):
            return [None if value is None else value * factor for value in parsed.values]
        return parsed.values

    def _durations(self, spec: FieldSpec) -> list[float | None]:
        ends = []
        for path in (spec.start, spec.end):
            values = field_values(FieldSpec(path=path), self.rows.values, self.out)
            zone = zone_named(spec.timezone)
            parsed = instant_column(values, "latency_ms", unit=spec.unit, zone=zone, date_order=spec.date_order)
            self._note_faults(parsed.faults)
            ends.append(parsed.values)
        return [(b - a).total_seconds() * 1000 if a and b else None for a, b in zip(*ends, strict=True)]

    def _times(self, name: str) -> list[Any]:
        spec = self._spec(name)
        if spec is None:
            return [None] * len(self)
        zone = zone_named(spec.timezone)
        parsed = instant_column(self._raw(name), name, unit=spec.unit, zone=zone, date_order=spec.date_order)
        self._note_faults(parsed.faults)
        if "timezone" not in spec.model_fields_set:
            note_naive_times(self.out, name, self.rows.file, parsed.naive)
        return parsed.values

    def _note_faults(self, faults: dict[int, str]) -> None:
        for row, reason in faults.items():
            self.faults.setdefault(row, []).append(reason)

    def _require_questions(self) -> None:
        if None not in self.columns["question"]:
            return
        triples = zip(*(self.columns[name] for name in ("question", "answer", "error")), strict=True)
        for row, (question, answer, error) in enumerate(triples):
            if question is None and answer is None and error is None:
                self.skipped[row] = "no question and no answer"
            elif question is None:
                self._note_faults({row: f"no question: {self.section.question.path!r} is missing or empty"})

    def _native_ids(self) -> list[str]:
        spec = self._spec("id")
        if spec is None:
            return self._derived_ids()
        ids = text_column(self._raw("id"))
        if None in ids:
            missing = f"no id: {spec.path!r} is missing"
            absent = (row for row, value in enumerate(ids) if value is None and row not in self.skipped)
            self._note_faults(dict.fromkeys(absent, missing))
        return [value or "" for value in ids]

    def _derived_ids(self) -> list[str]:
        sessions, times = self.columns["session_id"], self.columns["asked_at"]
        if self.section.turns is not None and None not in sessions:
            parts = zip(sessions, self.rows.values, self.columns["question"], strict=True)
            # The question tells a conversation logged anew as it grows from another one of the same session.
            return [f"{session}#{row['turn']}-{_digest(str(question))[:8]}" for session, row, question in parts]
        return derived_ids(sessions, times, self.columns["question"])

    def _metadata(self) -> list[str | None]:
        if self.section.metadata == "none":
            return [None] * len(self)
        mapped = mapped_keys(self.section)
        return [_rest(record, mapped) for record in self.rows.values]

    def _account(self) -> None:
        for row, reason in self.skipped.items():
            if row not in self.faults and self.section.turns is None:
                self.out.skips[reason] += 1
        for row, reasons in self.faults.items():
            reject = self.rows.reject(row, "; ".join(dict.fromkeys(reasons)))
            self.out.rejects.append(reject._replace(user_id=self.columns["user_id"][row]))

    def _emit(self, native: list[str], chunks: MappedChunks) -> None:
        first = self.out.size
        bad = self.faults.keys() | self.skipped.keys()
        kept = [row for row in range(len(self)) if row not in bad] if bad else range(len(self))
        for name, column in self.out.columns.items():
            values = self.columns[name]
            column.extend([values[row] for row in kept] if bad else values)
        chunks.emit({row: first + place for place, row in enumerate(kept)} if bad or first else None, self.out)
        self._emit_votes(native, kept)
        self._emit_aliases(native, kept)

    def _emit_votes(self, native: list[str], kept: Sequence[int]) -> None:
        if self.section.feedback is None:
            return
        votes = vote_values(self.section.feedback, self.rows.values, self.out)
        comments = self._texts("feedback_comment")
        for row in kept:
            if votes[row] is not None:
                self.out.votes.append(self._vote(native[row], votes[row], comments[row], row))

    def _vote(self, native: str, value: Any, comment: str | None, row: int) -> FeedbackEvent:
        return FeedbackEvent(
            source=self.source,
            target_kind="interaction",
            target_id=native,
            name=VOTE_FIELD,
            value=value if isinstance(value, (bool, int, float)) else str(value),
            comment=comment,
            given_at=self.columns["asked_at"][row],
            event_id=f"in-record:{self.source}:{native}",
        )

    def _emit_aliases(self, native: list[str], kept: Sequence[int]) -> None:
        for path in self.section.aliases:
            names = text_column(field_values(FieldSpec(path=path), self.rows.values, self.out))
            self.out.aliases.extend(
                Alias(self.source, name, f"{self.source}:{native[row]}")
                for row in kept
                if (name := names[row]) is not None and name != native[row]
            )


def _rest(record: dict[str, Any], mapped: frozenset[str]) -> str | None:
    if record.keys() <= mapped:
        return None
    rest = {key: value for key, value in record.items() if key not in mapped and value is not None}
    return as_json(rest) if rest else None


def mapped_keys(section: InteractionsSection) -> frozenset[str]:
    """Return the top-level keys that some path reads, which metadata then need not repeat."""
    specs = section.fields().values()
    written = [path for spec in specs for path in (spec.path, spec.start, spec.end) if path]
    keys: set[str] = {"document", "user", "assistant", "turn", "rows", "events", "_place"}
    if section.turns is not None:
        keys |= compile_path(section.turns.list).top_keys
    if section.retrieved is not None:
        shape = section.retrieved
        own = (shape.chunk_id, shape.doc_id, shape.text, shape.score) if not shape.list else (shape.list,)
        written.extend(path for path in own if path)
    return frozenset(keys.union(*(compile_path(path).top_keys for path in written)))


def derived_ids(sessions: Iterable[Any], times: Iterable[Any], questions: Iterable[Any]) -> list[str]:
    """Return ids for records that have none: hashes of session, time and question."""
    parts = zip(sessions, times, questions, strict=True)
    return ["derived-" + _digest(f"{session}\x1f{at}\x1f{question}") for session, at, question in parts]


def _digest(written: str) -> str:
    return hashlib.blake2b(written.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
