"""Whether an answer declines: abstentions and policy refusals told apart from partial answers, in seven languages."""

import re
from collections.abc import Sequence
from enum import StrEnum
from functools import cache, lru_cache
from typing import NamedTuple

from evalsets.languages import LANGUAGES, LanguageTable, language_table
from evalsets.words import content_tokens, fold, has_digit, sentences, tokens, without_markdown

_OPENING_SENTENCES = 3
"""A refusal stands at the start, courtesies aside; what is declined later on is part of an answer."""
_SAYS_SOMETHING = 4
"""Content words from which a clause after "however" carries an answer."""
_LEADS_WITH_ANSWER = 5
"""Content words from which a sentence before the refusal carries an answer."""
_TURNED = 3
"""Content words from which what stands before "however", or after "although ...,", carries an answer."""
_LONG_CONTINUATION = 8
"""Content words from which plain sentences after an abstention carry an answer."""


class RefusalKind(StrEnum):
    """How far an answer declines."""

    NONE = "none"
    ABSTENTION = "abstention"
    """Says that it does not know or that the documents do not say."""
    POLICY = "policy"
    """Says that it will not or may not."""
    PARTIAL = "partial"
    """Declines a part and answers another: not a refusal."""


class RefusalVerdict(NamedTuple):
    """What the detector found: the kind, the language of the table that told, and the words that told."""

    kind: RefusalKind
    language: str = ""
    phrase: str = ""

    @property
    def is_refusal(self) -> bool:
        """Whether the answer declines as a whole."""
        return self.kind in {RefusalKind.ABSTENTION, RefusalKind.POLICY}


NOT_REFUSED = RefusalVerdict(RefusalKind.NONE)


def detect_refusal(text: str) -> RefusalVerdict:
    """Tell whether an answer declines. Curly quotes, Markdown and leading politeness make no difference.

    An empty answer is none: it is a failure of its own kind, not a refusal.
    """
    plain = _LINE_BREAKS.sub(" ", text.lower().replace("\u2019", "'")) + " "
    if not any(cue in plain for cue in refusal_cues()):
        return NOT_REFUSED
    return read_refusal(text)


def read_refusal(text: str, languages: Sequence[str] = LANGUAGES) -> RefusalVerdict:
    """Tell whether an answer with a cue declines, in one of `languages`: `detect_refusal` without its first look."""
    folded = _folded_sentences(without_markdown(_without_quotations(text)))
    whole = " ".join(folded)
    for code in languages:
        if len(languages) == 1 or _has_cue(code, whole):
            verdict = _read_by(language_table(code), folded)
            if verdict.kind is not RefusalKind.NONE:
                return verdict
    return NOT_REFUSED


def _folded_sentences(text: str) -> list[str]:
    if text.isascii() and not has_digit(text):  # then to fold is no more than this
        return [" ".join(sentence.split()) for sentence in sentences(text.lower().replace("`", "'"))]
    return [fold(sentence) for sentence in sentences(text)]


@cache
def refusal_cues() -> tuple[str, ...]:
    """Return lower-case strings one of which stands in every text that can be a refusal: a filter for bulk work."""
    return tuple(sorted({cue for code in LANGUAGES for cue in language_table(code).cues}))


_QUOTATION = re.compile(r"[\"\u201c\u201e\u00ab][^\"\u201c\u201d\u201e\u00ab\u00bb\n]{0,200}[\"\u201d\u00bb]")
_QUOTATION_ENDS = '"\u201d\u00bb'


def _without_quotations(text: str) -> str:
    """Blank what is quoted inside a text, but keep a text that is one quotation as a whole."""
    if not any(map(text.__contains__, _QUOTATION_ENDS)):
        return text
    stripped = text.strip()
    return text if _QUOTATION.fullmatch(stripped) else _QUOTATION.sub('""', text)


_LINE_BREAKS = re.compile(r"\s")


def _has_cue(code: str, folded: str) -> bool:
    """Look for the cues one by one, which is far quicker than one expression of them all."""
    return any(map(folded.__contains__, language_table(code).cues))


