"""Word tables of the languages that are read: function words, negations, and how an assistant declines."""

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl")
"""Language codes with a table; the first is used where nothing tells."""


@dataclass(frozen=True)
class LanguageTable:
    """The tables of one language, patterns compiled; every pattern is meant for folded text.

    Patterns may look ahead but not behind: mining reads them with an engine that drops the one and knows no other.
    """

    code: str
    stopwords: frozenset[str]
    negations: frozenset[str]
    abstention: re.Pattern[str]
    policy: re.Pattern[str]
    politeness: re.Pattern[str]
    goes_on: re.Pattern[str]
    redirect: re.Pattern[str]
    cues: tuple[str, ...]


@cache
def language_table(code: str) -> LanguageTable:
    """Return the tables of a language of `LANGUAGES`."""
    raw = tomllib.loads(files(__name__).joinpath(f"{code}.toml").read_text("utf-8"))
    refusal = raw["refusal"]
    patterns = {name: _any_of(refusal[name]) for name in ("abstention", "policy", "politeness", "goes_on", "redirect")}
    return LanguageTable(
        code,
        stopwords=frozenset(raw["stopwords"].split()),
        negations=frozenset(raw["negations"].split()),
        cues=tuple(refusal["cues"]),
        **patterns,
    )


def guess_language(words: Sequence[str]) -> str:
    """Return the language most of whose function words stand among the folded tokens; English when none tells."""
    return _guessed(tuple(words[:_GUESSED_FROM]))


@lru_cache(maxsize=2048)
def _guessed(words: tuple[str, ...]) -> str:
    counts = {code: sum(map(stopwords.__contains__, words)) for code, stopwords in _all_stopwords()}
    return max(counts, key=counts.__getitem__)


@cache
def _all_stopwords() -> tuple[tuple[str, frozenset[str]], ...]:
    return tuple((code, language_table(code).stopwords) for code in LANGUAGES)


_GUESSED_FROM = 80


def _any_of(fragments: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{fragment})" for fragment in fragments))
