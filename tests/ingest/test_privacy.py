"""Nothing personal is stored: placeholders in every text field, salted hashes for users, and forgetting."""

import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from evalsets.errors import BadInputError
from ingest import file_reading
from ingest.adapters.mapping_file import MappingFile, parse_mapping
from ingest.forgetting import forget_before, forget_user
from ingest.loading import ingest
from ingest.log_store import LogStore
from ingest.privacy import Redactor, workspace_salt
from ingest.retrying import retry_rejects
from ingest.settings import PrivacySettings
from ingest.spans.rows import unpacked
from tests.ingest.ingest_support import TABLES, rows, write_lines

PERSONAL = {
    "mail jane.doe+x@example.co.uk now": "EMAIL",
    "ring +49 30 1234567 please": "PHONE",
    "ring (555) 010-9999": "PHONE",
    "card 4111 1111 1111 1111": "CARD",
    "card 4111111111111111.": "CARD",
    "IBAN DE89 3704 0044 0532 0130 00": "ACCOUNT",
    "my account number is 12345678": "ACCOUNT",
    "from 192.168.0.17 today": "IP",
    "from 2001:db8::17 today": "IP",
    "key sk-proj-abcdefghijklmnop1234567890": "SECRET",
    "Authorization: Bearer abcdefghijklmnop.1234": "SECRET",
    "password: hunter2xyz": "SECRET",
    "https://user:pa55word@host/x": "SECRET",
    "AKIAIOSFODNN7EXAMPLE": "SECRET",
    "SG.abcdefghijklmnopqrstuv.abcdefghijklmnopqrstuvwxyz0123456789": "SECRET",
    "whsec_abcdefghijklmnopqrstuvwxyz123456": "SECRET",
    "AccountKey=abcdefghijklmnopqrstuvwxyz0123456789==": "SECRET",
    "npm_abcdefghijklmnopqrstuvwxyz0123456789": "SECRET",
    "from fe80::1ff:fe23:4567:890a today": "IP",
    "0170/1234567": "PHONE",
    "0041 44 668 18 00": "PHONE",
    "415-555-2671": "PHONE",
    "6123 4567": "PHONE",
    "378282246310005": "CARD",
    "3782 822463 10005": "CARD",
}
HARMLESS = [
    "on 2026-11-02 08:59:30.123456+00:00, at 12:30:45",
    "a total of 1.234.567 or 12,345,678 or 10 000 000",
    "request req-0000-1234567 at 1793609970123",
    "version 2.10.3, ISBN 978-3-16-148410-0",
    "my password is broken",
    "order 4711-2026-000123, invoice 2026-0815-4711, case 2026-11-0042",
    "version 1.2.3.4, section 4.2.1.3, the 2.0.1.10 release, chapter 3.1.2.4",
    "from 2024-2025, articles 415-555-26, 3 x 1234 567",
    "order 47112026000123, EAN 4012345678901, SKU 4006381333931",
    "in C++ std::a::b and add::bee",
    "score 0.4704375361403851",
    "600 requests per minute",
]


@pytest.fixture
def redactor() -> Redactor:
    return Redactor(PrivacySettings(), b"salt")


@pytest.mark.parametrize(("written", "kind"), PERSONAL.items())
def test_personal_data_becomes_a_typed_placeholder(written: str, kind: str, redactor: Redactor) -> None:
    redacted = redactor.text(written)
    assert f"[{kind}_" in redacted
    assert redactor.column([written]) == [redacted]
    assert redactor.text(redacted) == redacted


@pytest.mark.parametrize("written", HARMLESS)
def test_dates_totals_and_ids_are_left_alone(written: str, redactor: Redactor) -> None:
    assert redactor.text(written) == written


def test_the_same_value_gets_the_same_placeholder_and_another_salt_another(redactor: Redactor) -> None:
    one, two = redactor.text("a@b.example and A@B.example"), redactor.text("write to a@b.example")
    placeholder = one.split(" ")[0]
    assert one == f"{placeholder} and {placeholder}"
    assert two == f"write to {placeholder}"
    assert redactor.text("c@b.example") != placeholder
    assert Redactor(PrivacySettings(), b"other").text("a@b.example") != placeholder


def test_own_patterns_are_replaced_by_their_name() -> None:
    redactor = Redactor(PrivacySettings(patterns={"ticket": r"TCK-\d+"}), b"salt")
    assert redactor.text("see TCK-4711").startswith("see [TICKET_")
    with pytest.raises(BadInputError, match="no regular expression"):
        Redactor(PrivacySettings(patterns={"broken": "("}), b"salt")


