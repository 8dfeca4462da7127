"""Reads CSV in any dialect and Parquet as records; cells that hold JSON or a Python literal are parsed."""

import csv
import io
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from ingest.normalising import parsed_list
from ingest.reading.documents import Entry

_DELIMITERS = ",;\t|"
_LONGEST_CELL = 64 << 20
_PARQUET_ROWS = 2000
_SNIFFED_ROWS = 20


def delimiter_of(head: str) -> str:
    """Return the delimiter of CSV text by the one that splits its first rows alike; empty when none does."""
    best, best_width = "", 1
    for delimiter in _DELIMITERS:
        widths = _row_widths(head, delimiter)
        if not widths or widths[0] < 2:  # noqa: PLR2004 - a table has two columns
            continue
        agreeing = sum(width == widths[0] for width in widths) / len(widths)
        if agreeing >= 0.8 and widths[0] > best_width:  # noqa: PLR2004 - nearly all rows
            best, best_width = delimiter, widths[0]
    return best


def _row_widths(head: str, delimiter: str) -> list[int]:
    csv.field_size_limit(_LONGEST_CELL)
    rows = csv.reader(io.StringIO(head, newline=""), delimiter=delimiter)
    widths = []
    try:
        for row in rows:
            if row:
                widths.append(len(row))
            if len(widths) >= _SNIFFED_ROWS:
                break
    except csv.Error:
        return []
    return widths[:-1] if len(widths) > 2 else widths  # noqa: PLR2004 - the head may cut its last row


def iter_csv(stream: BinaryIO, delimiter: str) -> Iterator[Entry]:
    """Yield the rows of a UTF-8 CSV stream as objects; empty cells are None, a pandas index column is left out."""
    csv.field_size_limit(_LONGEST_CELL)
    lines = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
    rows = csv.reader(lines, delimiter=delimiter)
    header: list[str] | None = None
    line = 1
    while True:
        try:
            row = next(rows, None)
        except csv.Error as error:
            yield Entry(line, fault=f"not CSV: {error}")
            line = rows.line_num + 1
            continue
        if row is None:
            return
        if header is None:
            header = _header(row) if row else None
        elif row:
            yield _row_entry(header, row, line)
        line = rows.line_num + 1


def _header(row: list[str]) -> list[str]:
    seen: Counter[str] = Counter()
    names = []
    for written in row:
        name = written.strip()
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name}.{seen[name] - 1}")
    return names


def _row_entry(header: list[str], row: list[str], line: int) -> Entry:
    if len(row) != len(header):
        shown = " | ".join(row)
        return Entry(line, fault=f"the row has {len(row)} cells, the header {len(header)}", raw=shown[:4000])
    pairs = zip(header, row, strict=True)
    flaw = "invalid UTF-8" if any("\ufffd" in cell for cell in row) else ""
    return Entry(line, {name: cell_value(cell) for name, cell in pairs if name}, flaw=flaw)


def cell_value(cell: str) -> Any:
    """Return a cell as text, None when it is empty, or what it holds when that is JSON or a Python literal."""
    if not cell:
        return None
    return parsed_list(cell) if cell[0] in "[{" else cell


def iter_parquet(path: Path) -> Iterator[Entry]:
    """Yield the rows of a Parquet file as objects; maps become objects. Raises pyarrow.ArrowException."""
    from pyarrow import parquet

    number = 0
    with parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=_PARQUET_ROWS):
            for row in batch.to_pylist(maps_as_pydicts="lossy"):
                number += 1
                yield Entry(
                    number, {name: cell_value(cell) if type(cell) is str else cell for name, cell in row.items()}
                )
