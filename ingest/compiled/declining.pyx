# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Reads whether answers decline, as `evalsets.refusals` does, without the lock of the interpreter.

What is written in an unusual way (grouped numbers, links, letters beyond Latin-1 and the like) is left to that: the two
must give the same for all else.
"""

from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from os import urandom

include "offsets.pxi"
include "declining_memory.pxi"
include "declining_programs.pxi"
include "declining_sentences.pxi"
include "declining_marks.pxi"

cdef enum:
    MOST_LANGUAGES = 16
    # How an answer declines.
    NONE = 0
    ABSTENTION = 1
    POLICY = 2
    PARTIAL = 3
    UNREAD = 4
    # The limits of `evalsets.refusals`, by the same names there.
    OPENING_SENTENCES = 3
    SAYS_SOMETHING = 4
    LEADS_WITH_ANSWER = 5
    TURNED = 3
    LONG_CONTINUATION = 8


cdef struct Table:
    int cues, policy, abstention, politeness, goes_on, concedes, redirect, describes, stopwords


cdef struct Reader:
    Programs programs
    Letters letters
    Table tables[MOST_LANGUAGES]
    int languages


cdef class RefusalReader:
    """The programs of some languages, in the order in which they are asked."""

    cdef Reader reader
    cdef object kept

    def __init__(self, programs, const uint8_t[:, ::1] folded, int abbreviation, languages):
        """Take `phrase_programs.Programs`, how letters of Latin-1 are folded (to two letters, or to 0 where a text is
        left unread), the program of abbreviations, and for each language its programs by name.
        """
        cdef const int32_t[:, ::1] steps = programs.steps, bounds = programs.bounds, tables = programs.tables
        cdef const int32_t[::1] ways = programs.ways, entries = programs.entries
        cdef const uint8_t[:, ::1] sets = programs.sets, beginnings = programs.beginnings
        cdef const uint8_t[::1] pool = programs.pool, classes = programs.classes
        if len(languages) > MOST_LANGUAGES or folded.shape[0] != 256 or folded.shape[1] != 2:
            raise ValueError("more languages, or fewer letters, than are read.")
        if (steps.shape[1], bounds.shape[1], tables.shape[1], sets.shape[1], beginnings.shape[1]) != (
            4,
            4,
            1 << CLASS_BITS,
            SYMBOLS,
            ALL_HEADS // 4,
        ):
            raise ValueError("programs of another version: build the loops again.")
        self.kept = (programs, folded)
        self.reader.programs = Programs(
            &steps[0, 0],
            &pool[0],
            &sets[0, 0],
            &bounds[0, 0],
            &ways[0],
            &tables[0, 0],
            &entries[0],
            &beginnings[0, 0],
            &classes[0],
        )
        self.reader.letters = Letters(&folded[0, 0], abbreviation)
        self.reader.languages = len(languages)
        for place, each in enumerate(languages):
            self.reader.tables[place] = Table(
                each["cues"],
                each["policy"],
                each["abstention"],
                each["politeness"],
                each["goes_on"],
                each["concedes"],
                each["redirect"],
                each["describes"],
                each["stopwords"],
            )

    def read(self, const uint8_t[::1] letters, const int32_t[::1] offsets, Memory memory not None, uint8_t[::1] kinds):
        """Set how each text in UTF-8 declines: 0 not, 1 abstention, 2 policy, 3 partial, 4 left unread.

        `memory` is this reader's alone, and no other thread's.
        """
        cdef const uint8_t* first = &letters[0] if letters.shape[0] else NULL
        cdef Py_ssize_t text
        if offsets.shape[0] != kinds.shape[0] + 1 or not in_bounds(offsets, letters.shape[0]):
            raise ValueError("a column is not as long as it should be.")
        with nogil:
            for text in range(kinds.shape[0]):
                kinds[text] = remembered_kind(
                    &self.reader, memory, first + offsets[text], offsets[text + 1] - offsets[text]
                )


    def sentences(self, const uint8_t[::1] text):
        """Return the sentences of a text in UTF-8 as they are read, folded; None where it is left unread."""
        cdef Sentences s
        cdef Scan scan
        scan.programs, scan.left = &self.reader.programs, MOST_STEPS
        if not text.shape[0] or not read_sentences(&s, &self.reader.letters, &scan, &text[0], text.shape[0]):
            return None
        return [s.said[each].text[: s.said[each].size].decode("latin-1") for each in range(s.count)]


cdef int remembered_kind(const Reader* r, Memory memory, const uint8_t* text, int size) noexcept nogil:
    cdef Slot answer = digest(memory.key, text, size)
    cdef Slot* slot = &memory.slots[answer.first % SLOTS]
    if slot.first != answer.first or (slot.second & ~<uint64_t>KIND) != answer.second or not slot.second & KIND:
        slot[0] = answer
        slot.second |= kind_of(r, text, size) + 1
    return <int>(slot.second & KIND) - 1


cdef int kind_of(const Reader* r, const uint8_t* text, int size) noexcept nogil:
    cdef Sentences s
    cdef Scan scan
    cdef int language, kind
    scan.programs, scan.left = &r.programs, MOST_STEPS
    if not read_sentences(&s, &r.letters, &scan, text, size):
        return UNREAD
    for language in range(r.languages):
        kind = read_by(&r.tables[language], &s, &scan)
        if scan.left < 0:
            return UNREAD
        if kind != NONE:
            return kind
    return NONE


cdef int read_by(const Table* t, Sentences* s, Scan* scan) noexcept nogil:
    cdef int sentence
    cdef Found found
    for sentence in range(s.count):
        if not finds(scan, t.cues, s.said[sentence]):
            continue
        found = find(scan, t.policy, s.said[sentence], 0)
        if found.start >= 0:
            return weigh(t, s, scan, sentence, found, POLICY)
        found = find(scan, t.abstention, s.said[sentence], 0)
        if found.start >= 0:
            return weigh(t, s, scan, sentence, found, ABSTENTION)
    return NONE


cdef int weigh(const Table* t, Sentences* s, Scan* scan, int place, Found found, int kind) noexcept nogil:
    """Judge the first declining phrase by what stands before and after it."""
    cdef Said before = until(s.said[place], found.start), rest = since(s.said[place], found.end)
    if place + 1 < s.count and finds(scan, t.policy, s.said[place + 1]):
        kind = POLICY
    if (
        led_by_answer(t, s, scan, place, before)
        or only_concedes(t, scan, s.said[place], rest)
        or followed_by_answer(t, s, scan, place + 1, rest, kind)
    ):
        return PARTIAL
    return kind


cdef bint led_by_answer(const Table* t, Sentences* s, Scan* scan, int place, Said before) noexcept nogil:
    cdef Found turn = find(scan, t.goes_on, before, 0)
    cdef int sentence, others = 0, enough = TURNED if turn.start == 0 else LEADS_WITH_ANSWER
    for sentence in range(place):
        if not opens(t, scan, s.said[sentence]):
            others += 1
            if others >= OPENING_SENTENCES or weight(t, scan, s.said[sentence]) >= enough:
                return True
    before = until(before, turn.start if turn.start > 0 else 0)
    return weight(t, scan, before) >= SAYS_SOMETHING and not opens(t, scan, before)


cdef bint opens(const Table* t, Scan* scan, Said said) noexcept nogil:
    """Tell whether a sentence before the refusal is polite, or about the sources, and no answer."""
    return finds(scan, t.politeness, said) or finds(scan, t.describes, said)


cdef bint only_concedes(const Table* t, Scan* scan, Said said, Said rest) noexcept nogil:
    """Tell whether what is declined stands in a clause such as "while I cannot ...", before the answer."""
    cdef int place = 0
    while place < rest.size and rest.text[place] != c",":
        place += 1
    return (
        place < rest.size
        and finds(scan, t.concedes, said)
        and answers(t, scan, since(rest, place + 1), TURNED)
    )


cdef bint answers(const Table* t, Scan* scan, Said said, int at_least) noexcept nogil:
    return weight(t, scan, said) >= at_least and not says_nothing_new(t, scan, said)


cdef bint followed_by_answer(const Table* t, Sentences* s, Scan* scan, int first, Said rest, int kind) noexcept nogil:
    cdef int sentence, total = 0, fresh = 0
    if turns_to_answer(t, scan, rest):
        return True
    for sentence in range(first, s.count):
        if turns_to_answer(t, scan, s.said[sentence]):
            return True
    if kind == POLICY:
        return False
    for sentence in range(first, s.count):
        total += weight(t, scan, s.said[sentence])
    if total < LONG_CONTINUATION:
        return False
    for sentence in range(first, s.count):
        if not says_nothing_new(t, scan, s.said[sentence]):
            fresh += weight(t, scan, s.said[sentence])
        elif s.said[sentence].text[s.said[sentence].size - 1] == c":":  # a list that is announced says no more
            break
    return fresh >= LONG_CONTINUATION


cdef bint turns_to_answer(const Table* t, Scan* scan, Said said) noexcept nogil:
    cdef Found turn = find(scan, t.goes_on, said, 0)
    return turn.start >= 0 and answers(t, scan, since(said, turn.start), SAYS_SOMETHING)


cdef bint says_nothing_new(const Table* t, Scan* scan, Said said) noexcept nogil:
    return (
        finds(scan, t.redirect, said)
        or finds(scan, t.describes, said)
        or finds(scan, t.abstention, said)
        or finds(scan, t.policy, said)
        or finds(scan, t.politeness, said)
    )


cdef int weight(const Table* t, Scan* scan, Said said) noexcept nogil:
    """Count the words that carry meaning."""
    cdef int content = 0
    cdef Said word = next_word(said, 0)
    while word.size:
        content += not finds(scan, t.stopwords, word)
        word = next_word(said, <int>(word.text - said.text) + word.size)
    return content
