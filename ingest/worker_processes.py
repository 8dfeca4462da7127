"""Worker processes that start clean, whatever program asks for them."""

import multiprocessing
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from types import ModuleType
from typing import Any


def worker_processes(count: int, initializer: Callable[..., object], initargs: tuple[Any, ...]) -> ProcessPoolExecutor:
    """Return a pool whose `count` processes are spawned, not forked: a fork would inherit an open database."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(count, mp_context=context, initializer=initializer, initargs=initargs)
    with _no_main_module():
        for _ in range(count):
            pool.submit(_nothing)
    return pool


def _nothing() -> None:
    """Make the pool start a process now."""


@contextmanager
def _no_main_module() -> Iterator[None]:
    """Hide `__main__`, which a spawned process would run again: inside the app it is a page, and running it fails."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main
