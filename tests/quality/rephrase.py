"""Measure rephrase detection on every pair file of a folder, by words alone and with sentence embeddings."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from evalsets.embedding import MINILM, has_minilm
from ingest.signals.rephrasing import Verdict, rephrase_verdicts

PREFIX = "rephrase_pairs_"
REAL_FOLLOW_UPS = ("followup_raw", "Follow-up")
"""Follow-ups as people typed them. CAsT also has each rewritten to stand alone, shown apart."""


class RephraseRow(NamedTuple):
    """Shares flagged by one detector over all files; None where a kind is not among them."""

    detector: str
    follow_ups: float | None
    restated: float | None
    same_intent: float | None
    clarification: float | None
    near_miss: float | None
    unrelated: float | None
    rewritten_follow_ups: float | None
    iard_restated: float | None
    iard_other: float | None


class KindShare(NamedTuple):
    """How the pairs of one label were named, as shares of all of them."""

    label: str
    pairs: int
    named: Mapping[str, float]


class RephraseMeasure(NamedTuple):
    """The figures of each detector and how the better one named what it flagged."""

    rows: list[RephraseRow]
    naming: list[KindShare]


def measure_rephrase(folder: Path) -> RephraseMeasure | None:
    """Judge every pair of the files whose names begin with `rephrase_pairs_`; None when there are none."""
    pairs = [row for path in sorted(folder.glob(f"{PREFIX}*.jsonl")) for row in _rows(path)]
    if not pairs:
        return None
    detectors = {"words alone (default)": ""} | ({"with embeddings": MINILM} if has_minilm() else {})
    judged = {
        name: rephrase_verdicts([row["prev"] for row in pairs], [row["cur"] for row in pairs], embeddings=model)
        for name, model in detectors.items()
    }
    kinds = [_kind(row) for row in pairs]
    return RephraseMeasure(
        [_row(name, kinds, verdicts) for name, verdicts in judged.items()],
        _naming(kinds, list(judged.values())[-1]),
    )


def _kind(row: Mapping[str, Any]) -> str:
    if row["source"] == "iard":
        return "iard restated" if row["label"] else "iard other"
    return str(row["kind"])


def _row(detector: str, kinds: Sequence[str], verdicts: Sequence[Verdict | None]) -> RephraseRow:
    def share(*wanted: str) -> float | None:
        flagged = [verdict is not None for kind, verdict in zip(kinds, verdicts, strict=True) if kind in wanted]
        return sum(flagged) / len(flagged) if flagged else None

    return RephraseRow(
        detector,
        follow_ups=share(*REAL_FOLLOW_UPS),
        restated=share("raw->manual_rewrite"),
        same_intent=share("same_intent"),
        clarification=share("Clarification"),
        near_miss=share("other_intent_hard"),
        unrelated=share("other_intent_random"),
        rewritten_follow_ups=share("followup_rewritten"),
        iard_restated=share("iard restated"),
        iard_other=share("iard other"),
    )


def _naming(kinds: Sequence[str], verdicts: Sequence[Verdict | None]) -> list[KindShare]:
    labels = ("raw->manual_rewrite", "same_intent", "Clarification", *REAL_FOLLOW_UPS)
    shares = []
    for label in labels:
        named = [
            verdict.kind if verdict else "" for kind, verdict in zip(kinds, verdicts, strict=True) if kind == label
        ]
        if named:
            names = ("restated", "reworded", "corrected", "repeated")
            shares.append(KindShare(label, len(named), {name: named.count(name) / len(named) for name in names}))
    return shares


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    source = path.stem.removeprefix(PREFIX).split("_")[0]
    return ({**json.loads(line), "source": source} for line in path.read_text("utf-8").splitlines() if line.strip())
