"""The sections of errata.toml that ingest and mining read."""

from pydantic import BaseModel, ConfigDict, Field


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ScoreScale(_Section):
    """Which values of a score are a thumb down (at most `down_to`) and which a thumb up (at least `up_from`)."""

    down_to: float
    up_from: float


class LogSettings(_Section):
    """Where logs come from, and which scores in them are a user's verdict."""

    mappings: dict[str, str] = {}
    """Name of a mapping and its file, relative to the workspace."""
    scores: dict[str, ScoreScale] = {}
    """Scales of scores by name; a score that is not named has its scale inferred from all its values."""
    ignored_scores: list[str] = []
    """Scores that are no verdict of a user, though the log does not say so."""
    count_judges: bool = False
    """Whether scores of models and code count as feedback."""


class PrivacySettings(_Section):
    """What is replaced before anything is stored."""

    redact: bool = True
    patterns: dict[str, str] = {}
    """Placeholder name and regular expression of the workspace's own secrets."""
    names: bool = False
    """Whether to look for names and addresses too, which needs the extra `privacy` and is far slower."""
    language_model: str = "en_core_web_sm"
    """The spaCy pipeline that finds names: an installed package, or a folder that holds one."""


class SignalSettings(_Section):
    """Switches and thresholds of the signals."""

    idle_gap_minutes: float = Field(30.0, gt=0)
    """A session is over when its source has been active for this long after its last turn."""
    rephrase_window_minutes: float = Field(10.0, gt=0)
    """How soon the next question must follow to count as asked again, in one session or a new one."""
    rephrase_strictness: float = Field(1.0, gt=0)
    """Multiplies the odds from which two questions count as a rephrase: 2 calls fewer, 0.5 more."""
    regenerate_seconds: float = Field(60.0, gt=0)
    slow_factor: float = Field(5.0, gt=1)
    """Slow means this many times the median latency of the model, and at least `slow_floor_ms`."""
    slow_floor_ms: float = Field(2000.0, ge=0)
    costly_factor: float = Field(5.0, gt=1)
    """Costly means this many times the median cost of the model."""
    ungrounded_below: float = Field(0.6, ge=0, le=1)
    """Share of an answer's words that stand in the retrieved text, below which it is called ungrounded."""
    ungrounded_rows: int = Field(10_000, ge=0)
    """About how many answers a run compares with their retrieved text; larger logs are sampled by hash."""
    frequent_users: int = Field(3, ge=2)
    """How many users must have asked the same in vain."""
    giant_session_turns: int = Field(500, ge=2)
    """Sessions longer than this are taken for a bot or a constant id, and rephrases in them are not believed."""
    embeddings: str = ""
    """Empty: lexical similarity alone. Else a model2vec name or folder, or `minilm-int8`."""
    disabled: list[str] = []


DEFAULT_WEIGHTS = {
    "thumbs_down": 0.9,
    "rephrased": 0.6,
    "complaint": 0.8,
    "error": 0.7,
    "abandoned": 0.6,
    "declined": 0.55,
    "hand_off": 0.6,
    "ungrounded": 0.45,
    "frequent": 0.35,
    "regenerated": 0.35,
    "slow": 0.1,
    "costly": 0.1,
}


class QueueSettings(_Section):
    """What comes first in the queue."""

    control_share: float = Field(0.05, ge=0, le=1)
    """Share of the unflagged interactions drawn as a control, and of a batch given to them."""
    control_limit: int = Field(200, ge=0)
    """About how many controls a run draws at most."""
    seed: int = 0
    limit: int = Field(2000, gt=0)
    """How many flagged interactions are handed to review at most."""
    signal_share: float = Field(0.5, ge=0, le=1)
    """Share of these that is spread evenly over the signals and drawn by lot from `seed`; the rest goes by priority."""
    per_session: int = Field(5, gt=0)
    """How many interactions of one session are handed to review at most."""
    context_turns: int = Field(15, gt=0)
    """How many turns before and after the flagged one a reviewer sees."""
    weights: dict[str, float] = {}
    """Weight in [0, 1] by signal, over the defaults; a weight of 0 keeps a signal from raising anything."""

    def weight(self, signal: str) -> float:
        """Return the weight in [0, 1] that `signal` carries into the priority."""
        return self.weights.get(signal, DEFAULT_WEIGHTS.get(signal, 0.3))
