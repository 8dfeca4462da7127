"""Word tables of the languages that are read: function words, negations, and how an assistant declines."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from importlib.resources import files
from itertools import repeat
from typing import Any, NamedTuple

from evalsets.phrase_patterns import any_of

LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl")
"""Language codes with a table; the first is used where nothing tells."""


@dataclass(frozen=True)
class LanguageTable:
    """The tables of one language; every pattern is meant for folded text, and compiled when it is first asked for."""

    code: str
    stopwords: frozenset[str]
    negations: frozenset[str]
    expressions: Mapping[str, str]
    """The patterns by name, as they are written."""
    cues: tuple[str, ...]
    hint: "DecliningHint"

    @cached_property
    def abstention(self) -> re.Pattern[str]:
        """Finds how an assistant says that it found nothing."""
        return self._compiled("abstention")

    @cached_property
    def policy(self) -> re.Pattern[str]:
        """Finds how it says that it must not answer."""
        return self._compiled("policy")

    @cached_property
    def politeness(self) -> re.Pattern[str]:
        """Finds what says nothing: a greeting, an apology."""
        return self._compiled("politeness")

    @cached_property
    def goes_on(self) -> re.Pattern[str]:
        """Finds what turns to an answer: but, however."""
        return self._compiled("goes_on")

    @cached_property
    def concedes(self) -> re.Pattern[str]:
        """Finds what opens a sentence whose main clause comes after a comma: while, although."""
        return self._compiled("concedes")

    @cached_property
    def redirect(self) -> re.Pattern[str]:
        """Finds where else the user is sent."""
        return self._compiled("redirect")

    @cached_property
    def describes(self) -> re.Pattern[str]:
        """Finds what says what the sources are about instead."""
        return self._compiled("describes")

    def _compiled(self, name: str) -> re.Pattern[str]:
        return re.compile(self.expressions[name])


class DecliningHint(NamedTuple):
    """Words, as expressions, that every declining sentence has: one of `about` and one of `denies`, or the others."""

    about: str
    denies: str
    alone: str
    """Opens a sentence that needs no word of `about`."""
    always: str = ""
    """Is enough wherever it stands."""


@cache
def language_table(code: str) -> LanguageTable:
    """Return the tables of a language of `LANGUAGES`."""
    raw = _raw_table(code)
    refusal = raw["refusal"]
    words = refusal.get("words", {})
    return LanguageTable(
        code,
        stopwords=stopwords_of(code),
        negations=frozenset(raw["negations"].split()),
        expressions={name: any_of([_spelled_out(each, words) for each in refusal[name]]) for name in PATTERNS},
        cues=tuple(refusal["cues"]),
        hint=DecliningHint(**refusal["hint"]),
    )


@cache
def stopwords_of(code: str) -> frozenset[str]:
    """Return the function words of a language, without making its patterns, which takes far longer."""
    return frozenset(_raw_table(code)["stopwords"].split())


@cache
def _raw_table(code: str) -> dict[str, Any]:
    return tomllib.loads(files(__name__).joinpath(f"{code}.toml").read_text("utf-8"))


def guess_language(words: Sequence[str]) -> str:
    """Return the language most of whose function words stand among the folded tokens; English when none tells."""
    return _guessed(tuple(words[:GUESSED_FROM]))


@lru_cache(maxsize=2048)
def _guessed(words: tuple[str, ...]) -> str:
    counts = sum(map(languages_of_words().get, words, repeat(0))).to_bytes(len(LANGUAGES), "little")
    return LANGUAGES[counts.index(max(counts))]


@cache
def languages_of_words() -> Mapping[str, int]:
    """Return the languages that have a word among their function words: a byte each, so that a sum counts them all."""
    languages: dict[str, int] = {}
    for place, code in enumerate(LANGUAGES):
        for word in stopwords_of(code):
            languages[word] = languages.get(word, 0) + (1 << 8 * place)
    return languages


GUESSED_FROM = 80
"""Words that are looked at; fewer than a byte counts."""


PATTERNS = ("abstention", "policy", "politeness", "goes_on", "concedes", "redirect", "describes")
"""What a table finds in a sentence."""
_WORDS = re.compile(r"<([a-z]+)>")


def _spelled_out(fragment: str, words: Mapping[str, str]) -> str:
    """Put the words of a kind, such as `<sources>`, where a pattern names them."""
    return _WORDS.sub(lambda match: words[match.group(1)], fragment)
