"""The refusal detector for a compiled loop: programs made of the language tables, and how letters are folded."""

import io
import unicodedata
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evalsets.languages import PATTERNS, language_table
from evalsets.words import ABBREVIATION, fold
from ingest.compiled.declining import RefusalReader
from ingest.signals.kept_texts import bytes_of_kept, kept_text
from ingest.signals.phrase_parts import LETTERS, any_text, one_of, parsed
from ingest.signals.phrase_programs import ProgramMaker, Programs


class RefusalPrograms(NamedTuple):
    """All that a reader of refusals is made of."""

    programs: Programs
    abbreviation: int
    """The program that finds a word that a full stop does not end a sentence after."""
    tables: Sequence[Mapping[str, int]]
    """For each language its programs by name."""

    def reader(self) -> RefusalReader:
        """Return the reader."""
        return RefusalReader(self.programs, _folded_letters(), self.abbreviation, self.tables)


def refusal_programs(languages: Sequence[str]) -> RefusalPrograms:
    """Make what finds refusals in `languages`, asked in this order."""
    maker = ProgramMaker()
    tables = [_added(maker, code) for code in languages]
    abbreviation = maker.add(parsed(ABBREVIATION.pattern.lower()))
    return RefusalPrograms(maker.programs(), abbreviation, tables)


_VERSION = 1
"""Raised when the same tables make other programs, so that none is read that was packed before."""


def packed(made: RefusalPrograms, languages: Sequence[str]) -> str:
    """Return programs as a text, which `unpacked` reads where the tables of the languages are still the same."""
    numbers = [made.abbreviation, *(table[name] for table in made.tables for name in _NAMES)]
    file = io.BytesIO()
    np.savez(file, numbers=np.array(numbers, dtype=np.int32), **made.programs._asdict())
    return kept_text(file.getvalue(), _tables_of(languages))


def unpacked(text: str, languages: Sequence[str]) -> RefusalPrograms | None:
    """Return what was packed; None where it was packed of other tables, or is not whole."""
    content = bytes_of_kept(text, _tables_of(languages))
    if content is None:
        return None
    arrays = dict(np.load(io.BytesIO(content), allow_pickle=False))
    abbreviation, *numbers = arrays.pop("numbers").tolist()
    tables = [dict(zip(_NAMES, numbers[at:], strict=False)) for at in range(0, len(numbers), len(_NAMES))]
    return RefusalPrograms(Programs(**arrays), abbreviation, tables)


def _tables_of(languages: Sequence[str]) -> str:
    """Return all that programs are made of."""
    tables = [language_table(code) for code in languages]
    content = [(*each.expressions.items(), each.cues, sorted(each.stopwords)) for each in tables]
    return repr((_VERSION, ABBREVIATION.pattern, content))


_NAMES = (*PATTERNS, "cues", "stopwords")


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
