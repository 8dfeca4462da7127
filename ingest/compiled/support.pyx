# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""How much of answers stands in their passages, counted from the bytes of Arrow columns without the interpreter's lock.

What is counted is what `ingest.signals.support` counts. Read here are the letters of Latin-1 and the marks of `beyond`; a
word is known by a 64-bit hash, and two of one hash are not expected in a lifetime. An answer is left to the plain way
where anything in it or in its passages might be folded into something else: grouped or broken numbers where the answer
has numbers, percentages in words, currency signs within words, citations, numbered lists.
"""

from libc.stdint cimport int32_t, uint8_t, uint64_t
from libc.string cimport memset

cdef enum:
    MOST_WORDS = 1024  # of an answer
    SLOTS = 4096
    MOST_KNOWN = 2048  # of words, so that a slot is soon found
    SHIFT = 52  # leaves a slot of a hash
    BEYOND_ASCII = 128
    FAR = 8
    UNREAD = -1

cdef uint64_t SEED = 0xCBF29CE484222325
cdef uint64_t FACTOR = 0x9E3779B97F4A7C15


cdef struct Words:
    uint64_t[SLOTS] keys
    int[MOST_KNOWN] filled  # slots
    int count


cdef class FunctionWords:
    """Which languages have a word among their function words, as `languages_of_words` gives it: a byte each."""

    cdef Words words
    cdef uint64_t[SLOTS] values
    cdef int languages, looked_at

    def __init__(self, dict words, int languages, int looked_at):
        if len(words) > MOST_KNOWN or languages > 8 or looked_at > 255:
            raise ValueError(f"{len(words)} words of {languages} languages are more than fit.")
        self.languages, self.looked_at = languages, looked_at
        cdef uint64_t key
        for word, value in words.items():
            key = SEED
            for letter in word:
                key = longer(key, ord(letter))
            self.values[put(&self.words, key)] = value


cdef inline uint64_t longer(uint64_t key, int letter) noexcept nogil:
    """Return the hash of a word that has one more letter."""
    return (key ^ letter) * FACTOR


cdef int put(Words* words, uint64_t key) noexcept nogil:
    """Keep a word once, at the first slot from its hash on that is free, and return the slot; -1 where all are full."""
    cdef uint64_t slot = key >> SHIFT
    while words.keys[slot]:
        if words.keys[slot] == key:
            return <int>slot
        slot = (slot + 1) % SLOTS
    if words.count == MOST_KNOWN:
        return -1
    words.keys[slot] = key
    words.filled[words.count] = <int>slot
    words.count += 1
    return <int>slot


cdef void empty(Words* words) noexcept nogil:
    cdef int number
    for number in range(words.count):
        words.keys[words.filled[number]] = 0
    words.count = 0


cdef inline int find(const Words* words, uint64_t key) noexcept nogil:
    """Return the slot of a word, -1 for one that is not known."""
    cdef uint64_t slot = key >> SHIFT
    while words.keys[slot]:
        if words.keys[slot] == key:
            return <int>slot
        slot = (slot + 1) % SLOTS
    return -1


include "offsets.pxi"
include "support_reading.pxi"


cdef struct Answer:
    uint64_t[MOST_WORDS] keys
    uint64_t[MOST_WORDS] languages
    Py_ssize_t[MOST_WORDS] starts  # of numbers; -1 for words
    int[MOST_WORDS] sizes
    int words
    bint has_numbers


cdef bint read_answer(Answer* a, const uint8_t* text, Py_ssize_t size, FunctionWords function_words) noexcept nogil:
    cdef Reader r
    cdef int found, slot
    cdef Py_ssize_t place
    cdef bint joins = False
    a.words = 0
    for place in range(size):
        if text[place] == c"[":
            return False  # may be a citation
        if is_mark(text[place]):
            joins = joins or (place > 0 and not is_mark(text[place - 1]) and joins_over(text, place, size))
    if not start(&r, text, size):
        return False
    while True:
        if a.words == MOST_WORDS:
            return False
        found = next_word(&r, &a.keys[a.words])
        if found != 1:
            break
        if r.is_number and (r.letter == c"." or r.letter == c")") and opens_line(text, r.start):
            return False
        slot = find(&function_words.words, a.keys[a.words])
        a.languages[a.words] = function_words.values[slot] if slot >= 0 else 0
        a.starts[a.words] = r.start if r.is_number else -1
        a.sizes[a.words] = <int>(r.end - r.start)
        a.words += 1
    a.has_numbers = r.has_numbers
    return found == 0 and not r.has_grouped and not (joins and r.has_numbers)


cdef inline bint is_mark(int letter) noexcept nogil:
    """Tell whether Markdown takes a letter away, wherever it stands."""
    return letter == c"*" or letter == c"_" or letter == c"`"


cdef bint joins_over(const uint8_t* text, Py_ssize_t place, Py_ssize_t size) noexcept nogil:
    """Tell whether what stands on both sides of marks may come together once these are taken away."""
    cdef int left = text[place - 1], nearly_left = text[place - 2] if left == c" " and place > 1 else left
    while place < size and is_mark(text[place]):
        place += 1
    if place == size:
        return False
    if is_digit(nearly_left) and (is_digit(text[place]) or (text[place] == c" " and place + 1 < size)):
        return True
    if not is_solid(left) or not is_solid(text[place]):
        return False
    return not (c"a" <= left | 32 <= c"z" and (text[place] == c"." or text[place] == c","))


cdef inline bint is_solid(int letter) noexcept nogil:
    return (
        letter >= BEYOND_ASCII or is_digit(letter) or c"a" <= letter | 32 <= c"z" or letter == c"." or letter == c","
        or letter == c"'" or letter == c"$" or letter == c"%"
    )


cdef bint opens_line(const uint8_t* text, Py_ssize_t place) noexcept nogil:
    """Tell whether nothing but marks stands before a place in its line."""
    while place and text[place - 1] != c"\n":
        place -= 1
        if text[place] > c">" or is_digit(text[place]):
            return False
    return True


cdef bint read_passage(Words* known, const uint8_t* text, Py_ssize_t size, bint has_numbers) noexcept nogil:
    """Add the words of a passage to those that are known; `has_numbers` says that its numbers matter."""
    cdef Reader r
    cdef int found = 1
    cdef uint64_t key
    if not start(&r, text, size):
        return False
    while True:
        found = next_word(&r, &key)
        if found != 1:
            return found == 0 and not (has_numbers and r.has_grouped)
        if put(known, key) < 0:
            return False


cdef int language_of(const Answer* a, FunctionWords function_words) noexcept nogil:
    """Return the language most of whose function words stand in the beginning; of several the first."""
    cdef uint64_t counts = 0
    cdef int word, language, best = 0
    for word in range(min(a.words, function_words.looked_at)):
        counts += a.languages[word]
    for language in range(1, function_words.languages):
        if (counts >> 8 * language & 0xFF) > (counts >> 8 * best & 0xFF):
            best = language
    return best


def measure_support(
    const uint8_t[::1] answers,
    const int32_t[::1] answer_offsets,
    const uint8_t[::1] texts,
    const int32_t[::1] text_offsets,
    const int32_t[::1] list_offsets,
    FunctionWords function_words,
    int32_t[::1] words,
    int32_t[::1] found,
    int32_t[:, ::1] figures,
):
    """Count the content words of each answer and how many of them stand in its passages; -1 words where it is not read.

    Answers and texts are given as Arrow gives columns of UTF-8; `list_offsets` says which texts belong to an answer.
    `figures` is filled with the place in the answer and the size of the first number that stands in no passage.
    """
    cdef Py_ssize_t rows = words.shape[0], row, text
    cdef Answer answer
    cdef Words known
    cdef bint is_read
    if min(answer_offsets.shape[0], list_offsets.shape[0], found.shape[0] + 1, figures.shape[0] + 1) <= rows:
        raise ValueError("the columns are of different lengths.")
    if figures.shape[1] != 2 or not (
        in_bounds(answer_offsets, answers.shape[0])
        and in_bounds(text_offsets, texts.shape[0])
        and in_bounds(list_offsets, text_offsets.shape[0] - 1)
    ):
        raise ValueError("a column is not what it says.")
    memset(&known, 0, sizeof(known))
    with nogil:
        for row in range(rows):
            words[row] = found[row] = figures[row, 0] = figures[row, 1] = 0
            if list_offsets[row] == list_offsets[row + 1] or answer_offsets[row] == answer_offsets[row + 1]:
                continue
            is_read = read_answer(
                &answer,
                &answers[answer_offsets[row]],
                answer_offsets[row + 1] - answer_offsets[row],
                function_words,
            )
            empty(&known)
            for text in range(list_offsets[row], list_offsets[row + 1]):
                if is_read and text_offsets[text] < text_offsets[text + 1]:
                    is_read = read_passage(
                        &known, &texts[text_offsets[text]], text_offsets[text + 1] - text_offsets[text], answer.has_numbers
                    )
            if is_read:
                count(&answer, &known, language_of(&answer, function_words), row, words, found, figures)
            else:
                words[row] = UNREAD


cdef void count(
    const Answer* answer,
    const Words* known,
    int language,
    Py_ssize_t row,
    int32_t[::1] words,
    int32_t[::1] found,
    int32_t[:, ::1] figures,
) noexcept nogil:
    cdef int word
    cdef bint is_found
    for word in range(answer.words):
        if answer.languages[word] >> 8 * language & 0xFF:
            continue
        is_found = find(known, answer.keys[word]) >= 0
        words[row] += 1
        found[row] += is_found
        if answer.starts[word] >= 0 and not is_found and not figures[row, 1]:
            figures[row, 0], figures[row, 1] = <int32_t>answer.starts[word], answer.sizes[word]
