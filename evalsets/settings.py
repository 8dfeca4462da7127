"""The sections of errata.toml that eval sets and runs read."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class SetSettings(BaseModel):
    """Defaults for the eval sets of a workspace."""

    model_config = ConfigDict(extra="forbid")

    default: str = "failures"
    """The set that pages and commands mean when none is named."""
    holdout_share: float = Field(0.0, ge=0, lt=1)
    holdout_path: str = ""
    """Where held-out items are written; empty: beside the set."""
    review_after_days: int = Field(90, gt=0)


class PipelineSettings(BaseModel):
    """One named pipeline; `kind` says how it is called."""

    model_config = ConfigDict(extra="allow")

    kind: str = "keyword"


class JudgeSettings(BaseModel):
    """How answers are judged."""

    model_config = ConfigDict(extra="forbid")

    kind: str = "facts"
    """`facts` (offline), `model` (a language model, extra `judge`), `ragas` (extra `ragas`) or `python` (your own)."""
    model: str = ""
    """Name of the model, with its provider unless `base_url` is given: `openai:…`, `anthropic:…`."""
    base_url: str = ""
    """Address of an OpenAI-compatible server, such as one of your own."""
    api_key_env: str = "OPENAI_API_KEY"
    """Environment variable that holds the key for `base_url`; the key itself is never written down."""
    object: str = ""
    """`module:attribute` of a judge of kind `python`."""
    prompts: str = ""
    """Folder whose verdict.md and claims.md stand in for the package's own."""
    temperature: float | None = Field(0.0, ge=0)
    seed: int | None = None
    max_tokens: int | None = Field(None, gt=0)
    output: Literal["tool", "native", "prompted"] = "tool"
    """How the model is asked for a structured verdict; `prompted` suits servers without tools."""
    check_support: bool = True
    """Whether each claim is checked against the retrieved text: a second call an item."""
    timeout_s: float = Field(120.0, gt=0)


class GateSettings(BaseModel):
    """How far a run may fall behind its baseline; options of `errata gate` win over these."""

    model_config = ConfigDict(extra="forbid")

    metric_tolerance: float = Field(0.03, ge=0, le=1)
    mode_tolerance: float = Field(0.05, ge=0, le=1)
    metrics: dict[str, float] = Field(default_factory=dict)
    """Metrics that gate beside the headline, each with its own tolerance."""
    modes: dict[str, float] = Field(default_factory=dict)
    """Modes with a tolerance of their own."""
    floors: dict[str, float] = Field(default_factory=dict)
    """Values that a metric or mode may not fall below, whatever the baseline says."""
    require_significant: bool = False
    """Whether a fall fails only when a paired test says that it is more than chance."""
    strict_test: bool = False
    """Whether pass and fail are tested by McNemar's exact test instead of its mid-p form."""
    allow_proxy: bool = False
    """Whether metrics that see words, not meaning, may decide."""
    scorecard: bool = False
    """Whether every metric of the scorecard must clear its bar."""
    every_question: bool = False
    """Whether every single question must clear recall, groundedness and correctness."""
