# Goes through lines of OTLP JSON and notes where their spans stand.

@cython.final
cdef class Scan(Spans):
    """Goes through lines one after the other; a line with anything unusual in it leaves no trace."""

    cdef _Rows found_resources, found_scopes, found_lines

    def __init__(self):
        self.found_resources, self.found_scopes, self.found_lines = _Rows(), _Rows(), _Rows()

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
