# Notes the fields of spans.

cdef class Spans(Values):
    """Reads spans, but for those with anything unusual in them."""

    cdef _Rows found_spans

    def __cinit__(self):
        self.found_spans = _Rows()

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
        row[19], row[21] = self.at - self.start - row[18], self.last
        return seen & 15 == 15

    cdef inline int field(self, int64_t *row) noexcept nogil:
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

    cdef inline bint trace_id(self, int64_t *row) noexcept nogil:
        row[10] = self.text - self.start
        return (
            self.length == 32
            and hex_number(self.text, row + 4)
            and hex_number(self.text + 16, row + 5)
            and (row[4] != 0 or row[5] != 0)
        )

    cdef inline bint id_of(self, int64_t *number, int64_t *place) noexcept nogil:
        place[0] = self.text - self.start
        return self.length == 16 and hex_number(self.text, number) and number[0] != 0

    cdef inline bint time(self, int64_t *number, int64_t *place) noexcept nogil:
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

    cdef inline bint name(self, int64_t *row) noexcept nogil:
        row[15], row[16], row[17] = self.text - self.start, self.length, self.escaped
        return True

    cdef inline bint note_loss(self, int64_t *is_odd) noexcept nogil:
        is_odd[0] |= self.text[0] != 48
        return True

    cdef inline bint status(self, int64_t *is_odd) noexcept nogil:
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
