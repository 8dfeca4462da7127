"""Ways of declining, and of answering in the negative, by kind, from the file of the same name."""

import tomllib
from pathlib import Path

_LISTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
DECLINES, REFUSES, ANSWERS_A_PART, ANSWERS, DECLINES_IN_SIX_LANGUAGES = (
    _LISTS[name].strip().splitlines()
    for name in ("declines", "refuses", "answers_a_part", "answers", "declines_in_six_languages")
)
