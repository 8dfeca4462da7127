"""How much waits on each page, for the navigation."""

import threading
import time

from curation_app.review_queue import QueueFilter
from curation_app.review_store import ReviewStore
from curation_app.workspace import ReviewSettings, Workspace
from evalsets.errors import ErrataError

_FRESH_S = 4.0
_counted: dict[tuple[str, str], tuple[float, dict[str, int]]] = {}
_counting = threading.Lock()


def waiting_counts(workspace: Workspace, reviewer: str, settings: ReviewSettings) -> dict[str, int]:
    """Return the counts by name, some seconds old: a newer count is made beside the page, so no key press waits."""
    key = (str(workspace.root), reviewer)
    if key not in _counted:
        _counted[key] = (time.monotonic(), _count(workspace, reviewer, settings))
    counted_at, counts = _counted[key]
    if time.monotonic() - counted_at > _FRESH_S and _counting.acquire(blocking=False):
        threading.Thread(target=_recount, args=(workspace, reviewer, settings), daemon=True).start()
    return counts


def _recount(workspace: Workspace, reviewer: str, settings: ReviewSettings) -> None:
    try:
        counts = _count(workspace, reviewer, settings)
        _counted[str(workspace.root), reviewer] = (time.monotonic(), counts)
    finally:
        _counting.release()


def _count(workspace: Workspace, reviewer: str, settings: ReviewSettings) -> dict[str, int]:
    if not workspace.review_path.exists():
        return {}
    store = ReviewStore(workspace.review_path, settings)
    try:
        return {
            "candidates": store.queue_page(QueueFilter(), page_size=1).total,
            "to_label": store.remaining(reviewer),
            "disagreements": store.queue_page(QueueFilter(state="disagreement"), page_size=1).total,
            "ready": sum(not item.blockers for item in store.accepted_items()),
        }
    except ErrataError:
        return {}
