"""Sets at size: check, diff and freeze of 10,000 items, drift of 5,000 gold chunks against 100,000 chunks.

Run `python -m tests.bench.bench_sets`. Seconds are CPU seconds of this process, set beside the JSON round trip of the
same set in the same run, since seconds drift between machines and ratios hold.
"""

import argparse
import json
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from evalsets.chunks import Chunk, chunk_text_hash
from evalsets.eval_set import EvalSet
from evalsets.items import FAILURE_MODES, GoldChunk, Item, Mode
from evalsets.sets.checks import check
from evalsets.sets.diff import apply, diff
from evalsets.sets.drift import DriftKind, find_drift
from evalsets.sets.file import canonical_bytes, parse
from evalsets.sets.freezing import freeze

FROZEN_AT = datetime(2026, 11, 30, tzinfo=UTC)
ASKED = ("how do I", "where can I", "when will you", "who may", "why does it", "what happens if I")


class Timed(NamedTuple):
    """A result and the CPU seconds it took."""

    result: object
    seconds: float


def timed(work: Callable[[], object]) -> Timed:
    """Run work once and read the CPU clock."""
    start = time.process_time()
    result = work()
    return Timed(result, time.process_time() - start)


def vocabulary(size: int, rng: random.Random) -> list[str]:
    """Return made-up words of two to four syllables."""
    syllables = [a + b for a in "bcdfghklmnprstvw" for b in "aeiou"]
    return ["".join(rng.choice(syllables) for _ in range(rng.randint(2, 4))) for _ in range(size)]


def make_set(count: int, rng: random.Random, gold: list[Chunk]) -> EvalSet:
    """Return a set of items whose questions draw on a vocabulary with a long tail."""
    words = vocabulary(6000, rng)
    weights = [1 / (rank + 5) for rank in range(len(words))]
    items = []
    for number in range(count):
        mode = FAILURE_MODES[number % 4]
        chunk = gold[number % len(gold)]
        asked = " ".join(rng.choices(words, weights, k=rng.randint(4, 9)))
        fields: dict[str, object] = {
            "id": f"item-{number:05d}",
            "question": f"{rng.choice(ASKED)} {asked}?",
            "mode": mode,
            "added_on": "2026-11-02",
            "source": "production",
            "labelled_by": {"name": f"reviewer {number % 3}"},
        }
        if mode is not Mode.OUT_OF_SCOPE:
            recorded = GoldChunk(chunk_id=chunk.chunk_id, doc_id=chunk.doc_id, text_hash=chunk_text_hash(chunk.text))
            fields |= {
                "gold_chunk_ids": [chunk.chunk_id],
                "gold_chunks": [recorded],
                "expected": " ".join(chunk.text.split()[:12]),
                "answer_facts": [" ".join(chunk.text.split()[2:4])],
                "logged": {"answer": " ".join(rng.choices(words, k=40))},
            }
        items.append(Item.model_validate(fields))
    return EvalSet(name="bench", items=tuple(items))


def make_corpus(documents: int, chunks_each: int, rng: random.Random) -> list[list[str]]:
    """Return documents as lists of words, 100 a chunk."""
    words = vocabulary(30_000, rng)
    weights = [1 / (rank + 10) for rank in range(len(words))]
    return [rng.choices(words, weights, k=100 * chunks_each) for _ in range(documents)]


def cut(documents: list[list[str]], size: int, prefix: str) -> list[Chunk]:
    """Cut every document into chunks of `size` words."""
    return [
        Chunk(f"{prefix}{number}#{start}", " ".join(words[start : start + size]), f"doc-{number}")
        for number, words in enumerate(documents)
        for start in range(0, len(words), size)
    ]


