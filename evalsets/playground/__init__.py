"""Five questions over a tiny corpus with a near-duplicate, to see recall, groundedness and correctness move apart.

With `top_k` 1 the near-duplicate stands in front of the gold chunk: recall falls, yet the answer is still right. With
padding the answer says more than the text does: groundedness falls, and correctness does not notice.
"""

from pathlib import Path

from evalsets.corpus_file import read_corpus
from evalsets.judges.base import FactsJudge
from evalsets.pipelines.keyword import KeywordPipeline
from evalsets.report import Report
from evalsets.running.runner import run
from evalsets.running.settings import RunSettings
from evalsets.sets.file import load

FOLDER = Path(__file__).parent
CORPUS_PATH = FOLDER / "corpus.jsonl"
SET_PATH = FOLDER / "five-questions.json"


def run_five_questions(*, top_k: int, padding: bool) -> Report:
    """Run the built-in pipeline over the five questions, retrieving `top_k` chunks."""
    pipeline = KeywordPipeline(read_corpus(CORPUS_PATH), top_k=top_k, padding=padding)
    return run(load(SET_PATH), pipeline, FactsJudge(), RunSettings(k=top_k))
