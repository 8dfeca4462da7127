from datetime import UTC, datetime, timedelta, timezone

import pytest

from ingest.traces.errors import error_line
from ingest.traces.identity import hex_id, moment_of, nanoseconds

TRACE = "af518c1b9a5127c24c013351cd5f7514"


@pytest.mark.parametrize(
    "spelling",
    [
        TRACE,
        TRACE.upper(),
        "0x" + TRACE,
        "tr-" + TRACE,
        "r1GMG5pRJ8JMATNRzV91FA==",
        "r1GMG5pRJ8JMATNRzV91FA",
        bytes.fromhex(TRACE),
        int(TRACE, 16),
        __import__("base64").b64decode(TRACE),
    ],
)
def test_all_spellings_of_a_trace_id_meet(spelling: object) -> None:
    assert hex_id(spelling) == TRACE


@pytest.mark.parametrize("nothing", ["", None, "0" * 16, b"\0" * 8, 0, b"", 3.5, []])
def test_no_id_and_an_id_of_zeros_are_none(nothing: object) -> None:
    assert hex_id(nothing) == ""


def test_ids_of_other_kinds_stay_as_they_are() -> None:
    assert hex_id("131f450b-bfd9-4f2c-9f3a-1f6b850d5032") == "131f450b-bfd9-4f2c-9f3a-1f6b850d5032"
    assert hex_id("lf-trace-1") == "lf-trace-1"


MOMENT = 1_795_997_562_516_020_000


@pytest.mark.parametrize(
    "spelling",
    [
        MOMENT,
        str(MOMENT),
        MOMENT // 1000,
        "2026-11-30T00:12:42.516020Z",
        "2026-11-30 00:12:42.516020",
        "2026-11-30T01:12:42,516020+01:00",
        "2026-11-30T00:12:42.516020000Z",
        "2026-11-30 00:12:42.516020+0000",
        datetime(2026, 11, 30, 0, 12, 42, 516020, tzinfo=UTC),
        datetime(2026, 11, 30, 2, 12, 42, 516020, tzinfo=timezone(timedelta(hours=2))),
    ],
)
def test_all_spellings_of_a_time_give_the_same_nanoseconds(spelling: object) -> None:
    assert nanoseconds(spelling) == MOMENT


def test_seconds_and_milliseconds_are_told_by_magnitude() -> None:
    assert nanoseconds(1_795_997_562) == 1_795_997_562 * 10**9
    assert nanoseconds(1_795_997_562_516) == 1_795_997_562_516 * 10**6
    assert nanoseconds(1_795_997_562.5) == 1_795_997_562_500_000_000


@pytest.mark.parametrize(
    "nonsense", [None, True, "", "soon", "2026-13-45", -5, float("nan"), float("inf"), "9" * 40, {}]
)
def test_what_is_no_time_is_zero(nonsense: object) -> None:
    assert nanoseconds(nonsense) == 0
    assert moment_of(0) is None


@pytest.mark.parametrize(
    ("message", "kind", "line"),
    [
        ("upstream model timed out", "TimeoutError", "TimeoutError: upstream model timed out"),
        ("TimeoutError: upstream model timed out", "TimeoutError", "TimeoutError: upstream model timed out"),
        ("TimeoutError: TimeoutError: too slow", None, "TimeoutError: too slow"),
        ("TimeoutError('too slow')Traceback (most recent call last):\n  File x", None, "TimeoutError: too slow"),
        ("Traceback (most recent call last):\n  File x\nValueError: bad", None, "ValueError: bad"),
        ("", "RateLimitError", "RateLimitError"),
        (None, None, None),
        ("call(1) failed", "openai.APIError", "APIError: call(1) failed"),
    ],
)
def test_an_error_is_one_line_with_its_type_and_without_its_traceback(
    message: str | None, kind: str | None, line: str | None
) -> None:
    assert error_line(message, kind) == line
