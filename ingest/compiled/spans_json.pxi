# What JSON is made of: passes over strings, numbers and words where they stand.

cdef uint64_t ONES = 0x0101010101010101
cdef uint64_t HIGHS = 0x8080808080808080
cdef uint64_t QUOTES = 0x2222222222222222
cdef uint64_t SLASHES = 0x5C5C5C5C5C5C5C5C
cdef uint64_t SPACES = 0x2020202020202020


cdef class Json:
    """A place in a line of JSON. Each method moves on and returns true, or returns false where something else stands."""

    cdef Mark start
    cdef Mark at
    cdef Mark end
    cdef Mark text
    cdef int64_t length
    cdef bint escaped

    cdef inline Mark space(self) noexcept nogil:
        while self.at < self.end and (self.at[0] == 32 or self.at[0] == 9 or self.at[0] == 13):
            self.at += 1
        return self.at

    cdef inline bint has(self, unsigned char mark) noexcept nogil:
        if self.space() < self.end and self.at[0] == mark:
            self.at += 1
            return True
        return False

    cdef inline bint string(self) noexcept nogil:
        """Pass over a string, which is then the `text`."""
        return self.has(34) and self.rest_of_string()

    cdef inline bint rest_of_string(self) noexcept nogil:
        """Pass over a string of which the first quote is passed."""
        cdef uint64_t word, quotes, slashes
        cdef Mark at = self.at
        self.text, self.escaped = at, False
        while True:
            while self.end - at >= 8:  # eight bytes at a time, while none is a quote, a backslash or a control
                memcpy(&word, at, 8)
                quotes, slashes = word ^ QUOTES, word ^ SLASHES
                if (((quotes - ONES) & ~quotes) | ((slashes - ONES) & ~slashes) | ((word - SPACES) & ~word)) & HIGHS:
                    break
                at += 8
            while at < self.end and at[0] != 34 and at[0] != 92 and at[0] >= 32:
                at += 1
            if at >= self.end or at[0] < 32:
                return False
            if at[0] == 34:
                self.length = at - self.text
                self.at = at + 1
                return True
            self.escaped = True
            at = self.behind_escape(at)
            if at == NULL:
                return False

    cdef inline Mark behind_escape(self, Mark at) noexcept nogil:
        cdef int unit
        if self.end - at < 2:
            return NULL
        if at[1] != 117:  # u
            return at + 2 if memchr(b'"\\/bfnrt', at[1], 8) != NULL else NULL
        unit = self.unit(at)
        if unit < 0 or 0xDC00 <= unit <= 0xDFFF:
            return NULL
        if not 0xD800 <= unit <= 0xDBFF:
            return at + 6
        unit = self.unit(at + 6)
        return at + 12 if 0xDC00 <= unit <= 0xDFFF else NULL

    cdef inline int unit(self, Mark at) noexcept nogil:
        """Return the number of a \\uXXXX, -1 when there is none."""
        cdef int number = 0, digit, place
        if self.end - at < 6 or at[0] != 92 or at[1] != 117:
            return -1
        for place in range(2, 6):
            digit = digit_of(at[place] + 32 if 65 <= at[place] <= 70 else at[place])
            if digit < 0:
                return -1
            number = 16 * number + digit
        return number

    cdef inline bint whole_number(self) noexcept nogil:
        """Pass over a whole number of at most 19 digits, which is then the `text`."""
        self.text = self.space()
        while self.at < self.end and 48 <= self.at[0] <= 57:
            self.at += 1
        self.length = self.at - self.text
        return 0 < self.length <= 19 and (self.text[0] != 48 or self.length == 1) and self.is_over()

    cdef inline bint number(self) noexcept nogil:
        """Pass over any number that is not too long, which is then the `text`."""
        cdef Mark text = self.space()
        if self.at < self.end and self.at[0] == 45:
            self.at += 1
        cdef Mark digits = self.at
        if not self.digits() or (digits[0] == 48 and self.at - digits > 1):
            return False
        if self.at < self.end and self.at[0] == 46:
            self.at += 1
            if not self.digits():
                return False
        if self.at < self.end and self.at[0] | 32 == 101:
            self.at += 1
            if self.at < self.end and (self.at[0] == 43 or self.at[0] == 45):
                self.at += 1
            digits = self.at
            if not self.digits() or self.at - digits > 2:
                return False
        self.text, self.length = text, self.at - text
        return self.length < LONGEST_NUMBER and self.is_over()

    cdef inline bint digits(self) noexcept nogil:
        cdef Mark first = self.at
        while self.at < self.end and 48 <= self.at[0] <= 57:
            self.at += 1
        return self.at > first

    cdef inline bint is_over(self) noexcept nogil:
        return self.space() < self.end and (self.at[0] == 44 or self.at[0] == 93 or self.at[0] == 125)

    cdef inline bint word(self, const char *name, Py_ssize_t size) noexcept nogil:
        if self.end - self.space() < size or memcmp(self.at, name, size) != 0:
            return False
        self.at += size
        return True

    cdef inline bint key(self) noexcept nogil:
        return self.string() and not self.escaped and self.has(58)

    cdef inline bint named(self, const char *name, Py_ssize_t size) noexcept nogil:
        return self.length == size and memcmp(self.text, name, size) == 0


cdef inline int digit_of(unsigned char mark) noexcept nogil:
    if 48 <= mark <= 57:
        return mark - 48
    return mark - 87 if 97 <= mark <= 102 else -1


cdef bint hex_number(Mark text, int64_t *number) noexcept nogil:
    """Read sixteen hexadecimal digits in small letters."""
    cdef uint64_t found = 0
    cdef int at, digit
    for at in range(16):
        digit = digit_of(text[at])
        if digit < 0:
            return False
        found = 16 * found + <uint64_t> digit
    number[0] = <int64_t> found
    return True
