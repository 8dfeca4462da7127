"""The sections of errata.toml that ingest and mining read."""

from pydantic import BaseModel, ConfigDict, Field


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid")


class LogSettings(_Section):
    """Where logs come from."""

    mappings: dict[str, str] = {}
    """Name of a mapping and its file, relative to the workspace."""


class PrivacySettings(_Section):
    """What is replaced before anything is stored."""

    redact: bool = True
    patterns: dict[str, str] = {}
    """Placeholder name and regular expression of the workspace's own secrets."""


class SignalSettings(_Section):
    """Switches and thresholds of the signals."""

    idle_gap_minutes: float = Field(30.0, gt=0)
    disabled: list[str] = []


class QueueSettings(_Section):
    """What comes first in the queue."""

    control_share: float = Field(0.05, ge=0, le=1)
    seed: int = 0
