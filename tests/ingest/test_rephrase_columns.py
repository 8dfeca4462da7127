import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as some
from rapidfuzz import fuzz
from rapidfuzz.process import cpdist

from ingest.signals import rephrase_columns as columns
from ingest.signals.arrow_arrays import text_buffers
from ingest.signals.pair_features import LEXICAL_FEATURES, lexical_features, may_share_content
from ingest.signals.rephrase_columns import rephrase_columns
from ingest.signals.rephrasing import HOPELESS, MAY_BE_SAME, NEARLY_ALL, is_repeated, similarity_verdicts

TO_WEIGH, MAY_BE_REPEATED, UNREAD, REPEATED = 2, 4, 8, 16
"""What the compiled loop says of a pair."""
needs_compiled = pytest.mark.skipif(not columns.IS_COMPILED, reason="the loop that reads questions was not compiled")

_OPENINGS = (
    "how do i",
    "what is",
    "what about",
    "can i",
    "hm,",
    "ok so",
    "tell me",
    "and",
    "why is it that",
    "is there",
)
_WORD_LIST = """
refund refunds invoice invoices cancel cancelled plan plans the a my of for their it parties party re-open don't e-mail
straße müller données première another else this tax taxes 2024 12.5 card card? cards, (card) report.
"""
_WORDS = _WORD_LIST.split()


def made_pairs(seed: int, count: int) -> list[tuple[str, str]]:
    """Return questions and what could follow them: anything from the same again to something else."""
    chance = random.Random(seed)  # noqa: S311 - made-up questions, not a secret
    return [(question, _followed(question, chance)) for question in (_question(chance) for _ in range(count))]


def _question(chance: random.Random) -> str:
    words = [chance.choice(_WORDS) for _ in range(chance.randint(0, 12))]
    return " ".join([chance.choice(_OPENINGS), *words]) + chance.choice(("", "?", " ?", "??"))


def _followed(question: str, chance: random.Random) -> str:
    words = question.split()
    return chance.choice(
        (
            lambda: _question(chance),
            lambda: question,
            lambda: f"hello {question}!",
            lambda: " ".join([*words, chance.choice(_WORDS)]),
            lambda: " ".join(chance.sample(words, len(words))),
            lambda: " ".join([chance.choice(_OPENINGS), *words[2:]]),
            lambda: " ".join(chance.choice(_WORDS) if chance.random() < 0.4 else word for word in words),
        )
    )()


ODD_PAIRS = [
    ("a  b refund", "a b refund"),
    ("", "refund"),
    ("refund", ""),
    ("où\u00a0est ma facture", "où est ma facture"),
    ("refund\u2003please", "refund please"),
    ("refund " * 80, "refund " * 81),
    ("?", "?"),
    ("日本 語", "日本"),
    ("x" * 500, "x" * 501),
    (" refund ", "refund"),
    ("a\0 b\0 refund", "a b refund"),
    ("\u2019refund\u2019 plan\u2026", "refund plan"),
    ("hmmmmm, \U0001f600 refund", "\U0001f600 refund!"),
    ("refund 😀 é", "refund 😁 e\u0301"),
    ("hello again refund plan", "refund plan"),
    ("\u0445" * 399, "\u0445" * 400),
    (" ".join(map(chr, range(0x4E00, 0x4E00 + 199))), " ".join(map(chr, range(0x4E05, 0x4E00 + 199)))),
    ("refund " * 64 + "x", "refund " * 63 + "x"),
]


@pytest.mark.parametrize("strictness", [0.3, 1.0, 3.0])
def test_the_fast_way_gives_the_verdicts_of_the_plain_one(strictness: float) -> None:
    pairs = [*made_pairs(1, 3000), *ODD_PAIRS]
    earlier, later = [list(side) for side in zip(*pairs, strict=True)]
    found = rephrase_columns(pa.array(earlier), pa.array(later), strictness=strictness).to_pylist()
    verdicts = similarity_verdicts(earlier, later, strictness=strictness)
    assert found == as_rows(verdicts)
    assert {verdict.kind for verdict in verdicts if verdict} >= {"restated", "repeated"}


def as_rows(verdicts: list[Any]) -> list[dict[str, Any]]:
    return [{"kind": v.kind, "score": v.score} if v else {"kind": None, "score": None} for v in verdicts]


def test_missing_questions_and_no_pairs_at_all_are_no_rephrase() -> None:
    nothing = pa.array([], pa.string())
    assert rephrase_columns(nothing, nothing).to_pylist() == []
    missing = rephrase_columns(pa.array([None, "refund"], pa.string()), pa.array(["refund", None], pa.string()))
    assert missing.to_pylist() == [{"kind": None, "score": None}] * 2


def test_without_the_compiled_loop_verdicts_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    earlier, later = [pa.array(side) for side in zip(*made_pairs(3, 300), strict=True)]
    found = rephrase_columns(earlier, later)
    monkeypatch.setattr(columns, "IS_COMPILED", False)
    assert rephrase_columns(earlier, later).equals(found)


def test_columns_that_are_slices_are_judged_pair_by_pair() -> None:
    earlier, later = [pa.array(side) for side in zip(*made_pairs(4, 300), strict=True)]
    whole = rephrase_columns(earlier, later)
    assert rephrase_columns(earlier.slice(70, 200), later.slice(70, 200)).to_pylist() == whole.to_pylist()[70:270]


