import json
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest
from pydantic_ai.models.test import TestModel

from curation_app.labels import DecisionKind, LabelContent, LabelEvent
from curation_app.review_items import Decision
from curation_app.review_queue import QueueFilter
from curation_app.service.cases import add_cases, read_cases
from curation_app.service.coding import code_uses, codes_by_mode, merge_codes, split_code
from curation_app.service.drafting import draft_answer, draft_questions
from curation_app.service.label_transfer import back_up, export_records, import_records
from curation_app.service.labelling import Desk, NeedsAWordError, facts_as_text, facts_from_text, open_desk
from curation_app.service.overview import progress_of
from curation_app.service.reviewing import agreement_report, disagreements, nominal_kappa, reading_pairs, settle
from curation_app.service.starting import make_workspace
from evalsets.errors import BadInputError, FaultsError
from evalsets.items import Author, GoldChunk, Mode, Source
from ingest.mining.candidates import Candidate

MakeCandidate = Callable[..., Candidate]
GOLD = (GoldChunk(chunk_id="kb-003#0", doc_id="kb-003"),)
MISS = LabelContent(mode=Mode.RETRIEVAL_MISS, gold_chunks=(GoldChunk(chunk_id="kb-009#0"),), expected="30 days")
GROUNDING = LabelContent(mode=Mode.GROUNDING_FAILURE, gold_chunks=GOLD, answer_facts=(("30 days",),))


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = open_desk(make_workspace(tmp_path / "workspace").workspace)
    chunks = [
        ("kb-003#0", "kb-003", 0, "Refunds for annual plans take 30 days."),
        ("kb-009#0", "kb-009", 0, "By mail."),
    ]
    with made.logs.unit() as connection:
        connection.executemany(
            "INSERT INTO corpus_chunks (chunk_id, doc_id, position, text, text_hash, added_at) "
            "VALUES (?, ?, ?, ?, '', now())",
            chunks,
        )
    made.refresh_corpus()
    return made


def say(desk: Desk, number: int, reviewer: str, content: LabelContent) -> None:
    item = desk.store.item(f"c{number:05d}", reviewer)
    kind = DecisionKind.LABEL if content.mode else DecisionKind.NOT_FAILURE
    desk.store.submit(Decision(item.candidate.candidate_id, reviewer, kind, content, item.token))


def test_facts_are_typed_one_a_line_with_alternatives_after_a_bar() -> None:
    facts = facts_from_text("30 days | one month\n\n  |\nby mail")
    assert facts == (("30 days", "one month"), ("by mail",))
    assert facts_from_text(facts_as_text(facts)) == facts


def test_gold_carries_document_and_text_hash_from_the_corpus(desk: Desk, make_candidate: MakeCandidate) -> None:
    desk.store.add_candidates([make_candidate(1)])
    item = desk.store.item("c00001", "ann")
    content = desk.toggled_gold(item, LabelContent(), "kb-003#0")
    assert content.gold_chunks[0].doc_id == "kb-003"
    assert content.gold_chunks[0].text_hash.startswith("sha256:")
    assert desk.toggled_gold(item, content, "kb-003#0").gold_chunks == ()


def test_a_chunk_is_found_by_its_id_first(desk: Desk) -> None:
    assert desk.search("kb-009#0")[0].chunk_id == "kb-009#0"


def test_a_label_against_the_evidence_asks_for_a_word(desk: Desk, make_candidate: MakeCandidate) -> None:
    desk.store.add_candidates([make_candidate(1)])
    item = desk.store.item("c00001", "ann")
    against = GROUNDING.model_copy(update={"mode": Mode.RETRIEVAL_MISS})
    with pytest.raises(NeedsAWordError, match="kb-003#0 was retrieved"):
        desk.decide(item, "ann", DecisionKind.LABEL, against, QueueFilter())
    with_note = against.model_copy(update={"note": "the index was down that day"})
    desk.decide(item, "ann", DecisionKind.LABEL, with_note, QueueFilter())
    assert len(desk.store.accepted_items()) == 1


