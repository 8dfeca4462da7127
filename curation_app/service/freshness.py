"""How old the log and the corpus are, in sentences."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta

from curation_app.workspace import Workspace
from ingest.daily_reading import Freshness, read_freshness
from ingest.log_store import LogStore

STALE_AFTER_DAYS = 180
SHOWN_DOCUMENTS = 5


def stale_before_by_default() -> date:
    """Return the day before which a document counts as old when no other is named."""
    return datetime.now(UTC).date() - timedelta(days=STALE_AFTER_DAYS)


def freshness_sentences(workspace: Workspace, stale_before: date, *, now: datetime | None = None) -> list[str]:
    """Return sentences on the last ingest, the newest question and the documents not written to since a day."""
    since = datetime.combine(stale_before, time(), UTC)
    with LogStore(workspace.logs_path).unit() as connection:
        found = read_freshness(connection, stale_before=since)
    return list(_sentences(found, stale_before, now or datetime.now(UTC)))


def _sentences(found: Freshness, stale_before: date, now: datetime) -> Iterator[str]:
    if found.last_ingest_at is not None:
        yield f"The log was last added to {_ago(found.last_ingest_at, now)}."
    if found.newest_turn_at is not None:
        yield f"The newest question was asked {_ago(found.newest_turn_at, now)}."
    if not found.documents:
        yield "The corpus is empty: `errata corpus add FILE` loads the chunks that gold is picked from."
        return
    if found.oldest_written_at is not None:
        yield (
            f"The corpus holds {found.documents:,} documents; the oldest, {found.oldest_document}, "
            f"was last written {_ago(found.oldest_written_at, now)}."
        )
    if found.stale:
        named = ", ".join(found.stale[:SHOWN_DOCUMENTS])
        more = f" and {len(found.stale) - SHOWN_DOCUMENTS} others" if len(found.stale) > SHOWN_DOCUMENTS else ""
        yield f"{len(found.stale):,} documents were not written to since {stale_before:%d %B %Y}: {named}{more}."


def _ago(moment: datetime, now: datetime) -> str:
    days = (now - moment).days
    if days < 0:
        return f"on {moment:%d %B %Y} (ahead of this clock)"
    if days == 0:
        return f"today at {moment:%H:%M} UTC"
    return f"on {moment:%d %B %Y}, {days:,} day{'s' if days > 1 else ''} ago"
