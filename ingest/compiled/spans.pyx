# cython: language_level=3
"""Finds the spans of OTLP lines and all their values in one pass, and copies values into columns and texts."""

import os

cimport cython
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_Resize
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memchr, memcmp, memcpy, memset

cdef extern from "Python.h":
    double PyOS_string_to_double(const char *text, char **end, object overflow) except? -1.0

ctypedef const unsigned char *Mark

cpdef enum:
    # A span: line, resource, first value, values; trace id in two numbers, span id, id of the parent, start, end; where
    # the texts of trace id, span id, parent, start, end and name stand (-1 for none), the length of the name (-1 for
    # none), and whether it is escaped; where the span stands, and its length; whether it
    # failed or lost attributes; a number that is the same for spans of the same keys and kinds of values, in the same
    # order, and else not; 0 or less for one that has none.
    SPAN_COLUMNS = 22
    # A value: where its key stands, the length of that, where it stands itself, its length, and its kind.
    VALUE_COLUMNS = 5
    # A resource or a scope: line, where its JSON stands, and the length of that, 0 for none.
    ENVELOPE_COLUMNS = 3

cpdef enum:
    TEXT = 1
    ESCAPED_TEXT = 2
    COUNT_TEXT = 3  # a whole number in a string, or any other string that says to be one
    COUNT = 4
    DECIMAL = 5
    TRUTH = 6

cpdef enum:
    HAS_PARENT = 1
    HAS_END = 2
    HAS_NAME = 4

cdef enum:
    LONGEST_NUMBER = 40


include "spans_json.pxi"
include "spans_values.pxi"
include "spans_fields.pxi"
include "spans_scanning.pxi"
include "spans_texts.pxi"
include "spans_known.pxi"


cdef inline int fields_of(const int64_t[::1] span) noexcept:
    """Return which fields a span has."""
    return HAS_PARENT * (span[7] != 0) | HAS_END * (span[9] != 0) | HAS_NAME * (span[16] >= 0)


cdef class _Met:
    """The span of a block that was met last of each number that the scanner gave, and what else is part of its shape."""

    cdef int64_t[MOST_WRITTEN] rows  # which span it is, counted from 1
    cdef int64_t[MOST_WRITTEN] firsts  # where the places of its values begin that are part of the shape
    cdef int64_t[MOST_WRITTEN] counts  # how many these are
    cdef _Rows places

    def __cinit__(self):
        memset(self.rows, 0, sizeof(self.rows))
        self.places = _Rows()

    cdef Py_ssize_t like(
        self, Texts texts, const int64_t[:, ::1] spans, const int64_t[:, ::1] values, Py_ssize_t row
    ) except -2:
        """Return a span before this one that has the same shape, -1 when none is known."""
        cdef int64_t number = spans[row, 21]
        cdef int64_t one, other
        cdef Py_ssize_t at, like
        if not 0 < number < MOST_WRITTEN or self.rows[number] == 0:
            return -1
        like = self.rows[number] - 1
        if spans[row, 20] or spans[row, 3] != spans[like, 3] or fields_of(spans[row]) != fields_of(spans[like]):
            return -1
        for at in range(self.firsts[number], self.firsts[number] + self.counts[number]):
            one, other = spans[row, 2] + self.places.numbers[at], spans[like, 2] + self.places.numbers[at]
            if values[one, 3] != values[other, 3] or memcmp(
                texts.at(values[one, 2], values[one, 3]), texts.at(values[other, 2], values[other, 3]), values[one, 3]
            ):
                return -1
        return like

    cdef note(self, const int64_t[:, ::1] spans, Py_ssize_t row, fixed):
        """Take note of a span with the places of the values that are part of its shape; None for those of no shape."""
        cdef int64_t number = spans[row, 21]
        cdef int64_t *noted
        if fixed is None or not 0 < number < MOST_WRITTEN:
            return
        if self.rows[number] == 0:
            self.firsts[number], self.counts[number] = self.places.size, len(fixed)
            for place in fixed:
                noted = self.places.row(1)
                if noted == NULL:
                    raise MemoryError
                if not 0 <= place < spans[row, 3]:
                    raise IndexError("a value that the span does not have")
                noted[0] = place
        self.rows[number] = row + 1


