# Notes the attributes of spans, which mostly stand in the same order with the same text between their values.

cdef enum:
    MOST_WRITTEN = 1 << 11
    MOST_BESIDE = 16


cdef struct _Prefix:
    # What stands before a value, from the beginning of its attribute on.
    Mark text
    Py_ssize_t size
    Py_ssize_t key  # where the key stands in it
    Py_ssize_t key_length
    int64_t kind
    int32_t behind  # what was found last of that which may stand before the next value; 0 for none
    int32_t beside  # what else may stand in its place; 0 for none


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


cdef class Values(Json):
    """Reads attributes, and knows again what stood before the values of other spans.

    What is written before values is a tree, so that a place in it tells all keys up to there, and the kinds of values.
    """

    cdef _Rows found_values
    cdef _Prefix *prefixes
    cdef int32_t many
    cdef int32_t last  # what was passed last: 0 where attributes begin, -1 behind something that is not in the tree

    def __cinit__(self):
        self.found_values = _Rows()
        self.prefixes = <_Prefix *> calloc(MOST_WRITTEN, sizeof(_Prefix))
        if self.prefixes == NULL:
            raise MemoryError
        self.many = 1

    def __dealloc__(self):
        free(self.prefixes)

    cdef bint attributes(self) noexcept nogil:
        self.last = 0
        if not self.has(91):
            return False
        while True:
            if not self.attribute():
                return False
            if not self.has(44):
                return self.has(93)

    cdef inline bint attribute(self) noexcept nogil:
        cdef int64_t *row = self.found_values.row(VALUE_COLUMNS)
        cdef Mark start
        cdef int32_t known
        if row == NULL:
            return False
        start, known = self.space(), self.known_again()
        if not known:
            if not self.spelled(row):
                return False
            self.learn(start, row)
            return True
        self.last = known
        row[0], row[1] = start - self.start + self.prefixes[known].key, self.prefixes[known].key_length
        self.at += self.prefixes[known].size
        return self.rest_of_value(row, self.prefixes[known].kind) and self.has(125)

    cdef inline int32_t known_again(self) noexcept nogil:
        """Return what stands here of that which stood before the next value in other spans; 0 for none of it."""
        cdef int32_t found = self.prefixes[self.last].behind if self.last >= 0 else 0
        cdef _Prefix *known
        while found:
            known = &self.prefixes[found]
            if self.end - self.at > known.size and memcmp(self.at, known.text, known.size) == 0:
                if known.kind != COUNT or self.at[known.size] != 34:  # else it is a count in a string
                    return found
            found = known.beside
        return 0

    cdef void learn(self, Mark start, int64_t *row) noexcept nogil:
        """Remember what stands before the value that was just read."""
        cdef Mark key = self.start + row[0]
        cdef Mark value = self.start + row[2]
        cdef _Prefix *known
        cdef int32_t found
        cdef int many = 0
        if self.last < 0:
            return
        found = self.prefixes[self.last].behind
        while found:
            found = self.prefixes[found].beside
            many += 1
        if key > value or self.many == MOST_WRITTEN or many == MOST_BESIDE:
            self.last = -1
            return
        known = &self.prefixes[self.many]
        known.text, known.size = start, value - start
        known.key, known.key_length = key - start, row[1]
        known.kind = TEXT if row[4] == ESCAPED_TEXT else row[4]
        known.beside = self.prefixes[self.last].behind
        self.prefixes[self.last].behind = self.last = self.many
        self.many += 1

    cdef bint spelled(self, int64_t *row) noexcept nogil:
        """Read an attribute, however it is spelled."""
        cdef bint is_named = False, has_value = False
        if not self.has(123):
            return False
        while True:
            if not self.key():
                return False
            if self.named(b"key", 3) and not is_named:
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
        if not self.has(123) or not self.key():
            return False
        if self.named(b"stringValue", 11):
            return self.has(34) and self.rest_of_value(row, TEXT)
        if self.named(b"intValue", 8):
            return self.rest_of_value(row, COUNT_TEXT if self.has(34) else COUNT)
        if self.named(b"doubleValue", 11):
            return self.rest_of_value(row, DECIMAL)
        return self.named(b"boolValue", 9) and self.rest_of_value(row, TRUTH)

    cdef inline bint rest_of_value(self, int64_t *row, int64_t kind) noexcept nogil:
        """Pass over a value of which the name of its kind is passed, and the first quote."""
        if kind == TEXT or kind == COUNT_TEXT:
            if not self.rest_of_string() or (self.escaped and kind == COUNT_TEXT):
                return False
            if self.escaped:
                kind = ESCAPED_TEXT
        elif kind == COUNT:
            if not self.whole_number():
                return False
        elif kind == DECIMAL:
            if not self.number():
                return False
        else:
            self.text, self.length = self.at, 0
            if not self.word(b"true", 4) and not self.word(b"false", 5):
                return False
        row[2], row[3], row[4] = self.text - self.start, self.length, kind
        return self.has(125)
