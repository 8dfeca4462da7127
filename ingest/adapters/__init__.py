"""The registry of adapters: a new format is one module and one line here."""

from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

from evalsets.errors import BadInputError
from ingest.adapters.base import Adapter

REGISTERED: dict[str, str] = {
    "otlp": "ingest.adapters.otlp:ADAPTER",
    "langfuse": "ingest.adapters.langfuse:ADAPTER",
    "langsmith": "ingest.adapters.langsmith:ADAPTER",
    "phoenix": "ingest.adapters.phoenix:ADAPTER",
    "mlflow": "ingest.adapters.mlflow:ADAPTER",
}
"""Name of a format and the object that reads it, as `module:attribute`, loaded only when it is needed."""


class Detection(NamedTuple):
    """The adapter that is surest about a file, and how sure it is, in [0, 1]."""

    name: str
    confidence: float


@cache
def get_adapter(name: str) -> Adapter:
    """Return the adapter called `name`; raises BadInputError naming those there are."""
    if name not in REGISTERED:
        raise BadInputError(f"no format is called {name!r}. There are: {', '.join(sorted(REGISTERED))}.")
    module, _, attribute = REGISTERED[name].partition(":")
    adapter: Adapter = getattr(import_module(module), attribute)
    return adapter


def iter_adapters() -> Iterator[Adapter]:
    """Yield every registered adapter, in order of registration."""
    for name in REGISTERED:
        yield get_adapter(name)


def detect(sample: Sequence[Any]) -> list[Detection]:
    """Return who recognises the sample, surest first; of equals the one registered first."""
    found = [Detection(adapter.name, adapter.detects(sample)) for adapter in iter_adapters()]
    return sorted((entry for entry in found if entry.confidence > 0), key=lambda entry: -entry.confidence)
