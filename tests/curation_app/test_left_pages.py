"""Timed reruns of fragments that are gone are passed over, and nothing else is."""

from typing import Any

import pytest
from streamlit.runtime.fragment import MemoryFragmentStorage
from streamlit.runtime.scriptrunner.script_runner import ScriptRunner
from streamlit.runtime.scriptrunner_utils.script_requests import RerunData, ScriptRequests

from curation_app.left_pages import forget_timers_of_left_pages

TIMER = RerunData(fragment_id="look", is_auto_rerun=True)


def runs_of(monkeypatch: pytest.MonkeyPatch, *asked: RerunData, kept: str = "") -> list[RerunData]:
    """Return what is run of requests that came while a script ran, as Streamlit puts them together."""
    run: list[RerunData] = []
    monkeypatch.setattr(ScriptRunner, "_run_script", lambda _, rerun: run.append(rerun))
    forget_timers_of_left_pages()
    requests, runner = ScriptRequests(), object.__new__(ScriptRunner)
    runner._fragment_storage = MemoryFragmentStorage()
    if kept:
        runner._fragment_storage.register(kept, lambda: None)
    for each in asked:
        requests.request_rerun(each)
    request: Any = requests.on_scriptrunner_ready()
    runner._run_script(request.rerun_data)
    return run


def test_a_timer_is_run_while_its_fragment_is_there_and_not_after(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(runs_of(monkeypatch, TIMER, kept="look")) == 1
    assert runs_of(monkeypatch, TIMER) == []
    assert len(runs_of(monkeypatch, RerunData(fragment_id="look"))) == 1


def test_a_press_is_run_though_a_timer_went_off_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(runs_of(monkeypatch, RerunData(), TIMER)) == 1
