"""The sample: a help-desk handbook, a week of its assistant's log, and what really went wrong in it."""

from pathlib import Path

SAMPLE_FOLDER = Path(__file__).parent
HANDBOOK_FOLDER = SAMPLE_FOLDER / "handbook"
PARTS_FOLDER = SAMPLE_FOLDER / "parts"

CORPUS_PATH = SAMPLE_FOLDER / "corpus.jsonl"
"""The chunks of the handbook, one a line."""
LOG_PATH = SAMPLE_FOLDER / "week.jsonl"
"""Turns and votes as the help desk's own application wrote them, with one line cut off half-way."""
MAPPING_PATH = SAMPLE_FOLDER / "mapping.yaml"
"""How that application's fields map to canonical interactions."""
TRUTH_PATH = SAMPLE_FOLDER / "truth.jsonl"
"""What really happened in each turn; see `curation_app.sample.truth`."""

SOURCE = "fernbook-help"
"""The source named by the mapping; interaction ids start with it."""
