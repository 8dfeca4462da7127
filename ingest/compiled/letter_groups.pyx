# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Looks for groups of four letters in the texts of an Arrow column, without the lock of the interpreter."""

from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

cdef enum:
    CLASS_BITS = 5
    EDGE = 3  # letters of a group that may stand beyond either end of a text
    THREES = 32768  # of classes
    SHORT = 8
    # What is said of a text, added up.
    HOLDS_GROUP = 1
    IS_PADDED = 2


def find_groups(
    const uint8_t[::1] letters,
    const int32_t[::1] offsets,
    const uint8_t[::1] classes,
    const uint32_t[::1] groups,
    int longest,
    uint8_t[::1] found,
):
    """Set the lowest bit of `found` where the first `longest` letters of a text in UTF-8 hold one of the groups.

    The next bit is set where a text is empty, or begins or ends with a space. `classes` has a number below 32 for each
    byte, `groups` for each three of them, the last in the lowest bits of its place, a bit for each that makes a group
    with these. A text with a letter beyond ASCII that is written `k` or `s` in lower case is taken to hold one, as
    expressions may take it, and one whose place is not within the column has both bits.
    """
    cdef Py_ssize_t texts = found.shape[0], text
    cdef const uint8_t* first = &letters[0] if letters.shape[0] else NULL
    if offsets.shape[0] <= texts or classes.shape[0] != 256 or groups.shape[0] != THREES:
        raise ValueError("a column is not as long as it should be.")
    for text in range(256):
        if classes[text] >> CLASS_BITS:
            raise ValueError("a class is too high.")
    with nogil:
        for text in range(texts):
            found[text] = HOLDS_GROUP | IS_PADDED
            if 0 <= offsets[text] <= offsets[text + 1] <= letters.shape[0]:
                found[text] = look(
                    first + offsets[text], offsets[text + 1] - offsets[text], &classes[0], &groups[0], longest
                )


cdef inline uint8_t look(
    const uint8_t* text, int size, const uint8_t* classes, const uint32_t* groups, int longest
) noexcept nogil:
    cdef int end = min(size, longest)
    cdef bint is_found
    if end >= SHORT and is_ascii(text, end):
        is_found = in_ascii(text, end, classes, groups)
    else:
        is_found = in_letters(text, size, classes, groups, longest)
    return (HOLDS_GROUP if is_found else 0) | (
        IS_PADDED if size == 0 or text[0] == c" " or text[size - 1] == c" " else 0
    )


cdef bint is_ascii(const uint8_t* text, int size) noexcept nogil:
    cdef uint64_t eight, bits = 0
    cdef int place = 0
    while place + 8 <= size:
        memcpy(&eight, &text[place], 8)
        bits |= eight
        place += 8
    while place < size:
        bits |= text[place]
        place += 1
    return not bits & <uint64_t>0x8080808080808080


cdef bint in_ascii(const uint8_t* text, int size, const uint8_t* classes, const uint32_t* groups) noexcept nogil:
    """Read both halves of a text side by side: each step waits for the one before, and so two are made in its time."""
    cdef int half = size // 2, place
    cdef uint32_t first = 0, second = 0, a, b
    for place in range(half - EDGE, half):
        second = with_one_more(second, classes[text[place]])
    for place in range(half):
        a, b = classes[text[place]], classes[text[half + place]]
        if (groups[first] >> a | groups[second] >> b) & 1:
            return True
        first, second = with_one_more(first, a), with_one_more(second, b)
    if size % 2:
        a = classes[text[size - 1]]
        if groups[second] >> a & 1:
            return True
        second = with_one_more(second, a)
    return at_end(second, classes, groups)


cdef bint in_letters(
    const uint8_t* text, int size, const uint8_t* classes, const uint32_t* groups, int longest
) noexcept nogil:
    cdef uint32_t before = 0
    cdef int place
    cdef uint8_t byte
    for place in range(size):
        byte = text[place]
        if byte >= 0x80:
            if byte < 0xC0:  # goes on a letter
                longest += 1
                continue
            if is_kelvin_or_long_s(&text[place], size - place):
                return True
        if place >= longest:
            break
        if groups[before] >> classes[byte] & 1:
            return True
        before = with_one_more(before, classes[byte])
    return at_end(before, classes, groups)


cdef bint at_end(uint32_t before, const uint8_t* classes, const uint32_t* groups) noexcept nogil:
    for _ in range(EDGE):
        if groups[before] >> classes[c" "] & 1:
            return True
        before = with_one_more(before, classes[c" "])
    return False


cdef inline uint32_t with_one_more(uint32_t before, uint32_t letter) noexcept nogil:
    """Return the last three classes, given three and the next."""
    return (before << CLASS_BITS | letter) % THREES


cdef bint is_kelvin_or_long_s(const uint8_t* letter, int left) noexcept nogil:
    return (left > 1 and letter[0] == 0xC5 and letter[1] == 0xBF) or (
        left > 2 and letter[0] == 0xE2 and letter[1] == 0x84 and letter[2] == 0xAA
    )