def test_no_text_field_keeps_an_address_and_no_user_id_is_stored(
    tmp_path: Path, app_mapping: MappingFile, store: LogStore
) -> None:
    secret = "jane@corp.example"  # noqa: S105 - an address
    record = {
        "request_id": "r1",
        "conv": "c1",
        "uid": secret,
        "ts": "2026-11-02T08:00:00Z",
        "query": f"I am {secret}",
        "reply": f"Hello {secret}",
        "sources": [{"chunk": "k", "text": f"ask {secret}", "similarity": 1}],
        "err": f"bounced {secret}",
        "extra": {"deep": [f"cc {secret}"]},
    }
    vote = {"event": "feedback", "request_id": "r1", "thumb": "down", "note": f"from {secret}", "ts": record["ts"]}
    cut = {"request_id": "r2", "query": None, "reply": secret}
    log = write_lines(tmp_path / "log.jsonl", [record, vote, cut])
    report = ingest([log], store=store, mapping=app_mapping, workers=1)
    assert report.redactions["email"] >= 6
    for name, query in TABLES.items():
        assert "corp.example" not in str(rows(store, query)), name
    kept = rows(store, "SELECT question, answer FROM interactions")[0]
    assert kept[0].removeprefix("I am ") == kept[1].removeprefix("Hello ")


def test_staged_records_of_several_rows_hold_no_user_id(tmp_path: Path, store: LogStore) -> None:
    mapping = parse_mapping(
        "source: s\ninteractions: {messages: {session: s, message_id: id}, id: user.id, user_id: user.uid,"
        " question: user.content, answer: assistant.content}",
        "a test",
    )
    chat = [
        {"s": "c", "id": "1", "role": "user", "content": "I am a@b.example", "uid": "user-17"},
        {"s": "c", "id": "2", "role": "assistant", "content": "hello", "uid": "user-17"},
    ]
    ingest([write_lines(tmp_path / "l.jsonl", chat)], store=store, mapping=mapping, workers=1)
    payloads = rows(store, "SELECT payload FROM traces UNION ALL SELECT payload FROM trace_parts")
    staged = b"".join(unpacked(payload) for (payload,) in payloads).decode()
    assert "hello" in staged
    assert "user-17" not in staged
    assert "b.example" not in staged
    hashed = Redactor(PrivacySettings(), workspace_salt(store.path.parent)).hash_user("user-17")
    assert rows(store, "SELECT user_id, answer FROM interactions") == [(hashed, "hello")]


def test_redaction_can_be_turned_off_but_user_ids_are_hashed_all_the_same(
    tmp_path: Path, app_mapping: MappingFile, store: LogStore
) -> None:
    log = write_lines(tmp_path / "l.jsonl", [{"request_id": 1, "query": "a@b.example", "uid": "ann"}])
    ingest([log], store=store, mapping=app_mapping, privacy=PrivacySettings(redact=False), workers=1)
    question, user = rows(store, "SELECT question, user_id FROM interactions")[0]
    assert (question, user != "ann", len(user)) == ("a@b.example", True, 16)


def test_a_forgotten_user_is_gone_and_does_not_come_back(
    tmp_path: Path, app_mapping: MappingFile, store: LogStore
) -> None:
    records = [
        {
            "request_id": n,
            "query": f"q{n}",
            "uid": "ann" if n % 2 else "bob",
            "sources": [{"chunk": f"k{n}", "text": f"t{n}"}],
        }
        for n in range(6)
    ]
    votes = [{"event": "feedback", "request_id": n, "thumb": "up"} for n in range(6)]
    log = write_lines(tmp_path / "l.jsonl", [*records, *votes])
    ingest([log], store=store, mapping=app_mapping, workers=1)
    gone = forget_user(store, "ann")
    assert gone.interaction_ids == ["app:1", "app:3", "app:5"]
    log.write_bytes(log.read_bytes() + b"\n")
    report = ingest([log], store=store, mapping=app_mapping, workers=1)
    assert report.interactions.forgotten == 3
    assert rows(store, "SELECT count(*) FROM interactions") == [(3,)]
    assert rows(store, "SELECT count(DISTINCT number) FROM retrieved") == [(3,)]
    assert rows(store, "SELECT count(*) FROM chunk_texts") == [(3,)]


