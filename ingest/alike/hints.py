"""Looks through the texts of traces that are alike for what may have to be redacted."""

from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow.compute as pc

from ingest.alike.blocks import Block, Ints, Slices
from ingest.alike.places import Place
from ingest.spans.privacy import SpanRedactor
from ingest.staging import as_json


def hinted(block: Block, places: Sequence[Place], redactor: SpanRedactor) -> Ints:
    """Return the traces with a text that needs a closer look."""
    found = np.zeros(places[0].size, bool)
    seen: list[Slices] = []
    for column in (column for place in places for column in _loose(place)):
        if any(block.equal(known, column).all() for known in seen):
            continue
        seen.append(column)
        found |= redactor.hints(block.array(column)).to_numpy(zero_copy_only=False)
    return found


def _loose(place: Place) -> Iterable[Slices]:
    """Yield what redaction has to look at: all but ids and counts, and of ids those like an address."""
    for name in ("name", "question", "answer", "query", "model", "prompt_version"):
        if (column := place.text(name)) is not None:
            yield column.values
    if place.metadata:
        metadata = place.block.add([as_json(place.metadata).encode()])
        yield metadata.take(np.zeros(place.size, np.int64))
    ids = [] if (session := place.text("session_id")) is None else [session.values]
    if (chunks := place.chunks) is not None:
        ids += [
            found.values.take(chunks.places_of(at))
            for at in range(len(chunks.ranks))
            for found in (chunks.ids, chunks.docs)
        ]
    for found in ids:
        has_mark = pc.match_substring(place.block.array(found), "@").fill_null(fill_value=False)
        if pc.any(has_mark).as_py():
            yield Slices(found.starts, np.where(has_mark.to_numpy(zero_copy_only=False), found.lengths, -1))