def test_cases_of_a_file_are_labelled_when_complete_and_wait_otherwise(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "cases.csv"
    path.write_text(
        "question,expected,gold_chunk_ids,mode,answer_facts\n"
        '"refund, anual??",Within 30 days.,kb-003#0;kb-009#0,retrieval_miss,"[[""30 days"", ""a month""]]"\n'
        "no label yet,,,,\n",
        encoding="utf-8-sig",
    )
    cases = read_cases(path)
    assert add_cases(desk, cases, reviewer="ann") == (1, 1, 0)
    assert add_cases(desk, cases, reviewer="ann") == (0, 0, 2)
    (accepted,) = desk.store.accepted_items()
    assert accepted.item.question == "refund, anual??"
    assert accepted.item.source is Source.SUPPORT
    assert accepted.item.answer_facts == (("30 days", "a month"),)
    assert accepted.blockers == ()


def test_every_bad_case_is_named_with_its_line(desk: Desk, tmp_path: Path) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text('{"question": ""}\nnot json\n{"question": "x", "mode": "bad"}\n', encoding="utf-8")
    with pytest.raises(FaultsError) as caught:
        read_cases(path)
    assert [fault.split(":")[0] for fault in caught.value.faults] == ["line 1", "line 2", "line 3"]
    path.write_text('{"question": "x", "gold_chunk_ids": ["nowhere"]}\n', encoding="utf-8")
    with pytest.raises(FaultsError, match="'nowhere' is not in the corpus"):
        add_cases(desk, read_cases(path), reviewer="ann")


def test_model_drafted_questions_are_candidates_and_never_items(desk: Desk) -> None:
    answer = {
        "question": "how long?",
        "expected": "30 days",
        "facts": ["30 days"],
        "chunk_ids": ["kb-003#0", "made-up"],
    }
    model = TestModel(custom_output_args={"questions": [answer]})
    cases = draft_questions(desk, "kb-003", 1, model=model)
    assert cases[0].gold_chunk_ids == ("kb-003#0",)
    assert add_cases(desk, cases, reviewer="ann") == (0, 1, 0)
    assert desk.store.accepted_items() == []
    item = desk.store.next_item("ann")
    assert item is not None
    assert (item.draft.drafted_by, item.case_source) == ("model", Source.SYNTHETIC)


def test_a_drafted_answer_is_no_label_until_a_person_takes_it(desk: Desk, make_candidate: MakeCandidate) -> None:
    desk.store.add_candidates([make_candidate(1)])
    item = desk.store.item("c00001", "ann")
    model = TestModel(custom_output_args={"expected": "30 days", "facts": ["30 days"]})
    draft = draft_answer(desk, "how long?", ["kb-003#0"], model=model)
    drafted = GROUNDING.model_copy(update={"expected": draft.expected, "drafted_by": "some-model"})
    with pytest.raises(NeedsAWordError, match="some-model's draft"):
        desk.decide(item, "ann", DecisionKind.LABEL, drafted, QueueFilter())


def test_no_model_drafts_unless_one_is_configured(desk: Desk) -> None:
    with pytest.raises(BadInputError, match="set `draft_model`"):
        draft_answer(desk, "how long?", ["kb-003#0"])


def test_labels_exported_and_imported_elsewhere_are_the_same_twice_over(
    desk: Desk, tmp_path: Path, make_candidate: MakeCandidate
) -> None:
    desk.store.add_candidates([make_candidate(1), make_candidate(2, answer="lone \ud800")])
    say(desk, 1, "ann", GROUNDING)
    say(desk, 2, "ann", MISS)
    desk.store.undo("ann")
    lines = [json.dumps(record) for record in export_records(desk.store)]
    other = open_desk(make_workspace(tmp_path / "other").workspace)
    assert import_records(other.store, iter(lines), importer="ann") == (2, 3, 0)
    assert import_records(other.store, iter(lines), importer="ann") == (0, 0, 0)
    assert other.store.accepted_items() == desk.store.accepted_items()
    with pytest.raises(FaultsError, match="line 1: unknown record 'x'"):
        import_records(other.store, iter(['{"record": "x"}']), importer="ann")


def test_a_backup_opens_and_holds_every_event(desk: Desk, tmp_path: Path, make_candidate: MakeCandidate) -> None:
    desk.store.add_candidates([make_candidate(1)])
    say(desk, 1, "ann", GROUNDING)
    report = back_up(desk.workspace, desk.store, tmp_path / "backup.zip")
    with zipfile.ZipFile(report.path) as archive:
        archive.extractall(tmp_path / "restored")
    with duckdb.connect(str(tmp_path / "restored" / ".errata" / "review.duckdb")) as connection:
        assert connection.execute("SELECT count(*) FROM label_events").fetchall() == [(1,)]
    with pytest.raises(BadInputError, match="is there already"):
        back_up(desk.workspace, desk.store, tmp_path / "backup.zip")


def test_merging_and_splitting_codes_changes_how_labels_read_and_not_the_labels(
    desk: Desk, make_candidate: MakeCandidate
) -> None:
    desk.store.add_candidates([make_candidate(n) for n in (1, 2, 3)])
    for number, code in ((1, "old price"), (2, "outdated price"), (3, "outdated price")):
        say(desk, number, "ann", GROUNDING.model_copy(update={"sub_code": code}))
    merge_codes(desk.store, Mode.GROUNDING_FAILURE, "old price", "outdated price", reviewer="ann")
    assert codes_by_mode(desk.store) == {Mode.GROUNDING_FAILURE: ("outdated price",)}
    split_code(desk.store, Mode.GROUNDING_FAILURE, "outdated price", "wrong year", ["c00003"], reviewer="ann")
    uses = {use.code: len(use.examples) for use in code_uses(desk.store)}
    assert uses == {"outdated price": 2, "wrong year": 1}
    assert sorted(each.item.sub_code for each in desk.store.accepted_items()) == ["outdated price"] * 2 + ["wrong year"]
    assert desk.store.history("c00001")[0].content.sub_code == "old price"
    with pytest.raises(BadInputError, match="needs a name"):
        merge_codes(desk.store, Mode.GROUNDING_FAILURE, "old price", " ", reviewer="ann")


def test_agreement_is_told_by_mode_and_a_settled_disagreement_is_gone(
    desk: Desk, make_candidate: MakeCandidate
) -> None:
    desk.store.add_candidates([make_candidate(n) for n in range(4)])
    for number in range(4):
        say(desk, number, "ann", GROUNDING)
        say(desk, number, "bob", MISS if number == 3 else GROUNDING)
    pairs = reading_pairs(desk.store)
    report = agreement_report(pairs)
    assert (report.pairs, report.same_verdict) == (4, 3)
    assert report.confusion == (
        ("grounding_failure", "grounding_failure", 3),
        ("grounding_failure", "retrieval_miss", 1),
    )
    (found,) = disagreements(desk.store, pairs)
    assert settle(desk.store, found.pair, "cid", MISS.model_copy(update={"note": "the chunk came later"}))
    assert disagreements(desk.store, reading_pairs(desk.store)) == []
    assert desk.store.verdicts()["c00003"].decision.content.mode is Mode.RETRIEVAL_MISS


def test_kappa_over_categories_is_as_published() -> None:
    # Cohen 1960, table 1: observed 0.70 by proportions .44 .20 .06 on the diagonal, kappa 0.492.
    table = {("a", "a"): 88, ("a", "b"): 14, ("a", "c"): 18, ("b", "a"): 10, ("b", "b"): 40, ("b", "c"): 10}
    table |= {("c", "a"): 2, ("c", "b"): 6, ("c", "c"): 12}
    verdicts = [pair for pair, count in table.items() for _ in range(count)]
    assert nominal_kappa(verdicts) == pytest.approx(0.492, abs=0.001)
    assert nominal_kappa([("a", "a")]) is None


def event(seq: int, content: LabelContent, minute: int) -> LabelEvent:
    return LabelEvent(
        seq=seq,
        token=str(seq),
        candidate_id=str(seq),
        author=Author(name="ann"),
        kind=DecisionKind.LABEL,
        content=content,
        created_at=datetime(2026, 11, 3, 9, minute, tzinfo=UTC),
    )


def test_progress_tells_pace_and_when_nothing_new_has_shown_for_twenty_labels() -> None:
    labels = [event(number, MISS if number == 0 else GROUNDING, number * 2) for number in range(23)]
    progress = progress_of(labels, "ann", datetime(2026, 11, 3, 10, 0, tzinfo=UTC))
    assert progress.labelled_today == 23
    assert progress.per_hour == pytest.approx(30)
    assert progress.new_kinds == (2, 0, 0)
    assert (progress.labels_since_news, progress.may_stop) == (21, True)
