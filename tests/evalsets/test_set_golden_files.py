"""Byte for byte: what a set, its differences and its changelog look like; rewrite with ERRATA_WRITE_GOLDEN=1."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from evalsets.sets.changelog import changelog
from evalsets.sets.check_formats import item_lines, render_annotations, render_report
from evalsets.sets.checks import check
from evalsets.sets.diff import diff
from evalsets.sets.diff_formats import render_json, render_markdown, render_text
from evalsets.sets.drift import find_drift
from evalsets.sets.drift_formats import render_drift, render_drift_markdown
from evalsets.sets.file import canonical_bytes, schema_bytes, sealed
from evalsets.sets.gold_texts import gold_texts_bytes, texts_by_chunk_id, texts_of
from tests.evalsets.set_samples import CORPUS, FROZEN_AT, hard_set, hard_set_changed

GOLDEN = Path(__file__).parent / "golden_sets"


def _versions() -> tuple[bytes, ...]:
    return tuple(canonical_bytes(sealed(each)) for each in (hard_set(), hard_set_changed()))


def _texts() -> dict[str, str]:
    return texts_by_chunk_id(hard_set().items, texts_of(hard_set().items, CORPUS, {}))


def _checked() -> str:
    report = check(hard_set_changed(), corpus=CORPUS, parent=hard_set(), today=FROZEN_AT.date())
    annotations = render_annotations(report, path="evalsets/hard/hard.json", lines=item_lines(_versions()[1]))
    return render_report(report) + annotations


def _drifted() -> str:
    corpus = {key: chunk for key, chunk in CORPUS.items() if key != "kb-1#0"}
    corpus |= {"kb-2#9": CORPUS["kb-2#0"]._replace(chunk_id="kb-2#9")}
    del corpus["kb-2#0"]
    report = find_drift(hard_set(), corpus, texts_of(hard_set().items, CORPUS, {}))
    return render_drift(report) + render_drift_markdown(report)


RENDERED: dict[str, Callable[[], bytes]] = {
    "hard.json": lambda: _versions()[0],
    "hard.schema.json": schema_bytes,
    "hard.gold.jsonl": lambda: gold_texts_bytes(texts_of(hard_set().items, CORPUS, {})),
    "diff.txt": lambda: render_text(diff(hard_set(), hard_set_changed()), chunk_texts=_texts()).encode(),
    "diff.md": lambda: render_markdown(diff(hard_set(), hard_set_changed()), chunk_texts=_texts()).encode(),
    "diff.json": lambda: render_json(diff(hard_set(), hard_set_changed())).encode(),
    "CHANGELOG.md": lambda: changelog("hard", [sealed(hard_set()), sealed(hard_set_changed())]).encode(),
    "check.txt": lambda: _checked().encode(),
    "drift.txt": lambda: _drifted().encode(),
}


@pytest.mark.parametrize("name", RENDERED)
def test_a_rendering_is_byte_for_byte_what_a_reviewer_has_read(name: str) -> None:
    made, path = RENDERED[name](), GOLDEN / name
    if os.environ.get("ERRATA_WRITE_GOLDEN"):
        path.write_bytes(made)
    assert made == path.read_bytes()
