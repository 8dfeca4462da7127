"""The groundedness proxies on the smallest public set of human judgements."""

import shutil
from pathlib import Path

from tests.quality.faithfulness import best_threshold, measure_faithfulness


def test_words_and_word_pairs_agree_with_people_better_than_the_sixty_percent_rule(
    shared_folder: Path, tmp_path: Path
) -> None:
    shutil.copy(shared_folder / "data" / "faith_mtrag_human_dev.jsonl", tmp_path / "faith_mtrag_human_other.jsonl")
    by_method = {row.method: row for row in measure_faithfulness(tmp_path)}

    assert by_method["60% rule"].balanced_accuracy >= 0.79
    assert by_method["token precision"].balanced_accuracy >= 0.82
    assert by_method["tokens and pairs"].balanced_accuracy >= 0.84
    assert (by_method["tokens and pairs"].spearman or 0) > (by_method["60% rule"].spearman or 0) + 0.05


def test_the_best_threshold_parts_the_labels() -> None:
    assert best_threshold([False, False, True, True], [0.1, 0.4, 0.5, 0.9]) == 0.5
