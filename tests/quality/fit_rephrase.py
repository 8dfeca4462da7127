"""Fit the weights that tell a rephrase from a follow-up, and choose where it is believed.

Run `python -m tests.quality.fit_rephrase [DATA]` from the top of the repository; it rewrites
`ingest/signals/rephrase_weights.json` and prints what five-fold cross-validation by conversation expects of it.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.preprocessing import StandardScaler

from evalsets.embedding import MINILM
from ingest.signals.pair_features import (
    LEXICAL_FEATURES,
    MEANING_FEATURES,
    Numbers,
    folded_question,
    lexical_features,
    may_share_content,
    with_meaning,
)
from ingest.signals.rephrasing import _CORRECTED, cosines

WEIGHTS_PATH = Path(__file__).parents[2] / "ingest/signals/rephrase_weights.json"


class Asked(NamedTuple):
    """What is asked for: at most this share of follow-ups flagged, at least these of the others found."""

    follow_ups: float
    restated: float
    same_intent: float


ASKED = {"lexical": Asked(0.06, 0.91, 0.14), "embeddings": Asked(0.06, 0.91, 0.33)}
REGULARISATION = 0.3
NEGATIVE_WEIGHTS = {
    "followup_raw": 1.0,
    "Follow-up": 1.0,
    "followup_rewritten": 0.4,
    "other_intent_random": 1.0,
    "other_intent_hard": 0.3,
}
"""How much each kind of non-rephrase counts. Follow-ups rewritten to stand alone are not what people type; near misses
share nearly all words with what they miss, and count only where rewording is learned."""
REAL_FOLLOW_UPS = ("followup_raw", "Follow-up")
Mask = npt.NDArray[np.bool_]


class Pairs(NamedTuple):
    """Development pairs: what is measured on each, which kind it is and which conversation it belongs to."""

    features: Numbers
    names: tuple[str, ...]
    kinds: npt.NDArray[np.str_]
    groups: npt.NDArray[np.str_]
    has_cue: Mask
    is_open: Mask
    """Pairs that are weighed: by words alone, those that may share a content word."""

    def of(self, *kinds: str) -> Mask:
        """Return which pairs are of these kinds."""
        return np.isin(self.kinds, kinds)


class Fitted(NamedTuple):
    """One kind's model on the raw scale of the features, and what it said of pairs held out of it."""

    intercept: float
    weights: dict[str, float]
    held_out: Numbers


