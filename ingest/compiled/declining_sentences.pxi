# A text as folded sentences: what `evalsets.words` makes of a text in usual writing. Read into `declining.pyx`.

cdef enum:
    MOST_LETTERS = 4096
    MOST_SENTENCES = 256
    LONGEST_ABBREVIATION = 12
    # Letters that stand for others while a text is read: a bullet, a quote that closes no sentence as a straight one
    # does, the beginning and the end of a quotation, and a dash that opens no entry of a list.
    BULLET = 1
    CURLY = 2
    OPENS = 3
    CLOSES = 4
    DASH = 5
    NO_BREAK_SPACE = 0xA0
    # What a letter is in a word.
    LETTER = 1
    DIGIT = 2
    SIGN = 3


cdef struct Letters:
    const uint8_t* folded
    int abbreviation


cdef struct Text:
    uint8_t letters[MOST_LETTERS]
    int size
    bint has_digits, has_quotations, has_marks
    bint is_odd  # has blanks, or letters folded to two, that may make a difference to marks


cdef struct Sentences:
    Text text  # folded letter by letter
    Said said[MOST_SENTENCES]
    int count
    uint8_t letters[MOST_LETTERS]
    int used


cdef uint8_t[256] MAY_END  # a sentence, or be a part of a link
cdef uint8_t[256] MARKS  # what Markdown is made of, but for digits
cdef uint8_t[256] PLAIN  # what a letter stands for
cdef uint8_t[256] IN_WORD
for _code in range(256):
    _letter = chr(_code)
    MAY_END[_code], MARKS[_code], PLAIN[_code] = _letter in ".?!\n]", _letter in "#>*+_`-", _code
    IN_WORD[_code] = DIGIT if "0" <= _letter <= "9" else LETTER if _letter.isalnum() else SIGN if _letter == "%" else 0
PLAIN[CURLY], PLAIN[OPENS], PLAIN[CLOSES], PLAIN[DASH] = ord("'"), ord('"'), ord('"'), ord("-")


cdef bint read_sentences(
    Sentences* s, const Letters* letters, Scan* scan, const uint8_t* text, int size
) noexcept nogil:
    """Read a text; False where it is written in an unusual way."""
    cdef Text* t = &s.text
    cdef int start = 0, place, after
    s.count = s.used = 0
    if size > MOST_LETTERS or not fold(t, letters, text, size) or not drop_marks(t):
        return False
    while start < t.size and is_space(t.letters[start]):
        start += 1
    place = start
    while place < t.size:
        if not MAY_END[t.letters[place]]:
            place += 1
            continue
        after = end_of_break(t, place)
        if after:
            if not add(s, letters, scan, start, place if t.letters[place] == c"\n" else place + 1):
                return False
            start = after
        elif t.letters[place] == c"]" and letter_at(t, place + 1) == c"(":  # a link
            return False
        place = max(after, place + 1)
    return add(s, letters, scan, start, t.size)


cdef bint fold(Text* t, const Letters* letters, const uint8_t* text, int size) noexcept nogil:
    """Fold letter by letter, to no more bytes than there are; False where a letter is none that is read."""
    cdef int place = 0, code
    cdef const uint8_t* folded
    t.size = 0
    t.has_digits = t.has_quotations = t.has_marks = t.is_odd = False
    while place < size:
        code = text[place]
        place += 1
        if code == c"\r" and place < size and text[place] == c"\n":
            continue
        if code >= 0xE0:
            code = mark(text + place - 1, size - place + 1)
            place += 2
            t.letters[t.size] = code
        else:
            if code >= 0x80:
                code = (code & 31) << 6 | (text[place] & 63) if place < size else 0
                place += 1
                if not 0x80 <= code <= 0xFF:
                    return False
                t.is_odd |= code == NO_BREAK_SPACE
            folded = letters.folded + 2 * code
            t.letters[t.size] = folded[0]
            if folded[1]:
                t.size += 1
                t.letters[t.size] = folded[1]
                t.is_odd = True
        code = t.letters[t.size]
        if not code:
            return False
        t.size += 1
        t.has_digits |= IN_WORD[code] == DIGIT
        t.has_marks |= MARKS[code]
        t.has_quotations |= code == c'"' or code == CLOSES
        t.is_odd |= text[place - 1] == c"\t" or text[place - 1] == c"\r"
    return True


