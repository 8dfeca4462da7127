"""The folder of an eval set: its head, its frozen versions, its held-out file, and how a new version gets there."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from evalsets.atomic_files import only_writer, sweep_scratch, write_new, write_over
from evalsets.errors import BadInputError
from evalsets.eval_set import EvalSet
from evalsets.items import Item
from evalsets.sets.changelog import changelog, changelog_entry
from evalsets.sets.file import canonical_bytes, content_hash_of, load, schema_bytes
from evalsets.sets.gold_texts import gold_texts_bytes, gold_texts_file, load_gold_texts
from evalsets.sets.holdout import Parts, holdout_file, holdout_version_file, unite


class SetFolder(NamedTuple):
    """Paths of one set in a repository: `evalsets/NAME`, where NAME is the name of the set."""

    root: Path
    holdout_place: Path | None = None

    @property
    def name(self) -> str:
        """The name of the set."""
        return self.root.name

    @property
    def head_path(self) -> Path:
        """The newest version, under a name that does not change."""
        return self.root / f"{self.name}.json"

    @property
    def schema_path(self) -> Path:
        """The JSON Schema that the set files name."""
        return self.root / f"{self.name}.schema.json"

    @property
    def changelog_path(self) -> Path:
        """What each version changed, in prose."""
        return self.root / "CHANGELOG.md"

    @property
    def ledger_path(self) -> Path:
        """Each look at the held-out items."""
        return self.root / "ledger.jsonl"

    @property
    def holdout_path(self) -> Path:
        """The held-out items of the newest version."""
        return holdout_file(self.root, self.holdout_place)

    def version_path(self, version: int) -> Path:
        """Return the frozen copy of one version."""
        return self.root / "versions" / f"{version:04d}.json"

    def holdout_version_path(self, version: int) -> Path:
        """Return the frozen copy of the held-out items at one version."""
        return holdout_version_file(self.holdout_path, version)

    def versions(self) -> list[int]:
        """Return the numbers of the frozen versions, oldest first."""
        return sorted(int(path.stem) for path in (self.root / "versions").glob("[0-9]*.json") if path.stem.isdigit())

    def newest_version(self) -> int:
        """Return the number of the newest frozen version; 0 when there is none."""
        return max(self.versions(), default=0)

    def load_main(self, version: int | None = None) -> EvalSet:
        """Load a version (default: the newest) without its held-out items."""
        number = self.newest_version() if version is None else version
        if number == 0:
            raise BadInputError(f"{self.name!r} has no frozen version. Run `errata freeze {self.name}` first.")
        if number not in self.versions():
            known = ", ".join(map(str, self.versions()))
            raise BadInputError(f"{self.name!r} has no version {number}; its versions are {known}.")
        return load(self.version_path(number))

    def load_parts(self, version: int | None = None) -> Parts:
        """Load a version (default: the newest) as its main and held-out file."""
        main = self.load_main(version)
        if main.holdout is None:
            return Parts(main, None)
        path = self.holdout_version_path(main.version)
        return Parts(main, load(path) if path.is_file() else None)

    def load_whole(self, version: int | None = None) -> EvalSet:
        """Load a version (default: the newest) with its held-out items; BadInputError when their file is not there."""
        return unite(self.load_parts(version))

    def gold_texts(self) -> dict[str, str]:
        """Return the known texts of gold chunks by their hash, of held-out items too where their file is there."""
        known = load_gold_texts(gold_texts_file(self.head_path))
        return known | load_gold_texts(gold_texts_file(self.holdout_path))

    def publish(self, parts: Parts, texts: Mapping[str, str], *, parent: EvalSet | None = None) -> None:
        """Write a new version, never over an old one.

        The version's own file is the commit: before it appears, nothing that a reader uses has changed; what follows
        (the head, the changelog) is a function of the versions, and the next writer settles it after a kill.
        """
        version = parts.main.version
        self.root.mkdir(parents=True, exist_ok=True)
        with only_writer(self.root):
            self._sweep()
            write_over(self.schema_path, schema_bytes())
            self._write_gold_texts(gold_texts_file(self.head_path), parts.main, texts)
            if parts.holdout is not None:
                # Held-out files ahead of the newest version belong to a freeze that never happened.
                write_over(self.holdout_version_path(version), canonical_bytes(parts.holdout))
                self._write_gold_texts(gold_texts_file(self.holdout_path), parts.holdout, texts)
            try:
                write_new(self.version_path(version), canonical_bytes(parts.main))
            except FileExistsError as error:
                raise BadInputError(
                    f"version {version} of {self.name!r} was frozen by someone else meanwhile; freeze again."
                ) from error
            self._append_to_changelog(parent or EvalSet(name=self.name), parts.main)
            self._settle()

    def _append_to_changelog(self, parent: EvalSet, newest: EvalSet) -> None:
        # Only to the changelog of the version before; `_settle` writes any other anew from all versions.
        if not parent.version:
            write_over(self.changelog_path, changelog(self.name, [newest]).encode())
            return
        text = self.changelog_path.read_text(encoding="utf-8") if self.changelog_path.is_file() else ""
        if text.endswith(_last_line(parent.content_hash)):
            write_over(self.changelog_path, f"{text}\n{changelog_entry(parent, newest)}".encode())

    def settle(self) -> None:
        """Bring the head and the changelog to the newest version, as a freeze that was killed would have done."""
        if self.newest_version():
            with only_writer(self.root):
                self._sweep()
                self._settle()

    def _settle(self) -> None:
        newest = self.newest_version()
        frozen = self.version_path(newest).read_bytes()
        write_over(self.head_path, frozen)
        held = self.holdout_version_path(newest)
        if held.is_file():
            write_over(self.holdout_path, held.read_bytes())
        told = self.changelog_path.read_text(encoding="utf-8") if self.changelog_path.is_file() else ""
        if not told.endswith(_last_line(content_hash_of(frozen))):
            write_over(self.changelog_path, self.changelog_text().encode())

    def changelog_text(self) -> str:
        """Return the changelog as the versions tell it."""
        return changelog(self.name, [self.load_main(number) for number in self.versions()])

    def _write_gold_texts(self, path: Path, eval_set: EvalSet, texts: Mapping[str, str]) -> None:
        kept = load_gold_texts(path) | {key: texts[key] for key in _gold_hashes(eval_set.items) if key in texts}
        if kept:
            write_over(path, gold_texts_bytes(kept))

    def _sweep(self) -> None:
        for folder in {
            self.root,
            self.root / "versions",
            self.holdout_path.parent,
            self.holdout_version_path(0).parent,
        }:
            sweep_scratch(folder)


def _last_line(content_hash: str) -> str:
    return f"`{content_hash}`.\n"


def _gold_hashes(items: tuple[Item, ...]) -> set[str]:
    return {gold.text_hash for item in items for gold in item.gold_chunks if gold.text_hash}
