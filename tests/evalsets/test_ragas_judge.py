"""The judge that asks ragas: how its figures become a verdict. The package itself is needed by one test only."""

import asyncio
import json
from typing import Any, NamedTuple

import pytest

from evalsets.errors import BadInputError
from evalsets.judges.base import JudgeInvalidError
from evalsets.judges.making import make_judge
from evalsets.judges.ragas import METRIC_NAMES, RagasJudge
from evalsets.judges.verdict import Verdict
from evalsets.metrics.base import ScoredCase
from evalsets.metrics.registry import metric_named
from evalsets.settings import JudgeSettings
from tests.evalsets.cases import answered
from tests.evalsets.openai_server import Reply, serve

CASE = answered("In 30 days.", texts=["Refunds take 30 days."], expected="30 days")


class Result(NamedTuple):
    """What a metric of ragas hands back."""

    value: Any


class FakeScorer:
    """Gives one value and remembers what it was asked about."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.asked: list[str] = []

    async def ascore(self, response: str, reference: str) -> Result:
        self.asked += [response, reference]
        return Result(self.value)


def judged(scorers: dict[str, Any], case: ScoredCase = CASE) -> Verdict:
    return asyncio.run(RagasJudge(lambda: scorers, model="local").judge(case))


def test_factual_correctness_decides_and_every_figure_is_kept() -> None:
    verdict = judged({"faithfulness": FakeScorer(0.25), "factual_correctness": FakeScorer(0.8)})

    assert (verdict.passed, verdict.supported) == (True, 0.25)
    assert verdict.note == "ragas: faithfulness 0.25, factual_correctness 0.80"
    scored = ScoredCase(item=CASE.item, answer=CASE.answer, verdict=verdict)
    assert metric_named("ragas_faithfulness").score(scored) == 0.25
    assert metric_named("ragas_context_recall").score(scored) is None


def test_an_item_without_what_a_metric_needs_leaves_it_out() -> None:
    scorer = FakeScorer(1.0)

    assert not judged({"factual_correctness": scorer}, answered("x", texts=["y"])).passed
    assert scorer.asked == []


@pytest.mark.parametrize("value", [float("nan"), 7.0, None, "0.5"])
def test_what_is_no_share_is_an_error_and_never_a_score(value: Any) -> None:
    with pytest.raises(JudgeInvalidError, match="no share"):
        judged({"factual_correctness": FakeScorer(value)})


def test_a_busy_server_is_seen_through_what_ragas_wraps_around_it() -> None:
    class Busy(Exception):  # noqa: N818 - stands for a client's error
        status_code = 429

    class Wrapping:
        async def ascore(self, response: str) -> Result:
            raise RuntimeError(f"gave up on {response!r}") from Busy("slow down")

    with pytest.raises(Busy, match="slow down"):
        judged({"faithfulness": Wrapping()})


def test_declining_passes_where_the_corpus_does_not_cover_the_question() -> None:
    assert judged({}, answered("I don't know.", mode="out_of_scope")).passed
    assert not judged({}, answered("I don't know.", expected="30 days")).passed
    assert not judged({"factual_correctness": FakeScorer(1.0)}, answered("Sure.", mode="out_of_scope")).passed


def test_without_the_package_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ragas", None)
    judge = make_judge(JudgeSettings(kind="ragas", model="local", base_url="http://127.0.0.1:9/v1"), environment={})

    assert isinstance(judge, RagasJudge)
    with pytest.raises(BadInputError, match=r"errata-evals\[ragas\]"):
        asyncio.run(judge.judge(CASE))


def test_ragas_itself_scores_through_a_local_server() -> None:
    pytest.importorskip("ragas")
    with serve(_minimal_reply) as served:
        settings = JudgeSettings(kind="ragas", model="gpt-4o-mini", base_url=served.base_url)
        judge = make_judge(settings, environment={"OPENAI_API_KEY": "a-key"})
        assert isinstance(judge, RagasJudge)
        verdict = asyncio.run(judge.judge(CASE))

    assert set(verdict.scores) == set(METRIC_NAMES)


def _minimal_reply(request: dict[str, Any]) -> Reply:
    """Answer with the smallest value that the schema in the prompt allows."""
    prompt = "".join(str(message["content"]) for message in request["messages"])
    schema = next(found for found in map(_decoded, _openings(prompt)) if "properties" in found)
    return Reply(json.dumps(_smallest(schema, schema)))


def _openings(text: str) -> list[str]:
    return [text[place:] for place, letter in enumerate(text) if letter == "{"]


def _decoded(text: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.JSONDecoder().raw_decode(text)[0]
    except json.JSONDecodeError:
        return {}
    return found


def _smallest(schema: dict[str, Any], root: dict[str, Any]) -> Any:
    if "$ref" in schema:
        return _smallest(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    match schema.get("type"):
        case "object":
            return {name: _smallest(part, root) for name, part in schema.get("properties", {}).items()}
        case "array":
            return [_smallest(schema["items"], root)]
        case "integer" | "number":
            return 1
        case "boolean":
            return True
    return "Refunds take 30 days."
