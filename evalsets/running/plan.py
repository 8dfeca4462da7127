"""What a run is made of, and the key by which each of its calls is known in the journal and the cache."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from evalsets.chunks import Chunk
from evalsets.eval_set import EvalSet
from evalsets.items import Item
from evalsets.judges.base import Judge
from evalsets.pipelines.base import Pipeline, digest
from evalsets.running.journal import CallKey
from evalsets.running.settings import RunSettings

JUDGE_STEP = "judge"


class CorpusState(NamedTuple):
    """What is known of the corpus: what became of the gold chunks by kind, and which of them stand in it."""

    drift: Mapping[str, int] = {}
    gold_ids: frozenset[str] | None = None
    read_texts: Callable[[], Mapping[str, str]] | None = None
    """Reads the text of every chunk by id; called once, and only when a pipeline hands over bare ids."""


class RunPlan:
    """An eval set, a pipeline, a judge and settings, put together."""

    def __init__(
        self,
        eval_set: EvalSet,
        pipeline: Pipeline,
        judge: Judge,
        settings: RunSettings,
        *,
        corpus: CorpusState | None = None,
    ) -> None:
        self.eval_set = eval_set
        self.pipeline = pipeline
        self.judge = judge
        self.settings = settings
        self.corpus = corpus or CorpusState()
        self._contents: dict[str, tuple[str, str]] = {}

    @cached_property
    def configs(self) -> dict[str, str]:
        """Return the configuration digest of each step: its own settings and those of the steps before it."""
        asked = {"pipeline": self.pipeline.fingerprint, "k": self.settings.k}
        configs = {step: digest({"step": step, **asked}) for step in self.pipeline.steps}
        return configs | {JUDGE_STEP: digest({"judge": self.judge.fingerprint, **asked})}

    @cached_property
    def _texts(self) -> Mapping[str, str]:
        return self.corpus.read_texts() if self.corpus.read_texts is not None else {}

    def texts_for(self, chunks: Sequence[Chunk]) -> Mapping[str, str]:
        """Return the corpus's texts when some of these chunks come without their own."""
        return {} if all(chunk.text for chunk in chunks) else self._texts

    def key(self, item: Item, step: str, repeat: int) -> CallKey:
        """Return the key of one call. The judge sees the whole item; the pipeline its question and planted chunks."""
        asked, judged = self._content_of(item)
        return CallKey(item.id, step, self.configs[step], judged if step == JUDGE_STEP else asked, repeat)

    def content(self, item: Item) -> str:
        """Return the digest of a whole item, by which runs of two set versions know what is the same."""
        return self._content_of(item)[1]

    def _content_of(self, item: Item) -> tuple[str, str]:
        if item.id not in self._contents:
            self._contents[item.id] = (_asked_content(item), digest(item.model_dump_json(exclude_defaults=True)))
        return self._contents[item.id]


def _asked_content(item: Item) -> str:
    if not item.planted and item.logged is None:
        return digest(item.question)
    content: list[Any] = [item.question, [[chunk.chunk_id, chunk.text] for chunk in item.planted]]
    if item.logged is not None:
        content.append(item.logged.model_dump(mode="json"))
    return digest(content)
