"""The sections of errata.toml that eval sets and runs read."""

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
    model: str = ""
