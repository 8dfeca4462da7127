"""Sets in the formats of other tools, both ways."""

from evalsets.errors import BadInputError
from evalsets.exchange import (
    csv_table,
    deepeval,
    huggingface,
    inspect_samples,
    langfuse,
    langsmith,
    mlflow,
    openai_evals,
    phoenix,
    promptfoo,
    qrels,
    ragas,
)
from evalsets.exchange.base import Defaults, ExchangeFormat, lost_fields, to_items

_MODULES = (
    ragas,
    deepeval,
    inspect_samples,
    promptfoo,
    langsmith,
    langfuse,
    phoenix,
    mlflow,
    openai_evals,
    qrels,
    huggingface,
    csv_table,
)
FORMATS: dict[str, ExchangeFormat] = {module.FORMAT.name: module.FORMAT for module in _MODULES}
"""Every format by its name."""


def format_named(name: str) -> ExchangeFormat:
    """Return a format; BadInputError with the names there are."""
    if name not in FORMATS:
        raise BadInputError(f"{name!r} is no format; the formats are {', '.join(FORMATS)}.")
    return FORMATS[name]


__all__ = ["FORMATS", "Defaults", "ExchangeFormat", "format_named", "lost_fields", "to_items"]
