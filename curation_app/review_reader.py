"""Reading review.duckdb: lists, histories, what readers said, and the items that labels make."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

import duckdb

from curation_app.labels import (
    AcceptedItem,
    LabelEvent,
    Verdict,
    accepted_item,
    double_label_draw,
    label_blockers,
    verdict,
)
from curation_app.review_candidates import STORED_CANDIDATE, TakenOver, candidate_of, read_taken_over
from curation_app.review_queue import (
    QueueFilter,
    QueuePage,
    QueueRow,
    available_query,
    facet_query,
    members_query,
    page_queries,
    row_of,
)
from curation_app.review_rows import (
    EVENT_COLUMNS,
    CodeRenames,
    event_of,
    grouped,
    read_renames,
    rows_of,
)
from curation_app.workspace import ReviewSettings
from evalsets.items import Source
from ingest.duckdb_file import unit_of_work
from ingest.mining.candidates import Candidate


class ReviewReader:
    """What can be read of `path`; every call opens the file for one unit of work."""

    def __init__(
        self,
        path: Path,
        settings: ReviewSettings | None = None,
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Take the file, the review section of errata.toml and, for tests, a clock in UTC."""
        self.path = path
        self._settings = settings or ReviewSettings()
        self._clock = clock

    @property
    def double_label_share(self) -> float:
        """Share of candidates that need two readers."""
        return 1.0 if self._settings.reviewers > 1 else self._settings.double_label_share

    @contextmanager
    def unit(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """Yield a connection for one unit of work."""
        with unit_of_work(self.path, migrations=files("curation_app") / "review_schema") as connection:
            yield connection

    def history(self, candidate_id: str) -> list[LabelEvent]:
        """Return every event of a candidate, undone ones included, oldest first."""
        query = f"SELECT {EVENT_COLUMNS} FROM label_events WHERE candidate_id = ? ORDER BY seq"  # noqa: S608
        with self.unit() as connection:
            return [event_of(row) for row in connection.execute(query, [candidate_id]).fetchall()]

    def queue_page(self, filters: QueueFilter, *, page: int = 1, page_size: int = 50) -> QueuePage:
        """Return one page of candidates, one of each group, and how many there are, reading no large text."""
        count, rows = page_queries(filters, share=self.double_label_share, now=self._clock(), page=page, size=page_size)
        with self.unit() as connection:
            (total,) = connection.execute(*count).fetchall()[0]
            return QueuePage(tuple(row_of(row) for row in connection.execute(*rows).fetchall()), total)

    def group_members(self, group_ids: Sequence[str]) -> list[QueueRow]:
        """Return every member of these groups, whatever became of it, oldest first within its group."""
        query = members_query(group_ids, share=self.double_label_share, now=self._clock())
        with self.unit() as connection:
            return [row_of(row) for row in connection.execute(*query).fetchall()]

    def facets(self) -> dict[str, list[tuple[str, int]]]:
        """Return the values that each filter offers, with their counts."""
        with self.unit() as connection:
            return grouped(connection.execute(facet_query()).fetchall())

    def remaining(self, reviewer: str, filters: QueueFilter | None = None) -> int:
        """Count what this reviewer can still label under the filters, a group once."""
        query, values = available_query(
            reviewer, filters or QueueFilter(), share=self.double_label_share, now=self._clock()
        )
        with self.unit() as connection:
            return int(connection.execute(f"SELECT count(DISTINCT family) FROM ({query})", values).fetchall()[0][0])  # noqa: S608

    def readings(self) -> dict[str, list[LabelEvent]]:
        """Return, by candidate, each reader's current decision, in order of time."""
        with self.unit() as connection:
            return self._readings(connection)

    def adjudications(self) -> dict[str, LabelEvent]:
        """Return, by candidate, the decision that settled a disagreement."""
        with self.unit() as connection:
            return self._adjudications(connection)

    def events(self) -> list[LabelEvent]:
        """Return every event, undone ones included, in order of time."""
        query = f"SELECT {EVENT_COLUMNS} FROM label_events ORDER BY seq"  # noqa: S608
        with self.unit() as connection:
            return [event_of(row) for row in rows_of(connection, query)]

    def candidates(self, candidate_ids: Sequence[str] | None = None) -> Iterator[tuple[Candidate, Source]]:
        """Yield candidates with their case source, all of them or those named."""
        query = f"""
            SELECT c.case_source, {STORED_CANDIDATE}
            FROM candidate_sessions AS s JOIN candidates AS c USING (candidate_id)
            WHERE ? IS NULL OR list_contains(?, candidate_id) ORDER BY c.added_at, candidate_id
        """  # noqa: S608 - fixed columns; every value is bound
        wanted = None if candidate_ids is None else list(candidate_ids)
        with self.unit() as connection:
            rows = rows_of(connection, query, [wanted, wanted])
        yield from ((candidate_of(*stored), Source(source)) for source, *stored in rows)

    def known_ids(self, candidate_ids: Sequence[str] | None = None) -> set[str]:
        """Return which candidates there are, of all or of those named, reading no session."""
        query = "SELECT candidate_id FROM candidates WHERE ? IS NULL OR list_contains(?, candidate_id)"
        wanted = None if candidate_ids is None else list(candidate_ids)
        with self.unit() as connection:
            return {found for (found,) in rows_of(connection, query, [wanted, wanted])}

    def taken_over(self) -> TakenOver:
        """Return the run of mining that the candidates stand as; an empty one when there is none."""
        if not self.path.exists():
            return TakenOver()
        with self.unit() as connection:
            return read_taken_over(connection)

    def code_renames(self) -> CodeRenames:
        """Return the merges and splits of sub-codes, to read labels through."""
        with self.unit() as connection:
            return read_renames(connection)

    def verdicts(self) -> dict[str, Verdict]:
        """Return, by candidate, what the readers' decisions amount to."""
        with self.unit() as connection:
            return self._verdicts(connection)

    def answered_ids(self) -> set[str]:
        """Return the candidates that were settled by a person or closed, and all that ask the same as one of those."""
        query = """
            WITH answered AS (
                SELECT candidate_id FROM current_decisions
                WHERE author_kind = 'human' AND kind IN ('label', 'not_failure', 'follow')
                UNION SELECT candidate_id FROM current_adjudications
            ), families AS (
                SELECT DISTINCT group_id FROM candidates JOIN answered USING (candidate_id) WHERE group_id <> ''
            )
            SELECT candidate_id FROM answered
            UNION SELECT candidate_id FROM candidates WHERE group_id IN (SELECT group_id FROM families)
        """
        with self.unit() as connection:
            return {found for (found,) in rows_of(connection, query)}

    def ready_count(self) -> int:
        """Count the labels that nothing keeps from being frozen, without reading any session."""
        found = [each for each in self.verdicts().values() if each.decision.content.mode is not None]
        return sum(not each.blockers and not label_blockers(each.decision.content) for each in found)

    def accepted_items(self) -> list[AcceptedItem]:
        """Return every labelled candidate as an item, with what blocks it, in order of item id."""
        query = f"""
            SELECT s.candidate_id, c.case_source, {STORED_CANDIDATE} FROM candidate_sessions AS s
            JOIN candidates AS c USING (candidate_id) WHERE list_contains(?, s.candidate_id)
        """  # noqa: S608 - fixed columns; every value is bound
        with self.unit() as connection:
            found = self._verdicts(connection)
            renames = read_renames(connection)
            rows = connection.execute(query, [list(found)]).fetchall()
        rows.sort(key=lambda row: found[row[0]].decision.created_at)
        made = [
            accepted_item(candidate_of(*stored), Source(source), _recoded(found[key], renames))
            for key, source, *stored in rows
        ]
        # An item asked about again has two labels; the later one is what the reviewers hold now.
        latest = {accepted.item.id: accepted for accepted in made if accepted is not None}
        return sorted(latest.values(), key=lambda accepted: accepted.item.id)

    def _verdicts(self, connection: duckdb.DuckDBPyConnection) -> dict[str, Verdict]:
        readings, settled = self._readings(connection), self._adjudications(connection)
        found = {
            key: verdict(readings.get(key, []), settled.get(key), self.readers_needed(key))
            for key in readings.keys() | settled.keys()
        }
        return {key: each for key, each in found.items() if each is not None}

    def _readings(self, connection: duckdb.DuckDBPyConnection) -> dict[str, list[LabelEvent]]:
        readings: dict[str, list[LabelEvent]] = {}
        for row in rows_of(connection, f"SELECT {EVENT_COLUMNS} FROM current_decisions ORDER BY seq"):  # noqa: S608
            event = event_of(row)
            readings.setdefault(event.candidate_id, []).append(event)
        return readings

    def _adjudications(self, connection: duckdb.DuckDBPyConnection) -> dict[str, LabelEvent]:
        query = f"SELECT {EVENT_COLUMNS} FROM current_adjudications"  # noqa: S608
        return {event.candidate_id: event for event in map(event_of, rows_of(connection, query))}

    def readers_needed(self, candidate_id: str) -> int:
        """Return how many people must label this candidate."""
        return 2 if double_label_draw(candidate_id) < self.double_label_share else 1


def _recoded(found: Verdict, renames: CodeRenames) -> Verdict:
    event = found.decision
    if event.content.mode is None or not event.content.sub_code:
        return found
    code = renames.current(event.content.mode, event.content.sub_code, event.candidate_id)
    content = event.content.model_copy(update={"sub_code": code})
    return found._replace(decision=event.model_copy(update={"content": content}))
