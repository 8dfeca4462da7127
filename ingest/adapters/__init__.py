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
def adapter_names() -> tuple[str, ...]:
    """Return the names of all formats: registered adapters, then the shipped mappings."""
    from ingest.adapters.mapping_file import preset_names

    return (*REGISTERED, *(name for name in preset_names() if name not in REGISTERED))


@cache
def get_adapter(name: str) -> Adapter:
    """Return the adapter called `name`; raises BadInputError naming those there are."""
    if name not in REGISTERED:
        if name not in adapter_names():
            raise BadInputError(f"no format is called {name!r}. There are: {', '.join(sorted(adapter_names()))}.")
        from ingest.adapters.mapping import preset

        return preset(name)
    module, _, attribute = REGISTERED[name].partition(":")
    adapter: Adapter = getattr(import_module(module), attribute)
    return adapter


def family_of(name: str) -> str:
    """Return the family of an adapter: formats of one family share trace ids, so their spans meet."""
    return str(getattr(get_adapter(name), "family", name))


def iter_adapters() -> Iterator[Adapter]:
    """Yield every adapter, in order of registration."""
    return map(get_adapter, adapter_names())


def detect(sample: Sequence[Any]) -> list[Detection]:
    """Return who recognises the sample, surest first; of equals the one registered first."""
    found = [Detection(adapter.name, adapter.detects(sample)) for adapter in iter_adapters()]
    return sorted((entry for entry in found if entry.confidence > 0), key=lambda entry: -entry.confidence)
