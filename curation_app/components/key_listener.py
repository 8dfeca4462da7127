"""The key listener of the Label page: hears keys, saves while a person types, holds the buttons that decide.

It stays mounted from item to item: buttons that are made anew for each item cost the browser more than the item.
"""

from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import Any, NamedTuple

import streamlit as st

from curation_app.session_keys import KEY_LISTENER

_HTML = """
<div class="decisions" role="group" aria-label="Decide">
  <button type="button" class="primary" data-kind="label">Save, next <kbd>ctrl ↵</kbd></button>
  <button type="button" data-kind="not_failure">Not a failure <kbd>n</kbd></button>
  <button type="button" data-kind="defer">Defer <kbd>d</kbd></button>
  <button type="button" data-kind="skip">Skip <kbd>s</kbd></button>
  <button type="button" data-kind="undo">Undo <kbd>u</kbd></button>
  <button type="button" data-kind="close_group" hidden>Close its group <kbd>x</kbd></button>
</div>
<div class="line"><span class="status" role="status" aria-live="polite"></span></div>
<dialog aria-labelledby="errata-keys-title">
  <h3 id="errata-keys-title">Keys</h3>
  <table><tbody></tbody></table>
  <button type="button" class="close">Close</button>
</dialog>
"""
_CSS = """
.line { font-size: .85rem; color: var(--st-text-color); min-height: 1.3em; }
.status.problem { font-weight: 700; border-left: 4px solid var(--st-red-text-color); padding-left: .4em; }
dialog { color: var(--st-text-color); background: var(--st-background-color); border: 1px solid var(--st-border-color);
  border-radius: 8px; max-width: 34rem; padding: 1rem 1.5rem; }
dialog::backdrop { background: rgba(0, 0, 0, .45); }
td { padding: .2rem .8rem .2rem 0; vertical-align: top; font-size: .9rem; }
td:first-child { font-family: var(--st-code-font); white-space: nowrap; }
button { padding: .35rem .7rem; font: inherit; cursor: pointer; color: inherit;
  background: var(--st-secondary-background-color); border: 1px solid var(--st-border-color); border-radius: 6px; }
button:hover:enabled { border-color: var(--st-primary-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
button[hidden] { display: none; }
button:disabled { opacity: .5; cursor: default; }
button.primary { background: var(--st-primary-color); border-color: var(--st-primary-color); color: #fff; }
button.close { margin-top: .75rem; }
kbd { font-family: var(--st-code-font); font-size: .8em; margin-left: .25em; }
.decisions { display: flex; flex-wrap: wrap; gap: .4rem; font-size: .9rem; margin-bottom: .35rem; }
"""

KEYS_HELP = (
    ("1 2 3 4", "what went wrong first: retrieval miss, grounding failure, refusal, out of scope"),
    ("a b c e …", "take the chunk with this letter as gold, or leave it out"),
    ("g", "take the chunk that the evidence offers as gold"),
    ("/", "search the corpus; Enter searches, Esc leaves the field"),
    ("v", "show what stands around the chunk picked last in its document"),
    ("Ctrl+Enter, ⌘+Enter", "save and go on, also from inside a field"),
    ("n", "not a failure"),
    ("d", "defer: it comes back at the end"),
    ("s", "skip: leave it to someone else"),
    ("x", "close the group of what you just labelled: the others that ask the same leave the queue under your label"),
    ("u", "undo the last decision, as often as you like"),
    ("j k, → ←", "next and previous item, without deciding"),
    ("Esc", "leave a field, so that keys work again"),
    ("?", "these keys"),
)


class ListenerState(NamedTuple):
    """What the listener must know about the item on screen."""

    token: str
    chunks: Mapping[str, str]
    """Chunk id by the letter on its card."""
    modes: Mapping[str, str]
    decisions: Mapping[str, str]
    offered: str
    undo: str
    """Token of the decision that an undo would take back."""
    group: str
    """Token of the decision whose group can be closed; empty when there is none."""
    group_words: str
    is_held: bool
    """Whether someone else holds the item, so that it can only be read."""
    status: str
    is_problem: bool
    acknowledged: float


def listen(state: ListenerState, on_event: Callable[[], None]) -> None:
    """Mount the listener; `on_event` is called with the event in the session state."""
    _component()(
        key=KEY_LISTENER,
        data={**state._asdict(), "help": [list(row) for row in KEYS_HELP]},
        on_event_change=on_event,
    )


def _component() -> Any:
    script = (files("curation_app") / "components" / "key_listener.js").read_text(encoding="utf-8")
    return st.components.v2.component("errata.key_listener", html=_HTML, css=_CSS, js=script)
