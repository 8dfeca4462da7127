"""Keep what a page asks for by a timer from being run once the page was left."""

from typing import Any


def forget_timers_of_left_pages() -> None:
    """Have Streamlit pass over a timed rerun of a fragment that is no longer there.

    Streamlit 1.67 begins one for the page that it was asked on, which clears the page that is shown by now, finds
    nothing to run, and leaves the page blank. That happens when `st.switch_page` is called while one waits.
    """
    from streamlit.runtime.scriptrunner.script_runner import ScriptRunner

    runner: Any = ScriptRunner
    run_script = runner._run_script  # noqa: SLF001 - there is no other place to ask

    def run_what_is_there(self: Any, rerun: Any) -> None:
        kept, wanted = self._fragment_storage, rerun.fragment_id_queue
        # A press that a timer caught up with counts as timed as well, but is for the whole page: no fragment is named.
        if not (rerun.is_auto_rerun and wanted) or any(kept.contains(fragment) for fragment in wanted):
            run_script(self, rerun)

    runner._run_script = run_what_is_there  # noqa: SLF001
