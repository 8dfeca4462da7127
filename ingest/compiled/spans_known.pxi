# Remembers what was found out about texts.

cdef class Known:
    """What was found out about texts that come again and again: texts too, found by a hash of 64 bits."""

    cdef object read
    cdef readonly Py_ssize_t fields
    cdef Py_ssize_t most, size, room
    cdef uint64_t seed
    cdef uint64_t *hashes
    cdef int64_t *places
    cdef _Rows found  # where each of the texts of each entry stands among those held, and how long it is
    cdef bytearray held

    def __init__(self, read, Py_ssize_t fields, Py_ssize_t most):
        """Find out about a text by `read`, which gives so many texts or None; about `most` texts are remembered."""
        if fields < 1:
            raise ValueError("nothing to remember")
        self.read, self.fields, self.most = read, fields, most
        self.seed = int.from_bytes(os.urandom(8), "little")
        self.clear()

    def __dealloc__(self):
        free(self.hashes)
        free(self.places)

    cdef clear(self):
        free(self.hashes)
        free(self.places)
        self.hashes, self.places = NULL, NULL
        self.size, self.room = 0, 0
        self.found, self.held = _Rows(), bytearray()
        self.grow(1024)

    cdef grow(self, Py_ssize_t room):
        """Make room for more entries: a power of two, of which three quarters are used."""
        cdef uint64_t *hashes = <uint64_t *> malloc(room * sizeof(uint64_t))
        cdef int64_t *places = <int64_t *> calloc(room, sizeof(int64_t))
        cdef Py_ssize_t at, slot
        if hashes == NULL or places == NULL:
            free(hashes)
            free(places)
            raise MemoryError
        for at in range(self.room):
            if self.places[at]:
                slot = self.hashes[at] & (room - 1)
                while places[slot]:
                    slot = (slot + 1) & (room - 1)
                hashes[slot], places[slot] = self.hashes[at], self.places[at]
        free(self.hashes)
        free(self.places)
        self.hashes, self.places, self.room = hashes, places, room

    def tell(self, Texts texts, const int64_t[::1] starts, const int64_t[::1] lengths, int64_t[:, ::1] out) -> None:
        """Add to `texts` what was found out about some of them, and say where it stands.

        `out` has two rows a field: where the text begins, and its length, -1 for none.
        """
        cdef Py_ssize_t row, field, total = 0, rows = starts.shape[0]
        cdef int64_t *entry
        cdef int64_t start
        cdef char *held
        cdef char *to
        same_size(starts, lengths)
        if out.shape[0] != 2 * self.fields or out.shape[1] != rows:
            raise IndexError("other rows")
        if self.size > self.most:
            self.clear()
        for row in range(rows):
            out[0, row] = -1 if lengths[row] < 0 else self.place_of(texts.at(starts[row], lengths[row]), lengths[row])
        for row in range(rows):
            if out[0, row] >= 0:
                entry = self.found.numbers + 2 * self.fields * out[0, row]
                for field in range(self.fields):
                    total += entry[2 * field + 1] if entry[2 * field + 1] > 0 else 0
        start = texts.size + len(texts.added)
        if PyByteArray_Resize(texts.added, len(texts.added) + total) < 0:
            raise MemoryError
        held, to = PyByteArray_AS_STRING(self.held), PyByteArray_AS_STRING(texts.added) + (start - texts.size)
        for row in range(rows):
            entry = self.found.numbers + 2 * self.fields * out[0, row] if out[0, row] >= 0 else NULL
            for field in range(self.fields):
                out[2 * field, row] = start
                out[2 * field + 1, row] = entry[2 * field + 1] if entry != NULL else -1
                if out[2 * field + 1, row] > 0:
                    memcpy(to, held + entry[2 * field], out[2 * field + 1, row])
                    to += out[2 * field + 1, row]
                    start += out[2 * field + 1, row]

    cdef int64_t place_of(self, const char *text, Py_ssize_t size) except -1:
        """Return the place of the entry of a text, which is made when there is none."""
        cdef uint64_t key = self.hash_of(text, size)
        cdef Py_ssize_t slot = key & (self.room - 1)
        while self.places[slot]:
            if self.hashes[slot] == key:
                return self.places[slot] - 1
            slot = (slot + 1) & (self.room - 1)
        self.add(self.read(PyBytes_FromStringAndSize(text, size)))
        self.hashes[slot], self.places[slot] = key, self.size
        if self.size * 4 > self.room * 3:
            self.grow(2 * self.room)
        return self.size - 1

    cdef add(self, found):
        cdef int64_t *entry
        cdef Py_ssize_t field
        if len(found) != self.fields:
            raise ValueError("not as many texts as were promised")
        entry = self.found.row(2 * self.fields)
        if entry == NULL:
            raise MemoryError
        for field in range(self.fields):
            entry[2 * field], entry[2 * field + 1] = len(self.held), -1
            if found[field] is not None:
                entry[2 * field + 1] = len(found[field])
                self.held += found[field]
        self.size += 1

    cdef uint64_t hash_of(self, const char *text, Py_ssize_t size) noexcept nogil:
        """Return a hash with a secret of this process, eight bytes at a time."""
        cdef uint64_t word, found = self.seed ^ (<uint64_t> size * MIX)
        while size > 0:
            word = 0
            memcpy(&word, text, 8 if size >= 8 else size)
            word *= MIX
            word = (word ^ (word >> 47)) * MIX
            found = (found ^ word) * MIX
            text += 8
            size -= 8
        found = (found ^ (found >> 47)) * MIX
        return found ^ (found >> 47)


cdef uint64_t MIX = 0xC6A4A7935BD1E995
