"""Text made safe for a cell of a Markdown table."""


def cell(text: str) -> str:
    """Return a text that stays within one cell and is shown as it stands."""
    escaped = " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
    for mark in "`*_[":
        escaped = escaped.replace(mark, f"\\{mark}")
    return escaped


def one_line(text: str | None, limit: int = 160) -> str:
    """Return the start of a text on one line; what is missing or empty says so."""
    if text is None:
        return "(no answer)"
    line = " ".join(text.split()) or "(empty)"
    return line if len(line) <= limit else line[: limit - 1] + "…"
