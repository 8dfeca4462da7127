# What is dropped from a text before it is read: quotations and Markdown, as in `evalsets`. Read into `declining.pyx`.

cdef enum:
    LONGEST_QUOTATION = 200


cdef inline uint8_t letter_at(const Text* t, int place) noexcept nogil:
    """Return a letter, or 0 beyond the end."""
    return t.letters[place] if place < t.size else 0


cdef void drop_quotations(Text* t) noexcept nogil:
    """Empty the quotations of a text that is not one as a whole."""
    cdef int place = 0, kept = 0, after
    while place < t.size and is_space(t.letters[place]):
        place += 1
    if end_of_quotation(t, place) == end_without_blanks(t):
        return
    place = 0
    while place < t.size:
        after = end_of_quotation(t, place)
        if after:
            t.letters[kept] = t.letters[kept + 1] = c'"'
            kept += 2
            place = after
        else:
            t.letters[kept] = t.letters[place]
            kept += 1
            place += 1
    t.size = kept


cdef int end_of_quotation(const Text* t, int start) noexcept nogil:
    """Return the place behind a quotation that begins here, or 0."""
    cdef int place
    cdef uint8_t letter = letter_at(t, start)
    if letter != c'"' and letter != OPENS:
        return 0
    for place in range(start + 1, min(start + 2 + LONGEST_QUOTATION, t.size)):
        letter = t.letters[place]
        if letter == c'"' or letter == CLOSES:
            return place + 1
        if letter == OPENS or letter == c"\n":
            return 0
    return 0


cdef void drop_markdown(Text* t) noexcept nogil:
    """Drop emphasis, headings, marks of lists and quotations, and ticks of code."""
    cdef int place = 0, kept = 0, after
    cdef uint8_t before = 0
    while place < t.size:
        after = end_of_mark(t, place, before)
        if after == place:
            t.letters[kept] = t.letters[place]
            kept += 1
            after = place + 1
        before = t.letters[after - 1]
        place = after
    t.size = kept


cdef int end_of_mark(const Text* t, int place, uint8_t before) noexcept nogil:
    """Return the place behind a mark of Markdown that stands here, or this place."""
    cdef int after = place
    cdef uint8_t letter = t.letters[place], next_letter = letter_at(t, place + 1)
    if place == 0 or before == c"\n":
        after = end_of_line_marks(t, place)
        if after > place:
            return after
    while letter_at(t, after) == c"`":
        after += 1
    if letter != c"*" and letter != c"_":
        return after
    if next_letter == letter:
        return place + 2
    if not IS_WORD[before] and next_letter and not is_space(next_letter):
        return place + 1
    if before and not is_space(before) and not IS_WORD[next_letter]:
        return place + 1
    return place


cdef int end_of_line_marks(const Text* t, int start) noexcept nogil:
    """Return the place behind the marks that a line begins with, after three blanks at most, or its beginning."""
    cdef int place = start, after
    while place < start + 3 and letter_at(t, place) == c" ":
        place += 1
    after = end_of_line_mark(t, place)
    if after == place:
        return start
    while after > place:
        place = after
        after = end_of_line_mark(t, place)
    return place


cdef int end_of_line_mark(const Text* t, int start) noexcept nogil:
    cdef int place = start
    cdef uint8_t letter = letter_at(t, start)
    if letter == c">":
        return start + 1 + (letter_at(t, start + 1) == c" ")
    if letter == c"#":
        while place < start + 6 and letter_at(t, place) == c"#":
            place += 1
    elif letter == c"-" or letter == c"*" or letter == c"+":
        place += 1
    else:
        while place < start + 3 and is_digit(letter_at(t, place)):
            place += 1
        if place == start or not (letter_at(t, place) == c"." or letter_at(t, place) == c")"):
            return start
        place += 1
    return place + 1 if letter_at(t, place) == c" " else start