_LETTERS = "ab ehms c?.,'-é дя\u00e0日\U0001f600"


@needs_compiled
@given(some.lists(some.tuples(some.text(_LETTERS), some.text(_LETTERS)), max_size=12))
def test_what_is_measured_of_any_letters_is_what_python_and_rapidfuzz_say(pairs: list[tuple[str, str]]) -> None:
    assert_measured_as_in_python([*pairs, *((a, a[1:] + a[:1]) for a, _ in pairs)])


@needs_compiled
def test_what_is_measured_of_questions_is_what_python_and_rapidfuzz_say() -> None:
    assert_measured_as_in_python([*made_pairs(2, 2000), *ODD_PAIRS])


@needs_compiled
def test_every_letter_is_compared_in_the_lower_case_that_python_gives_it() -> None:
    letters = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000 and chr(code).lower() != chr(code)]
    upper, lower = ([f"refund {letter}x y" for letter in side] for side in (letters, map(str.lower, letters)))
    verdicts = columns._measured(pa.array(upper), pa.array(lower)).verdicts
    assert {int(verdict) for verdict in verdicts} == {REPEATED, UNREAD}
    assert sum(verdict == REPEATED for verdict in verdicts) > 900
    assert {v["kind"] for v in rephrase_columns(pa.array(upper), pa.array(lower)).to_pylist()} == {"repeated"}


def assert_measured_as_in_python(pairs: list[tuple[str, str]]) -> None:
    earlier, later = [[pair[side] for pair in pairs] for side in (0, 1)]
    measured = columns._measured(pa.array(earlier, pa.string()), pa.array(later, pa.string()))
    read = [i for i in range(len(pairs)) if all(pairs[i]) and not measured.verdicts[i] & UNREAD]
    alike: Any = np.asarray(cpdist(earlier, later, scorer=fuzz.token_set_ratio), dtype=np.float64) if pairs else []
    for i in read:
        may_share, is_same = may_share_content(*pairs[i]), bool(measured.verdicts[i] & REPEATED)
        may_be_repeated = is_same or bool(measured.verdicts[i] & MAY_BE_REPEATED)
        assert measured.word_sets[i] == (alike[i] if may_share else 0.0)
        assert bool(measured.verdicts[i] & TO_WEIGH) == (may_share and HOPELESS <= alike[i] < NEARLY_ALL)
        assert is_same == (earlier[i] == later[i])
        assert may_be_repeated or not may_share or alike[i] < MAY_BE_SAME or not is_repeated(*pairs[i])
    weighed = [i for i in read if measured.verdicts[i] & TO_WEIGH]
    expected: Any = lexical_features([earlier[i] for i in weighed], [later[i] for i in weighed]) if weighed else []
    assert measured.features.shape == (len(weighed), len(LEXICAL_FEATURES))
    assert measured.features.tolist() == np.asarray(expected).tolist()


@needs_compiled
@given(some.lists(some.binary(max_size=40), min_size=1, max_size=20), some.integers(0, 30))
def test_bytes_that_are_no_text_are_read_within_their_bounds_and_left_to_the_plain_way(
    texts: list[bytes], long: int
) -> None:
    texts = [
        *texts,
        b"refund \xf0\x9f",
        b"\xff" * long,
        b"ab " * 20 * long,
        b"ab \xe0\x81\xa1",
        b"\xc1\xa1 b",
        b"a\xf4\x90\x80\x80",
    ]
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int32)
    column = pa.Array.from_buffers(
        pa.string(), len(texts), [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(texts))]
    )
    verdicts = columns._measured(column, column.take(pa.array(range(len(texts) - 1, -1, -1)))).verdicts
    for a, b, verdict in zip(texts, texts[::-1], verdicts, strict=True):
        if a and b and not (_is_text(a) and _is_text(b)):
            assert verdict == UNREAD


def _is_text(letters: bytes) -> bool:
    try:
        letters.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


@needs_compiled
def test_offsets_beyond_the_bytes_are_an_error() -> None:
    from ingest.compiled.questions import measure_pairs

    letters, offsets = text_buffers(pa.array(["refund", "plan"]))
    sizes = np.empty(2, dtype=np.uint8), np.empty(2), np.empty((2, len(LEXICAL_FEATURES)))
    for wrong in (offsets + 1, offsets[::-1].copy(), offsets[:2]):
        with pytest.raises(ValueError, match="column"):
            measure_pairs(letters, offsets, letters, wrong, columns._vocabulary(), columns._BARS, *sizes)


@needs_compiled
def test_scores_that_lie_between_two_thousandths_and_pairs_at_the_threshold_are_left_to_the_plain_way() -> None:
    from ingest.compiled.questions import give_verdicts

    measured, word_sets = np.array([0, 1, 1, 16, 2, 4, 8], dtype=np.uint8), np.array([0, 93.75, 94, 100, 50, 70, 0.0])
    heads = np.zeros((2, len(LEXICAL_FEATURES) + 2))
    heads[:, -1] = 0.5  # with no weights at all the probability is a half, too
    kinds, scores = np.empty(7, dtype=np.int8), np.empty(7)
    left = give_verdicts(measured, word_sets, np.zeros((1, len(LEXICAL_FEATURES))), heads, kinds, scores)
    assert (left, kinds.tolist()) == (4, [-1, columns._LEFT, 0, 3, columns._LEFT, columns._LEFT, columns._LEFT])
    assert scores[[2, 3]].tolist() == [0.94, 1.0]
