# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Looks for groups of four letters in the texts of an Arrow column, without the lock of the interpreter."""

from libc.stdint cimport int32_t, uint8_t, uint32_t

cdef enum:
    CLASS_BITS = 5
    EDGE = 3  # letters of a group that may stand beyond either end of a text
    ALL_GROUPS = 1048576
    # What is said of a text, added up.
    HOLDS_GROUP = 1
    IS_PADDED = 2


def find_groups(
    const uint8_t[::1] letters,
    const int32_t[::1] offsets,
    const uint8_t[::1] classes,
    const uint8_t[::1] groups,
    int longest,
    uint8_t[::1] found,
):
    """Set the lowest bit of `found` where the first `longest` letters of a text in UTF-8 hold one of the groups.

    The next bit is set where a text is empty, or begins or ends with a space. `classes` has a number below 32 for each
    byte, `groups` a bit for each four of them, the last in the lowest bits. A text with a letter beyond ASCII that is
    written `k` or `s` in lower case is taken to hold one, as expressions may take it, and one whose place is not within
    the column has both bits.
    """
    cdef Py_ssize_t texts = found.shape[0], text
    cdef const uint8_t* first = &letters[0] if letters.shape[0] else NULL
    if offsets.shape[0] <= texts or classes.shape[0] != 256 or groups.shape[0] * 8 != ALL_GROUPS:
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
    const uint8_t* text, int size, const uint8_t* classes, const uint8_t* groups, int longest
) noexcept nogil:
    cdef uint8_t said = HOLDS_GROUP if holds_group(text, size, classes, groups, longest) else 0
    if size == 0 or text[0] == c" " or text[size - 1] == c" ":
        said |= IS_PADDED
    return said


cdef bint holds_group(
    const uint8_t* text, int size, const uint8_t* classes, const uint8_t* groups, int longest
) noexcept nogil:
    cdef uint32_t window = 0
    cdef int place, last = 0
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
        window = window << CLASS_BITS | classes[byte]
        if is_in(window, groups):
            return True
    for last in range(EDGE):
        window = window << CLASS_BITS | classes[c" "]
        if is_in(window, groups):
            return True
    return False


cdef inline bint is_in(uint32_t window, const uint8_t* groups) noexcept nogil:
    window %= ALL_GROUPS
    return groups[window >> 3] >> (window & 7) & 1


cdef bint is_kelvin_or_long_s(const uint8_t* letter, int left) noexcept nogil:
    return (left > 1 and letter[0] == 0xC5 and letter[1] == 0xBF) or (
        left > 2 and letter[0] == 0xE2 and letter[1] == 0x84 and letter[2] == 0xAA
    )