def _read_by(table: LanguageTable, folded: list[str]) -> RefusalVerdict:
    for position, sentence in enumerate(folded):
        match = _declining_words(table.code, sentence)
        if match:
            return _weigh(table, folded, position, match)
    return NOT_REFUSED


def _weigh(table: LanguageTable, folded: list[str], position: int, match: re.Match[str]) -> RefusalVerdict:
    """Judge the first declining phrase by what stands before and after it."""
    is_policy = match.re is table.policy or any(_is_policy(table, s) for s in folded[position + 1 : position + 2])
    kind = RefusalKind.POLICY if is_policy else RefusalKind.ABSTENTION
    before = [*folded[:position], folded[position][: match.start()]]
    after = [folded[position][match.end() :], *folded[position + 1 :]]
    if (
        sum(not _opens(table, sentence) for sentence in folded[:position]) >= _OPENING_SENTENCES
        or _led_by_answer(table, before)
        or _only_concedes(table, folded[position], after[0])
        or _followed_by_answer(table, after, kind)
    ):
        kind = RefusalKind.PARTIAL
    return RefusalVerdict(kind, table.code, match.group().strip())


def _is_policy(table: LanguageTable, sentence: str) -> bool:
    return table.policy.search(sentence) is not None


@lru_cache(maxsize=20_000)
def _declining_words(code: str, sentence: str) -> re.Match[str] | None:
    """Assistants decline, and caution, in the same words again and again, so this is remembered."""
    if not _has_cue(code, sentence):
        return None
    table = language_table(code)
    return table.policy.search(sentence) or table.abstention.search(sentence)


def _led_by_answer(table: LanguageTable, before: list[str]) -> bool:
    *earlier, same_sentence = before
    turn = table.goes_on.search(same_sentence)
    enough = _TURNED if turn and not turn.start() else _LEADS_WITH_ANSWER
    if any(_weight(table, s) >= enough and not _opens(table, s) for s in earlier):
        return True
    lead = same_sentence[: turn.start()] if turn else ""
    return _weight(table, lead) >= _SAYS_SOMETHING and not _opens(table, lead)


def _opens(table: LanguageTable, sentence: str) -> bool:
    """Tell whether a sentence before the refusal is polite, or about the sources, and no answer."""
    return any(pattern.search(sentence) for pattern in (table.politeness, table.describes))


def _only_concedes(table: LanguageTable, sentence: str, rest: str) -> bool:
    """Tell whether what is declined stands in a clause such as "while I cannot ...", before the answer."""
    main_clause = rest.partition(",")[2]
    return table.concedes.search(sentence) is not None and _answers(table, main_clause, _TURNED)


def _answers(table: LanguageTable, text: str, at_least: int = _SAYS_SOMETHING) -> bool:
    return _weight(table, text) >= at_least and not _says_nothing_new(table, text)


def _followed_by_answer(table: LanguageTable, after: list[str], kind: RefusalKind) -> bool:
    if any(_turns_to_answer(table, sentence) for sentence in after):
        return True
    if kind is RefusalKind.POLICY:
        return False
    weights = [_weight(table, s) for s in after[1:]]
    return sum(weights) >= _LONG_CONTINUATION and _new_words(table, after[1:], weights) >= _LONG_CONTINUATION


def _new_words(table: LanguageTable, following: list[str], weights: list[int]) -> int:
    """Count the content words of sentences that say something; a list that a redirect announces says no more."""
    new = 0
    for sentence, weight in zip(following, weights, strict=True):
        if not _says_nothing_new(table, sentence):
            new += weight
        elif sentence.endswith(":"):
            break
    return new


def _turns_to_answer(table: LanguageTable, sentence: str) -> bool:
    turn = table.goes_on.search(sentence)
    return turn is not None and _answers(table, sentence[turn.start() :])


def _says_nothing_new(table: LanguageTable, sentence: str) -> bool:
    patterns = (table.redirect, table.describes, table.abstention, table.policy, table.politeness)
    return any(pattern.search(sentence) for pattern in patterns)


def _weight(table: LanguageTable, sentence: str) -> int:
    return len(content_tokens(tokens(sentence), table.code))
