"""Lines of a JSON lines file, cut where its writer cut them."""

from collections.abc import Iterator


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line that is not blank with its number, counted from 1.

    Only a line feed ends a line: a JSON string may hold other separators as they are, such as U+2028, at which
    `str.splitlines` would cut it in two.
    """
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line
