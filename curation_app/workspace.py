"""A workspace: the folder with errata.toml, where its state and eval sets live."""

import os
import tomllib
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evalsets.errors import BadInputError, FaultsError
from evalsets.settings import GateSettings, JudgeSettings, PipelineSettings, SetSettings
from ingest.settings import LogSettings, PrivacySettings, QueueSettings, SignalSettings

CONFIG_NAME = "errata.toml"
STATE_FOLDER = ".errata"
WORKSPACE_VARIABLE = "ERRATA_WORKSPACE"
"""Environment variable by which `errata app` tells the pages which workspace they serve."""


class ReviewSettings(BaseModel):
    """How labels are reviewed."""

    model_config = ConfigDict(extra="forbid")

    reviewers: int = Field(1, ge=1, le=2)
    """How many people must agree before an item can be frozen."""
    double_label_share: float = Field(0.0, ge=0, le=1)
    """Share of candidates that two people label without seeing each other's label."""
    claim_minutes: float = Field(10.0, gt=0)
    """How long an item stays a reviewer's after their last activity on it."""
    draft_model: str = ""
    """Model that may draft answers and questions, as pydantic-ai names it (needs the extra `judge`); empty: none."""
    draft_base_url: str = ""
    """Address of a local server that speaks OpenAI's protocol; empty: the provider's own."""


class Settings(BaseModel):
    """All that errata.toml may say; an unknown key is an error."""

    model_config = ConfigDict(extra="forbid")

    logs: LogSettings = LogSettings()
    privacy: PrivacySettings = PrivacySettings()
    signals: SignalSettings = SignalSettings()
    queue: QueueSettings = QueueSettings()
    review: ReviewSettings = ReviewSettings()
    sets: SetSettings = SetSettings()
    pipelines: dict[str, PipelineSettings] = {}
    judge: JudgeSettings = JudgeSettings()
    gate: GateSettings = GateSettings()


class Workspace(NamedTuple):
    """Paths of one workspace; opening it reads nothing but errata.toml."""

    root: Path

    @property
    def logs_path(self) -> Path:
        """The store of interactions and corpus chunks; can be rebuilt."""
        return self.root / STATE_FOLDER / "logs.duckdb"

    @property
    def review_path(self) -> Path:
        """The store of candidates, labels, drafts and claims; precious."""
        return self.root / STATE_FOLDER / "review.duckdb"

    @property
    def index_folder(self) -> Path:
        """The corpus search index; a throw-away cache."""
        return self.root / STATE_FOLDER / "corpus-index"

    @property
    def runs_folder(self) -> Path:
        """Journals and reports of runs."""
        return self.root / STATE_FOLDER / "runs"

    @property
    def sets_folder(self) -> Path:
        """The eval sets, in the user's own repository."""
        return self.root / "evalsets"

    @property
    def config_path(self) -> Path:
        """The workspace's errata.toml."""
        return self.root / CONFIG_NAME

    def settings(self) -> Settings:
        """Read errata.toml; every fault in it is named at once."""
        try:
            raw = tomllib.loads(self.config_path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise BadInputError(f"{self.config_path} is not valid TOML: {error}") from error
        try:
            return Settings.model_validate(raw)
        except ValidationError as error:
            faults = [
                f"{'.'.join(map(str, fault['loc']))} = {fault['input']!r}: {fault['msg']}" for fault in error.errors()
            ]
            raise FaultsError(f"{self.config_path} has {len(faults)} fault(s):", faults) from error


def find_workspace(start: Path | None = None) -> Workspace:
    """Return the workspace at `start` (default: here) or in the nearest folder above it."""
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / CONFIG_NAME).is_file():
            return Workspace(folder)
        if start is not None:
            break
    raise BadInputError(f"no {CONFIG_NAME} in {here}{'' if start else ' or above'}. Run `errata init` there first.")


def app_workspace() -> Workspace:
    """Return the workspace the running app serves: the one it was started for, else the one here or above."""
    folder = os.environ.get(WORKSPACE_VARIABLE)
    return find_workspace(Path(folder) if folder else None)
