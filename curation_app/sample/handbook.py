"""The handbook's Markdown as a corpus: one chunk for each second-level heading."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from . import CORPUS_PATH, HANDBOOK_FOLDER


class HandbookChunk(NamedTuple):
    """One section; `chunk_id` is the document's number and the section's 0-based place, such as `kb-002#1`."""

    chunk_id: str
    doc_id: str
    title: str
    heading: str
    text: str
    updated_on: str

    def as_row(self) -> dict[str, object]:
        """Return the row that stands in the corpus file."""
        return {
            "chunk_id": self.chunk_id,
            "doc_id": self.doc_id,
            "text": f"{self.title}: {self.heading}. {self.text}",
            "title": self.title,
            "updated_at": self.updated_on,
        }


def read_handbook(folder: Path = HANDBOOK_FOLDER) -> Iterator[HandbookChunk]:
    """Yield the chunks of every Markdown file in `folder`, in order."""
    for path in sorted(folder.glob("*.md")):
        yield from _chunks_of(path)


def _chunks_of(path: Path) -> Iterator[HandbookChunk]:
    doc_id = "-".join(path.stem.split("-")[:2])
    _, front_matter, body = path.read_text(encoding="utf-8").split("---\n", maxsplit=2)
    updated_on = front_matter.removeprefix("updated_on:").strip()
    title_part, *sections = body.split("\n## ")
    title = title_part.strip().removeprefix("# ")
    for place, section in enumerate(sections):
        heading, _, text = section.partition("\n")
        yield HandbookChunk(f"{doc_id}#{place}", doc_id, title, heading.strip(), " ".join(text.split()), updated_on)


def write_corpus(path: Path = CORPUS_PATH) -> None:
    """Write the corpus file from the Markdown."""
    rows = (json.dumps(chunk.as_row(), ensure_ascii=False) for chunk in read_handbook())
    path.write_text("".join(row + "\n" for row in rows), encoding="utf-8")
