"""The ingest itself: files in, redacted rows into the store in committed groups, and an account of every record."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import duckdb

from evalsets.errors import BadInputError
from ingest import daily
from ingest.adapters.mapping_file import MappingFile, load_mapping
from ingest.collecting import rare_collections
from ingest.date_orders import MappedFile, settled
from ingest.fast.reading import SizedBlock
from ingest.feedback import VoteCounts, bind_votes
from ingest.file_reading import FileReader, FileToRead
from ingest.ingest_records import KnownFiles, finish_ingest, start_ingest
from ingest.ingest_report import (
    PATH_MISSING,
    FeedbackCounts,
    FileAccount,
    IngestReport,
    InteractionCounts,
    ReportTally,
)
from ingest.log_store import LogStore
from ingest.privacy import workspace_salt
from ingest.reading.digesting import digest_beside, digest_of_all, file_digest
from ingest.reading.probing import probe
from ingest.reading.sources import SourceFile, find_files
from ingest.reading_jobs import WORKERS, StagedBlock
from ingest.session_checks import session_cautions
from ingest.settings import LogSettings, PrivacySettings
from ingest.spans.assembling import assemble_traces
from ingest.spooling import spooled
from ingest.storing import GroupWriter
from ingest.way_finding import FileWay, WayFinder, unrecognised, way_digest

_MOST_COUNTED_BY_DAY = 100_000
"""Larger ingests leave the numbers by day to their first reader."""


class Progress(NamedTuple):
    """How far an ingest is."""

    file: str
    bytes_done: int
    bytes_total: int
    records: int


def ingest(  # noqa: PLR0913 - one parameter for each option of the command
    paths: Iterable[str | Path],
    *,
    store: LogStore,
    mapping: str | Path | MappingFile | None = None,
    format: str = "",  # noqa: A002 - the name of the command's option
    mappings: Mapping[str, Path] | None = None,
    logs: LogSettings | None = None,
    privacy: PrivacySettings | None = None,
    strict: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
    workers: int = WORKERS,
    shown_names: Mapping[str, str] | None = None,
) -> IngestReport:
    """Read `paths` into `store` and return the account of it.

    `mapping` is a mapping, its file, or its name among `mappings` and the presets; `format` names an adapter or preset;
    with neither, each file's content decides. `strict` makes a mapped path that leads nowhere an error, before anything
    is stored. `shown_names` gives the name that reports call a path by. Raises BadInputError for paths, formats and
    mappings that cannot be used; a bad record never raises.
    """
    chosen = _chosen_mapping(mapping, mappings or {})
    named_files = [file._replace(name=(shown_names or {}).get(str(file.path), file.name)) for file in find_files(paths)]
    with rare_collections(), spooled(named_files, store.path.parent) as files:
        salt = workspace_salt(store.path.parent)
        finder = WayFinder(mapping=chosen, named=format, privacy=privacy or PrivacySettings(), salt=salt)
        run = _Run(store, finder, logs or LogSettings(), on_progress, workers)
        probed = run.probe_all(files)
        if strict:
            run.check_paths(probed)
        return run.load(probed)


def _chosen_mapping(mapping: str | Path | MappingFile | None, named: Mapping[str, Path]) -> MappingFile | None:
    if mapping is None or isinstance(mapping, MappingFile):
        return mapping
    return load_mapping(str(mapping), named=named)


class _Run:
    def __init__(
        self,
        store: LogStore,
        finder: WayFinder,
        logs: LogSettings,
        on_progress: Callable[[Progress], None] | None,
        workers: int,
    ) -> None:
        self.store, self.finder, self.logs = store, finder, logs
        self.on_progress = on_progress
        self.tally = ReportTally()
        self.reader = FileReader(store.path.parent, workers)
        self.known: KnownFiles | None = None
        self.accounts_before: dict[Path, FileAccount | None] = {}
        self.bytes_done = 0
        self.bytes_total = 0
        self.records = 0

    def probe_all(self, files: list[SourceFile]) -> list[FileToRead]:
        found = []
        for file in files:
            seen = probe(file)
            way = None if seen.container == "empty" else self.finder.find(seen)
            found.append(FileToRead(seen, way, file.path.stat().st_size))
        found = self._with_date_order(found)
        unknown = [entry for entry in found if entry.way is None and entry.probe.container != "empty"]
        if unknown and len(unknown) == len([entry for entry in found if entry.probe.container != "empty"]):
            raise unrecognised(unknown[0].probe)
        return found

    def _with_date_order(self, probed: list[FileToRead]) -> list[FileToRead]:
        """Let the dates of all files that one mapping reads say where the day stands."""
        mapping = self.finder.mapping
        if mapping is None:
            return probed
        files = [MappedFile(entry.probe, mapping, entry.way.layers) for entry in probed if entry.way is not None]
        orders = settled(mapping, files)
        self.tally.take_cautions(orders.cautions())
        ways = [
            entry.way and entry.way._replace(way=entry.way.way._replace(mapping=orders.mapping)) for entry in probed
        ]
        return [entry._replace(way=way) for entry, way in zip(probed, ways, strict=True)]

    def check_paths(self, probed: list[FileToRead]) -> None:
        found: set[str] = set()
        missing: set[str] = set()
        with closing(self.reader):
            for entry in probed:
                for block, _ in self._blocks(entry):
                    found |= block.rest.found_paths
                    missing |= block.rest.missing_paths
        if missing - found:
            listed = ", ".join(repr(path) for path in sorted(missing - found))
            raise BadInputError(f"no record has {listed}. Mend the mapping, or leave out --strict; nothing was stored.")

    def load(self, probed: list[FileToRead]) -> IngestReport:
        started = time.monotonic()
        self.bytes_total = sum(entry.size for entry in probed)
        with self.store.unit() as connection:
            ingest_id = start_ingest(connection)
            self.known = KnownFiles(connection, {way_digest(entry.way) for entry in probed if entry.way})
        with GroupWriter(self.store, ingest_id) as writer:
            with closing(self.reader):
                self.reader.expect([entry for entry in probed if not self._account_before(entry)])
                for entry in probed:
                    self._load_file(entry, writer)
            writer.wait()
        with self.store.unit() as connection:
            writer.flush_into(connection)
            self._assemble(connection, writer)
            return self._finished(connection, writer, started)

    def _assemble(self, connection: duckdb.DuckDBPyConnection, writer: GroupWriter) -> None:
        assembled = assemble_traces(connection, self.finder, writer)
        self.tally.traces_skipped.update(assembled.skipped)
        for caution in assembled.cautions:
            self.tally.caution(caution, assembled.caution_counts[caution.code])

    def _account_before(self, entry: FileToRead) -> FileAccount | None:
        """Return the account of the same bytes read in the same way before."""
        path = entry.probe.file.path
        if path not in self.accounts_before and entry.way is not None and self.known is not None:
            self.accounts_before[path] = self.known.account_of(path, way_digest(entry.way))
        return self.accounts_before.get(path)

    def _load_file(self, entry: FileToRead, writer: GroupWriter) -> None:
        file = entry.probe.file
        form = entry.way.format if entry.way else ""
        account = FileAccount(file=file.name, layout=entry.layout, format=form, size=entry.size)
        self.tally.files.append(account)
        if entry.way is None:
            account.note = "empty" if entry.probe.container == "empty" else "of no known format, left out"
            if entry.probe.container != "empty":
                self.tally.caution_text("unknown_format", str(unrecognised(entry.probe)), file=file.name)
            self._advance(entry.size, file.name)
            return
        way = way_digest(entry.way)
        if known := self._account_before(entry):
            self._take_known(account, known, writer)
            self._advance(entry.size, file.name)
            return
        digest = self._read_and_digest(entry, entry.way, account, writer)
        writer.note_file(file_digest=digest, way_digest=way, account=account)

    def _read_and_digest(self, entry: FileToRead, way: FileWay, account: FileAccount, writer: GroupWriter) -> str:
        path = entry.probe.file.path
        if self.reader.tells_digests(entry.probe, way, entry.size):
            digests = self._read_file(entry, account, writer)
            return digest_of_all(digests, entry.size) or file_digest(path)
        with digest_beside(path) as digest:
            self._read_file(entry, account, writer)
            return digest.result()

    def _take_known(self, account: FileAccount, known: FileAccount, writer: GroupWriter) -> None:
        for name in ("read", "skipped", "quarantined", "interactions", "format"):
            setattr(account, name, getattr(known, name))
        account.is_unchanged = True
        self.tally.rejects.extend(self.known.rejects_of(known.file) if self.known else [])
        writer.counts = writer.counts.plus(InteractionCounts(unchanged=known.interactions))

    def _read_file(self, entry: FileToRead, account: FileAccount, writer: GroupWriter) -> bytes:
        """Gather what a file holds, and return the digests of its pieces as far as they are told."""
        first_line = 0
        paths_found: set[str] = set()
        paths_missing: set[str] = set()
        before = self.bytes_done
        digests = bytearray()
        for block, size in self._blocks(entry):
            rest = block.rest
            self._account(account, block, first_line)
            first_line += rest.lines
            paths_found |= rest.found_paths
            paths_missing |= rest.missing_paths
            digests += block.digests
            writer.add(block, entry.way)
            self._advance(min(size, before + entry.size - self.bytes_done), account.file)
        self._advance(before + entry.size - self.bytes_done, account.file)
        if entry.way is not None and entry.way.way.mapping is not None:
            self._warn_of_missing(paths_missing - paths_found, account.file)
        return bytes(digests)

    def _warn_of_missing(self, paths: set[str], file: str) -> None:
        for path in sorted(paths):
            message = f"the mapped path {path!r} leads nowhere in any record; --strict makes this an error"
            self.tally.caution_text(f"{PATH_MISSING}{path}", message, file=file)

    def _account(self, account: FileAccount, block: StagedBlock, first_line: int) -> None:
        rest = block.rest
        account.read += rest.read
        account.interactions += block.tables.size
        for reason, count in rest.skips.items():
            account.skipped[reason] = account.skipped.get(reason, 0) + count
        for at, reject in enumerate(rest.rejects):
            rest.rejects[at] = reject._replace(line=reject.line + first_line)
        account.quarantined += rest.quarantined
        self.tally.rejects.extend(rest.rejects[: ReportTally.REJECTS_SHOWN])
        for caution in rest.cautions:
            placed = caution._replace(line=caution.line and caution.line + first_line)
            self.tally.caution(placed, rest.caution_counts[caution.code])
        self.tally.redactions.update(rest.redactions)
        self.records += rest.read

    def _blocks(self, entry: FileToRead) -> Iterator[SizedBlock]:
        return self.reader.blocks(entry.probe, entry.way, entry.size) if entry.way else iter(())

    def _advance(self, count: int, file: str) -> None:
        self.bytes_done += count
        if self.on_progress is not None:
            self.on_progress(Progress(file, self.bytes_done, self.bytes_total, self.records))

    def _finished(self, connection: duckdb.DuckDBPyConnection, writer: GroupWriter, started: float) -> IngestReport:
        ingest_id = writer.ingest_id
        connection.begin()
        votes = self._bound(connection, ingest_id)
        written = writer.counts.new + writer.counts.changed
        if written + writer.votes:
            if written <= _MOST_COUNTED_BY_DAY:
                daily.update(connection, ingest_id)
            self.tally.take_cautions(session_cautions(connection, ingest_id))
        report = self.tally.report()
        report.ingest_id, report.stored = ingest_id, _stored(connection)
        report.interactions = writer.counts
        report.feedback = FeedbackCounts(new=writer.votes, bound=votes.bound, unbound=votes.unbound)
        report.spans_new = writer.spans_new
        report.seconds = round(time.monotonic() - started, 3)
        finish_ingest(connection, ingest_id, report)
        connection.commit()
        return report

    def _bound(self, connection: duckdb.DuckDBPyConnection, ingest_id: int) -> VoteCounts:
        logs = self.logs
        votes = bind_votes(
            connection,
            ingest_id=ingest_id,
            scales=logs.scores,
            ignored=logs.ignored_scores,
            with_judges=logs.count_judges,
        )
        for name, values in votes.without_scale.items():
            message = (
                f"the score {name!r} has only the value(s) {values}, which fit several scales: no vote is read from it."
                f" Say down_to and up_from under [logs.scores.{name}] in errata.toml."
            )
            self.tally.caution_text(f"scale_unknown:{name}", message)
        return votes


def _stored(connection: duckdb.DuckDBPyConnection) -> int:
    return int(connection.execute("SELECT count(*) FROM interactions").fetchall()[0][0])
