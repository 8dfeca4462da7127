"""The sample: remade byte for byte, big and varied enough, and true to its own handbook."""

import json
from collections import Counter
from pathlib import Path

import pytest

from curation_app.sample import CORPUS_PATH, LOG_PATH, TRUTH_PATH
from curation_app.sample.handbook import read_handbook
from curation_app.sample.making import write_sample
from curation_app.sample.parts_reading import Topic, read_parts
from curation_app.sample.truth import read_truth
from evalsets.items import FAILURE_MODES


def test_the_committed_files_are_what_the_script_makes(tmp_path: Path) -> None:
    write_sample(tmp_path)
    for path in (CORPUS_PATH, LOG_PATH, TRUTH_PATH):
        assert (tmp_path / path.name).read_bytes() == path.read_bytes(), f"run make_sample again: {path.name} is stale"


def test_the_handbook_has_at_least_forty_chunks_in_fifteen_documents() -> None:
    chunks = list(read_handbook())
    assert len(chunks) >= 40
    assert len({chunk.doc_id for chunk in chunks}) == 15
    assert len({chunk.chunk_id for chunk in chunks}) == len(chunks)


def test_the_week_holds_every_kind_of_trouble() -> None:
    truths = list(read_truth())
    outcomes = Counter(truth.outcome for truth in truths)
    assert len(truths) >= 400
    assert len({truth.session_id for truth in truths}) >= 150
    assert min(outcomes.values()) >= 3
    assert {truth.mode for truth in truths if truth.mode} == set(FAILURE_MODES)
    assert len({truth.asks_again_kind for truth in truths}) >= 6


def test_one_line_of_the_log_is_cut_off() -> None:
    broken = 0
    for line in LOG_PATH.read_text(encoding="utf-8").splitlines():
        try:
            json.loads(line)
        except json.JSONDecodeError:
            broken += 1
    assert broken == 1


@pytest.mark.parametrize("topic", read_parts().topics.values(), ids=lambda topic: topic.topic_id)
def test_right_answers_hold_the_facts_and_wrong_ones_do_not(topic: Topic) -> None:
    def holds_facts(answer: str) -> bool:
        return all(any(wording.casefold() in answer.casefold() for wording in fact) for fact in topic.facts)

    assert holds_facts(topic.expected)
    assert all(holds_facts(answer) for answer in topic.good)
    assert not any(holds_facts(bad.text) for bad in topic.bad)


def test_every_fact_asked_for_stands_in_a_gold_chunk_or_its_rewording() -> None:
    chunks = {chunk.chunk_id: chunk.text for chunk in read_handbook()}
    for topic in read_parts().topics.values():
        assert set(topic.gold) <= set(chunks)
        for ask in topic.asks:
            wanted = topic.facts if ask.facts is None else ask.facts
            assert any(
                all(any(wording.casefold() in good.casefold() for wording in fact) for fact in wanted)
                for good in topic.good
            ), f"no right answer to {ask.text!r}"