def bench_set(count: int, rng: random.Random) -> dict[str, float]:
    """Time check, diff, apply and freeze of one set, and the JSON round trip they are set beside."""
    gold = cut(make_corpus(20, 25, rng), 100, "kb-")
    before = make_set(count, rng, gold)
    after = before.changed(
        items=tuple(
            item.model_copy(update={"expected": f"{item.expected} indeed"}) if number % 10 == 0 else item
            for number, item in enumerate(before.items)
        )
    )
    corpus = {chunk.chunk_id: chunk for chunk in gold}
    raw = canonical_bytes(before)
    seconds = {"JSON round trip": timed(lambda: json.dumps(json.loads(raw), indent=2, sort_keys=True)).seconds}
    seconds["load"] = timed(lambda: parse(raw, where="bench")).seconds
    checked = timed(lambda: check(before, corpus=corpus, parent=before))
    seconds["check"] = checked.seconds
    seconds["diff"] = timed(lambda: diff(before, after)).seconds
    change = diff(before, after)
    seconds["apply"] = timed(lambda: apply(change, before)).seconds
    with tempfile.TemporaryDirectory() as folder:
        from evalsets.eval_set import AllowedCheck

        codes = {finding.code for finding in check(before, corpus=corpus).errors}
        allow = [AllowedCheck(code=code, reason="made-up text") for code in codes]
        target = Path(folder) / "bench"
        work = partial(
            freeze, target, before.items, note="n", frozen_by="b", frozen_at=FROZEN_AT, corpus=corpus, allow=allow
        )
        seconds["freeze with its checks"] = timed(work).seconds
    seconds["of which beyond the checks"] = seconds["freeze with its checks"] - seconds["check"]
    return seconds


def bench_drift(labels: int, chunks: int, rng: random.Random) -> tuple[float, dict[DriftKind, int]]:
    """Time drift when a whole corpus is cut anew, from 100 words a chunk to 73."""
    documents = make_corpus(chunks // 50, 50, rng)
    old, new = cut(documents, 100, "old-"), cut(documents, 100, "new-")
    recut = cut(documents[: len(documents) // 2], 73, "recut-")
    corpus = {chunk.chunk_id: chunk for chunk in [*recut, *new[len(new) // 2 :]]}
    picked = rng.sample(old, labels)
    items = tuple(
        Item.model_validate(
            {
                "id": f"i{number:05d}",
                "question": "q",
                "mode": "refusal",
                "added_on": "2026-11-02",
                "source": "production",
                "gold_chunk_ids": [chunk.chunk_id],
                "gold_chunks": [
                    {"chunk_id": chunk.chunk_id, "doc_id": chunk.doc_id, "text_hash": chunk_text_hash(chunk.text)}
                ],
            }
        )
        for number, chunk in enumerate(picked)
    )
    texts = {chunk_text_hash(chunk.text): chunk.text for chunk in picked}
    found = timed(lambda: find_drift(EvalSet(name="bench", items=items), corpus, texts).counts())
    return found.seconds, found.result  # type: ignore[return-value]  # the counts


def main() -> None:
    """Print the figures."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--items", type=int, default=10_000)
    options.add_argument("--labels", type=int, default=5_000)
    options.add_argument("--chunks", type=int, default=100_000)
    chosen = options.parse_args()
    rng = random.Random(7)  # noqa: S311  # the same made-up set every time
    seconds = bench_set(chosen.items, rng)
    unit = seconds["JSON round trip"]
    out = sys.stdout.write
    out(f"{chosen.items:,} items: CPU seconds, and times the JSON round trip\n")
    for name, each in seconds.items():
        out(f"  {name:<28}{each:7.2f} s {each / unit:6.1f} x\n")
    drift_seconds, counts = bench_drift(chosen.labels, chosen.chunks, rng)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    told = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    out(
        f"drift of {chosen.labels:,} gold chunks against {chosen.chunks:,}: "
        f"{drift_seconds:.2f} s CPU, peak {peak:.2f} GiB\n"
    )
    out(f"  {told}\n")


if __name__ == "__main__":
    main()
