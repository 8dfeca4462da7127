"""Cases that come from elsewhere than the log: written by hand, imported, or drafted by a model for review."""

import csv
import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, Field, ValidationError

from curation_app.labels import DecisionKind, LabelContent, label_blockers
from curation_app.review_items import Decision
from curation_app.service.labelling import Desk
from evalsets.chunks import canonical_chunk_id, chunk_text_hash
from evalsets.errors import BadInputError, FaultsError
from evalsets.items import Fact, GoldChunk, Mode, Source, StrictModel
from evalsets.line_reading import numbered_lines
from ingest.mining.candidates import Candidate, CandidateTurn, SignalHit

_LIST_MARK = ";"


def _as_list(value: object) -> object:
    if not isinstance(value, str):
        return value or ()
    text = value.strip()
    if text.startswith("["):
        return json.loads(text)
    return tuple(part.strip() for part in text.split(_LIST_MARK) if part.strip())


def _or_none(value: object) -> object:
    return value or None


Listed = BeforeValidator(_as_list)


class Case(StrictModel):
    """One case as a person or a file gives it. In CSV, lists are set apart by semicolons or written as JSON."""

    question: str = Field(min_length=1)
    """In the user's own words."""
    expected: str = ""
    gold_chunk_ids: Annotated[tuple[str, ...], Listed] = ()
    mode: Annotated[Mode | None, BeforeValidator(_or_none)] = None
    answer_facts: Annotated[tuple[Fact, ...], Listed] = ()
    sub_code: str = ""
    tags: Annotated[tuple[str, ...], Listed] = ()
    note: str = ""
    source: Source = Source.SUPPORT
    drafted_by: str = ""
    """The model that drafted it; such a case is a candidate to review, never an item."""

    @property
    def candidate_id(self) -> str:
        """The same question is the same candidate, however often it is brought in."""
        folded = " ".join(self.question.split()).casefold()
        return "case-" + hashlib.sha256(folded.encode("utf-8", "surrogatepass")).hexdigest()[:24]


class CasesReport(NamedTuple):
    """What became of the cases: labelled at once, waiting for a label, or there already."""

    labelled: int
    to_label: int
    already_there: int


def read_cases(path: Path) -> list[Case]:
    """Read cases from CSV or JSONL; every bad line is named at once."""
    cases, faults = [], []
    for number, record in _records(path):
        try:
            cases.append(Case.model_validate(json.loads(record) if isinstance(record, str) else record))
        except (ValidationError, ValueError, TypeError) as error:
            faults += _faults(number, error)
    if faults:
        raise FaultsError(f"{path} has {len(faults)} fault(s), so nothing was imported:", faults)
    if not cases:
        raise BadInputError(f"{path} holds no case. Give one question a line: JSON, or CSV with a column `question`.")
    return cases


def add_cases(desk: Desk, cases: Sequence[Case], *, reviewer: str) -> CasesReport:
    """Add cases as candidates; a complete one by a person is labelled at once, in that person's name."""
    _check_gold(desk, cases)
    known = desk.store.known_ids([case.candidate_id for case in cases])
    new = list({case.candidate_id: case for case in cases if case.candidate_id not in known}.values())
    for source in Source:
        of_source = [_candidate(case) for case in new if case.source is source]
        desk.store.add_candidates(of_source, case_source=source, batch="cases")
    labelled = 0
    for case in new:
        content = label_content(desk, case)
        desk.store.save_shared_draft(case.candidate_id, content.model_dump(mode="json"))
        if is_complete(case, content):
            token = f"case-{case.candidate_id}"
            decision = Decision(case.candidate_id, reviewer, DecisionKind.LABEL, content, token)
            labelled += desk.store.submit(decision)
    return CasesReport(labelled, len(new) - labelled, len(cases) - len(new))


def is_complete(case: Case, content: LabelContent) -> bool:
    """Whether a case can be labelled as it stands: by a person, with all that its mode needs."""
    return case.source is not Source.SYNTHETIC and not case.drafted_by and not label_blockers(content)


def label_content(desk: Desk, case: Case) -> LabelContent:
    """Return the label that a case states."""
    return LabelContent(
        mode=case.mode,
        gold_chunks=tuple(_gold(desk, chunk_id) for chunk_id in case.gold_chunk_ids),
        expected=case.expected,
        answer_facts=case.answer_facts,
        sub_code=case.sub_code,
        tags=case.tags,
        note=case.note,
        drafted_by=case.drafted_by,
    )


def _gold(desk: Desk, chunk_id: str) -> GoldChunk:
    found = desk.corpus.get(chunk_id)
    if found is None:
        return GoldChunk(chunk_id=canonical_chunk_id(chunk_id))
    return GoldChunk(chunk_id=found.chunk_id, doc_id=found.doc_id, text_hash=chunk_text_hash(found.text))


def _check_gold(desk: Desk, cases: Iterable[Case]) -> None:
    desk.refresh_corpus()
    if not desk.corpus.count():
        return
    faults = [
        f"{case.question[:60]!r}: gold chunk {chunk_id!r} is not in the corpus"
        for case in cases
        for chunk_id in case.gold_chunk_ids
        if desk.corpus.get(chunk_id) is None
    ]
    if faults:
        raise FaultsError("gold chunks are missing; load them with `errata corpus add`, or correct the ids:", faults)


def _candidate(case: Case) -> Candidate:
    by_whom = f"drafted by {case.drafted_by}" if case.drafted_by else "written by hand"
    return Candidate(
        candidate_id=case.candidate_id,
        interaction_id=case.candidate_id,
        source="cases",
        signals=(SignalHit(signal="by_hand", score=1.0, reason=f"{by_whom}, source {case.source.value}"),),
        priority=1.0,
        sampling_signal="by_hand",
        inclusion_probability=1.0,
        turns=(CandidateTurn(interaction_id=case.candidate_id, question=case.question),),
    )


def _records(path: Path) -> Iterator[tuple[int, str | dict[str, Any]]]:
    if not path.is_file():
        raise BadInputError(f"no file {str(path)!r}")
    if path.suffix.lower() == ".csv":
        yield from _csv_records(path)
        return
    yield from numbered_lines(path.read_text(encoding="utf-8-sig"))


def _csv_records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    csv.field_size_limit(50_000_000)
    with path.open(encoding="utf-8-sig", newline="") as lines:
        reader = csv.DictReader(lines)
        for row in reader:
            filled = {key: value for key, value in row.items() if key is not None and value not in (None, "")}
            yield reader.line_num, filled


def _faults(number: int, error: Exception) -> list[str]:
    if not isinstance(error, ValidationError):
        return [f"line {number}: {'not JSON: ' if isinstance(error, json.JSONDecodeError) else ''}{error}"]
    return [
        f"line {number}: {'.'.join(map(str, fault['loc'])) or 'case'} = {fault['input']!r}: {fault['msg']}"
        for fault in error.errors()
    ]
