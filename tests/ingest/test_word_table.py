import numpy as np
import pytest

from ingest.signals import word_table
from ingest.signals.pair_features import stem, word_traits
from ingest.signals.word_table import MOST_BYTES, SIZE_SHIFT, STEM_SHIFT, WordFacts, WordTable

_WORD_LIST = "refund refunds refunded the it what about tell me thanks another plans plan straße où hm"
WORDS = _WORD_LIST.split() + [f"order{number}" for number in range(200)]


def looked_up(table: WordTable, words: list[str], seed: int) -> WordFacts:
    letters = [word.encode() for word in words]
    ends = np.cumsum([len(each) for each in letters])
    hashes = np.random.default_rng(seed).integers(1, 1 << 63, len(WORDS), dtype=np.uint64)
    numbers = [WORDS.index(word) for word in words]
    return table.look_up(hashes[numbers], b"".join(letters), np.concatenate([[0], ends[:-1]]), ends)


@pytest.mark.parametrize("slots_log2", [3, 18])
def test_words_are_known_rightly_however_many_share_a_slot(monkeypatch: pytest.MonkeyPatch, slots_log2: int) -> None:
    monkeypatch.setattr(word_table, "_SLOTS_LOG2", slots_log2)
    table = WordTable()
    for words in (WORDS, WORDS[::-1], WORDS[:20] * 3):
        facts = looked_up(table, words, seed=7)
        stems = facts >> STEM_SHIFT
        assert (stems > 0).all()
        assert (facts & ((1 << SIZE_SHIFT) - 1)).tolist() == [word_traits(word) for word in words]
        assert ((facts >> SIZE_SHIFT) & MOST_BYTES).tolist() == [len(word.encode()) for word in words]
        same = [[stem(a) == stem(b) for b in words] for a in words]
        assert ((stems[:, None] == stems[None]) == np.array(same)).all()


def test_a_table_that_is_full_of_stems_starts_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_table, "_MOST_STEMS", 50)
    table = WordTable()
    looked_up(table, WORDS, seed=1)
    few = WORDS[-30:]
    assert sorted((looked_up(table, few, seed=1) >> STEM_SHIFT).tolist()) == list(range(1, len(few) + 1))
