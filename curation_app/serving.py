"""Run Streamlit on the app, with its pages taken from `st.navigation` alone: `python -m curation_app.serving FLAGS`."""

import sys
from pathlib import Path

APP_SCRIPT = Path(__file__).with_name("app.py")


def main() -> None:
    """Serve app.py.

    Streamlit reads a folder named `pages` beside the script as pages of its own until `st.navigation` has run once, so
    that the first visit to /label would run that file bare, without the navigation or the reviewer's name.
    """
    from streamlit.runtime.pages_manager import PagesManager
    from streamlit.web.cli import main as streamlit

    PagesManager.uses_pages_directory = False
    streamlit(args=["run", str(APP_SCRIPT), *sys.argv[1:]], prog_name="streamlit")


if __name__ == "__main__":
    main()
