"""Text as it is compared: folding, tokens, content words and sentences, the same everywhere."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache

from evalsets.languages import LANGUAGES, guess_language, language_table

_PLAIN_MARKS = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4\u0060", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", ""),
    },
)
_CURRENCY = "$\u20ac\u00a3\u00a5\u20b9"
# A run of digits and marks; what groups thousands in it is decided by `_plain_number`. It begins with a digit that none
# stands before: asked after the digit, so that the search for one stays quick.
_NUMBER_RUN = re.compile(r"\d(?<!\d\d)\d*(?:[.,']\d+| \d{3}(?!\d))+")
# A comma, apostrophe or space before exactly three digits groups thousands; so do several points, or points before a
# decimal comma.
_GROUPED = re.compile(
    r"\d{1,3}(?:(?:,\d{3})+|(?:'\d{3})+|(?: \d{3})+|(?:\.\d{3}){2,})(?![\d,'])|\d{1,3}(?:\.\d{3})+(?=,\d)"
)
_DECIMAL_COMMA = re.compile(r"\d+,\d+")
_EMPTY_FRACTION = re.compile(r"(\d+)\.0+")
_CURRENCY_FIRST = re.compile(rf"([{_CURRENCY}])\s?(\d+(?:\.\d+)?)")
_PADDED_AMOUNT = re.compile(rf"(\d(?<!\d\d)\d*\.\d*[1-9])0+(?=\s?[%{_CURRENCY}])")
_PERCENT = re.compile(r"(?<=\d)\s?(?:per ?cent|prozent|pour ?cent|por ?ciento|por ?cento|procent|per ?cento)\b")
_IN_PERCENT, _AFTER_AMOUNT = ("cent", "zent", "cient"), "%" + _CURRENCY
"""One of these stands in every text that the patterns above can change."""
_DIGIT = re.compile(r"\d")

# Combining vowel signs belong to the word they stand in; \w alone would cut Devanagari or Thai words apart.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670\u0900-\u0963\u0980-\u0dff\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(
    rf"[{_UNSPACED}]|\d+(?:\.\d+)*|[%{_CURRENCY}]|[^\W\d_{_UNSPACED}][^\W_{_UNSPACED}{_MARKS}]*(?:[{_MARKS}]+[^\W_{_UNSPACED}]*)*"
    rf"(?:'[^\W\d_{_UNSPACED}]+)*",
)
_ASCII_TOKEN = re.compile(r"[a-z][a-z0-9]*(?:'[a-z]+)*|\d+(?:\.\d+)*|[%$]")
"""The same for what is ASCII, in half the time."""
_NO_PLAIN_MARKS = str.maketrans({chr(code): " " for code in range(128) if not re.match(r"[a-z0-9'.%$]", chr(code))})
"""Blanks what is a part of no token. White space is a part of none, so each piece between two has its own tokens."""
_NO_POINTS_EITHER = {**_NO_PLAIN_MARKS, ord("."): " "}
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)*")

_MARKDOWN = re.compile(
    r"^[ \t]{0,3}(?:#{1,6} |> ?|[-*+] |\d{1,3}[.)] )+|\*\*|__|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)|`+", re.MULTILINE
)
_MARKS_OF_MARKDOWN = "#>*+_`-"
_NUMBERED = re.compile(r"^[ \t]{0,3}\d", re.MULTILINE)
# Bounded, so that a text of nothing but brackets is still read in one pass.
_BRACKETED = re.compile(r"\s?(?:\[([^\[\]\n]{1,80})\](?!\()|\u3010[^\u3011\n]{1,60}\u3011)")
_CITED_ID = re.compile(r"\^?(?:(?:documents?|docs?|sources?|ref) ?)?[\w.:/#-]+", re.IGNORECASE)
_LINK = re.compile(r"!?\[([^\[\]\n]{0,300})\]\([^()\n]{0,500}\)")
_ABBREVIATIONS = tuple(
    "e.g i.e etc vs nr art approx fig dr mr mrs ms prof inc ltd bzw z.b d.h ca p.ex sr sra mme".split()  # noqa: SIM905 - a list of words reads best as words
)
ABBREVIATION = re.compile(
    rf"(?:\b(?:{'|'.join(map(re.escape, _ABBREVIATIONS))})|\b[A-Za-z])\.$",
    re.IGNORECASE,
)
"""Stands at the end of what no sentence ends with."""
# Each alternative begins with one of a set of characters, which is what makes the search quick.
_BREAK = re.compile(
    r"[.!?\u2026\u3002\uff01\uff1f\n](?:(?<=[.!?\u2026])[\"')\]]*\s+|(?<=[\u3002\uff01\uff1f])|(?<=\n)(?:\s*\n)?)"
)


def fold(text: str) -> str:
    """Return the text with case, white space, Unicode form, quotes, dashes and number formats made one.

    `1,000`, `1 000` and `1.000,00` become `1000`; `2,5` becomes `2.5`; `$30` and `30 $` become `30$`.
    A single `1.000` stays as it is, since it may mean either.
    """
    return " ".join(_folded(text).split())


def _folded(text: str) -> str:
    """Fold all but white space."""
    if text.isascii():
        folded = text.lower().replace("`", "'")
    else:
        folded = unicodedata.normalize("NFKC", text).casefold().translate(_PLAIN_MARKS)
    return _fold_numbers(folded)


def _fold_numbers(text: str) -> str:
    if not has_digit(text):
        return text
    text = _NUMBER_RUN.sub(lambda match: _plain_number(match.group()), text)
    if any(map(text.__contains__, _IN_PERCENT)):
        text = _PERCENT.sub("%", text)
    if not any(map(text.__contains__, _AFTER_AMOUNT)):
        return text
    return _PADDED_AMOUNT.sub(r"\1", _CURRENCY_FIRST.sub(r"\2\1", text))


def _plain_number(run: str) -> str:
    """Return a run of digits and marks with thousands joined, a point before decimals and no empty fraction."""
    grouped = _GROUPED.match(run)
    if grouped:
        run = re.sub(r"[,' .]", "", grouped.group()) + run[grouped.end() :]
    if _DECIMAL_COMMA.fullmatch(run):
        run = run.replace(",", ".")
    empty = _EMPTY_FRACTION.fullmatch(run)
    return empty.group(1) if empty and not _THOUSAND_POINT.fullmatch(run) else run


_THOUSAND_POINT = re.compile(r"[1-9]\d{0,2}\.000")


def tokens(text: str) -> list[str]:
    """Return the folded words, numbers, percent and currency signs in order.

    Scripts written without spaces give one token a character.
    """
    return list(passage_tokens(text))


@lru_cache(maxsize=2048)
def passage_tokens(text: str) -> tuple[str, ...]:
    """Return the tokens of a text that is likely to be asked for again, such as a retrieved passage."""
    folded = _folded(text)
    return _ascii_tokens(folded) if folded.isascii() else tuple(_TOKEN.findall(folded))


def _ascii_tokens(folded: str) -> tuple[str, ...]:
    """Find the tokens of a text without anything beyond ASCII: most are what stands between two marks or spaces."""
    if not has_digit(folded):
        pieces = folded.translate(_NO_POINTS_EITHER).split()
        if "".join(pieces).isalpha():
            return tuple(pieces)
    else:
        pieces = folded.translate(_NO_PLAIN_MARKS).split()
    found: list[str] = []
    for piece in pieces:
        if piece.isalpha():
            found.append(piece)
        elif (bare := piece.strip(".'")).isalpha():
            found.append(bare)
        else:
            found += _ASCII_TOKEN.findall(piece)
    return tuple(found)


@lru_cache(maxsize=2048)
def token_text(text: str) -> str:
    """Return the tokens joined and padded by single spaces, so that a phrase can be looked for as a substring."""
    return f" {' '.join(passage_tokens(text))} "


def contains_phrase(text: str, phrase: str) -> bool:
    """Tell whether the phrase stands in the text as whole words, both folded; an empty phrase stands nowhere."""
    return phrase_in(token_text(text), phrase)


def phrase_in(padded_tokens: str, phrase: str) -> bool:
    """Tell whether the phrase stands in a text already made by `token_text`."""
    wanted = token_text(phrase)
    return len(wanted.strip()) > 0 and wanted in padded_tokens


def content_words(text: str, language: str = "") -> list[str]:
    """Return the tokens that carry meaning, in order, repeats kept; the language is guessed when not given."""
    return content_tokens(tokens(text), language)


def content_tokens(words: Sequence[str], language: str = "") -> list[str]:
    """Return those of the folded tokens that are no function words of the language (guessed when not given)."""
    known = language if language in LANGUAGES else guess_language(words)
    stopwords = language_table(known).stopwords
    return [word for word in words if word not in stopwords]


def has_digit(text: str) -> bool:
    """Tell whether a text has a digit, of any script."""
    return any(map(text.__contains__, "0123456789")) if text.isascii() else _DIGIT.search(text) is not None


def numbers(text: str) -> list[str]:
    """Return the folded numbers of a text in order."""
    return _NUMBER.findall(fold(text))


def without_markdown(text: str) -> str:
    """Return the text without emphasis, headings, list marks, code ticks and link targets."""
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    may_be = any(map(text.__contains__, _MARKS_OF_MARKDOWN)) or (has_digit(text) and _NUMBERED.search(text))
    return _MARKDOWN.sub("", text) if may_be else text


def without_citations(text: str) -> str:
    """Return the text without marks such as [1], [2, 3], [kb-004#2] or [source 5], which claim nothing."""
    if "[" not in text and "\u3010" not in text:
        return text
    return _BRACKETED.sub(lambda match: "" if _is_citation(match.group(1)) else match.group(), text)


def _is_citation(bracketed: str | None) -> bool:
    if bracketed is None:
        return True
    parts = [part.strip() for part in re.split("[,;]", bracketed)]
    return all(_CITED_ID.fullmatch(part) and _DIGIT.search(part) for part in parts)


def sentences(text: str) -> list[str]:
    """Return the sentences and list entries of a text, stripped.

    Abbreviations, initials and decimals do not end one.
    """
    parts: list[str] = []
    for piece in _pieces(text.strip()):
        stripped = piece.strip()
        if parts and _is_abbreviated(parts[-1]):
            parts[-1] = f"{parts[-1]} {stripped}"
        elif stripped:
            parts.append(stripped)
    return parts


def _pieces(text: str) -> Iterator[str]:
    """Cut a text after each mark that may end a sentence, and at line breaks."""
    start = 0
    for found in _BREAK.finditer(text):
        end = found.start()
        yield text[start : end if text[end] == "\n" else end + 1]
        start = found.end()
    yield text[start:]


_INITIAL = len("x.")


def _is_abbreviated(text: str) -> bool:
    """Tell whether a text ends with an abbreviation or an initial; none is longer than what is looked at.

    Most end with two letters, so with no initial, and no abbreviation.
    """
    if not text.endswith("."):
        return False
    if len(text) > _INITIAL and text[-3:-1].isalpha() and not text[-8:-1].lower().endswith(_ABBREVIATIONS):
        return False
    return ABBREVIATION.search(text, max(0, len(text) - 12)) is not None
