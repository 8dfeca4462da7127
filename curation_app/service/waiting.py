"""How much waits on each page, for the navigation."""

import time

from curation_app.review_queue import QueueFilter
from curation_app.review_store import ReviewStore
from curation_app.workspace import ReviewSettings, Workspace
from evalsets.errors import ErrataError

_FRESH_S = 5.0
_counted: dict[tuple[str, str], tuple[float, dict[str, int]]] = {}


def waiting_counts(workspace: Workspace, reviewer: str, settings: ReviewSettings) -> dict[str, int]:
    """Return the counts by name; at most five seconds old, so that a key press never pays for them."""
    key = (str(workspace.root), reviewer)
    counted_at, counts = _counted.get(key, (0.0, {}))
    if time.monotonic() - counted_at > _FRESH_S:
        counts = _count(workspace, reviewer, settings)
        _counted[key] = (time.monotonic(), counts)
    return counts


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
