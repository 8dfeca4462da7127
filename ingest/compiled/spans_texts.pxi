# Takes texts of a block by where they stand, compares them, and writes them into columns.

cdef class Texts:
    """A block and texts that were added to it, addressed as one; places are checked wherever they are used."""

    cdef readonly bytes content
    cdef bytearray added
    cdef Py_ssize_t size

    def __init__(self, bytes content):
        self.content, self.added = content, bytearray()
        self.size = len(content)

    def add(self, bytes text) -> int:
        """Add a text, and return where it stands."""
        cdef Py_ssize_t start = self.size + len(self.added)
        self.added += text
        return start

    cdef inline const char *at(self, int64_t start, int64_t length) except NULL:
        if 0 <= start and 0 <= length:
            if start <= self.size - length:
                return PyBytes_AS_STRING(self.content) + start
            if self.size <= start <= self.size + len(self.added) - length:
                return PyByteArray_AS_STRING(self.added) + (start - self.size)
        raise IndexError("a text outside the block")

    def listed(self, const int64_t[::1] starts, const int64_t[::1] lengths) -> list:
        """Return texts as bytes; None where the length is negative."""
        cdef Py_ssize_t row
        same_size(starts, lengths)
        return [
            None if lengths[row] < 0 else PyBytes_FromStringAndSize(self.at(starts[row], lengths[row]), lengths[row])
            for row in range(starts.shape[0])
        ]

    def joined(self, const int64_t[::1] starts, const int64_t[::1] lengths) -> tuple:
        """Return texts one behind the other, and in numbers of 32 bits where each begins, and the last one ends."""
        cdef Py_ssize_t row, total = 0
        same_size(starts, lengths)
        for row in range(starts.shape[0]):
            if lengths[row] > 0:
                total += lengths[row]
        out = Writing(starts.shape[0], total)
        for row in range(starts.shape[0]):
            if lengths[row] > 0:
                out.put(self.at(starts[row], lengths[row]), lengths[row])
            out.end_row()
        return out.result()

    def woven(self, parts, Py_ssize_t rows) -> tuple:
        """Return a text a row as `joined` does, made of parts one behind the other.

        A part is (before, starts, lengths, behind, instead): bytes around a text a row, and what stands there when its
        length is negative. Without starts only `before` is written.
        """
        cdef _Part part
        cdef Py_ssize_t row, at, total = 0
        known = [_Part(self, part_of, rows) for part_of in parts]
        cdef Py_ssize_t count = len(known)
        cdef _Written *written = <_Written *> malloc(count * sizeof(_Written) + 1)
        if written == NULL:
            raise MemoryError
        try:
            for at in range(count):
                part = known[at]
                written[at] = part.written
                total += part.total
            out = Writing(rows, total)
            for row in range(rows):
                for at in range(count):
                    write_part(self, out, &written[at], row)
                out.end_row()
        finally:
            free(written)
        return out.result()

    def equal(self, const int64_t[::1] starts, const int64_t[::1] lengths,
              const int64_t[::1] others, const int64_t[::1] sizes) -> bytes:
        """Return of each row 1 where both texts are the same or both are missing, else 0."""
        cdef Py_ssize_t row
        same_size(starts, lengths)
        same_size(others, sizes)
        same_size(starts, others)
        out = bytearray(starts.shape[0])
        for row in range(starts.shape[0]):
            if lengths[row] == sizes[row] and (lengths[row] < 0 or starts[row] == others[row] or memcmp(
                self.at(starts[row], lengths[row]), self.at(others[row], sizes[row]), lengths[row]
            ) == 0):
                out[row] = 1
        return bytes(out)

    def held(self, const int64_t[::1] starts, const int64_t[::1] lengths,
             const int32_t[::1] offsets, const unsigned char[::1] rows) -> bytes:
        """Return 1 for the texts that stand in theirs of the rows that `woven` made, else 0; none stands nowhere."""
        cdef Py_ssize_t row
        cdef const char *base = <const char *> &rows[0] if rows.shape[0] else NULL
        same_size(starts, lengths)
        out = bytearray(starts.shape[0])
        if offsets.shape[0] != starts.shape[0] + 1:
            raise IndexError("other rows")
        for row in range(starts.shape[0]):
            if not 0 <= offsets[row] <= offsets[row + 1] <= rows.shape[0]:
                raise IndexError("a row outside the texts")
            if lengths[row] > 0:
                out[row] = is_in(
                    self.at(starts[row], lengths[row]), lengths[row],
                    base + offsets[row], offsets[row + 1] - offsets[row],
                )
        return bytes(out)

    def decimals(self, const int64_t[::1] starts, const int64_t[::1] lengths, double[::1] out) -> bytes:
        """Read numbers, and return 1 for those that are not spelled in the shortest way; raises ValueError for none."""
        cdef Py_ssize_t row
        cdef const char *text
        cdef char number[LONGEST_NUMBER + 1]
        same_size(starts, lengths)
        if out.shape[0] != starts.shape[0]:
            raise IndexError("other rows")
        unusual = bytearray(starts.shape[0])
        for row in range(starts.shape[0]):
            if not 0 < lengths[row] <= LONGEST_NUMBER:
                raise ValueError("a number that is too long")
            text = self.at(starts[row], lengths[row])
            if not short_decimal(text, lengths[row], &out[row]):
                memcpy(number, text, lengths[row])
                number[lengths[row]] = 0
                out[row] = PyOS_string_to_double(number, NULL, OverflowError)
                unusual[row] = 1
        return bytes(unusual)

    def counts(self, const int64_t[::1] starts, const int64_t[::1] lengths, int64_t[::1] out) -> None:
        """Read whole numbers of up to 15 digits in their one spelling; raises ValueError for others."""
        cdef Py_ssize_t row, at
        cdef const char *text
        cdef int64_t number
        same_size(starts, lengths)
        if out.shape[0] != starts.shape[0]:
            raise IndexError("other rows")
        for row in range(starts.shape[0]):
            text, number = self.at(starts[row], lengths[row]), 0
            if not 0 < lengths[row] <= 15 or (text[0] == 48 and lengths[row] > 1):
                raise ValueError("not a plain number")
            for at in range(lengths[row]):
                if not 48 <= text[at] <= 57:
                    raise ValueError("not a plain number")
                number = 10 * number + (text[at] - 48)
            out[row] = number


