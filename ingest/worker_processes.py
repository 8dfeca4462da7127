"""Worker processes that start clean, whatever program asks for them."""

import ctypes
import gc
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, suppress
from importlib.abc import MetaPathFinder
from types import ModuleType
from typing import Any

from ingest.collecting import GC_THRESHOLD


def worker_processes(count: int, initializer: Callable[..., object], initargs: tuple[Any, ...]) -> ProcessPoolExecutor:
    """Return a pool whose `count` processes are spawned, not forked: a fork would inherit an open database."""
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(count, mp_context=context, initializer=initializer, initargs=initargs)
    with _no_main_module():
        for _ in range(count):
            pool.submit(_nothing)
    return pool


class _NoPandas(MetaPathFinder):
    def find_spec(self, fullname: str, _path: object = None, _target: object = None) -> None:
        if fullname == "pandas":
            raise ModuleNotFoundError(fullname, name=fullname)


def start_lean() -> None:
    """Make ready a worker process that turns records into Arrow tables.

    Arrow imports pandas at the first list to look whether it is a series, which takes a second and 40 MB.
    """
    if "pandas" not in sys.modules:
        sys.meta_path.insert(0, _NoPandas())
    gc.set_threshold(GC_THRESHOLD)
    _keep_freed_memory()


_NICER = 5


def step_behind() -> None:
    """Let the thread that stores go before this one: reading is done in time, and storing is what is waited for."""
    if sys.platform == "linux":  # where each thread has a priority
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), os.getpriority(os.PRIO_PROCESS, 0) + _NICER)


_LARGEST_KEPT = 32 << 20
_MMAP_THRESHOLD, _TRIM_THRESHOLD = -3, -1
"""Options of glibc's `mallopt`."""


def _keep_freed_memory() -> None:
    """Have blocks of some megabytes, which every part needs again, kept and not fetched from the system each time."""
    if sys.platform != "linux":
        return
    with suppress(OSError, AttributeError):  # another C library
        libc = ctypes.CDLL(None)
        libc.mallopt(_MMAP_THRESHOLD, _LARGEST_KEPT)
        libc.mallopt(_TRIM_THRESHOLD, _LARGEST_KEPT)


def give_back_memory() -> None:
    """Give freed memory back to the system, which else stays with the process in pieces."""
    import pyarrow as pa

    pa.default_memory_pool().release_unused()
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)


def tell_arrow_of_no_pandas() -> None:
    """Have Arrow settle now that there is no pandas, in a program that gives it none; pandas itself can be imported."""
    if "pandas" in sys.modules:
        return
    import pyarrow as pa

    hidden = _NoPandas()
    sys.meta_path.insert(0, hidden)
    try:
        pa.array([0])
    finally:
        sys.meta_path.remove(hidden)


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
