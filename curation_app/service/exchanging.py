"""What `errata export` and `errata import` do: a set in another tool's format, with what gets lost named."""

from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from curation_app.service.set_references import resolve
from evalsets.atomic_files import write_over
from evalsets.errors import BadInputError
from evalsets.eval_set import EvalSet
from evalsets.exchange import Defaults, format_named, lost_fields, to_items
from evalsets.exchange.base import ExchangeFormat
from evalsets.items import Mode, Source
from evalsets.sets.file import canonical_bytes
from evalsets.sets.gold_texts import gold_texts_file, load_gold_texts, texts_by_chunk_id


class Exported(NamedTuple):
    """The files of an export by name, the main one first, and what they could not hold."""

    files: dict[str, bytes]
    lost: list[str]
    items: int


class Imported(NamedTuple):
    """A set made from another tool's file, not frozen yet."""

    eval_set: EvalSet
    form: ExchangeFormat


def export_set(reference: str, form_name: str, workspace: Path | None) -> Exported:
    """Write the set that a person means in another format, in memory; held-out items are never exported."""
    form = format_named(form_name)
    found = resolve(reference, workspace)
    texts = load_gold_texts(gold_texts_file(found.path)) if found.path else {}
    files = form.write(found.eval_set, texts_by_chunk_id(found.eval_set.items, texts))
    return Exported(files, lost_fields(found.eval_set, form), len(found.eval_set.items))


def write_files(files: dict[str, bytes], out: Path) -> list[Path]:
    """Write an export: one file to the path itself (or into the folder it names), several into a folder."""
    if len(files) == 1 and not out.is_dir():
        ((_, content),) = files.items()
        write_over(out, content)
        return [out]
    paths = [out / name for name in files]
    for path, content in zip(paths, files.values(), strict=True):
        write_over(path, content)
    return paths


def import_set(path: Path, form_name: str, *, name: str, mode: Mode, source: Source) -> Imported:
    """Read another tool's file, or folder, as a set of ours; BadInputError when the format cannot be read back."""
    form = format_named(form_name)
    if form.read is None:
        raise BadInputError(f"{form.tool} can be written but not read back.")
    defaults = Defaults(datetime.now(UTC).date(), mode, source)
    items = to_items(form.read(_files(path)), defaults)
    return Imported(EvalSet(name=name or path.stem, items=tuple(items)), form)


def save_import(imported: Imported, out: Path) -> None:
    """Write an imported set as a file to look at and to freeze from."""
    write_over(out, canonical_bytes(imported.eval_set))


def _files(path: Path) -> dict[str, bytes]:
    try:
        if path.is_dir():
            files = {
                str(file.relative_to(path)): file.read_bytes() for file in sorted(path.rglob("*")) if file.is_file()
            }
        else:
            files = {path.name: path.read_bytes()}
    except OSError as error:
        raise BadInputError(f"cannot read {str(path)!r}: {error.strerror}.") from error
    if not files:
        raise BadInputError(f"the folder {str(path)!r} is empty.")
    return files
