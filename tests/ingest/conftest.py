"""Fixtures of the ingest tests."""

from pathlib import Path

import pytest

from ingest.adapters.mapping_file import MappingFile, parse_mapping
from ingest.log_store import LogStore
from tests.ingest.ingest_support import APP_MAPPING


@pytest.fixture
def store(tmp_path: Path) -> LogStore:
    """An empty log store in a folder of its own."""
    return LogStore(tmp_path / "state" / "logs.duckdb")


@pytest.fixture
def app_mapping() -> MappingFile:
    """The mapping that fits the plain samples."""
    return parse_mapping(APP_MAPPING, "the mapping of the plain samples")


@pytest.fixture(scope="session")
def plain(shared_folder: Path) -> Path:
    """The folder of plain samples."""
    return shared_folder / "logs" / "plain"
