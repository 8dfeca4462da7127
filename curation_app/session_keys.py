"""What the app keeps per browser session; the only module that names keys of the session state."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, cast

import streamlit as st

from curation_app.components.page_text import markdown_text
from curation_app.labels import LabelContent
from curation_app.review_items import ReviewItem
from curation_app.review_queue import QueueFilter
from curation_app.service.item_lists import ItemAddress

_REVIEWER = "reviewer"
_SCREEN = "label_screen"
_ASK_AGAIN = "ask_name_again"
SCORES_RUN = "run"
"""The run that the Scores page shows; in the URL too."""
ITEMS_PAGE = "items_page"
INTERACTIONS_PAGE = "interactions_page"
_ITEMS_OPENED = "items_opened"
KEY_LISTENER = "key_listener"
FREEZE_SET = "freeze_set"
FREEZE_PERSON = "freeze_person"
FREEZE_NOTE = "freeze_note"
FREEZE_ALLOW = "freeze_allow"
FREEZE_REASON = "freeze_reason"
FREEZE_OUTCOME = "freeze_outcome"
INGEST_FROM = "ingest_from"
INGEST_UPLOADS = "ingest_uploads"
INGEST_PATH = "ingest_path"
INGEST_READ_AS = "ingest_read_as"
INGEST_MAPPING = "ingest_mapping"
INGEST_STRICT = "ingest_strict"
INGEST_PREVIEW = "ingest_preview"
INGEST_REPORT = "ingest_report"
INGEST_PROBLEM = "ingest_problem"
INGEST_CORPUS_UPLOADS = "ingest_corpus_uploads"
INGEST_CORPUS_PATH = "ingest_corpus_path"
INGEST_CORPUS_REPORT = "ingest_corpus_report"
INGEST_REJECTS_PAGE = "ingest_rejects_page"
HEALTH_SET = "health_set"
HEALTH_DRIFT = "health_drift"
HEALTH_OUTCOME = "health_outcome"
HEALTH_SIGNATURE = "health_signature"
QUEUE_PAGE = "page"
_GO_LABEL = "go_label"
_PROBLEM = "problem"
_NOTICE = "notice"


@dataclass
class LabelScreen:
    """What the Label page shows. Only a cache: everything a person typed is in the review store."""

    item: ReviewItem | None = None
    content: LabelContent = field(default_factory=LabelContent)
    filters: QueueFilter = field(default_factory=QueueFilter)
    is_loaded: bool = False
    saved_at: datetime | None = None
    problem: str = ""
    """Why the last save was refused."""
    announcement: str = ""
    """What the last action did."""
    acknowledged: float = 0
    """Number of the newest event of the key listener that was handled."""
    search: str = ""
    search_document: str = ""
    neighbours_of: str = ""
    known_tokens: dict[str, str] = field(default_factory=dict)
    """Candidate by token of its showing, so that text typed just before an item changed is still saved to it."""

    def show(self, item: ReviewItem | None) -> None:
        """Put an item on the screen."""
        self.item = item
        self.is_loaded = True
        self.content = item.draft if item else LabelContent()
        self.saved_at = item.saved_at if item else None
        self.search = self.search_document = self.neighbours_of = self.problem = ""
        if item:
            self.known_tokens[item.token] = item.candidate.candidate_id


def label_screen() -> LabelScreen:
    """Return this session's Label screen."""
    if _SCREEN not in st.session_state:
        st.session_state[_SCREEN] = LabelScreen()
    return cast("LabelScreen", st.session_state[_SCREEN])


def reviewer_name() -> str:
    """Return the name given in this session; empty before."""
    return str(st.session_state.get(_REVIEWER, ""))


def remember_reviewer(name: str) -> None:
    """Keep the reviewer's name for this session."""
    st.session_state[_REVIEWER] = name


def forget_reviewer() -> None:
    """Ask for the reviewer's name again, in place of the one this browser remembers."""
    st.session_state[_REVIEWER] = ""
    st.session_state[_ASK_AGAIN] = True
    st.session_state.pop(_SCREEN, None)


