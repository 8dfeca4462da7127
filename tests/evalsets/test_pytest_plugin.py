import json

import numpy as np  # noqa: F401 - loaded for good: the runs below drop what they loaded, and numpy loads once
import pytest

from evalsets.playground import CORPUS_PATH, SET_PATH
from tests.evalsets.test_running_eight_items import write_eight_items

pytest_plugins = ("pytester",)

LEAN = ("-p", "no:hypothesispytest", "-p", "no:xdist", "-p", "no:cacheprovider")
"""Plugins of this project's own tests that the runs inside these tests need not load."""


def run_eight(pytester: pytest.Pytester, *words: str) -> pytest.RunResult:
    set_path, responses_path = write_eight_items(pytester.path)
    return pytester.runpytest_inprocess("--errata-set", set_path, "--errata-pipeline", responses_path, *LEAN, *words)


def test_each_item_of_a_set_is_a_test_that_fails_with_question_answer_and_cause(pytester: pytest.Pytester) -> None:
    done = run_eight(pytester)
    done.assert_outcomes(passed=3, failed=5)
    done.stdout.fnmatch_lines(
        [
            "a1 [[]retrieval_miss[]] *",
            "*question: What about a1?",
            "*in corpus, not retrieved: none of c1 is among the retrieved",
        ]
    )


def test_items_are_selected_by_keyword_and_by_the_marker_of_their_mode(pytester: pytest.Pytester) -> None:
    run_eight(pytester, "-k", "a2 or a5").assert_outcomes(passed=2, deselected=6)
    run_eight(pytester, "--strict-markers", "-m", "refusal").assert_outcomes(passed=1, failed=1, deselected=6)


def test_the_keyword_pipeline_passes_the_five_questions(pytester: pytest.Pytester) -> None:
    words = ("--errata-pipeline", "keyword", "--errata-corpus", CORPUS_PATH, "--errata-k", "3", *LEAN)
    pytester.runpytest_inprocess("--errata-set", SET_PATH, *words).assert_outcomes(passed=5)


def test_a_known_failure_is_expected_to_fail(pytester: pytest.Pytester) -> None:
    set_path, responses_path = write_eight_items(pytester.path)
    known = {"id": "a1", "reason": "old index", "owner": "search", "since": "2026-11-01", "review_by": "2027-01-01"}
    whole = {"name": "eight", "items": json.loads(set_path.read_text())[:2], "known_failing": [known]}
    set_path.write_text(json.dumps(whole), encoding="utf-8")
    done = pytester.runpytest_inprocess("--errata-set", set_path, "--errata-pipeline", responses_path, *LEAN)
    done.assert_outcomes(passed=1, xfailed=1)


def test_a_test_of_ones_own_takes_one_item_at_a_time(pytester: pytest.Pytester) -> None:
    set_path, _ = write_eight_items(pytester.path)
    pytester.makepyfile("def test_question_ends(errata_item):\n    assert errata_item.question.endswith('?')\n")
    pytester.runpytest_inprocess("--errata-set", set_path, *LEAN).assert_outcomes(passed=8)


def test_a_set_that_cannot_be_read_is_a_usage_error(pytester: pytest.Pytester) -> None:
    done = pytester.runpytest_inprocess("--errata-set", "missing.json", "--errata-pipeline", "logged", *LEAN)
    assert done.ret == pytest.ExitCode.USAGE_ERROR
    done.stderr.fnmatch_lines(["*cannot read the eval set*"])
