"""Fixtures that every test folder shares."""

from pathlib import Path

import pytest

SHARED_FOLDER = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared_folder() -> Path:
    """The folder of public samples beside the checkout; a user's clone has none, so its tests are skipped there."""
    if not SHARED_FOLDER.is_dir():
        pytest.skip("the public sample folder is not beside this checkout")
    return SHARED_FOLDER
