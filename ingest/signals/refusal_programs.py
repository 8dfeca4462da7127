"""The refusal detector for a compiled loop: programs made of the language tables, and how letters are folded."""

import unicodedata
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from evalsets.languages import language_table
from evalsets.words import ABBREVIATION, fold
from ingest.compiled.declining import RefusalReader
from ingest.signals.phrase_parts import LETTERS, any_text, one_of, parsed
from ingest.signals.phrase_programs import ProgramMaker


def refusal_reader(languages: Sequence[str]) -> RefusalReader:
    """Make the reader of refusals in `languages`, asked in this order."""
    maker = ProgramMaker()
    tables = [_added(maker, code) for code in languages]
    abbreviation = maker.add(parsed(ABBREVIATION.pattern.lower()))
    return RefusalReader(maker.programs(), _folded_letters(), abbreviation, tables)


def _added(maker: ProgramMaker, code: str) -> Mapping[str, int]:
    """Add what a language asks of a sentence; return the programs by name."""
    table = language_table(code)
    programs = {name: maker.add(parsed(expression)) for name, expression in table.expressions.items()}
    return {**programs, "cues": maker.add(any_text(table.cues)), "stopwords": maker.add(one_of(table.stopwords))}


_UNUSUAL = "$\u00a3\u00a5"
"""Marks of currencies: what they do to a text is left to the detector itself."""
_LATER = {"`": "`", "\u00ab": "\x03", "\u00bb": "\x04"}
"""What stands for marks that the loop drops: a tick of code, the beginning of a quotation and its end."""


def _folded_letters() -> npt.NDArray[np.uint8]:
    """Return the letters that each letter of Latin-1 is folded to, two at most; 0 where the text is left unread."""
    folded = np.zeros((LETTERS, 2), dtype=np.uint8)
    for code in range(LETTERS):
        letters = _folded_letter(chr(code)).encode("latin-1")
        folded[code, : len(letters)] = [*letters]
    return folded


def _folded_letter(letter: str) -> str:
    if letter.isspace():
        return _SPACES.get(letter, "")
    if letter in _UNUSUAL or not letter.isprintable() or unicodedata.normalize("NFKC", letter) != letter:
        return ""
    return _LATER.get(letter) or fold(letter)


_SPACES = {"\n": "\n", **dict.fromkeys(" \t\r\u00a0", " ")}
