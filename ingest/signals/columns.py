"""The functions that the SQL calls, over Arrow columns: the same on DuckDB and on Spark."""

from collections.abc import Sequence

import pyarrow as pa

from evalsets.languages import LANGUAGES
from ingest.settings import SignalSettings
from ingest.signals.arrow_arrays import as_column
from ingest.signals.cues import ANY_CUE, expression
from ingest.signals.decline_hints import hint_of
from ingest.signals.declining import WORTH_IT as DECLINES_WORTH_IT
from ingest.signals.declining import DeclineColumns
from ingest.signals.quick_look import WORTH_IT, QuickLook
from ingest.signals.rephrase_columns import rephrase_columns
from ingest.signals.support_columns import support_columns

LOOKED_AT = 250
"""Letters of an answer in which it declines, if it does: as many as `stages/turns.sql` looks at."""


class SignalColumns:
    """Rephrase, decline and support over whole columns, with the settings of a workspace, and quick looks."""

    def __init__(
        self,
        settings: SignalSettings,
        languages: Sequence[str] = LANGUAGES,
        *,
        looks_from: int = WORTH_IT,
        learned: Sequence[str] = ("", "", ""),
    ) -> None:
        """Take the sentence model and the strictness from `settings`; refusals are looked for in `languages`.

        Texts are looked at quickly once there were `looks_from` of them, or at once with what was `learned` before.
        """
        cues, declines, programs = learned
        self._declines = DeclineColumns(languages, worth_from=min(looks_from, DECLINES_WORTH_IT), learned=programs)
        self._embeddings = settings.embeddings
        self._strictness = settings.rephrase_strictness
        self._cue_look = QuickLook([expression(ANY_CUE)], worth_from=looks_from, learned=cues)
        hints = [hint_of(code) for code in languages]
        self._decline_look = QuickLook(hints, longest=LOOKED_AT, worth_from=looks_from, learned=declines)

    @property
    def learned(self) -> tuple[str, str, str]:
        """What the quick looks learned of the texts, and programs that were made, for those over more of the log."""
        return self._cue_look.learned, self._decline_look.learned, self._declines.learned

    def rephrase(self, earlier: pa.Array, later: pa.Array) -> pa.Array:
        """Return a struct of kind and score for each pair of questions, both null where it is no rephrase."""
        return rephrase_columns(
            _whole(earlier), _whole(later), embeddings=self._embeddings, strictness=self._strictness
        )

    def first_look(self, questions: pa.Array, answers: pa.Array) -> pa.Array:
        """Return bits of each turn that save to look closer, where they are not set.

        1: the question may have a cue, 2: it may have spaces around it, 4: the first letters of the answer, LOOKED_AT,
        may decline, 8: there may be no answer.
        """
        asked, answered = self._cue_look.said_of(_whole(questions)), self._decline_look.said_of(_whole(answers))
        return as_column(asked | answered << 2, pa.int8())

    def declining(self, answers: pa.Array) -> pa.Array:
        """Return how each answer declines: abstention, policy, partial or null."""
        return self._declines.kinds(_whole(answers))

    def supported(self, answers: pa.Array, texts: pa.Array) -> pa.Array:
        """Return a struct of the share of the words found in the text and the first figure that is not."""
        return support_columns(_whole(answers), _in_one(texts))


def _whole(texts: pa.Array | pa.ChunkedArray) -> pa.StringArray:
    return _in_one(texts).cast(pa.string())


def _in_one(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return a column in one piece: DuckDB hands on chunked arrays, nearly always of one chunk, Spark plain ones."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
