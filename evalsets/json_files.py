"""Reading a JSON file, with errors that say which file and what to do."""

import json
from pathlib import Path
from typing import Any

from evalsets.errors import BadInputError


def read_json(path: Path | str) -> Any:
    """Return the parsed content of a JSON file."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise BadInputError(f"cannot read {str(path)!r}: {error.strerror}. Name a file that is there.") from error
    except ValueError as error:
        raise BadInputError(f"{path} is not JSON ({error}). Name a JSON file.") from error
