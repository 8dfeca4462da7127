"""Texts and numbers made for a cell of a table."""


def cell(text: str) -> str:
    """Return a text that stays within one cell and is shown as it stands."""
    escaped = " ".join(text.split()).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;")
    for mark in "`*_[":
        escaped = escaped.replace(mark, f"\\{mark}")
    return escaped


def p_words(p_value: float) -> str:
    """Return a p-value with three decimals; one that would be shown as nothing says below what it lies."""
    return "<0.001" if p_value < 0.0005 else f"{p_value:.3f}"  # noqa: PLR2004 - what rounds to 0.000


def one_line(text: str | None, limit: int = 160) -> str:
    """Return the start of a text on one line; what is missing or empty says so."""
    if text is None:
        return "(no answer)"
    line = " ".join(text.split()) or "(empty)"
    return line if len(line) <= limit else line[: limit - 1] + "…"
