"""Measure signals and scorers on labelled data and write docs/quality.md: `python -m tests.quality [DATA]`."""

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from evalsets.embedding import MINILM, load_embedder
from evalsets.grounding import Similarity
from tests.quality.faithfulness import NOTES as FAITHFULNESS_NOTES
from tests.quality.faithfulness import measure_faithfulness
from tests.quality.fit_rephrase import cross_validated
from tests.quality.out_of_scope import measure_out_of_scope
from tests.quality.refusals import NOTES as REFUSAL_NOTES
from tests.quality.refusals import measure_refusals
from tests.quality.rephrase import RephraseMeasure, measure_rephrase
from tests.quality.sample import measure_sample

ACCOUNT = Path(__file__).with_name("account.md")
WRITTEN = Path(__file__).parents[2] / "docs" / "quality.md"
KNOWN_REPHRASE = (
    ("best known: token_set_ratio >= 66.7", "5.3%", "94%", "14%", "15%", "53%"),
    ("best known: token_set or MiniLM, or cues", "6.5%", "93%", "24%", "39%", "43%"),
    ("asked for, words alone", "at most 6%", "91%", "14%", "40%", ""),
    ("asked for, with embeddings", "at most 6%", "91%", "33%", "42%", ""),
)
KNOWN_REFUSAL = {"xstest_safe_mistral": ".916 (asked for .92)", "mtragun": ".980 (asked for .98, partial at most 15%)"}
KNOWN_FAITH = {"mtrag_human": ".718 (LLM judge .729)", "expertqa_claims": ".594", "begin_wow": ".861"}
KNOWN_SCOPE = {"letter n-grams, TF-IDF": ".896", "sentence embeddings": ".956"}


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="?", type=Path, default=Path("../shared/data"))
    parser.add_argument("--embed-passages", action="store_true", help="groundedness by embeddings too; takes long")
    given = parser.parse_args()
    folder: Path = given.data
    if not folder.is_dir():
        sys.exit(f"{folder} is no folder; give one that holds the labelled files.")
    words, meaning = cross_validated()
    rephrase = measure_rephrase(folder)
    text = ACCOUNT.read_text(encoding="utf-8").format(
        rephrase=_rephrase(rephrase) if rephrase else "No file of pairs was there.",
        naming=_naming(rephrase) if rephrase else "",
        expected_words=words,
        expected_meaning=meaning,
        refusal=_refusals(folder),
        faithfulness=_faithfulness(folder, _similarity if given.embed_passages else None),
        scope=_scope(folder),
        sample=_sample(),
    )
    sys.stdout.write(text)
    WRITTEN.write_text(text, encoding="utf-8")


def _rephrase(measure: RephraseMeasure) -> str:
    heads = ("detector", "follow-ups flagged", "restated (cast)", "same intent (banking77)", "clarification (mtragun)")
    more = ("near miss flagged", "unrelated flagged", "rewritten follow-ups flagged", "iard restated", "iard other")
    rows = [[row.detector, *map(_share, row[1:])] for row in measure.rows]
    known = [[*row, *[""] * 4] for row in KNOWN_REPHRASE]
    return _table((*heads, *more), [*rows, *known])


def _naming(measure: RephraseMeasure) -> str:
    names = ("restated", "reworded", "corrected", "repeated")
    rows = [[row.label, str(row.pairs), *[_share(row.named[name]) for name in names]] for row in measure.naming]
    return _table(("label", "pairs", *names), rows)


def _refusals(folder: Path) -> str:
    rows = [
        [
            *(row.file, row.answers, f"{row.f1:.3f}", f"{row.precision:.3f}", f"{row.recall:.3f}"),
            *(f"{row.partial_flagged:.0%} of {row.partial}", KNOWN_REFUSAL.get(row.data_set, "")),
        ]
        for row in measure_refusals(folder)
    ]
    heads = ("file", "answers", "F1", "precision", "recall", "partial answers flagged", "best known F1")
    return f"{_table(heads, rows)}\n\n{REFUSAL_NOTES.rstrip()}"


def _faithfulness(folder: Path, similarity: Similarity | None) -> str:
    rows = [
        [
            *(row.data_set, row.method, row.answers, row.threshold, f"{row.balanced_accuracy:.3f}"),
            *("" if row.spearman is None else f"{row.spearman:.3f}", KNOWN_FAITH.get(row.data_set, "")),
        ]
        for row in measure_faithfulness(folder, similarity)
    ]
    heads = ("data set", "proxy", "answers", "bar", "balanced accuracy", "Spearman with people", "best known")
    return f"{_table(heads, rows)}\n\n{FAITHFULNESS_NOTES.rstrip()}"


def _similarity(text: str, others: Sequence[str]) -> float:
    """Return the highest cosine of a text with any of the others."""
    if not others:
        return 0.0
    vectors = load_embedder(MINILM).embed([text, *others])
    return float(np.max(vectors[1:] @ vectors[0]))


def _scope(folder: Path) -> str:
    rows = [
        [row.file, row.method, row.questions, f"{row.auroc:.3f}", KNOWN_SCOPE[row.method]]
        for row in measure_out_of_scope(folder)
    ]
    return _table(("file", "likeness to known questions", "questions", "AUROC", "best known"), rows)


def _sample() -> str:
    figures = measure_sample()
    rows = [
        ["truly failed interactions that are candidates", f"{figures.failed_found:.1%} of {figures.failed}", "90%"],
        ["real failures among the top 50 of the queue", f"{figures.top_failed:.0%}", "60%"],
        ["suggested modes that are right", f"{figures.suggested_rightly:.0%} of {figures.suggested}", ""],
        ["flagged interactions in the queue", f"{figures.queued} of {figures.interactions}", ""],
    ]
    return _table(("", "measured", "asked for at least"), rows)


def _share(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return "\n".join([*lines, *("| " + " | ".join(map(str, row)) + " |" for row in rows)])


if __name__ == "__main__":
    main()
