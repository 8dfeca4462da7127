"""Figures of the monitor lead to the queue narrowed to what they count, and old bookmarks go on to work."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

pytestmark = pytest.mark.xdist_group("scores")


@pytest.mark.parametrize("asked", ["thumbs_down", "thumbs down 7", "thumbs down"])
@pytest.mark.usefixtures("in_demo")
def test_a_signal_named_in_the_address_narrows_the_queue_whatever_its_count_is_today(asked: str) -> None:
    app = AppTest.from_file(str(Path("curation_app/pages/queue.py").resolve()), default_timeout=60)
    app.session_state["reviewer"] = "Ada"
    app.query_params["signal"] = asked
    app.run()
    assert not app.exception, [exception.message for exception in app.exception]
    assert app.selectbox(key="signal").value == "thumbs_down"
