import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from curation_app.service.starting import make_workspace
from curation_app.workspace import WORKSPACE_VARIABLE, Workspace
from ingest.log_store import LogStore

PAGE = Path("curation_app/pages/ingest.py").resolve()
RECORDS = [
    {
        "request_id": f"r{n}",
        "conv": "c",
        "ts": "2026-11-02T08:00:00Z",
        "query": f"question {n}?",
        "reply": "mail a@b.example",
    }
    for n in range(3)
]
LOG = "\n".join([*map(json.dumps, RECORDS), '{"request_id": "cut']).encode()


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    made = make_workspace(tmp_path / "shop").workspace
    monkeypatch.setenv(WORKSPACE_VARIABLE, str(made.root))
    return made


def press(page: AppTest, label: str) -> AppTest:
    next(button for button in page.button if button.label == label).click().run()
    assert not page.exception
    return page


def test_a_log_is_uploaded_given_a_mapping_previewed_and_ingested(workspace: Workspace) -> None:
    page = AppTest.from_file(str(PAGE), default_timeout=60).run()
    assert not page.exception
    assert "Nothing is stored yet" in page.info[0].value
    page.file_uploader(key="ingest_uploads").upload("log.jsonl", LOG).run()
    press(page, "Propose a mapping")
    assert "question: query" in str(page.text_area(key="ingest_mapping").value)
    press(page, "Preview")
    assert "3 interactions" in " ".join(caption.value for caption in page.caption)
    assert not LogStore(workspace.logs_path).exists or "Nothing is stored yet" in page.info[0].value
    press(page, "Ingest")
    figures = {metric.label: metric.value for metric in page.metric}
    assert (figures["Records read"], figures["New"], figures["Quarantined"]) == ("4", "3", "1")
    assert page.dataframe[-1].value.to_dict("records")[0]["line"] == 4
    assert "3 interactions are stored" in page.info[0].value
    assert not list(workspace.logs_path.parent.glob("reading-*"))
    press(page, "Ingest")
    assert {metric.label: metric.value for metric in page.metric}["Unchanged"] == "3"


def test_what_cannot_be_read_is_said_on_the_page(workspace: Workspace) -> None:
    page = AppTest.from_file(str(PAGE), default_timeout=60).run()
    press(page, "Ingest")
    assert "choose a file to upload" in page.error[0].value
    page.segmented_control(key="ingest_from").set_value("Path on the server").run()
    page.text_input(key="ingest_path").set_value(str(workspace.root / "missing.jsonl")).run()
    press(page, "Preview")
    assert "no such file" in page.error[0].value


def test_the_corpus_is_filled_from_the_page(workspace: Workspace) -> None:
    (workspace.root / "guide.md").write_text("# Refunds\nIn 14 days.\n# Invoices\nUnder Billing.\n", encoding="utf-8")
    page = AppTest.from_file(str(PAGE), default_timeout=60).run()
    page.text_input(key="ingest_corpus_path").set_value(str(workspace.root / "guide.md")).run()
    press(page, "Add")
    assert "2 new" in page.success[0].value