cdef class Shapes:
    """How spans are written: by which keys and constant values they have, in which order."""

    cdef object learn_keys, learn_span
    cdef object fixed  # the places of the values that are part of the shape of the span looked at last, or None
    cdef dict known
    cdef Py_ssize_t size, most
    cdef bytearray key

    def __init__(self, learn_keys, learn_span, Py_ssize_t most):
        """Ask once for each list of keys which values are part of the shape, and once for each shape for its number.

        `learn_keys(keys)` gives the places of these values, or None; `learn_span(keys, kinds, fields, constants)` the
        number of a shape, -1 for none. `fields` says which the span has of parent, end and name. So many are
        remembered.
        """
        self.learn_keys, self.learn_span = learn_keys, learn_span
        self.known, self.size, self.most = {}, 0, most
        self.key = bytearray()

    def numbers(self, Texts texts, const int64_t[:, ::1] spans, const int64_t[:, ::1] values, int64_t[::1] out) -> None:
        """Tell the number of each span's shape."""
        cdef Py_ssize_t row, like
        cdef _Met met = _Met()
        if out.shape[0] != spans.shape[0] or spans.shape[1] != SPAN_COLUMNS or values.shape[1] != VALUE_COLUMNS:
            raise IndexError("other rows")
        for row in range(spans.shape[0]):
            if not 0 <= spans[row, 2] <= values.shape[0] - spans[row, 3] or spans[row, 3] < 0:
                raise IndexError("values outside the block")
            like = met.like(texts, spans, values, row)
            if like >= 0:
                out[row] = out[like]
                continue
            out[row] = self.number_of(texts, values[spans[row, 2]:spans[row, 2] + spans[row, 3]], spans[row])
            met.note(spans, row, self.fixed)

    cdef int64_t number_of(self, Texts texts, const int64_t[:, ::1] values, const int64_t[::1] span) except? -2:
        cdef Py_ssize_t row
        self.fixed = None
        if span[20]:
            return -1
        key = self.key_of(texts, values)
        entry = self.known.get(key)
        if entry is None:
            if self.size > self.most:
                return -1
            self.size += 1
            keys = [part[1:].decode() for part in key.split(b"\x1f")[1:]]
            entry = self.known[key] = (self.learn_keys(keys), {})
        self.fixed, numbers = entry
        if self.fixed is None:
            return -1
        constants = [fields_of(span)]
        for row in self.fixed:
            constants.append(PyBytes_FromStringAndSize(texts.at(values[row, 2], values[row, 3]), values[row, 3]))
        named = tuple(constants)
        number = numbers.get(named)
        if number is None:
            if self.size > self.most:
                return -1
            self.size += 1
            keys = [part[1:].decode() for part in key.split(b"\x1f")[1:]]
            kinds = [values[row, 4] for row in range(values.shape[0])]
            number = numbers[named] = self.learn_span(keys, kinds, named[0], dict(zip(self.fixed, named[1:])))
        return number

    cdef bytes key_of(self, Texts texts, const int64_t[:, ::1] values):
        """Return the keys of a span, each with what kind of value it has before it, behind a mark that no key has."""
        cdef Py_ssize_t row, size = 0
        cdef char *at
        for row in range(values.shape[0]):
            size += values[row, 1] + 2
        key = PyBytes_FromStringAndSize(NULL, size)
        at = PyBytes_AS_STRING(key)
        for row in range(values.shape[0]):
            at[0] = 0x1F
            at[1] = <char> (48 + (TEXT if values[row, 4] == ESCAPED_TEXT else values[row, 4]))
            memcpy(at + 2, texts.at(values[row, 0], values[row, 1]), values[row, 1])
            at += values[row, 1] + 2
        return key
