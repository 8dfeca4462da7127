# A text as folded sentences: what `evalsets.words` makes of a text in usual writing. Read into `declining.pyx`.

cdef enum:
    MOST_LETTERS = 4096
    MOST_SENTENCES = 256
    LONGEST_ABBREVIATION = 12
    # Letters that stand for others while a text is read.
    BULLET = 1
    CURLY = 2  # a quote that closes no sentence, as a straight one does


cdef struct Letters:
    const uint8_t* folded
    int abbreviation


cdef struct Sentences:
    Said said[MOST_SENTENCES]
    int count
    uint8_t letters[MOST_LETTERS]
    int used
    uint8_t text[MOST_LETTERS]  # as it was, but folded letter by letter
    int size
    bint has_digits


cdef uint8_t[256] MAY_END  # a sentence, or be a part of a link
for _mark in ".?!\n]":
    MAY_END[ord(_mark)] = True


cdef bint read_sentences(Sentences* s, const Letters* letters, Scan* scan, const uint8_t* text, int size) noexcept nogil:
    """Read a text; False where it is written in an unusual way."""
    cdef int place = 0, start = 0, after
    s.count = s.used = s.size = 0
    s.has_digits = False
    if size > MOST_LETTERS or not fold(s, letters, text, size):
        return False
    while start < s.size and is_space(s.text[start]):
        start += 1
    if opens_with_mark(s, start):
        return False
    place = start
    while place < s.size:
        if not MAY_END[s.text[place]]:
            place += 1
            continue
        after = end_of_break(s, place)
        if after:
            if not add(s, letters, scan, start, place if s.text[place] == c"\n" else place + 1):
                return False
            if begins_line(s, after) and opens_with_mark(s, after):
                return False
            start = after
        elif is_link(s, place):
            return False
        place = max(after, place + 1)
    return add(s, letters, scan, start, s.size)


cdef bint fold(Sentences* s, const Letters* letters, const uint8_t* text, int size) noexcept nogil:
    """Fold letter by letter, to no more bytes than there are; False where a letter is none that is read."""
    cdef int place = 0, code
    cdef const uint8_t* folded
    while place < size:
        code = text[place]
        place += 1
        if code >= 0xE0:
            s.text[s.size] = mark(text + place - 1, size - place + 1)
            if not s.text[s.size]:
                return False
            s.size += 1
            place += 2
            continue
        if code >= 0x80:
            code = (code & 31) << 6 | (text[place] & 63) if place < size else 0
            place += 1
            if not 0x80 <= code <= 0xFF:
                return False
        folded = letters.folded + 2 * code
        s.text[s.size] = folded[0]
        s.size += 1
        if not folded[0]:
            return False
        s.has_digits |= is_digit(folded[0])
        if folded[1]:
            s.text[s.size] = folded[1]
            s.size += 1
    while s.size and is_space(s.text[s.size - 1]):
        s.size -= 1
    return True


cdef inline int mark(const uint8_t* text, int left) noexcept nogil:
    """Return what a mark beyond Latin-1 is folded to that people and models write often; 0 for any other."""
    if left < 3 or text[0] != 0xE2 or text[1] != 0x80:
        return 0
    if 0x98 <= text[2] <= 0x9B:
        return CURLY
    if text[2] == 0xA2:
        return BULLET
    return c"-" if 0x90 <= text[2] <= 0x95 else 0


cdef inline bint is_space(uint8_t letter) noexcept nogil:
    return letter == c" " or letter == c"\n"


cdef inline bint is_digit(uint8_t letter) noexcept nogil:
    return c"0" <= letter <= c"9"


cdef inline bint begins_line(const Sentences* s, int place) noexcept nogil:
    """Tell whether a line begins at a place, or before the blanks that stand before it."""
    while place and s.text[place - 1] == c" ":
        place -= 1
    return place and s.text[place - 1] == c"\n"


