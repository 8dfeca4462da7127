"""Which files a list of paths means: files, folders, globs, Hive folders and standard input."""

import glob
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from evalsets.errors import BadInputError

STDIN = "-"
_IGNORED_FOLDERS = {"tmp", "_temporary", "manifests", "__MACOSX"}
_IGNORED_SUFFIXES = {".crc", ".md", ".tmp", ".lock", ".duckdb", ".wal"}


class SourceFile(NamedTuple):
    """One file to read, the name reports call it by, and the columns its Hive folders add."""

    path: Path
    name: str
    partitions: dict[str, str]

    @property
    def is_stdin(self) -> bool:
        """Whether this is standard input."""
        return self.name == STDIN


def find_files(paths: Iterable[str | Path]) -> list[SourceFile]:
    """Return the files of all paths, each once, in a stable order; a path that leads nowhere is a BadInputError."""
    found: dict[str, SourceFile] = {}
    for path in paths:
        entries = list(_files_of(str(path)))
        if not entries:
            raise BadInputError(f"nothing to read at {str(path)!r}: no such file, folder or glob with files in it.")
        for entry in entries:
            found.setdefault(str(entry.path.resolve()) if not entry.is_stdin else STDIN, entry)
    return list(found.values())


def _files_of(path: str) -> Iterator[SourceFile]:
    if path == STDIN:
        yield SourceFile(Path("/dev/stdin"), STDIN, {})
        return
    place = Path(path)
    if place.is_dir():
        yield from _files_below(place)
    elif place.exists():
        yield SourceFile(place, path, _partitions(place))
    else:
        for match in sorted(glob.glob(path, recursive=True)):  # noqa: PTH207 - keeps absolute and relative globs alike
            if Path(match).is_file():
                yield SourceFile(Path(match), match, _partitions(Path(match)))
            elif "**" not in path:
                yield from _files_below(Path(match))


def _files_below(folder: Path) -> Iterator[SourceFile]:
    for file in sorted(folder.rglob("*")):
        if file.is_file() and not _is_aside(file.relative_to(folder)):
            yield SourceFile(file, str(file), _partitions(file.relative_to(folder)))


def _is_aside(file: Path) -> bool:
    if any(part in _IGNORED_FOLDERS or part.startswith((".", "_")) for part in file.parts):
        return True
    return file.suffix in _IGNORED_SUFFIXES


def _partitions(file: Path) -> dict[str, str]:
    pairs = (part.partition("=") for part in file.parts[:-1])
    return {key: value for key, mark, value in pairs if mark and key.isidentifier()}
