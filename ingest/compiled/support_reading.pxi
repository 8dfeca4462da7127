# A text as folded letters, and these as words, numbers and signs. Read into `support.pyx`.

cdef struct Reader:
    const uint8_t* text
    Py_ssize_t size, place  # `place` is behind the letter
    int letter, before  # folded; 0 at the end
    int since_digit  # letters between the last digit and this one
    Py_ssize_t start, end  # of the number that was read
    bint is_number
    bint has_numbers, has_grouped


cdef uint8_t[BEYOND_ASCII] FOLDED
for _letter in range(BEYOND_ASCII):
    FOLDED[_letter] = ord(chr(_letter).lower())
FOLDED[0], FOLDED[ord("`")] = ord("-"), ord("'")


cdef bint start(Reader* r, const uint8_t* text, Py_ssize_t size) noexcept nogil:
    memset(r, 0, sizeof(Reader))
    r.text, r.size, r.since_digit = text, size, FAR
    return step(r)


cdef inline bint step(Reader* r) noexcept nogil:
    """Take the next letter, folded; False where it is none that is read here."""
    r.before = r.letter
    r.since_digit = 0 if is_digit(r.letter) else r.since_digit + 1
    if r.place == r.size:
        r.letter = 0
        return True
    r.letter = r.text[r.place]
    r.place += 1
    r.letter = FOLDED[r.letter] if r.letter < BEYOND_ASCII else beyond(r)
    return r.letter > 0


cdef int beyond(Reader* r) noexcept nogil:
    """Fold a letter or mark beyond ASCII that people and models write often; -1 for any other."""
    cdef int second = r.text[r.place] if r.place < r.size else 0, third
    r.place += 1
    if r.letter == 0xC2:
        if second == 0xA0:
            return c" "
        return c"-" if second in (0xA1, 0xA6, 0xA7, 0xA9, 0xAB, 0xAC, 0xAE, 0xB0, 0xB1, 0xB6, 0xB7, 0xBB, 0xBF) else -1
    if r.letter == 0xC3:
        if second == 0x97 or second == 0xB7:
            return c"-"
        return -1 if second >> 6 != 2 or second == 0x9F else second + (64 if second >= 0xA0 else 96)
    if r.letter != 0xE2 or second != 0x80 or r.place >= r.size:
        return -1
    third = r.text[r.place]
    r.place += 1
    if 0x98 <= third <= 0x9B:
        return c"'"
    if third == 0xA6:
        return c","
    return c"-" if 0x90 <= third <= 0x95 or 0x9C <= third <= 0x9F or third == 0xA2 else -1


cdef inline bint is_letter(int letter) noexcept nogil:
    return c"a" <= letter <= c"z" or letter >= 0xE0


cdef inline bint letter_follows(const Reader* r) noexcept nogil:
    if r.place >= r.size:
        return False
    if r.text[r.place] == 0xC3:
        return r.place + 1 < r.size and r.text[r.place + 1] != 0x97 and r.text[r.place + 1] != 0xB7
    return c"a" <= r.text[r.place] | 32 <= c"z"


cdef inline bint is_digit(int letter) noexcept nogil:
    return c"0" <= letter <= c"9"


cdef inline bint is_space(int letter) noexcept nogil:
    return letter == c" " or 9 <= letter <= 13 or 28 <= letter <= 31


cdef int next_word(Reader* r, uint64_t* key) noexcept nogil:
    """Read the next word, number or sign as a token: 1, 0 at the end, or UNREAD."""
    while r.letter and not (is_letter(r.letter) or is_digit(r.letter) or r.letter == c"%" or r.letter == c"$"):
        if not step(r):
            return UNREAD
    if not r.letter:
        return 0
    key[0], r.start, r.is_number = SEED, r.place - 1, False
    if is_letter(r.letter):
        return read_word(r, key)
    if is_digit(r.letter):
        return read_number(r, key)
    return read_sign(r, key)


cdef int read_word(Reader* r, uint64_t* key) noexcept nogil:
    """Read letters and digits, and what an apostrophe joins to them."""
    cdef bint after_number = r.since_digit == 0 or (r.since_digit == 1 and is_space(r.before))
    cdef int letters = 0
    cdef int[3] opening
    while is_letter(r.letter) or is_digit(r.letter):
        if letters and r.since_digit == 0 and r.letter == c"p":
            return UNREAD  # as below, with no space between
        if letters < 3:
            opening[letters] = r.letter
        letters += 1
        r.has_numbers |= is_digit(r.letter)
        key[0] = longer(key[0], r.letter)
        if not step(r):
            return UNREAD
    if after_number and letters >= 3 and opening[0] == c"p" and (
        (opening[1] == c"e" and opening[2] == c"r") or (opening[1] == c"r" and opening[2] == c"o")
        or (opening[1] == c"o" and (opening[2] == c"u" or opening[2] == c"r"))
    ):
        return UNREAD  # may be `per cent`
    while r.letter == c"'" and letter_follows(r):
        if not step(r):
            return UNREAD
        key[0] = longer(key[0], c"'")
        while is_letter(r.letter):
            key[0] = longer(key[0], r.letter)
            if not step(r):
                return UNREAD
    return 1


cdef int read_number(Reader* r, uint64_t* key) noexcept nogil:
    """Read a number with its decimals; one that may be a part of a longer one, or lose a zero, is said to be grouped."""
    cdef bint is_grouped = r.since_digit == 1 and (
        r.before == c"." or r.before == c"," or r.before == c"'" or r.before == c" "
    )
    r.is_number = r.has_numbers = True
    if not read_digits(r, key):
        return UNREAD
    if r.letter == c"." and not is_grouped and r.place < r.size and is_digit(r.text[r.place]):
        key[0] = longer(key[0], c".")
        if not step(r) or not read_digits(r, key):
            return UNREAD
        r.has_grouped |= r.before == c"0"
    r.has_grouped |= is_grouped
    return UNREAD if is_grouped and is_letter(r.letter) else 1


cdef bint read_digits(Reader* r, uint64_t* key) noexcept nogil:
    while is_digit(r.letter):
        r.end = r.place
        key[0] = longer(key[0], r.letter)
        if not step(r):
            return False
    return True


cdef int read_sign(Reader* r, uint64_t* key) noexcept nogil:
    """Read a percent or currency sign; one that goes behind its amount may join this to what stands before."""
    cdef int sign = r.letter, before = r.before
    key[0] = longer(key[0], sign)
    if not step(r):
        return UNREAD
    if sign == c"$" and (is_letter(before) or is_digit(before) or before == c"." or before == c"_" or before == c"'"):
        if is_digit(r.letter) or (is_space(r.letter) and r.place < r.size and is_digit(r.text[r.place])):
            return UNREAD
    return 1
