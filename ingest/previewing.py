"""Shows what a mapping or format makes of the first records of files, with nothing stored."""

import tempfile
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel

from ingest.adapters.base import Span, Trace
from ingest.adapters.mapping_file import MappingFile, load_mapping
from ingest.date_orders import MappedFile, settled
from ingest.interaction import Interaction
from ingest.reading.blocks import ReadBlock, line_parts, read_part, whole_blocks
from ingest.reading.probing import Probe, probe
from ingest.reading.sources import find_files
from ingest.reading_jobs import RowReader, Way
from ingest.settings import PrivacySettings
from ingest.spooling import spooled
from ingest.staging import StagedRows
from ingest.way_finding import FileWay, WayFinder, unrecognised

_PART_BYTES = 1 << 20
_BLOCKS = 2
_FILES_A_GROUP = 3
_MOST_GROUPS = 8


class FillRate(BaseModel):
    """How many of the previewed interactions have a field."""

    field: str
    filled: int
    share: float


class Preview(BaseModel):
    """The first interactions of files of one format as they would be stored, and what share of them has each field."""

    file: str
    files: int
    """How many files are read this way; the first of them are looked at."""
    format: str
    layout: str
    read: int
    interactions: int
    votes: int
    skipped: dict[str, int]
    rejects: list[str]
    """The first of the records that would be quarantined, with line and reason."""
    missing_paths: list[str]
    """Mapped paths that lead nowhere in any of these records."""
    fill: list[FillRate]
    rows: list[dict[str, Any]]


class PreviewReport(BaseModel):
    """A preview of each format among the files named, and what of them is not previewed."""

    previews: list[Preview]
    unknown: list[str]
    """Why files are left out: of no known format, or empty."""
    not_shown: int
    """How many files are of formats beyond the first few."""


def preview(  # noqa: PLR0913 - one parameter for each option of the command
    paths: Iterable[str | Path],
    *,
    mapping: str | Path | MappingFile | None = None,
    format_name: str = "",
    mappings: Mapping[str, Path] | None = None,
    privacy: PrivacySettings | None = None,
    rows: int = 5,
    shown_names: Mapping[str, str] | None = None,
) -> PreviewReport:
    """Map the first records of the first files of each format at `paths`, redacted as an ingest would.

    `shown_names` gives the name to call a path by. Raises BadInputError when nothing recognises any of the files.
    """
    chosen = load_mapping(str(mapping), named=mappings) if isinstance(mapping, (str, Path)) else mapping
    finder = WayFinder(mapping=chosen, named=format_name, privacy=privacy or PrivacySettings(), salt=b"preview")
    named = [file._replace(name=(shown_names or {}).get(str(file.path), file.name)) for file in find_files(paths)]
    with tempfile.TemporaryDirectory() as folder, spooled(named, Path(folder)) as files:
        groups, unknown = _grouped([probe(file) for file in files], finder)
        shown = [_preview_of(group, rows) for group in list(groups.values())[:_MOST_GROUPS]]
    left_out = list(groups.values())[_MOST_GROUPS:]
    return PreviewReport(previews=shown, unknown=unknown, not_shown=sum(map(len, left_out)))


class _Readable(NamedTuple):
    probe: Probe
    way: FileWay


def _grouped(probed: list[Probe], finder: WayFinder) -> tuple[dict[str, list[_Readable]], list[str]]:
    groups: dict[str, list[_Readable]] = {}
    unknown = []
    for found in probed:
        way = None if found.container == "empty" else finder.find(found)
        if way is not None:
            groups.setdefault(way.format, []).append(_Readable(found, way))
        else:
            unknown.append(f"{found.file.name!r} is empty" if found.container == "empty" else str(unrecognised(found)))
    if not groups and (bad := next((found for found in probed if found.container != "empty"), None)):
        raise unrecognised(bad)
    return groups, unknown


