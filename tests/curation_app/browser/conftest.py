"""The app served on a free port, and reviewers who sit before it in headless Chromium."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from curation_app.service.labelling import Desk, open_desk
from curation_app.service.starting import make_workspace
from ingest.mining.candidates import Candidate
from tests.curation_app.served_app import Server

CHUNKS = (
    ("kb-002#1", "kb-002", 1, "Invoices are sent on the first day."),
    ("kb-003#0", "kb-003", 0, "Refunds for annual plans take 30 days."),
    ("kb-003#1", "kb-003", 1, "Monthly plans can be cancelled within 14 days of payment."),
    ("kb-004#0", "kb-004", 0, "Ask billing for a refund by mail within one month."),
)


class Reviewer:
    """One person's browser on the Label page."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url

    def open(self, path: str = "label") -> None:
        self.page.goto(f"{self.url}/{path}")

    def wait_for_item(self) -> str:
        self.page.wait_for_selector(".errata-question", timeout=30_000)
        self.page.wait_for_selector("html[data-errata-token]", state="attached")
        self.settle()
        return self.question

    @property
    def question(self) -> str:
        return self.page.inner_text(".errata-question").strip()

    @property
    def token(self) -> str:
        return str(self.page.evaluate("document.documentElement.dataset.errataToken || ''"))

    @property
    def status(self) -> str:
        return self.page.inner_text(".status")

    def settle(self) -> None:
        """Wait until nothing is on its way, and the pause after a new item is over."""
        self.page.wait_for_function(
            "() => { const s = window.__errataLabel; return s && !s.inFlight && !s.queue.length && !s.dirty.size"
            " && performance.now() - s.renderedAt > 150 }",
            timeout=30_000,
        )

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)
        self.settle()

    def advance(self, key: str) -> str:
        before = self.token
        self.page.keyboard.press(key)
        self.page.wait_for_function(
            "before => (document.documentElement.dataset.errataToken || '') !== before", arg=before, timeout=30_000
        )
        self.settle()
        return self.question

    def write(self, label: str, text: str) -> None:
        self.page.get_by_label(label).focus()
        self.page.keyboard.type(text)
        self.page.keyboard.press("Escape")
        self.settle()


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = open_desk(make_workspace(tmp_path / "workspace").workspace)
    with made.logs.unit() as connection:
        connection.executemany(
            "INSERT INTO corpus_chunks (chunk_id, doc_id, position, text, text_hash, added_at) "
            "VALUES (?, ?, ?, ?, '', now())",
            CHUNKS,
        )
    return made


@pytest.fixture(scope="session")
def serve() -> Callable[[Path], Server]:
    """Makes a server of a workspace, not started yet."""
    return Server


@pytest.fixture
def server(desk: Desk) -> Iterator[Server]:
    served = Server(desk.workspace.root)
    yield served
    served.kill()


@pytest.fixture
def reviewer(chromium: Browser, request: pytest.FixtureRequest) -> Iterator[Callable[..., Reviewer]]:
    """Seats a reviewer of the given name before a browser of their own."""
    contexts = []

    def seat(name: str, url: str = "", **options: Any) -> Reviewer:
        address = url or request.getfixturevalue("server").url
        context = chromium.new_context(viewport={"width": 1440, "height": 900}, **options)
        contexts.append(context)
        context.add_cookies([{"name": "errata_reviewer", "value": name, "url": address}])
        return Reviewer(context.new_page(), address)

    yield seat
    for context in contexts:
        context.close()


@pytest.fixture
def add_candidates(desk: Desk, make_candidate: Callable[..., Candidate]) -> Callable[[int], None]:
    def add(count: int) -> None:
        desk.store.add_candidates([make_candidate(n, priority=1 - n / 10_000) for n in range(count)])

    return add
