"""Fixtures that every test folder shares."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from ingest.warm_files import let_all_go

# How long an example takes says more of the machine than of the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

SHARED_FOLDER = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared_folder() -> Path:
    """The folder of public samples beside the checkout; a user's clone has none, so its tests are skipped there."""
    if not SHARED_FOLDER.is_dir():
        pytest.skip("the public sample folder is not beside this checkout")
    return SHARED_FOLDER


@pytest.fixture(autouse=True)
def _no_file_kept_open_after_a_test() -> Iterator[None]:
    """The script of the app keeps files open between units of work, which the next test must not inherit."""
    yield
    let_all_go()