def _preview_of(group: list[_Readable], rows: int) -> Preview:
    first = group[0]
    reader = RowReader(_with_date_order(group))
    blocks = chain.from_iterable(islice(_blocks(each), _BLOCKS) for each in group[:_FILES_A_GROUP])
    place = "" if first.way.layers.are_none else f", in {first.way.layers}"
    layout = f"{first.probe.container}{place}"
    shown = _summed(list(_staged(reader, blocks)), first.probe.file.name, first.way, layout, rows)
    return shown.model_copy(update={"files": len(group)})


def _with_date_order(group: list[_Readable]) -> Way:
    way = group[0].way.way
    if way.mapping is None:
        return way
    files = [MappedFile(each.probe, way.mapping, each.way.layers) for each in group]
    return way._replace(mapping=settled(way.mapping, files).mapping)


def _blocks(each: _Readable) -> Iterator[ReadBlock]:
    found, way = each
    if found.container != "lines":
        return whole_blocks(found, layers=way.layers)
    parts = line_parts(found, layers=way.layers, part_bytes=_PART_BYTES)
    return map(read_part, parts)


def _staged(reader: RowReader, blocks: Iterator[ReadBlock]) -> Iterator[StagedRows]:
    spans: list[Span] = []
    texts: dict[str, str] = {}
    for block in blocks:
        made = reader.staged(block)
        spans.extend(made.spans)
        texts.update(made.texts)
        yield made
    if spans:
        assembled = reader.assembled(_traces(spans))
        assembled.texts = texts | assembled.texts
        yield assembled


def _traces(spans: list[Span]) -> list[Trace]:
    by_trace: dict[str, list[Span]] = {}
    for span in spans:
        by_trace.setdefault(span.trace_id, []).append(span)
    return [
        Trace(trace_id, tuple(sorted(found, key=lambda span: (span.started_ns, span.span_id))))
        for trace_id, found in by_trace.items()
    ]


def _summed(staged: list[StagedRows], file: str, way: FileWay, layout: str, rows: int) -> Preview:
    made = [interaction for block in staged for interaction in block.interactions()]
    skipped: dict[str, int] = {}
    for block in staged:
        for reason, count in block.skips.items():
            skipped[reason] = skipped.get(reason, 0) + count
    found = set().union(*(block.found_paths for block in staged))
    missing = set().union(*(block.missing_paths for block in staged)) - found
    votes = [vote for block in staged for vote in block.votes]
    return Preview(
        file=file,
        files=1,
        format=way.format,
        layout=layout,
        read=sum(block.read for block in staged),
        interactions=len(made),
        votes=len(votes),
        skipped=skipped,
        rejects=[f"line {r.line}: {r.reason}" for block in staged for r in block.rejects][:20],
        missing_paths=sorted(missing),
        fill=_fill_rates(made),
        rows=[_shown(interaction) for interaction in made[:rows]],
    )


_FIELDS = (
    *("session_id", "user_id", "asked_at", "question", "answer", "retrieved", "model", "prompt_version"),
    *("latency_ms", "input_tokens", "output_tokens", "cost", "error", "metadata"),
)


def _fill_rates(made: list[Interaction]) -> list[FillRate]:
    rates = []
    for name in _FIELDS:
        filled = sum(1 for interaction in made if getattr(interaction, name) not in (None, ()))
        rates.append(FillRate(field=name, filled=filled, share=round(filled / len(made), 3) if made else 0.0))
    chunks = [chunk for interaction in made for chunk in interaction.retrieved]
    for name in ("chunk_id", "doc_id", "text", "score"):
        filled = sum(1 for chunk in chunks if getattr(chunk, name) is not None)
        share = round(filled / len(chunks), 3) if chunks else 0.0
        rates.append(FillRate(field=f"retrieved.{name}", filled=filled, share=share))
    return rates


def _shown(interaction: Interaction) -> dict[str, Any]:
    values = interaction._asdict()
    values["retrieved"] = [chunk._asdict() for chunk in interaction.retrieved]
    return {name: value for name, value in values.items() if value not in (None, (), [], 0, False)}
