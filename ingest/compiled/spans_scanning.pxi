# Goes through lines of OTLP JSON and notes where their spans and values stand.

cdef uint64_t ONES = 0x0101010101010101
cdef uint64_t HIGHS = 0x8080808080808080
cdef uint64_t QUOTES = 0x2222222222222222
cdef uint64_t SLASHES = 0x5C5C5C5C5C5C5C5C
cdef uint64_t SPACES = 0x2020202020202020


cdef class _Rows:
    """A growing list of whole numbers, so many a row."""

    cdef int64_t *numbers
    cdef Py_ssize_t size, room

    def __dealloc__(self):
        free(self.numbers)

    cdef int64_t *row(self, Py_ssize_t columns) noexcept nogil:
        """Return the place of a new row; NULL when there is no memory."""
        cdef Py_ssize_t wanted
        cdef int64_t *grown
        if self.size + columns > self.room:
            wanted = 2 * self.room + columns + 1024
            grown = <int64_t *> realloc(self.numbers, wanted * sizeof(int64_t))
            if grown == NULL:
                return NULL
            self.numbers, self.room = grown, wanted
        self.size += columns
        return self.numbers + self.size - columns

    cdef bytes content(self):
        return PyBytes_FromStringAndSize(<char *> self.numbers, self.size * sizeof(int64_t))