def test_a_quarantined_record_names_no_user_and_is_forgotten_or_taken_again_with_its_user(
    tmp_path: Path, app_mapping: MappingFile, store: LogStore
) -> None:
    records = [{"uid": f"u{n}", "request_id": n, "query": f"q{n}", "took_ms": "soon"} for n in (1, 12)]
    log = write_lines(tmp_path / "l.jsonl", records)
    ingest([log], store=store, mapping=app_mapping, workers=1)
    raws = [raw for (raw,) in rows(store, "SELECT raw FROM rejects")]
    assert not any('"u1' in raw for raw in raws)
    assert forget_user(store, "u1").rejects == 1
    log.unlink()
    mended = app_mapping.model_copy(
        update={
            "interactions": app_mapping.interactions
            and app_mapping.interactions.model_copy(update={"latency_ms": None})
        }
    )
    retry_rejects(store, mapping=mended)
    hashed = Redactor(PrivacySettings(), workspace_salt(store.path.parent)).hash_user("u12")
    assert rows(store, "SELECT question, user_id FROM interactions") == [("q12", hashed)]


def test_a_user_forgotten_by_the_stored_hash_does_not_come_back(
    tmp_path: Path, app_mapping: MappingFile, store: LogStore
) -> None:
    log = write_lines(tmp_path / "l.jsonl", [{"request_id": 1, "query": "q", "uid": "ann"}])
    ingest([log], store=store, mapping=app_mapping, workers=1)
    forget_user(store, rows(store, "SELECT user_id FROM interactions")[0][0])
    log.write_bytes(log.read_bytes() + b"\n")
    assert ingest([log], store=store, mapping=app_mapping, workers=1).interactions.forgotten == 1


def test_what_was_asked_before_a_date_is_forgotten(tmp_path: Path, app_mapping: MappingFile, store: LogStore) -> None:
    records = [{"request_id": n, "query": f"q{n}", "ts": f"2026-11-{n:02d}T00:00:00Z"} for n in range(1, 10)]
    log = write_lines(tmp_path / "l.jsonl", records)
    ingest([log], store=store, mapping=app_mapping, workers=1)
    assert len(forget_before(store, datetime(2026, 11, 5, tzinfo=UTC)).interaction_ids) == 4
    log.write_bytes(log.read_bytes() + b"\n")
    ingest([log], store=store, mapping=app_mapping, workers=1)
    assert rows(store, "SELECT count(*), min(asked_at)::DATE::VARCHAR FROM interactions") == [(5, "2026-11-05")]


def test_names_without_the_extra_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "presidio_analyzer", None)
    with pytest.raises(BadInputError, match="extra `privacy`"):
        Redactor(PrivacySettings(names=True), b"salt")


def test_names_without_a_language_model_say_which_is_missing_and_download_none() -> None:
    pytest.importorskip("presidio_analyzer")
    with pytest.raises(BadInputError, match="'no_such_pipeline', which is neither"):
        Redactor(PrivacySettings(names=True, language_model="no_such_pipeline"), b"salt")


@pytest.mark.parametrize("is_fast", [False, True])
def test_sessions_called_by_an_address_or_number_and_keys_of_metadata_are_replaced_and_votes_still_bind(
    is_fast: bool,  # noqa: FBT001 - a parameter of the test
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(file_reading, "FAST_BYTES", 0 if is_fast else 1 << 40)
    mapping = """
source: app
interactions: {id: id, session_id: session, question: q, answer: a}
feedback: {target: rated, kind: session, value: stars}
"""
    sessions = ["ann@example.com", "whatsapp:+491701234567", "s-20261102-1234567"]
    turns = [
        {"id": f"r{at}", "session": name, "q": "ring +49 170 1234567?", "a": "a", "by": {"ann@example.com": 1}}
        for at, name in enumerate(sessions)
    ]
    votes = [{"rated": name, "stars": stars} for name, stars in zip(sessions, (1, 5, 5), strict=True)]
    store = LogStore(tmp_path / "logs.duckdb")
    log = write_lines(tmp_path / "log.jsonl", [*turns, *votes])
    report = ingest([log], store=store, mapping=parse_mapping(mapping, "a test"), workers=1)
    assert report.feedback.bound == 3
    found = [row[0] for row in rows(store, "SELECT session_id FROM interactions ORDER BY interaction_id")]
    phone = rows(store, "SELECT min(question) FROM interactions")[0][0].removeprefix("ring ").removesuffix("?")
    assert found[0].startswith("[EMAIL_")
    assert found[1:] == [f"whatsapp:{phone}", "s-20261102-1234567"]
    assert "ann@example.com" not in str(rows(store, "SELECT metadata FROM interactions"))