def main() -> None:
    """Fit both models and write them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="?", type=Path, default=Path("../shared/data"))
    folder = parser.parse_args().data
    weights: dict[str, dict[str, Any]] = {}
    for name, embeddings in (("lexical", ""), ("embeddings", MINILM)):
        pairs = read_pairs(folder, embeddings)
        restated = fit(pairs, "raw->manual_rewrite", near_misses=False)
        reworded = fit(pairs, "same_intent", near_misses=True)
        thresholds = choose_thresholds(
            pairs,
            restated.held_out,
            reworded.held_out,
            asked=ASKED[name],
        )
        weights[name] = {
            kind: {
                "intercept": round(fitted.intercept, 4),
                "threshold": round(threshold, 4),
                "weights": {feature: round(weight, 4) for feature, weight in fitted.weights.items()},
            }
            for kind, fitted, threshold in zip(("restated", "reworded"), (restated, reworded), thresholds, strict=True)
        }
        weights[name]["cross_validated"] = expected(pairs, restated.held_out, reworded.held_out, thresholds)
        sys.stdout.write(f"{name}: {weights[name]['cross_validated']}\n")
    WEIGHTS_PATH.write_text(json.dumps(weights, indent=2) + "\n", encoding="utf-8")


def cross_validated() -> tuple[str, str]:
    """Say what cross-validation expected of each model when it was fitted."""
    kept = json.loads(WEIGHTS_PATH.read_text(encoding="utf-8"))
    return _in_words(kept["lexical"]["cross_validated"]), _in_words(kept["embeddings"]["cross_validated"])


def _in_words(shares: dict[str, float]) -> str:
    return (
        f"{shares['real follow-ups']:.1%} of real follow-ups flagged; {shares['raw->manual_rewrite']:.0%} of restated, "
        f"{shares['same_intent']:.0%} of reworded and {shares['Clarification']:.0%} of clarifying questions found"
    )


def read_pairs(folder: Path, embeddings: str) -> Pairs:
    """Read the labelled pairs of all three sources and measure them."""
    rows = [
        {**row, "group": f"{path.stem}:{row['group']}"}
        for stem in ("cast", "banking77", "mtragun")
        for path in sorted(folder.glob(f"rephrase_pairs_{stem}_*.jsonl"))
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines())
    ]
    earlier = [folded_question(row["prev"]) for row in rows]
    later = [folded_question(row["cur"]) for row in rows]
    features, names = lexical_features(earlier, later), tuple(LEXICAL_FEATURES)
    if embeddings:
        features, names = with_meaning(features, cosines(earlier, later, embeddings)), (*names, *MEANING_FEATURES)
    return Pairs(
        features,
        names,
        np.array([row["kind"] for row in rows]),
        np.array([row["group"] for row in rows]),
        np.array([_CORRECTED.search(text) is not None for text in later]),
        np.array([bool(embeddings) or may_share_content(a, b) for a, b in zip(earlier, later, strict=True)]),
    )


def fit(pairs: Pairs, kind: str, *, near_misses: bool) -> Fitted:
    """Fit a logistic model of `kind` against all that is no rephrase, classes weighted alike."""
    is_positive = pairs.of(kind)
    weight = np.array([NEGATIVE_WEIGHTS.get(each, 0.0) for each in pairs.kinds])
    if not near_misses:
        weight[pairs.of("other_intent_hard")] = 0
    weight[is_positive] = weight.sum() / is_positive.sum()
    used = weight > 0
    held_out = np.zeros(len(weight))
    for train, test in _folds(pairs.groups):
        chosen = train[used[train]]
        intercept, coefficients = _logistic(pairs.features[chosen], is_positive[chosen], weight[chosen])
        held_out[test] += 1 / (1 + np.exp(-(intercept + pairs.features[test] @ coefficients))) / _REPEATS
    intercept, coefficients = _logistic(pairs.features[used], is_positive[used], weight[used])
    return Fitted(intercept, dict(zip(pairs.names, map(float, coefficients), strict=True)), held_out)


_REPEATS = 4


def _folds(groups: npt.NDArray[np.str_]) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    for seed in range(_REPEATS):
        yield from GroupKFold(5, shuffle=True, random_state=seed).split(groups, groups=groups)


def _logistic(features: Numbers, is_positive: Mask, weight: Numbers) -> tuple[float, Numbers]:
    scaler = StandardScaler().fit(features)
    model = LogisticRegression(C=REGULARISATION, max_iter=5000)
    model.fit(scaler.transform(features), is_positive, sample_weight=weight)
    coefficients = model.coef_[0] / scaler.scale_
    return float(model.intercept_[0] - coefficients @ scaler.mean_), coefficients


def choose_thresholds(pairs: Pairs, restated: Numbers, reworded: Numbers, *, asked: Asked) -> tuple[float, float]:
    """Find the two thresholds at which each of the lines asked for is as safe as the others on data not seen.

    Safety is the distance of what cross-validation expects from what is asked, in standard errors. Of thresholds alike
    in the least of these, the ones that flag fewest near misses are taken.
    """
    real = pairs.of(*REAL_FOLLOW_UPS)
    best, chosen = (-np.inf, 0.0), (1.0, 1.0)
    for first in _steps(restated[real]):
        for second in _steps(reworded[real]):
            flagged = pairs.has_cue | (pairs.is_open & ((restated > first) | (reworded > second)))
            safety = min(
                -_standard_errors(flagged[real], asked.follow_ups),
                _standard_errors(flagged[pairs.of("raw->manual_rewrite")], asked.restated),
                _standard_errors(flagged[pairs.of("same_intent")], asked.same_intent),
            )
            worth = (round(safety, 1), -float(flagged[pairs.of("other_intent_hard")].mean()))
            if worth > best:
                best, chosen = worth, (first, second)
    return chosen


def _standard_errors(flagged: Mask, asked: float) -> float:
    return float((flagged.mean() - asked) / np.sqrt(asked * (1 - asked) / len(flagged)))


def _steps(held_out: Numbers) -> Sequence[float]:
    return [float(step) for step in np.unique(np.quantile(held_out, np.linspace(0.94, 1, 60)))]


def expected(pairs: Pairs, restated: Numbers, reworded: Numbers, thresholds: tuple[float, float]) -> dict[str, float]:
    """Return the share of each kind that cross-validation flags."""
    flagged = pairs.has_cue | (pairs.is_open & ((restated > thresholds[0]) | (reworded > thresholds[1])))
    shares = {str(kind): round(float(flagged[pairs.of(kind)].mean()), 3) for kind in np.unique(pairs.kinds)}
    return {**shares, "real follow-ups": round(float(flagged[pairs.of(*REAL_FOLLOW_UPS)].mean()), 3)}


if __name__ == "__main__":
    main()
