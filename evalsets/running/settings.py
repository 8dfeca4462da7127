"""How a run is carried out: its breadth, its patience and its budget."""

from pathlib import Path
from typing import Any

from pydantic import Field

from evalsets.items import StrictModel


class RunSettings(StrictModel):
    """Settings of one run. Only `k` and `repeat` change what is measured; the others change how it is carried out."""

    k: int = Field(10, ge=1)
    """How many chunks are asked for, and the depth of every metric `@k`."""
    repeat: int = Field(1, ge=1)
    """How often each item is run, to see how steady the system is."""
    concurrency: int = Field(20, ge=1)
    call_timeout_s: float = Field(60.0, gt=0)
    item_timeout_s: float = Field(300.0, gt=0)
    retries: int = Field(3, ge=0)
    """How often a call is tried again after a passing fault; 0 switches retries off."""
    retry_total_s: float = Field(120.0, gt=0)
    """Longest time spent on one call and its retries."""
    calls_per_s: float | None = Field(None, gt=0)
    max_calls: int | None = Field(None, ge=1)
    max_seconds: float | None = Field(None, gt=0)
    max_cost: float | None = Field(None, gt=0)
    max_error_share: float = Field(0.1, ge=0, le=1)
    """Share of items that may end in an error before the run counts as incomplete."""
    metrics: tuple[str, ...] = ()
    """Names of metrics scored beside those that always are, such as `words_within@5-120` or `recall@3`."""
    embeddings: str = ""
    """Sentence model by which `grounded_meaning` is measured (extra `embeddings`); empty: it is not."""
    cache_path: Path | None = None
    """Where finished calls are kept across runs; not used when `repeat` is over 1."""

    def measured(self) -> dict[str, Any]:
        """Return the settings that change what is measured, which is what a report keeps."""
        extra = {"metrics": list(self.metrics), "embeddings": self.embeddings}
        return {"k": self.k, "repeat": self.repeat} | {name: value for name, value in extra.items() if value}
