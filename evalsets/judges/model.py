"""A judge that asks a language model, through pydantic-ai, which is loaded only when the first answer is judged."""

import asyncio
import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from evalsets.errors import BadInputError
from evalsets.judges.base import JudgeInvalidError
from evalsets.judges.prompting import JudgePrompts, claims_request, load_prompts, verdict_request
from evalsets.judges.verdict import ClaimVerdict, Verdict
from evalsets.metrics.base import ScoredCase
from evalsets.words import phrase_in, token_text

if TYPE_CHECKING:
    from pydantic_ai import Agent
    from pydantic_ai.models import Model

CODE_VERSION = 1
"""Raised whenever this module changes what a verdict can be; part of every fingerprint."""

Aspect = Literal["correct", "relevant", "declined", "supported"]
ASPECTS: tuple[Aspect, ...] = ("correct", "relevant", "declined", "supported")


class JudgeParameters(BaseModel):
    """What shapes a verdict besides the model and the prompts; all of it goes into the fingerprint."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    temperature: float | None = Field(0.0, ge=0)
    """None where the model refuses the setting."""
    seed: int | None = None
    max_tokens: int | None = Field(None, gt=0)
    output: Literal["tool", "native", "prompted"] = "tool"
    """How a structured verdict is asked for: `prompted` works with servers that know neither tools nor schemas."""
    check_support: bool = True
    """Whether the answer is also checked claim by claim against the retrieved text: a second call an item."""


class VerdictReply(BaseModel):
    """What the model answers about one answer."""

    model_config = ConfigDict(extra="forbid", strict=True)

    note: str
    correct: bool
    relevant: bool
    declined: bool


class ClaimReply(BaseModel):
    """What the model answers about one claim."""

    model_config = ConfigDict(extra="forbid", strict=True)

    claim: str = Field(min_length=1)
    quote: str
    supported: bool


class ClaimsReply(BaseModel):
    """What the model answers about all claims of an answer."""

    model_config = ConfigDict(extra="forbid", strict=True)

    claims: list[ClaimReply]


class _Agents(NamedTuple):
    loop: asyncio.AbstractEventLoop
    verdict: "Agent[object, VerdictReply]"
    claims: "Agent[object, ClaimsReply]"


class ModelJudge:
    """Judges by a language model: correct, relevant and declined in one call, support claim by claim in a second.

    A claim counts as supported only when its quote really stands in a retrieved passage. An item the corpus does not
    cover passes by declining; any other passes when the answer is correct.
    """

    is_model = True

    def __init__(
        self,
        model: "str | Callable[[], Model] | Model",
        *,
        model_name: str = "",
        prompts: JudgePrompts | None = None,
        parameters: JudgeParameters | None = None,
    ) -> None:
        """Take a pydantic-ai model, its name (`openai:…`), or a function that makes one for the running loop."""
        self._model = model
        self._prompts = prompts or load_prompts()
        self._parameters = parameters or JudgeParameters()
        self._agents: _Agents | None = None
        self.name = model_name or (model if isinstance(model, str) else getattr(model, "model_name", "model"))
        self.fingerprint = _fingerprint(self.name, self._prompts, self._parameters)

    async def judge(self, case: ScoredCase) -> Verdict:
        """Return the verdict; raise JudgeInvalidError when what came back is none after one repair."""
        if not (case.answer or "").strip():
            return Verdict(passed=False, note="the answer is empty", correct=False, relevant=False, declined=False)
        agents = self._agents_of_this_loop()
        reply, usage = await _ask(agents.verdict, verdict_request(case))
        passed = reply.declined if not case.item.is_answerable else reply.correct
        verdict = Verdict(
            passed=passed,
            note=" ".join(filter(None, [reply.note.strip(), _injection_note(case.answer or "")])),
            correct=reply.correct,
            relevant=reply.relevant,
            declined=reply.declined,
            input_tokens=usage.input_tokens or 0,
            output_tokens=usage.output_tokens or 0,
        )
        if not self._parameters.check_support or reply.declined or not case.retrieved:
            return verdict
        return await self._with_support(agents, case, verdict)

    async def _with_support(self, agents: _Agents, case: ScoredCase, verdict: Verdict) -> Verdict:
        reply, usage = await _ask(agents.claims, claims_request(case))
        passages = [token_text(chunk.text) for chunk in case.retrieved]
        claims = tuple(_checked(claim, passages) for claim in reply.claims)
        return verdict.model_copy(
            update={
                "claims": claims,
                "supported": sum(claim.supported for claim in claims) / len(claims) if claims else None,
                "input_tokens": verdict.input_tokens + (usage.input_tokens or 0),
                "output_tokens": verdict.output_tokens + (usage.output_tokens or 0),
            },
        )

    def _agents_of_this_loop(self) -> _Agents:
        """Make the agents anew for each event loop: an HTTP client does not outlive the loop it was made in."""
        loop = asyncio.get_running_loop()
        if self._agents is None or self._agents.loop is not loop:
            self._agents = _Agents(loop, *self._made_agents())
        return self._agents

    def _made_agents(self) -> tuple[Any, Any]:
        pydantic_ai = _pydantic_ai()
        model = self._model() if callable(self._model) else self._model
        try:
            verdict = _agent(model, VerdictReply, self._prompts.verdict, self._parameters)
            return verdict, _agent(model, ClaimsReply, self._prompts.claims, self._parameters)
        except (pydantic_ai.UserError, ValueError) as error:
            raise BadInputError(f"the judge's model {self.name!r} cannot be used: {error}") from error


def _fingerprint(model_name: str, prompts: JudgePrompts, parameters: JudgeParameters) -> str:
    parts = {
        "code": CODE_VERSION,
        "model": model_name,
        "prompts": prompts._asdict(),
        "parameters": parameters.model_dump(mode="json"),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


def _agent(model: Any, reply: Any, instructions: str, parameters: JudgeParameters) -> Any:
    pydantic_ai = _pydantic_ai()
    wrappers = {
        "tool": pydantic_ai.ToolOutput,
        "native": pydantic_ai.NativeOutput,
        "prompted": pydantic_ai.PromptedOutput,
    }
    chosen = parameters.model_dump(include={"temperature", "seed", "max_tokens"}, exclude_none=True)
    return pydantic_ai.Agent(
        model,
        output_type=wrappers[parameters.output](reply),
        instructions=instructions,
        model_settings=chosen,
        retries=1,
    )


async def _ask(agent: "Agent[object, Any]", request: str) -> tuple[Any, Any]:
    """Ask once, with one repair; what is no verdict then becomes an error that keeps the model's words."""
    pydantic_ai = _pydantic_ai()
    with pydantic_ai.capture_run_messages() as messages:
        try:
            result = await agent.run(request)
        except (pydantic_ai.UnexpectedModelBehavior, pydantic_ai.exceptions.ModelAPIError) as error:
            if _may_pass(error):
                raise
            message = f"judge-invalid: the judge gave no verdict: {error}"
            raise JudgeInvalidError(message, _last_words(messages)) from error
    return result.output, result.usage


