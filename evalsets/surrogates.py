"""Half characters, as a stream cut inside an emoji leaves them: no file may hold them."""


def without_lone_surrogates(text: str) -> str:
    """Return the text with each lone surrogate replaced by U+FFFD; two halves that meet become their character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