def is_asked_again() -> bool:
    """Whether the remembered name was given up in this session."""
    return bool(st.session_state.get(_ASK_AGAIN))


def field_key(field_name: str, token: str) -> str:
    """Return the key of a field's widget on one showing of an item; the key listener reads field and token from it."""
    return f"field-{field_name}-{token}"


def widget_value(key: str) -> Any:
    """Return what a widget holds."""
    return st.session_state.get(key)


def set_widget(key: str, value: Any) -> None:
    """Set what a widget shows; allowed in callbacks only."""
    st.session_state[key] = value


def listener_event() -> dict[str, Any] | None:
    """Return the event that the key listener has just sent."""
    state = st.session_state.get(KEY_LISTENER)
    event = state.get("event") if state else None
    return cast("dict[str, Any] | None", event)


def forget_item() -> None:
    """Take the item off the screen, so that the next run opens the next one."""
    label_screen().is_loaded = False


def start_labelling(filters: QueueFilter) -> None:
    """Label under these filters from now on, and go to the Label page."""
    screen = label_screen()
    screen.filters = filters
    screen.is_loaded = False
    st.session_state[_GO_LABEL] = True


def wants_label_page() -> bool:
    """Whether the Label page was asked for in this run; asked once."""
    return bool(st.session_state.pop(_GO_LABEL, False))


def back_to_first_page() -> int:
    """Show the first page of the queue again, and return its number."""
    st.session_state[QUEUE_PAGE] = 1
    return 1


def queue_page_number() -> int:
    """Return the page of the queue that is shown, from 1."""
    return int(st.session_state.get(QUEUE_PAGE) or 1)


def show_items_again(address: ItemAddress) -> None:
    """Set the fields of the Scores page as they were when an item was opened; before they are drawn only."""
    if SCORES_RUN not in st.query_params:
        st.session_state[SCORES_RUN] = address.run_id
    for name, value in address.filters._asdict().items():
        st.session_state[name] = value or None


def take_from_address(key: str, options: Mapping[str, tuple[str, str]]) -> None:
    """Choose what a link or an old bookmark names, before the field is drawn; `options` have a name and a label each.

    A field bound to the address reads labels only, and a label that holds a count is another one tomorrow.
    """
    asked = st.query_params.get(key, "")
    named = asked.rstrip("0123456789,").rstrip()
    for value, (name, label) in options.items():
        if asked and asked != label and (asked == value or named == name):
            st.session_state[key] = value


def items_table_key(page: int) -> str:
    """Return the key of the table of items, a new one each time an item was opened, so that no row stays picked."""
    return f"item-rows-{st.session_state.get(_ITEMS_OPENED, 0)}-{page}"


def note_opened_item() -> None:
    """Take note that an item is being opened from the table."""
    st.session_state[_ITEMS_OPENED] = st.session_state.get(_ITEMS_OPENED, 0) + 1


def items_page_number() -> int:
    """Return the page of a run's items that is shown, from 1."""
    return int(st.session_state.get(ITEMS_PAGE) or 1)


def interactions_page_number() -> int:
    """Return the page of the interactions that is shown, from 1."""
    return int(st.session_state.get(INTERACTIONS_PAGE) or 1)


def keep_problem(text: str) -> None:
    """Keep why an action was refused, to be shown on the next run."""
    st.session_state[_PROBLEM] = text


def show_problem() -> None:
    """Show, once, why the last action was refused."""
    problem = st.session_state.pop(_PROBLEM, "")
    if problem:
        st.error(markdown_text(problem, 1000))


def keep_notice(text: str) -> None:
    """Keep what an action did, to be shown on the next run."""
    st.session_state[_NOTICE] = text


def show_notice() -> None:
    """Show, once, what the last action did."""
    notice = st.session_state.pop(_NOTICE, "")
    if notice:
        st.success(markdown_text(notice, 1000))


def case_key(name: str) -> str:
    """Return the key of a field of the case form."""
    return f"case-{name}"


def review_key(item_id: str, part: str = "choice") -> str:
    """Return the key of a widget of one item on the Health page."""
    return f"health-{part}-{item_id}"
