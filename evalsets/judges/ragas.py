"""A judge that lets the metrics of ragas decide (extra `ragas`): its figures are journalled like any verdict."""

import asyncio
import hashlib
import inspect
import json
from collections.abc import Awaitable, Callable, Mapping
from math import isfinite
from typing import Any, NamedTuple, Protocol

from evalsets.errors import BadInputError
from evalsets.judges.base import JudgeInvalidError
from evalsets.judges.verdict import Verdict
from evalsets.metrics.base import ScoredCase

CODE_VERSION = 1
CORRECT_FROM = 0.5
"""Factual correctness from which an answer is called correct."""
METRIC_NAMES = ("faithfulness", "factual_correctness", "context_precision", "context_recall")


class RagasScorer(Protocol):
    """What a metric of ragas offers: a coroutine that takes some of the sample's parts by name."""

    @property
    def ascore(self) -> Callable[..., Awaitable[Any]]:
        """Score one sample."""


class _Loaded(NamedTuple):
    loop: asyncio.AbstractEventLoop
    scorers: Mapping[str, RagasScorer]


class RagasJudge:
    """Scores an answer by ragas; it is correct when its factual correctness reaches one half.

    An item the corpus does not cover passes by declining, as the detector sees it: ragas has no notion of that, and
    scores such an answer 0 or NaN.
    """

    is_model = True

    def __init__(self, make_scorers: Callable[[], Mapping[str, RagasScorer]], *, model: str) -> None:
        """Take a function that makes the scorers for the running event loop, and the name of their model."""
        self._make_scorers = make_scorers
        self._loaded: _Loaded | None = None
        self.name = f"ragas with {model}"
        parts = {"code": CODE_VERSION, "model": model, "metrics": METRIC_NAMES, "ragas": _ragas_version()}
        self.fingerprint = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]

    async def judge(self, case: ScoredCase) -> Verdict:
        """Return the verdict; raise JudgeInvalidError when a metric gives no figure in [0, 1]."""
        declined = case.refusal.is_refusal
        if declined or not (case.answer or "").strip():
            passed = declined and not case.item.is_answerable
            note = "declined" if declined else "the answer is empty"
            return Verdict(passed=passed, note=note, correct=passed, declined=declined)
        scores = {name: await _score(name, scorer, case) for name, scorer in self._scorers().items()}
        known = {name: score for name, score in scores.items() if score is not None}
        correct = known.get("factual_correctness", 0.0) >= CORRECT_FROM and case.item.is_answerable
        note = ", ".join(f"{name} {score:.2f}" for name, score in known.items())
        return Verdict(
            passed=correct,
            note=f"ragas: {note}",
            correct=correct,
            declined=False,
            supported=known.get("faithfulness"),
            scores=known,
        )

    def _scorers(self) -> Mapping[str, RagasScorer]:
        loop = asyncio.get_running_loop()
        if self._loaded is None or self._loaded.loop is not loop:
            self._loaded = _Loaded(loop, self._make_scorers())
        return self._loaded.scorers


async def _score(name: str, scorer: RagasScorer, case: ScoredCase) -> float | None:
    """Return one figure, or None where the item lacks a part that the metric needs."""
    parts = {
        "user_input": case.item.question,
        "response": case.answer or "",
        "reference": case.item.expected,
        "retrieved_contexts": [chunk.text for chunk in case.retrieved if chunk.text],
    }
    wanted = {part: parts[part] for part in inspect.signature(scorer.ascore).parameters if part in parts}
    if not all(wanted.values()):
        return None
    try:
        result = await scorer.ascore(**wanted)
    except Exception as error:
        raise _of_the_way_there(error) from error
    value = getattr(result, "value", result)
    if not isinstance(value, (int, float)) or not isfinite(value) or not 0 <= value <= 1:
        raise JudgeInvalidError(f"judge-invalid: ragas gave {value!r} for {name}, which is no share", repr(result))
    return float(value)


def _of_the_way_there(error: BaseException) -> BaseException:
    """Return the client's own error out of what ragas wrapped around it, so that the runner knows what may pass."""
    cause: BaseException | None = error
    while cause is not None:
        if hasattr(cause, "status_code") or type(cause).__name__ in {"APIConnectionError", "APITimeoutError"}:
            return cause
        cause = cause.__cause__
    return error


def ragas_scorers(model: str, base_url: str, api_key: str, *, timeout_s: float) -> Callable[[], dict[str, RagasScorer]]:
    """Return a maker of ragas's metrics behind an OpenAI-compatible server."""

    def make() -> dict[str, RagasScorer]:
        collections, llm_factory = _ragas()
        from openai import AsyncOpenAI

        client = AsyncOpenAI(base_url=base_url or None, api_key=api_key, max_retries=0, timeout=timeout_s)
        llm = llm_factory(model, client=client)
        classes = [collections.Faithfulness, collections.FactualCorrectness, collections.ContextPrecision]
        made = [*(metric(llm=llm) for metric in classes), collections.ContextRecall(llm=llm)]
        return dict(zip(METRIC_NAMES, made, strict=True))

    return make


def _ragas() -> tuple[Any, Any]:
    try:
        from ragas.llms import llm_factory
        from ragas.metrics import collections
    except ImportError as error:
        raise BadInputError(
            f"judging by ragas needs the extra `ragas`: pip install 'errata-evals[ragas]' ({error})",
        ) from error
    return collections, llm_factory


def _ragas_version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("ragas")
    except PackageNotFoundError:
        return "none"