cdef class Scan:
    """Goes through lines one after the other; a line with anything unusual in it leaves no trace."""

    cdef Mark start
    cdef Mark at
    cdef Mark end
    cdef Mark text
    cdef int64_t length
    cdef bint escaped
    cdef _Rows found_spans, found_values, found_resources, found_scopes, found_lines

    def __init__(self):
        self.found_spans, self.found_values, self.found_lines = _Rows(), _Rows(), _Rows()
        self.found_resources, self.found_scopes = _Rows(), _Rows()

    @property
    def spans(self) -> bytes:
        """Rows of SPAN_COLUMNS numbers of 64 bits."""
        return self.found_spans.content()

    @property
    def values(self) -> bytes:
        """Rows of VALUE_COLUMNS numbers of 64 bits."""
        return self.found_values.content()

    @property
    def resources(self) -> bytes:
        """Rows of ENVELOPE_COLUMNS numbers of 64 bits."""
        return self.found_resources.content()

    @property
    def scopes(self) -> bytes:
        """Rows of ENVELOPE_COLUMNS numbers of 64 bits."""
        return self.found_scopes.content()

    @property
    def line_ends(self) -> bytes:
        """Where each line ends, in numbers of 64 bits."""
        return self.found_lines.content()

    cdef bint read(self, Mark start, Py_ssize_t size) noexcept nogil:
        """Read all lines; return whether there was memory for them."""
        cdef Mark line = start
        cdef Mark all_end = start + size
        cdef int64_t *found
        cdef int64_t number = 0
        cdef Py_ssize_t spans, values, resources, scopes
        self.start = start
        while line < all_end:
            self.end = <Mark> memchr(line, 10, all_end - line)
            if self.end == NULL:
                self.end = all_end
            found = self.found_lines.row(1)
            if found == NULL:
                return False
            found[0] = self.end - start
            self.at = line
            line = self.end + 1
            spans, values = self.found_spans.size, self.found_values.size
            resources, scopes = self.found_resources.size, self.found_scopes.size
            if not self.message(number) or self.space() != self.end:
                self.found_spans.size, self.found_values.size = spans, values
                self.found_resources.size, self.found_scopes.size = resources, scopes
            number += 1
        return True

    # What JSON is made of. Each of these moves on and returns true, or returns false where something else stands.

    cdef inline Mark space(self) noexcept nogil:
        while self.at < self.end and (self.at[0] == 32 or self.at[0] == 9 or self.at[0] == 13):
            self.at += 1
        return self.at

    cdef inline bint has(self, unsigned char mark) noexcept nogil:
        if self.space() < self.end and self.at[0] == mark:
            self.at += 1
            return True
        return False

    cdef inline bint skip(self, const char *written, Py_ssize_t size) noexcept nogil:
        """Pass over what is mostly written just so; true only where it is."""
        if self.end - self.at < size or memcmp(self.at, written, size) != 0:
            return False
        self.at += size
        return True

    cdef bint string(self) noexcept nogil:
        """Pass over a string, which is then the `text`."""
        return self.has(34) and self.rest_of_string()

    cdef bint rest_of_string(self) noexcept nogil:
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

    cdef Mark behind_escape(self, Mark at) noexcept nogil:
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

    cdef int unit(self, Mark at) noexcept nogil:
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

    cdef bint whole_number(self) noexcept nogil:
        """Pass over a whole number of at most 19 digits, which is then the `text`."""
        self.text = self.space()
        while self.at < self.end and 48 <= self.at[0] <= 57:
            self.at += 1
        self.length = self.at - self.text
        return 0 < self.length <= 19 and (self.text[0] != 48 or self.length == 1) and self.is_over()

    cdef bint number(self) noexcept nogil:
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

    cdef bint digits(self) noexcept nogil:
        cdef Mark first = self.at
        while self.at < self.end and 48 <= self.at[0] <= 57:
            self.at += 1
        return self.at > first

    cdef bint is_over(self) noexcept nogil:
        return self.space() < self.end and (self.at[0] == 44 or self.at[0] == 93 or self.at[0] == 125)

    cdef bint word(self, const char *name, Py_ssize_t size) noexcept nogil:
        if self.end - self.space() < size or memcmp(self.at, name, size) != 0:
            return False
        self.at += size
        return True

    cdef bint key(self) noexcept nogil:
        return self.string() and not self.escaped and self.has(58)

    cdef inline bint named(self, const char *name, Py_ssize_t size) noexcept nogil:
        return self.length == size and memcmp(self.text, name, size) == 0

    cdef bint anything(self, _Rows rows, int64_t line) noexcept nogil:
        """Pass over an object or null, and note where it stands: whether it is JSON is for others to see."""
        cdef Mark text = self.space()
        cdef Py_ssize_t depth = 0
        if self.word(b"null", 4):
            return self.note(rows, line, text)
        if self.at >= self.end or self.at[0] != 123:
            return False
        while self.at < self.end:
            if self.at[0] == 34:
                if not self.string():
                    return False
                continue
            if self.at[0] == 123 or self.at[0] == 91:
                depth += 1
            elif self.at[0] == 125 or self.at[0] == 93:
                depth -= 1
            self.at += 1
            if depth == 0:
                return self.note(rows, line, text)
        return False

    cdef bint note(self, _Rows rows, int64_t line, Mark text) noexcept nogil:
        cdef int64_t *row = rows.row(ENVELOPE_COLUMNS)
        if row == NULL:
            return False
        row[0], row[1], row[2] = line, text - self.start, self.at - text
        return True

    # The envelope.

    cdef bint message(self, int64_t line) noexcept nogil:
        if not (self.has(123) and self.key() and self.named(b"resourceSpans", 13) and self.has(91)):
            return False
        while True:
            if not self.resource_spans(line):
                return False
            if not self.has(44):
                return self.has(93) and self.has(125)

    cdef bint resource_spans(self, int64_t line) noexcept nogil:
        cdef int seen = 0, name
        cdef Py_ssize_t first = self.found_spans.size, noted = self.found_resources.size
        if not self.has(123):
            return False
        while True:
            if not self.key():
                return False
            name = 1 if self.named(b"resource", 8) else 2 if self.named(b"scopeSpans", 10) else 4
            if seen & name:
                return False
            seen |= name
            if name == 1:
                if not self.anything(self.found_resources, line):
                    return False
            elif name == 2:
                if not self.scopes_of(line):
                    return False
            elif not self.named(b"schemaUrl", 9) or not self.string():
                return False
            if not self.has(44):
                break
        if not self.has(125) or not seen & 2:
            return False
        if not seen & 1:
            if not self.note(self.found_resources, line, self.at):  # nothing, of no length
                return False
        while first < self.found_spans.size:
            self.found_spans.numbers[first + 1] = noted // ENVELOPE_COLUMNS
            first += SPAN_COLUMNS
        return True

    cdef bint scopes_of(self, int64_t line) noexcept nogil:
        if not self.has(91):
            return False
        if self.has(93):
            return True
        while True:
            if not self.scope(line):
                return False
            if not self.has(44):
                return self.has(93)

    cdef bint scope(self, int64_t line) noexcept nogil:
        cdef int seen = 0, name
        if not self.has(123):
            return False
        while True:
            if not self.key():
                return False
            name = 1 if self.named(b"scope", 5) else 2 if self.named(b"spans", 5) else 4
            if seen & name:
                return False
            seen |= name
            if name == 1:
                if not self.anything(self.found_scopes, line):
                    return False
            elif name == 2:
                if not self.spans_of(line):
                    return False
            elif not self.named(b"schemaUrl", 9) or not self.string():
                return False
            if not self.has(44):
                return self.has(125) and seen & 2 != 0

    cdef bint spans_of(self, int64_t line) noexcept nogil:
        if not self.has(91):
            return False
        if self.has(93):
            return True
        while True:
            if not self.span(line):
                return False
            if not self.has(44):
                return self.has(93)

    # A span.

    cdef bint span(self, int64_t line) noexcept nogil:
        cdef int64_t *row = self.found_spans.row(SPAN_COLUMNS)
        cdef int seen = 0, name
        cdef int at
        if row == NULL:
            return False
        for at in range(SPAN_COLUMNS):
            row[at] = 0
        row[18] = self.space() - self.start
        if not self.has(123):
            return False
        for at in range(12, 16):
            row[at] = -1
        row[0], row[2], row[16] = line, self.found_values.size // VALUE_COLUMNS, -1
        while True:
            if not self.key():
                return False
            name = self.field(row)
            if name < 0 or seen & (1 << name):
                return False
            seen |= 1 << name
            if not self.has(44):
                break
        row[3] = self.found_values.size // VALUE_COLUMNS - row[2]
        if not self.has(125):
            return False
        row[19] = self.at - self.start - row[18]
        return seen & 15 == 15

    cdef int field(self, int64_t *row) noexcept nogil:
        """Read the field that was just named; return its number, -1 when it is unusual."""
        if self.named(b"traceId", 7):
            return 0 if self.string() and self.trace_id(row) else -1
        if self.named(b"spanId", 6):
            return 1 if self.string() and self.id_of(row + 6, row + 11) else -1
        if self.named(b"startTimeUnixNano", 17):
            return 2 if self.time(row + 8, row + 13) else -1
        if self.named(b"attributes", 10):
            return 3 if self.attributes() else -1
        if self.named(b"parentSpanId", 12):
            return 4 if self.string() and (self.length == 0 or self.id_of(row + 7, row + 12)) else -1
        if self.named(b"endTimeUnixNano", 15):
            return 5 if self.time(row + 9, row + 14) else -1
        if self.named(b"name", 4):
            return 6 if self.string() and self.name(row) else -1
        if self.named(b"kind", 4):
            return 7 if self.whole_number() or self.string() else -1
        if self.named(b"status", 6):
            return 8 if self.status(row + 20) else -1
        if self.named(b"flags", 5):
            return 9 if self.whole_number() else -1
        if self.named(b"traceState", 10):
            return 10 if self.string() else -1
        if self.named(b"events", 6):
            return 11 if self.has(91) and self.has(93) else -1
        if self.named(b"links", 5):
            return 12 if self.has(91) and self.has(93) else -1
        if self.named(b"droppedAttributesCount", 22):
            return 13 if self.whole_number() and self.note_loss(row + 20) else -1
        if self.named(b"droppedEventsCount", 18):
            return 14 if self.whole_number() else -1
        if self.named(b"droppedLinksCount", 17):
            return 15 if self.whole_number() else -1
        return -1

    cdef bint trace_id(self, int64_t *row) noexcept nogil:
        row[10] = self.text - self.start
        return (
            self.length == 32
            and hex_number(self.text, row + 4)
            and hex_number(self.text + 16, row + 5)
            and (row[4] != 0 or row[5] != 0)
        )

    cdef bint id_of(self, int64_t *number, int64_t *place) noexcept nogil:
        place[0] = self.text - self.start
        return self.length == 16 and hex_number(self.text, number) and number[0] != 0

    cdef bint time(self, int64_t *number, int64_t *place) noexcept nogil:
        """Read nanoseconds since 1970, of 19 digits, in a string or as a number."""
        cdef uint64_t found = 0
        cdef int at
        if self.space() < self.end and self.at[0] == 34:
            if not self.string():
                return False
        elif not self.whole_number():
            return False
        if self.length != 19 or not 49 <= self.text[0] <= 57:
            return False
        for at in range(19):
            if not 48 <= self.text[at] <= 57:
                return False
            found = 10 * found + (self.text[at] - 48)
        number[0], place[0] = <int64_t> found, self.text - self.start
        return number[0] > 0  # else too late for 64 bits

    cdef bint name(self, int64_t *row) noexcept nogil:
        row[15], row[16], row[17] = self.text - self.start, self.length, self.escaped
        return True

    cdef bint note_loss(self, int64_t *is_odd) noexcept nogil:
        is_odd[0] |= self.text[0] != 48
        return True

    cdef bint status(self, int64_t *is_odd) noexcept nogil:
        """Pass over a status, and note when it may be that of a failure."""
        cdef bint has_code = False, has_message = False
        if not self.has(123):
            return False
        if self.has(125):
            return True
        while True:
            if not self.key():
                return False
            if self.named(b"code", 4) and not has_code:
                has_code = True
                if self.whole_number():
                    is_odd[0] |= self.length > 1 or self.text[0] > 49
                elif self.string():
                    is_odd[0] = 1
                else:
                    return False
            elif self.named(b"message", 7) and not has_message:
                has_message = True
                if not self.string():
                    return False
            else:
                return False
            if not self.has(44):
                return self.has(125)

    cdef bint attributes(self) noexcept nogil:
        if not self.has(91):
            return False
        while True:
            if not self.attribute():
                return False
            if not self.has(44):
                return self.has(93)

    cdef bint attribute(self) noexcept nogil:
        cdef int64_t *row = self.found_values.row(VALUE_COLUMNS)
        cdef bint is_named = False, has_value = False
        if row == NULL:
            return False
        self.space()
        if self.skip(b'{"key": "', 9) or self.skip(b'{"key":"', 8):
            is_named = True
            if not self.rest_of_string() or self.escaped:
                return False
            row[0], row[1] = self.text - self.start, self.length
            if not self.has(44):
                return False
        elif not self.has(123):
            return False
        while True:
            self.space()
            if is_named and not has_value and (self.skip(b'"value": ', 9) or self.skip(b'"value":', 8)):
                has_value = True
                if not self.value(row):
                    return False
            elif not self.key():
                return False
            elif self.named(b"key", 3) and not is_named:
                is_named = True
                if not self.string() or self.escaped:
                    return False
                row[0], row[1] = self.text - self.start, self.length
            elif self.named(b"value", 5) and not has_value:
                has_value = True
                if not self.value(row):
                    return False
            else:
                return False
            if not self.has(44):
                return self.has(125) and is_named and has_value

    cdef bint value(self, int64_t *row) noexcept nogil:
        self.space()
        if self.skip(b'{"stringValue": "', 17) or self.skip(b'{"stringValue":"', 16):
            if not self.rest_of_string():
                return False
            row[2], row[3] = self.text - self.start, self.length
            row[4] = ESCAPED_TEXT if self.escaped else TEXT
            return self.has(125)
        if not self.has(123) or not self.key():
            return False
        if self.named(b"stringValue", 11):
            if not self.string():
                return False
            row[4] = ESCAPED_TEXT if self.escaped else TEXT
        elif self.named(b"intValue", 8):
            if self.space() < self.end and self.at[0] == 34:
                row[4] = COUNT_TEXT
                if not self.string() or self.escaped:
                    return False
            else:
                row[4] = COUNT
                if not self.whole_number():
                    return False
        elif self.named(b"doubleValue", 11):
            row[4] = DECIMAL
            if not self.number():
                return False
        elif self.named(b"boolValue", 9):
            row[4] = TRUTH
            self.text, self.length = self.at, 0
            if not self.word(b"true", 4) and not self.word(b"false", 5):
                return False
        else:
            return False
        row[2], row[3] = self.text - self.start, self.length
        return self.has(125)


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


def scan(bytes content) -> Scan:
    """Find the spans of lines; what stands in other lines than in strict UTF-8 has to be told before."""
    found = Scan()
    cdef Mark start = <Mark> PyBytes_AS_STRING(content)
    cdef Py_ssize_t size = len(content)
    cdef bint has_room
    with nogil:
        has_room = found.read(start, size)
    if not has_room:
        raise MemoryError
    return found
