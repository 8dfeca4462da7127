"""Reads CSV in any dialect and Parquet as records; cells that hold JSON or a Python literal are parsed."""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from ingest.normalising import parsed_list
from ingest.reading.documents import Entry, Scanner

_DELIMITERS = ",;\t|"
_LONGEST_CELL = 64 << 20
_PARQUET_ROWS = 2000
_SNIFFED_ROWS = 20
_NAME = re.compile(r"[^\W\d][\w .:/()-]{0,63}$")
_EXCEL_HINT = re.compile(r"\ufeff?\"?sep=(.)\"?\r?\n")
"""The line with which Excel says the delimiter."""
_NO_VALUE = frozenset({"NULL", "\\N", "NaN", "nan", "None", "NaT", "<NA>"})
"""How databases and data frames write a cell without a value."""


def delimiter_of(head: str) -> str:
    r"""Return the delimiter of CSV text by the one that splits its first rows alike; empty when none does.

    A backslash follows it where quotes inside cells are written `\"`, as Spark and MySQL do.
    """
    if hint := _EXCEL_HINT.match(head):
        head = head[hint.end() :]
    plain = _best_delimiter(head, "")
    if '\\"' not in head:
        return plain
    escaped = _best_delimiter(head, "\\")
    return escaped if escaped and not (plain and _closes_quotes(head, plain)) else plain


def _closes_quotes(head: str, delimiter: str) -> bool:
    """Return whether cells are whole JSON when quotes inside them are doubled."""
    rows = csv.reader(io.StringIO(head, newline=""), delimiter=delimiter)
    try:
        cells = [cell for row in islice(rows, _SNIFFED_ROWS) for cell in row if cell[:2] in {'{"', "[{", "{\\", "[{\\"}]
    except csv.Error:
        return False
    return bool(cells) and all(type(cell_value(cell)) is not str for cell in cells[:-1])


def _best_delimiter(head: str, escape: str) -> str:
    best, best_width = "", 1
    for delimiter in _DELIMITERS:
        widths = _row_widths(head, delimiter + escape)
        if not widths or widths[0] < 2:  # noqa: PLR2004 - a table has two columns
            continue
        agreeing = sum(width == widths[0] for width in widths) / len(widths)
        if agreeing >= 0.8 and widths[0] > best_width:  # noqa: PLR2004 - nearly all rows
            best, best_width = delimiter + escape, widths[0]
    return best


def _csv_rows(lines: Iterable[str], delimiter: str) -> Any:
    csv.field_size_limit(_LONGEST_CELL)
    escape = delimiter[1:] or None
    return csv.reader(lines, delimiter=delimiter[0], escapechar=escape, doublequote=escape is None)


def _row_widths(head: str, delimiter: str) -> list[int]:
    rows = _csv_rows(io.StringIO(head, newline=""), delimiter)
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
    lines = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
    rows = _csv_rows(lines, delimiter)
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
            header = _header(row) if row and not _is_excel_hint(row, delimiter) else None
        elif row:
            yield _row_entry(header, row, line)
        line = rows.line_num + 1


def _is_excel_hint(row: list[str], delimiter: str) -> bool:
    return row in ([f"sep={delimiter[0]}"], ["sep=", ""])


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
    if not cell or cell in _NO_VALUE:
        return None
    return parsed_list(cell) if cell[0] in "[{" else cell


def iter_rows(stream: BinaryIO) -> Iterator[Entry]:
    """Yield the rows of an array of arrays as objects, named by its first row, else by place: "0", "1" and on."""
    names: list[str] | None = None
    for entry in _RowScanner(stream).entries():
        if entry.fault or not isinstance(entry.value, list):
            yield entry
        elif names is None and are_names(entry.value):
            names = entry.value
        else:
            names = names or [str(place) for place in range(len(entry.value))]
            yield entry._replace(value=dict(zip(names, entry.value, strict=False)))


def are_names(row: list[Any]) -> bool:
    """Return whether the first row of a table names its columns: short texts, all of them different."""
    return len(set(map(str, row))) == len(row) > 1 and all(isinstance(cell, str) and _NAME.match(cell) for cell in row)


class _RowScanner(Scanner):
    """Takes the arrays inside an array for values."""

    is_open = False

    def _skip_separators(self) -> bool:
        while True:
            while self.at < len(self.buffer) and self.buffer[self.at] in " \t\r\n,]\ufeff":
                self.line += self.buffer[self.at] == "\n"
                self.at += 1
            if self.at < len(self.buffer) and not self.is_open:
                self.is_open = True
                self.at += 1
            elif self.at < len(self.buffer):
                return True
            elif not self._more():
                return False


def iter_parquet(path: Path) -> Iterator[Entry]:
    """Yield the rows of a Parquet file as objects; maps become objects. Raises pyarrow.ArrowException."""
    from pyarrow import parquet

    number = 0
    with parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=_PARQUET_ROWS):
            for row in batch.to_pylist(maps_as_pydicts="lossy"):
                number += 1
                yield Entry(number, {name: _held(cell) for name, cell in row.items()})


def _held(cell: Any) -> Any:
    """Return a cell of Parquet: texts without their UTF-8 mark, as Spark may write them, are texts all the same."""
    if type(cell) is bytes:
        try:
            cell = cell.decode("utf-8")
        except UnicodeDecodeError:
            return None
    return cell_value(cell) if type(cell) is str else cell
