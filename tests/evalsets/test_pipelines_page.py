"""The sections of docs/pipelines.md are what the loader takes, and its Python object runs."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from evalsets.chunks import Chunk
from evalsets.judges.base import FactsJudge
from evalsets.pipelines.loading import PIPELINE_KINDS, Surroundings, build_pipeline
from evalsets.pipelines.python_object import PythonPipeline
from evalsets.running.runner import run
from tests.evalsets.run_parts import question_set

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "pipelines.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def sections() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = tomllib.loads("\n".join(blocks("toml")))["pipelines"]
    return found


@pytest.mark.parametrize("name", sorted(sections()))
def test_every_section_of_the_page_makes_a_pipeline(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_rag.py").write_text(blocks("python")[0], encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    options = dict(sections()[name])
    pipeline = build_pipeline(options.pop("kind"), options, Surroundings(lambda: [Chunk("c1", "t")]), name=name)
    assert pipeline.name == name
    assert len(pipeline.fingerprint) == 16


def test_the_python_object_of_the_page_runs() -> None:
    scope: dict[str, Any] = {}
    exec(blocks("python")[0], scope)  # noqa: S102 - the page's own example
    eval_set = question_set("How long?", answer_facts=("thirty days",), gold_chunk_ids=("kb-1",))
    report = run(eval_set, PythonPipeline(scope["Desk"]), FactsJudge())
    assert report.passed == 1
    assert report.metrics["cost"].sum == 0.0004


def test_every_kind_stands_on_the_page() -> None:
    for kind in PIPELINE_KINDS:
        assert kind in PAGE
