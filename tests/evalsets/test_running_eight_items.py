import json
from pathlib import Path

import pytest

from evalsets.judges.base import FactsJudge
from evalsets.pipelines.recorded import RecordedPipeline
from evalsets.running.runner import RunSettings, run
from evalsets.sets.file import load

ROWS = [
    ("a1", ["c1"], "retrieval_miss", ["c2", "c3"], "Refunds take 30 days.", "14 days"),
    ("a2", ["c4", "c5"], "retrieval_miss", ["c4", "c9"], "Use the portal.", "portal"),
    ("a3", ["c6"], "grounding_failure", ["c6", "c7"], "Within one hour.", "two hours"),
    ("a4", ["c8"], "refusal", ["c8"], "I don't know about that.", "call the desk"),
    ("a5", ["c10"], "refusal", ["c10", "c11"], "Ask your manager for approval.", "manager"),
    ("a6", [], "out_of_scope", ["c12"], "I do not have information on parental leave.", ""),
    ("a7", [], "out_of_scope", ["c13"], "The cafeteria opens at 8.", ""),
    ("a8", ["c14"], "grounding_failure", ["c15", "c14"], "No answer found in the handbook.", "by post"),
]


def write_eight_items(folder: Path) -> tuple[Path, Path]:
    items = [
        {
            "id": id_,
            "question": f"What about {id_}?",
            "gold_chunk_ids": gold,
            "expected": expected,
            "mode": mode,
            "added_on": "2026-11-01",
            "source": "production",
        }
        for id_, gold, mode, _, _, expected in ROWS
    ]
    responses = [{"id": id_, "retrieved": retrieved, "answer": answer} for id_, _, _, retrieved, answer, _ in ROWS]
    set_path, responses_path = folder / "eight.json", folder / "responses.jsonl"
    set_path.write_text(json.dumps(items), encoding="utf-8")
    responses_path.write_text("".join(json.dumps(row) + "\n" for row in responses), encoding="utf-8")
    return set_path, responses_path


def test_eight_items_give_exactly_the_known_figures(tmp_path: Path) -> None:
    set_path, responses_path = write_eight_items(tmp_path)
    report = run(load(set_path), RecordedPipeline(responses_path), FactsJudge(), RunSettings(k=10))
    assert report.retrieval_recall == pytest.approx(5 / 6, abs=1e-15)
    assert report.answer_accuracy == 0.375
    assert report.refusal_rate == 0.375
    assert report.by_mode == {"retrieval_miss": 0.5, "grounding_failure": 0.0, "refusal": 0.5, "out_of_scope": 0.5}
    assert report.status == "complete"
