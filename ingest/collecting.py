"""How often the interpreter looks for cycles while many objects are made that hold none."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

GC_THRESHOLD = 100_000
"""Parsed records hold no cycles: looking for some after every 700 objects only costs time."""


@contextmanager
def rare_collections() -> Iterator[None]:
    """Let the interpreter look for cycles rarely while records are read."""
    before = gc.get_threshold()
    gc.set_threshold(GC_THRESHOLD)
    try:
        yield
    finally:
        gc.set_threshold(*before)
