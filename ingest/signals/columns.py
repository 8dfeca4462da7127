"""The functions that the SQL calls, over Arrow columns: the same on DuckDB and on Spark."""

import pyarrow as pa

from ingest.settings import SignalSettings
from ingest.signals.declining import decline_kinds
from ingest.signals.rephrasing import similarity_verdicts
from ingest.signals.support import answer_support


class SignalColumns:
    """Rephrase, decline and support over whole columns, with the settings of a workspace."""

    def __init__(self, settings: SignalSettings) -> None:
        """Take the sentence model and the strictness from `settings`."""
        self._embeddings = settings.embeddings
        self._strictness = settings.rephrase_strictness

    def rephrase(self, earlier: pa.Array, later: pa.Array) -> pa.Array:
        """Return a struct of kind and score for each pair of questions, both null where it is no rephrase."""
        verdicts = similarity_verdicts(
            earlier.to_pylist(), later.to_pylist(), embeddings=self._embeddings, strictness=self._strictness
        )
        return pa.StructArray.from_arrays(
            [
                pa.array([verdict and verdict.kind for verdict in verdicts], pa.string()),
                pa.array([verdict and verdict.score for verdict in verdicts], pa.float64()),
            ],
            names=["kind", "score"],
        )

    def declining(self, answers: pa.Array) -> pa.Array:
        """Return how each answer declines: abstention, policy, partial or null."""
        return pa.array(decline_kinds(answers.to_pylist()), pa.string())

    def supported(self, answers: pa.Array, texts: pa.Array) -> pa.Array:
        """Return a struct of the share of the words found in the text and the first figure that is not."""
        supports = answer_support(answers.to_pylist(), texts.to_pylist())
        return pa.StructArray.from_arrays(
            [
                pa.array([support and support.share for support in supports], pa.float64()),
                pa.array([support and support.figure for support in supports], pa.string()),
            ],
            names=["share", "figure"],
        )
