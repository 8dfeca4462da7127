"""Only a line feed ends a line of a JSON lines file."""

import json

from evalsets.line_reading import numbered_lines


def test_other_separators_inside_a_text_do_not_cut_its_line() -> None:
    texts = ["a\u2028b", "c\x85d", "e\x0cf"]
    written = "\n\n".join(json.dumps({"text": text}, ensure_ascii=False) for text in texts) + "\r\n"
    read = [(number, json.loads(line)["text"]) for number, line in numbered_lines(written)]
    assert read == [(1, "a\u2028b"), (3, "c\x85d"), (5, "e\x0cf")]
