import random

import numpy as np
import pyarrow as pa
import pytest

from ingest.signals.pair_columns import compare, may_share_content
from ingest.signals.pair_features import lexical_features
from ingest.signals.question_columns import read_letters, read_questions
from ingest.signals.rephrase_columns import rephrase_columns
from ingest.signals.rephrasing import LONGEST, similarity_verdicts

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
]


@pytest.mark.parametrize("strictness", [0.3, 1.0, 3.0])
def test_the_fast_way_gives_the_verdicts_of_the_plain_one(strictness: float) -> None:
    pairs = [*made_pairs(1, 3000), *ODD_PAIRS]
    earlier, later = [list(side) for side in zip(*pairs, strict=True)]
    found = rephrase_columns(pa.array(earlier), pa.array(later), strictness=strictness).to_pylist()
    verdicts = similarity_verdicts(earlier, later, strictness=strictness)
    expected = [{"kind": v.kind, "score": v.score} if v else {"kind": None, "score": None} for v in verdicts]
    assert found == expected
    assert {verdict.kind for verdict in verdicts if verdict} >= {"restated", "repeated"}


def test_missing_questions_and_no_pairs_at_all_are_no_rephrase() -> None:
    nothing = pa.array([], pa.string())
    assert rephrase_columns(nothing, nothing).to_pylist() == []
    missing = rephrase_columns(pa.array([None, "refund"], pa.string()), pa.array(["refund", None], pa.string()))
    assert missing.to_pylist() == [{"kind": None, "score": None}] * 2


def test_features_counted_for_columns_are_those_counted_pair_by_pair_and_bound_what_rapidfuzz_says() -> None:
    pairs = [pair for pair in made_pairs(2, 2000) if all(pair)]
    texts = pa.array([text for pair in pairs for text in pair])
    questions = read_questions(texts, longest=LONGEST)
    rows = np.flatnonzero(questions.is_plain)
    place = np.full(len(texts), -1)
    place[rows] = np.arange(len(rows))
    plain = [i for i in range(len(pairs)) if place[2 * i] >= 0 and place[2 * i + 1] >= 0]
    earlier, later = place[[2 * i for i in plain]], place[[2 * i + 1 for i in plain]]
    counted, bounds = compare(questions, read_letters(texts.take(pa.array(rows))), rows, earlier, later)
    expected = lexical_features([pairs[i][0] for i in plain], [pairs[i][1] for i in plain])
    assert len(plain) > 1000
    assert np.array_equal(counted, expected[:, 3:])
    assert (expected[:, 0] <= bounds.word_sets_at_most + 1e-6).all()
    assert (expected[:, 1] <= bounds.letters_at_most + 1e-6).all()
    assert (expected[:, 2] <= bounds.letters_at_most + 1e-6).all()
    assert (may_share_content(questions, rows[earlier], rows[later]) >= bounds.may_share_content).all()
