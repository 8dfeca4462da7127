"""Literals in logs are read as Python means them, and what is none is said to be none."""

import subprocess
import sys
from typing import Any

import pytest

from ingest.literals import literal

READ = r"""
import warnings
warnings.simplefilter("always")
from ingest.literals import literal
print(literal(r"['C:\dir', '\]']"))
"""


@pytest.mark.parametrize(
    ("written", "value"),
    [(" ['a', None]", ["a", None]), (r"'C:\dir\new'", "C:\\dir\new"), ("{'n': -1.5}", {"n": -1.5})],
)
def test_a_literal_is_read(written: str, value: Any) -> None:
    assert literal(written) == value


@pytest.mark.parametrize("written", ["", "words", "open('x')", "['cut", "[" * 100_000, "'\0'", "{[]: 1}"])
def test_what_is_no_literal_is_a_value_error(written: str) -> None:
    with pytest.raises(ValueError, match=r"literal|malformed|null"):
        literal(written)


def test_a_backslash_that_escapes_nothing_is_no_warning_to_whoever_ingests() -> None:
    done = subprocess.run([sys.executable, "-c", READ], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "['C:\\\\dir', '\\\\]']\n"
    assert done.stderr == ""