def _may_pass(error: Exception) -> bool:
    """Tell a fault of the way there, which the runner may retry, from a reply that is no verdict."""
    names = {cls.__name__ for cls in type(error).__mro__}
    return bool(names & {"ModelHTTPError", "ModelConnectionError"})


def _last_words(messages: Sequence[Any]) -> str:
    """Return what the model said last: its text, or the arguments it called with."""
    responses = [message for message in messages if message.kind == "response"]
    parts = responses[-1].parts if responses else []
    return "\n".join(str(getattr(part, "args", None) or getattr(part, "content", "")) for part in parts)


def _checked(claim: ClaimReply, passages: Sequence[str]) -> ClaimVerdict:
    """Keep a claim's support only when its quote stands in a passage, whatever its case and white space."""
    stands = any(phrase_in(passage, claim.quote) for passage in passages)
    return ClaimVerdict(claim=claim.claim, supported=claim.supported and stands, quote=claim.quote if stands else "")


_ADDRESSES_THE_JUDGE = (
    "ignore previous",
    "ignore all previous",
    "ignore the above",
    "ignore your instructions",
    "rate this as",
    "mark this as",
    "judge this as",
    "grade this as",
    "score this as",
    "you are the judge",
    "as the judge",
    "as an evaluator",
)


def _injection_note(answer: str) -> str:
    padded = token_text(answer)
    found = next((cue for cue in _ADDRESSES_THE_JUDGE if phrase_in(padded, cue)), "")
    return f"[The answer speaks to the judge: {found!r}.]" if found else ""


def _pydantic_ai() -> Any:
    try:
        import pydantic_ai
    except ImportError as error:
        raise BadInputError(
            "judging by a model needs the extra `judge`: pip install 'errata-evals[judge]'",
        ) from error
    return pydantic_ai


def openai_compatible(model: str, base_url: str, api_key: str, *, timeout_s: float = 120.0) -> "Callable[[], Model]":
    """Return a maker of models behind an OpenAI-compatible server; retries are left to the runner."""

    def make() -> "Model":
        _pydantic_ai()
        from openai import AsyncOpenAI
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider

        client = AsyncOpenAI(base_url=base_url, api_key=api_key, max_retries=0, timeout=timeout_s)
        return OpenAIChatModel(model, provider=OpenAIProvider(openai_client=client))

    return make


def prompts_folder(path: str, root: Path) -> Path | None:
    """Return the folder of overriding prompts, read from `root` when relative; None when none is named."""
    return (root / path) if path else None
