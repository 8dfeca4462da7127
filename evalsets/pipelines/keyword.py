"""The built-in pipeline: BM25 retrieval and an extractive answer, deterministic and offline."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any, ClassVar

from evalsets.chunks import Chunk
from evalsets.items import Item
from evalsets.keyword_search import KeywordIndex, search_terms
from evalsets.pipelines.base import Answer, Pipeline, Retrieved, digest
from evalsets.words import content_words, sentences

REFUSAL = "I could not find that in the documents I have."
PADDING = (
    "Our award-winning specialists typically handle such matters personally before lunchtime.",
    "Most customers also appreciate our complimentary premium onboarding webinar.",
)


class KeywordPipeline(Pipeline):
    """Retrieves by BM25 and answers with the retrieved sentences that share most words with the question.

    It declines when no retrieved sentence shares at least `least_overlap` of the question's content words. `padding`
    adds sentences that nothing in the corpus supports, to see what the groundedness metrics make of them.
    """

    kind: ClassVar[str] = "keyword"
    is_inline = True

    def __init__(  # noqa: PLR0913 - the switches of the pipeline
        self,
        chunks: Iterable[Chunk],
        *,
        name: str = "keyword",
        top_k: int | None = None,
        answer_sentences: int = 2,
        least_overlap: float = 0.34,
        padding: bool = False,
    ) -> None:
        """Index the corpus; `top_k` limits what is retrieved below the run's own k."""
        self.name = name
        self.top_k = top_k
        self._chunks = tuple(chunks)
        self._answer_sentences = answer_sentences
        self._least_overlap = least_overlap
        self._padding = padding

    @cached_property
    def index(self) -> KeywordIndex:
        """Return the index, built when first searched."""
        return KeywordIndex(self._chunks)

    @cached_property
    def _corpus_digest(self) -> str:
        return digest([[chunk.chunk_id, chunk.text] for chunk in self._chunks])

    def settings(self) -> dict[str, Any]:
        """Return the switches and a digest of the corpus."""
        return {
            "top_k": self.top_k,
            "answer_sentences": self._answer_sentences,
            "least_overlap": self._least_overlap,
            "padding": self._padding,
            "corpus": self._corpus_digest,
        }

    def retrieve(self, item: Item, k: int) -> Retrieved:
        """Return the best chunks by BM25."""
        return Retrieved(tuple(self.index.search(item.question, min(k, self.top_k or k))))

    def answer(self, item: Item, retrieved: Retrieved) -> Answer:
        """Return the sentences nearest to the question in retrieved order, or decline."""
        picked = self._nearest_sentences(item.question, retrieved.chunks)
        if not picked:
            return Answer(REFUSAL)
        texts = [text for text, _ in picked]
        cited = tuple(dict.fromkeys(chunk_id for _, chunk_id in picked))
        return Answer(" ".join([*texts, *(PADDING if self._padding else ())]), cited_ids=cited)

    def _nearest_sentences(self, question: str, chunks: Iterable[Chunk]) -> list[tuple[str, str]]:
        asked = frozenset(search_terms(" ".join(content_words(question))))
        if not asked:
            return []
        scored = [
            (len(asked & frozenset(search_terms(sentence))) / len(asked), place, sentence, chunk.chunk_id)
            for place, (chunk, sentence) in enumerate((c, s) for c in chunks for s in sentences(c.text))
        ]
        near = [entry for entry in scored if entry[0] >= self._least_overlap]
        best = sorted(near, key=lambda entry: (-entry[0], entry[1]))[: self._answer_sentences]
        return [(sentence, chunk_id) for _, _, sentence, chunk_id in sorted(best, key=lambda entry: entry[1])]