cdef inline bint opens_with_mark(const Sentences* s, int place) noexcept nogil:
    """Tell whether what may be a heading, a quotation or an entry of a list stands at the beginning of a line."""
    while place < s.size and s.text[place] == c" ":
        place += 1
    return place < s.size and (s.text[place] in (c"#", c">", c"-", c"+") or is_digit(s.text[place]))


cdef inline bint is_link(const Sentences* s, int place) noexcept nogil:
    return s.text[place] == c"]" and place + 1 < s.size and s.text[place + 1] == c"("


cdef int end_of_break(const Sentences* s, int place) noexcept nogil:
    """Return where the next sentence may begin if one ends here, else 0."""
    cdef uint8_t letter = s.text[place]
    cdef int after = place + 1, last
    if letter == c"\n":
        last = after
        while after < s.size and is_space(s.text[after]):
            after += 1
            if s.text[after - 1] == c"\n":
                last = after
        return last
    if not (letter == c"." or letter == c"?" or letter == c"!"):
        return 0
    while after < s.size and s.text[after] in (c"'", c")", c"]"):
        after += 1
    if after == s.size or not is_space(s.text[after]):
        return 0
    while after < s.size and is_space(s.text[after]):
        after += 1
    return after


cdef bint add(Sentences* s, const Letters* letters, Scan* scan, int start, int end) noexcept nogil:
    """Add a piece as a sentence, or to the one before if that ends with an abbreviation; False if it can't be read."""
    cdef Said* last = &s.said[s.count - 1] if s.count else NULL
    cdef int place, first = s.used
    cdef bint joins = last != NULL and is_abbreviated(letters, scan, last[0])
    if joins:
        append(s, c" ")
    for place in range(start, end):
        if is_space(s.text[place]):
            if s.used > first and s.letters[s.used - 1] != c" ":
                append(s, c" ")
        else:
            append(s, c"'" if s.text[place] == CURLY else s.text[place])
    while s.used > first and s.letters[s.used - 1] == c" ":
        s.used -= 1
    if joins:
        last.size += s.used - first
    elif s.used > first:
        if s.count == MOST_SENTENCES:
            return False
        s.said[s.count] = Said(&s.letters[first], s.used - first)
        s.count += 1
    return not (s.has_digits and has_number(s, first))


cdef inline void append(Sentences* s, uint8_t letter) noexcept nogil:
    """Add a letter: no more than were read, as a blank that joins stands for one that was dropped."""
    s.letters[s.used] = letter
    s.used += 1


cdef bint is_abbreviated(const Letters* letters, Scan* scan, Said said) noexcept nogil:
    return said.text[said.size - 1] == c"." and (
        find(scan, letters.abbreviation, said, max(0, said.size - LONGEST_ABBREVIATION)).start >= 0
    )


cdef bint has_number(const Sentences* s, int first) noexcept nogil:
    """Tell whether there may be a number that is written otherwise once it is folded."""
    cdef int place
    cdef uint8_t second, third
    for place in range(first, s.used - 1):
        if not is_digit(s.letters[place]):
            continue
        second, third = s.letters[place + 1], s.letters[place + 2] if place + 2 < s.used else 0
        if second == c"p" or (second == c" " and third == c"p"):
            return True
        if second in (c".", c",", c"'", c" ") and is_digit(third):
            return True
    return False


cdef Said next_word(Said said, int place) noexcept nogil:
    """Return the next word or number from a place on, empty at the end; without marks but apostrophes inside."""
    cdef int start, end
    while place < said.size and not IS_WORD[said.text[place]]:
        place += 1
    start = end = place
    if end < said.size and is_digit(said.text[end]):
        while end < said.size and is_digit(said.text[end]):
            end += 1
        return Said(said.text + start, end - start)
    while end < said.size and IS_WORD[said.text[end]]:
        end += 1
    while end + 1 < said.size and said.text[end] == c"'" and is_letter(said.text[end + 1]):
        end += 1
        while end < said.size and is_letter(said.text[end]):
            end += 1
    return Said(said.text + start, end - start)


cdef inline bint is_letter(uint8_t letter) noexcept nogil:
    return IS_WORD[letter] and not is_digit(letter)