cdef same_size(const int64_t[::1] starts, const int64_t[::1] lengths):
    if starts.shape[0] != lengths.shape[0]:
        raise IndexError("as many places as lengths")


cdef double[16] POWERS = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15
]


cdef bint short_decimal(const char *text, Py_ssize_t size, double *out) noexcept nogil:
    """Read a number with a point that is spelled as Python would: a quotient of whole numbers that are exact."""
    cdef int64_t digits = 0
    cdef Py_ssize_t at, point = -1
    if not 3 <= size <= 16 or text[size - 1] == 46 or text[0] == 46:
        return False
    for at in range(size):
        if text[at] == 46 and point < 0:
            point = at
        elif 48 <= text[at] <= 57:
            digits = 10 * digits + (text[at] - 48)
        else:
            return False
    if point < 0 or (text[0] == 48 and point > 1) or (text[size - 1] == 48 and size - point > 2):
        return False
    out[0] = <double> digits / POWERS[size - 1 - point]
    return out[0] >= 0.001


cdef bint is_in(const char *wanted, Py_ssize_t size, const char *text, Py_ssize_t length) noexcept nogil:
    cdef const char *end = text + length - size + 1
    while text < end:
        text = <const char *> memchr(text, wanted[0], end - text)
        if text == NULL:
            return False
        if memcmp(text, wanted, size) == 0:
            return True
        text += 1
    return False


cdef class Writing:
    """Rows of bytes while they are written; how many bytes there will be is known before."""

    cdef bytes written
    cdef bytes offsets
    cdef char *at
    cdef char *end
    cdef int32_t *offset

    def __init__(self, Py_ssize_t rows, Py_ssize_t size):
        if size > 0x7FFFFFFF:
            raise OverflowError("more text than fits in one column")
        self.written = PyBytes_FromStringAndSize(NULL, size)
        self.offsets = PyBytes_FromStringAndSize(NULL, (rows + 1) * sizeof(int32_t))
        self.at = PyBytes_AS_STRING(self.written)
        self.end = self.at + size
        self.offset = <int32_t *> PyBytes_AS_STRING(self.offsets)
        self.offset[0] = 0

    cdef inline int put(self, const char *text, Py_ssize_t size) except -1:
        if self.end - self.at < size:
            raise IndexError("more text than was counted")
        memcpy(self.at, text, size)
        self.at += size
        return 0

    cdef end_row(self):
        self.offset += 1
        self.offset[0] = <int32_t> (self.at - PyBytes_AS_STRING(self.written))

    cdef tuple result(self):
        return self.offsets, self.written


cdef struct _Written:
    const char *before
    const char *behind
    const char *instead
    Py_ssize_t before_size, behind_size, instead_size
    const int64_t *starts  # NULL where only `before` is written
    const int64_t *lengths


cdef class _Part:
    """What stands at one place of every row; it keeps what `written` points to."""

    cdef const int64_t[::1] starts
    cdef const int64_t[::1] lengths
    cdef tuple around
    cdef _Written written
    cdef Py_ssize_t total

    def __init__(self, Texts texts, tuple part, Py_ssize_t rows):
        cdef Py_ssize_t row, known = 0
        before, starts, lengths, behind, instead = part
        self.around = (<bytes?> before, <bytes?> behind, <bytes?> instead)
        self.written.before, self.written.before_size = PyBytes_AS_STRING(before), len(before)
        self.written.behind, self.written.behind_size = PyBytes_AS_STRING(behind), len(behind)
        self.written.instead, self.written.instead_size = PyBytes_AS_STRING(instead), len(instead)
        self.written.starts = self.written.lengths = NULL
        self.total = rows * len(before)
        if starts is None or rows == 0:
            return
        self.starts, self.lengths = starts, lengths
        same_size(self.starts, self.lengths)
        if self.starts.shape[0] != rows:
            raise IndexError("other rows")
        self.written.starts, self.written.lengths = &self.starts[0], &self.lengths[0]
        self.total = 0
        for row in range(rows):
            if self.lengths[row] >= 0:
                known += 1
                self.total += self.lengths[row]
        self.total += known * (len(before) + len(behind)) + (rows - known) * len(instead)


cdef inline int write_part(Texts texts, Writing out, const _Written *part, Py_ssize_t row) except -1:
    if part.starts == NULL:
        return out.put(part.before, part.before_size)
    cdef int64_t length = part.lengths[row]
    if length < 0:
        return out.put(part.instead, part.instead_size)
    out.put(part.before, part.before_size)
    out.put(texts.at(part.starts[row], length), length)
    return out.put(part.behind, part.behind_size)
