"""Reads what logs hold of Python's literals, without a word about how these are written."""

import ast
import re
import warnings
from typing import Any

_PLACE = "<a literal of a log>"

# Python warns of a backslash that escapes nothing, by the name of what it reads: a path of Windows in a log has some.
warnings.filterwarnings("ignore", module=re.escape(_PLACE))


def literal(written: str) -> Any:
    """Return the value of a Python literal, as `ast.literal_eval` does; raises ValueError where it is none."""
    try:
        return ast.literal_eval(ast.parse(written.lstrip(" \t"), filename=_PLACE, mode="eval"))
    except (SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise ValueError(f"no literal: {error}") from error
