"""How much of each answer stands in its passages, for whole columns, without a Python object for most answers."""

from functools import cache

import numpy as np
import pyarrow as pa

from evalsets.languages import GUESSED_FROM, LANGUAGES, languages_of_words
from ingest.signals.arrow_arrays import as_column, as_strings, text_buffers
from ingest.signals.support import Support, answer_support

try:
    from ingest.compiled.support import FunctionWords, measure_support
except ImportError:  # nothing was compiled where this is installed
    IS_COMPILED = False
else:
    IS_COMPILED = True


def support_columns(answers: pa.StringArray, texts: pa.ListArray) -> pa.StructArray:
    """Return a struct of the share of an answer's words found in its texts and the first figure that is not."""
    supports = _measured(answers, texts) if IS_COMPILED else answer_support(answers.to_pylist(), texts.to_pylist())
    is_there = np.array([support is not None for support in supports], dtype=bool)
    shares = np.array([support.share if support else 0.0 for support in supports])
    figures = as_strings([support and support.figure for support in supports])
    return pa.StructArray.from_arrays([as_column(shares, pa.float64(), is_there), figures], names=["share", "figure"])


def _measured(answers: pa.StringArray, texts: pa.ListArray) -> list[Support | None]:
    """Measure answers in a compiled loop, and those that it does not read as ever."""
    rows = len(answers)
    words, found, figures = (np.empty(shape, dtype=np.int32) for shape in (rows, rows, (rows, 2)))
    ends = np.frombuffer(texts.offsets.buffers()[1], dtype=np.int32)[texts.offsets.offset :][: rows + 1]
    letters, starts = text_buffers(answers)
    measure_support(
        letters, starts, *text_buffers(texts.values.cast(pa.string())), ends, _function_words(), words, found, figures
    )
    supports: list[Support | None] = []
    counted = zip(words.tolist(), found.tolist(), starts.tolist(), figures.tolist(), strict=False)
    for row, (total, there, start, (place, size)) in enumerate(counted):
        if total < 0:
            supports += answer_support(answers[row : row + 1].to_pylist(), texts[row : row + 1].to_pylist())
        elif total:
            figure = letters[start + place : start + place + size].tobytes().decode() if size else None
            supports.append(Support(round(there / total, 4), figure))
        else:
            supports.append(None)
    return supports


@cache
def _function_words() -> "FunctionWords":
    return FunctionWords(languages_of_words(), len(LANGUAGES), GUESSED_FROM)
