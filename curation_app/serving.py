"""Run Streamlit on the app, with its pages taken from `st.navigation` alone: `python -m curation_app.serving FLAGS`."""

import gc
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from threading import Thread

from evalsets.errors import ErrataError

APP_SCRIPT = Path(__file__).with_name("app.py")
_LOADED_AHEAD = ("pandas", "altair", "evalsets.statistics", "tantivy", "curation_app.components.label_form")


def main() -> None:
    """Serve app.py.

    Streamlit reads a folder named `pages` beside the script as pages of its own until `st.navigation` has run once, so
    that the first visit to /label would run that file bare, without the navigation or the reviewer's name.
    """
    from streamlit.runtime.pages_manager import PagesManager
    from streamlit.web.cli import main as streamlit

    from curation_app.left_pages import forget_timers_of_left_pages
    from curation_app.presence import announce_app
    from curation_app.workspace import app_workspace

    with suppress(ErrataError):
        announce_app(app_workspace())
    PagesManager.uses_pages_directory = False
    forget_timers_of_left_pages()
    Thread(target=_warm_up, name="warm-up", daemon=True).start()
    streamlit(args=["run", str(APP_SCRIPT), *sys.argv[1:]], prog_name="streamlit")


def _warm_up() -> None:
    """Load and use once what pages need, so that the first visitor does not wait for it.

    What was loaded stays for good, so it is taken out of the search for garbage, which holds up every reviewer.
    """
    for name in _LOADED_AHEAD:
        import_module(name)
    from curation_app.components.score_charts import cause_chart
    from evalsets.words import content_words

    content_words("the words of every language")
    cause_chart({"any": 1}).to_dict()
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    main()
