"""What waits on each page and how the labelling goes, counted beside the pages so that no key press waits for it."""

import threading
import time
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import NamedTuple

from curation_app.labels import SETTLING_KINDS, DecisionKind, LabelEvent
from curation_app.review_queue import QueueFilter
from curation_app.review_store import ReviewStore
from curation_app.service.coding import codes_by_mode
from curation_app.service.set_places import set_folder
from curation_app.workspace import ReviewSettings, Workspace
from evalsets.errors import ErrataError
from evalsets.items import Mode

RECENT_LABELS = 10
ENOUGH_WITHOUT_NEWS = 20
_FRESH_S = 15.0


class Progress(NamedTuple):
    """One reviewer's day and what the labels of all say."""

    labelled_today: int = 0
    per_hour: float = 0.0
    remaining: int = 0
    mode_counts: tuple[tuple[Mode, int], ...] = ()
    set_modes: tuple[tuple[Mode, int], ...] = ()
    """Items by mode in the newest version of the default set, held-out ones apart."""
    labels: int = 0
    new_kinds: tuple[int, ...] = ()
    """New failure kinds (a mode with its sub-code) in each ten labels, oldest first."""
    labels_since_news: int = 0

    @property
    def may_stop(self) -> bool:
        """Whether the stopping rule holds: twenty labels in a row showed no new kind of failure."""
        return self.labels_since_news >= ENOUGH_WITHOUT_NEWS


class Overview(NamedTuple):
    """Counts for the navigation, progress, and the sub-codes in use by mode."""

    counts: dict[str, int]
    progress: Progress
    codes: dict[Mode, tuple[str, ...]]


EMPTY = Overview({}, Progress(), {})
_counted: dict[tuple[str, str], tuple[float, Overview]] = {}
_counting = threading.Lock()


def overview(workspace: Workspace, reviewer: str, settings: ReviewSettings) -> Overview:
    """Return what was counted last, and count again beside the page when that is older than some seconds."""
    key = (str(workspace.root), reviewer)
    if key not in _counted:
        _counted[key] = (time.monotonic(), _count(workspace, reviewer, settings))
    counted_at, counted = _counted[key]
    if time.monotonic() - counted_at > _FRESH_S and _counting.acquire(blocking=False):
        threading.Thread(target=_recount, args=(workspace, reviewer, settings), daemon=True).start()
    return counted


def forget_counts() -> None:
    """Count afresh when next asked."""
    _counted.clear()


def _recount(workspace: Workspace, reviewer: str, settings: ReviewSettings) -> None:
    try:
        counted = _count(workspace, reviewer, settings)
        _counted[str(workspace.root), reviewer] = (time.monotonic(), counted)
    finally:
        _counting.release()


def _count(workspace: Workspace, reviewer: str, settings: ReviewSettings) -> Overview:
    if not workspace.review_path.exists():
        return EMPTY
    store = ReviewStore(workspace.review_path, settings)
    try:
        return _overview_of(workspace, store, reviewer)
    except ErrataError:
        return EMPTY


def _overview_of(workspace: Workspace, store: ReviewStore, reviewer: str) -> Overview:
    remaining = store.remaining(reviewer)
    counts = {
        "candidates": store.queue_page(QueueFilter(), page_size=1).total,
        "to_label": remaining,
        "disagreements": store.queue_page(QueueFilter(state="disagreement"), page_size=1).total,
        "ready": store.ready_count(),
    }
    progress = progress_of(store.events(), reviewer, datetime.now(UTC))
    progress = progress._replace(remaining=remaining, set_modes=_set_modes(workspace))
    return Overview(counts, progress, codes_by_mode(store))


def _set_modes(workspace: Workspace) -> tuple[tuple[Mode, int], ...]:
    folder = set_folder(workspace)
    if not folder.newest_version():
        return ()
    return tuple(Counter(item.mode for item in folder.load_main().items).most_common())


def progress_of(events: Sequence[LabelEvent], reviewer: str, now: datetime) -> Progress:
    """Weigh the events that are not undone: the reviewer's day, mode counts and the stopping rule over all labels."""
    undone = {event.undoes for event in events if event.undoes}
    settled = [event for event in events if event.kind in SETTLING_KINDS and event.token not in undone]
    latest = {(event.candidate_id, event.author.name): event for event in settled}
    labels = [event for event in latest.values() if event.kind is DecisionKind.LABEL and event.content.mode]
    modes = Counter(event.content.mode for event in labels if event.content.mode)
    news = _news(labels)
    return Progress(
        labelled_today=sum(_is_today(event, reviewer, now) for event in latest.values()),
        per_hour=_pace([event.created_at for event in latest.values() if _is_today(event, reviewer, now)]),
        mode_counts=tuple(modes.most_common()),
        labels=len(labels),
        new_kinds=tuple(sum(news[start : start + RECENT_LABELS]) for start in range(0, len(news), RECENT_LABELS)),
        labels_since_news=next((back for back, is_new in enumerate(reversed(news)) if is_new), 0),
    )


def _is_today(event: LabelEvent, reviewer: str, now: datetime) -> bool:
    local = event.created_at.astimezone(now.astimezone().tzinfo)
    return event.author.name == reviewer and local.date() == now.astimezone().date()


def _pace(moments: list[datetime]) -> float:
    """Return labels an hour over the time worked: gaps of over ten minutes are pauses."""
    ordered = sorted(moments)
    gaps = [later - earlier for earlier, later in pairwise(ordered)]
    worked = [gap for gap in gaps if gap <= timedelta(minutes=10)]
    hours = sum(worked, timedelta()).total_seconds() / 3600
    return len(worked) / hours if hours else 0.0


def _news(labels: list[LabelEvent]) -> list[bool]:
    seen: set[tuple[Mode | None, str]] = set()
    news = []
    for event in sorted(labels, key=lambda each: each.seq):
        kind = (event.content.mode, event.content.sub_code)
        news.append(kind not in seen)
        seen.add(kind)
    return news
