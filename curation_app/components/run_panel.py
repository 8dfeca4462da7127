"""Start a run from the app, follow it, stop it and go on with it."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from curation_app import session_keys
from curation_app.components.page_text import markdown_text
from curation_app.service.holding_out import RunSplit, held_out_count
from curation_app.service.run_history import keep_report, unreadable
from curation_app.service.running import pipeline_sections
from curation_app.service.scoring import (
    BackgroundRun,
    RunOrder,
    background_runs,
    find_run,
    resume_run,
    start_run,
    stop_run,
)
from curation_app.service.set_places import set_folder, set_names
from curation_app.workspace import Workspace
from evalsets.errors import ErrataError
from evalsets.running.settings import RunSettings
from evalsets.sets.holdout_ledger import judged_gap, read_ledger

_SHOWN_RUNS = 5
_SPLITS = {
    RunSplit.DEV: "dev items",
    RunSplit.ALL: "dev and held-out items",
    RunSplit.HOLDOUT: "held-out items, no report",
}
_JUDGES = {"": "of errata.toml", "facts": "facts, offline", "model": "a language model"}


def show_run_form(workspace: Workspace) -> None:
    """Draw the form that starts a run."""
    sets = set_names(workspace)
    if not sets:
        st.info("No set is frozen yet. The Freeze page turns accepted labels into the first version.")
        return
    pipelines = list(dict.fromkeys([*pipeline_sections(workspace), "keyword", "logged"]))
    with st.form("start-run", border=True):
        columns = st.columns([4, 4, 3, 4, 2, 2, 1.4], vertical_alignment="bottom")
        set_name = columns[0].selectbox("Set", _references(workspace, sets), help="name@version runs an older version.")
        pipeline = columns[1].selectbox(
            "Pipeline",
            pipelines,
            help="keyword searches the chunk store, offline; logged replays production. Add yours in errata.toml.",
        )
        judge = columns[2].selectbox("Judge", list(_JUDGES), format_func=_JUDGES.__getitem__)
        split = _choose_split(columns[3], any(held_out_count(set_folder(workspace, name)) for name in sets))
        k = columns[4].number_input("Chunks (k)", 1, 100, 10)
        repeat = columns[5].number_input("Repeats", 1, 20, 1)
        settings = RunSettings(k=int(k), repeat=int(repeat))
        if columns[6].form_submit_button("Run", type="primary"):
            by = session_keys.reviewer_name()
            _start(workspace, RunOrder(str(set_name), str(pipeline), str(judge), settings, split, by))


def show_looks(workspace: Workspace, set_name: str) -> None:
    """Draw what the looks at a set's held-out items say, when any are held out."""
    target = set_folder(workspace, set_name)
    if not held_out_count(target):
        return
    looks = read_ledger(target.ledger_path)
    st.markdown(f"**Held-out items.** {markdown_text(judged_gap(looks), 600)}")
    if not looks:
        st.caption("Run with “dev and held-out items” above. Each look is counted: the more looks, the less they tell.")


def show_opening(workspace: Workspace) -> None:
    """Draw the field that brings in a report made elsewhere."""
    with st.expander("Open a report from elsewhere"):
        given = st.file_uploader("A report of `errata run` (JSON)", type="json", key="report-file")
        if given is None:
            return
        try:
            path = keep_report(workspace, given.name, given.getvalue())
        except ErrataError as error:
            st.error(markdown_text(str(error), 600))
        else:
            st.caption(f"It is among the runs as {markdown_text(path.stem)}.")


def show_running(workspace: Workspace) -> None:
    """Draw the runs that are at work or were stopped; looks again each second while one is at work."""
    runs = background_runs(workspace)[:_SHOWN_RUNS]
    if any(run.is_alive for run in runs):
        st.fragment(_watch, run_every=1.0)(workspace, tuple(run.run_id for run in runs if run.is_alive))
    for run in runs:
        if not run.is_alive:
            _show_stopped(workspace, run)
    for path, fault in unreadable(workspace).items():
        st.caption(f"{markdown_text(path.name)} is left out: {markdown_text(fault)}")


def _choose_split(place: DeltaGenerator, is_any_held_out: bool) -> RunSplit:  # noqa: FBT001 - says what may be chosen
    """Draw the choice of items; a look at held-out ones goes into the ledger, and nothing of them is kept but sums."""
    unheld = "Nothing is held out; holdout_share under [sets] in errata.toml holds new items out."
    held = "Of held-out items you see sums only, and each look is written into the set's ledger."
    return RunSplit(
        place.selectbox(
            "Items to run", list(_SPLITS), format_func=_SPLITS.__getitem__, disabled=not is_any_held_out,
            help=held if is_any_held_out else unheld,
        )
    )  # fmt: skip


def _references(workspace: Workspace, names: list[str]) -> list[str]:
    older = [
        f"{name}@{version}"
        for name in names
        for version in range(set_folder(workspace, name).newest_version() - 1, 0, -1)
    ]
    return [*names, *older]


def _start(workspace: Workspace, order: RunOrder) -> None:
    try:
        start_run(workspace, order)
    except (ErrataError, OSError) as error:
        st.error(markdown_text(str(error), 600))


def _watch(workspace: Workspace, watched: tuple[str, ...]) -> None:
    alive = [run for run in background_runs(workspace) if run.is_alive]
    ended = [run_id for run_id in watched if run_id not in {run.run_id for run in alive}]
    if ended:
        if find_run(workspace, ended[0]).path.exists():
            session_keys.set_widget(session_keys.SCORES_RUN, ended[0])
        st.rerun()
    for run in alive:
        bar, button = st.columns([6, 1], vertical_alignment="center")
        share = run.done / run.total if run.total else 0.0
        failed = f", {run.failed} ended in an error" if run.failed else ""
        words = f"{run.done} of {run.total} items{failed}" if run.total else "starting"
        bar.progress(min(share, 1.0), f"{markdown_text(run.run_id)}: {words}")
        button.button(
            "Stop this run" if run.state == "running" else "Stopping",
            key=f"stop-{run.run_id}",
            disabled=run.state != "running",
            on_click=stop_run,
            args=(workspace, run.run_id),
        )
    st.caption("A run goes on when this page or the browser is closed.")


def _show_stopped(workspace: Workspace, run: BackgroundRun) -> None:
    words, button = st.columns([6, 1], vertical_alignment="center")
    reason = f": {markdown_text(run.message, 400)}" if run.message else ""
    words.warning(f"{markdown_text(run.run_id)} is {run.state} after {run.done} of {run.total} items{reason}")
    button.button(
        "Resume",
        key=f"resume-{run.run_id}",
        help="Goes on where it stopped; calls that were finished are not made again.",
        on_click=_resume,
        args=(workspace, run.run_id),
    )


def _resume(workspace: Workspace, run_id: str) -> None:
    try:
        resume_run(workspace, run_id)
    except ErrataError as error:
        st.error(markdown_text(str(error), 600))