cdef bint drop_marks(Text* t) noexcept nogil:
    """Drop quotations, Markdown and the blanks at the end; False where to do it takes more than is known here."""
    if t.is_odd and (t.has_quotations or t.has_marks or t.has_digits):
        return False
    if t.has_quotations:
        drop_quotations(t)
    if t.has_marks or t.has_digits:
        drop_markdown(t)
    t.size = end_without_blanks(t)
    return True


cdef inline int end_without_blanks(const Text* t) noexcept nogil:
    cdef int end = t.size
    while end and is_space(t.letters[end - 1]):
        end -= 1
    return end


cdef inline int mark(const uint8_t* text, int left) noexcept nogil:
    """Return what a mark beyond Latin-1 is folded to that people and models write often; 0 for any other."""
    if left < 3 or text[0] != 0xE2 or text[1] != 0x80:
        return 0
    if 0x98 <= text[2] <= 0x9B:
        return CURLY
    if text[2] == 0xA2:
        return BULLET
    if text[2] == 0x9C or text[2] == 0x9E:
        return OPENS
    if text[2] == 0x9D:
        return CLOSES
    return DASH if 0x90 <= text[2] <= 0x95 else 0


cdef inline bint is_space(uint8_t letter) noexcept nogil:
    return letter == c" " or letter == c"\n"


cdef inline bint is_digit(uint8_t letter) noexcept nogil:
    return c"0" <= letter <= c"9"


cdef int end_of_break(const Text* t, int place) noexcept nogil:
    """Return where the next sentence may begin if one ends here, else 0."""
    cdef uint8_t letter = t.letters[place]
    cdef int after = place + 1, last
    if letter == c"\n":
        last = after
        while after < t.size and is_space(t.letters[after]):
            after += 1
            if t.letters[after - 1] == c"\n":
                last = after
        return last
    if letter == c"]":
        return 0
    while letter_at(t, after) in (c"'", c'"', c")", c"]"):
        after += 1
    if after == t.size or not is_space(t.letters[after]):
        return 0
    while after < t.size and is_space(t.letters[after]):
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
        if is_space(s.text.letters[place]):
            if s.used > first and s.letters[s.used - 1] != c" ":
                append(s, c" ")
        else:
            append(s, PLAIN[s.text.letters[place]])
    while s.used > first and s.letters[s.used - 1] == c" ":
        s.used -= 1
    if joins:
        last.size += s.used - first
    elif s.used > first:
        if s.count == MOST_SENTENCES:
            return False
        s.said[s.count] = Said(&s.letters[first], s.used - first)
        s.count += 1
    return not (s.text.has_digits and has_number(s, first))


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
    """Return the next word, number or sign from a place on, empty at the end; a word may have apostrophes inside."""
    cdef int start, end
    cdef uint8_t kind
    while place < said.size and not IN_WORD[said.text[place]]:
        place += 1
    start = end = place
    kind = IN_WORD[said.text[start]] if start < said.size else 0
    if kind == SIGN:
        return Said(said.text + start, 1)
    while end < said.size and (IN_WORD[said.text[end]] == kind or is_digit(said.text[end])):
        end += 1
    while kind == LETTER and end + 1 < said.size and said.text[end] == c"'" and IN_WORD[said.text[end + 1]] == LETTER:
        end += 1
        while end < said.size and IN_WORD[said.text[end]] == LETTER:
            end += 1
    return Said(said.text + start, end - start)
