"""Interactions of the log on the screen: a table of fifty, and one of them whole."""

from collections.abc import Iterator, Sequence

import pandas as pd
import streamlit as st

from curation_app.components.page_text import plain_line, safe_html
from ingest.interaction_reading import Behind, InteractionRow
from ingest.mining.candidates import CandidateTurn

_HEIGHT = 390
_VOTES = {1: "up", -1: "down"}


def monitor_query(behind: Behind) -> dict[str, str]:
    """Return what the address of the Monitor page needs to show the same days, model and prompt."""
    filters = behind.filters
    given = {
        "since": filters.first_day.isoformat() if filters.first_day else "",
        "until": filters.last_day.isoformat() if filters.last_day else "",
        "source": filters.source or "",
        "model": filters.model or "",
        "prompt_version": filters.prompt_version or "",
    }
    return {name: value for name, value in given.items() if value}


def in_words(behind: Behind) -> str:
    """Return what narrows the list, as a sentence."""
    return ", ".join(_parts(behind))


def _parts(behind: Behind) -> Iterator[str]:
    filters = behind.filters
    if filters.first_day and filters.first_day == filters.last_day:
        yield f"on {filters.first_day:%d %B %Y}"
    elif filters.first_day or filters.last_day:
        since = f"{filters.first_day:%d %B %Y}" if filters.first_day else "the first day"
        until = f"{filters.last_day:%d %B %Y}" if filters.last_day else "the last"
        yield f"from {since} to {until}"
    else:
        yield "of every day"
    for name, value in (("source", filters.source), ("model", filters.model), ("prompt", filters.prompt_version)):
        if value is not None:
            yield f"{name} {value or 'unknown'}"
    if behind.vote:
        yield f"voted {behind.vote}"
    if behind.text:
        yield f"“{behind.text}” in the question"
    yield f"{behind.order} first"


def pick_row(rows: Sequence[InteractionRow], page: int) -> str:
    """Draw the table; return the id of the row that was clicked, or an empty string."""
    table = pd.DataFrame(
        {
            "asked (UTC)": [f"{row.asked_at:%Y-%m-%d %H:%M}" if row.asked_at else "" for row in rows],
            "question": [plain_line(row.question, 140) for row in rows],
            "answer": [plain_line(row.answer or "", 140) for row in rows],
            "vote": [_VOTES.get(row.feedback or 0, "") for row in rows],
            "model": [plain_line(row.model or "", 40) for row in rows],
            "prompt": [plain_line(row.prompt_version or "", 30) for row in rows],
            "latency": [f"{row.latency_ms / 1000:.2f} s" if row.latency_ms is not None else "" for row in rows],
            "cost": [f"{row.cost:.2g}" if row.cost is not None else "" for row in rows],
        }
    )
    right = {name: st.column_config.TextColumn(name, alignment="right") for name in ("latency", "cost")}
    picked = st.dataframe(
        table, hide_index=True, on_select="rerun", selection_mode="single-row", key=f"interactions-{page}",
        height=_HEIGHT if len(rows) > 10 else "content", column_config=right,  # noqa: PLR2004 - more scroll
    )["selection"]["rows"]  # fmt: skip
    if not picked or picked[0] >= len(rows):
        st.caption("Click a row to read it.")
        return ""
    return rows[picked[0]].interaction_id


def show_turn(turn: CandidateTurn) -> None:
    """Draw an interaction whole: question, answer and what was retrieved."""
    st.html(f'<div class="errata-question">{safe_html(turn.question)}</div>')
    st.html(f'<div class="errata-answer">{safe_html(turn.answer or "(no answer)")}</div>')
    for chunk in turn.retrieved:
        with st.container(border=True):
            body = safe_html(chunk.text) if chunk.text else "(the log holds no text)"
            st.html(
                f'<div class="errata-chunk"><div class="head">{safe_html(chunk.chunk_id)}</div>'
                f"<details><summary>{body}</summary></details></div>"
            )
