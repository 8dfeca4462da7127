"""Let mlflow-tracing, where it is installed, read traces of a schema newer than the ones known here."""

from importlib.util import find_spec
from typing import Any

NEWEST_SCHEMA = 3
"""The newest trace schema that is read without mlflow-tracing."""


def in_known_schema(trace: dict[str, Any]) -> dict[str, Any]:
    """Return a trace as the installed mlflow-tracing writes it when its schema is newer than ours, else as it is."""
    if _schema_of(trace) <= NEWEST_SCHEMA or find_spec("mlflow") is None:
        return trace
    from mlflow.entities import Trace
    from mlflow.exceptions import MlflowException

    try:
        read: dict[str, Any] = Trace.from_dict(trace).to_dict()
    except (MlflowException, ValueError, TypeError, KeyError, AttributeError):
        return trace
    return read


def _schema_of(trace: dict[str, Any]) -> int:
    info = trace.get("info")
    metadata = info.get("trace_metadata") if isinstance(info, dict) else None
    stated = metadata.get("mlflow.trace_schema.version") if isinstance(metadata, dict) else None
    return int(stated) if isinstance(stated, str) and stated.isdecimal() else 0
