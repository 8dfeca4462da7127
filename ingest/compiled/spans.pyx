# cython: language_level=3
"""Finds the spans of OTLP lines and all their values in one pass, and copies values into columns and texts."""

import os

from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_Resize
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memchr, memcmp, memcpy

cdef extern from "Python.h":
    double PyOS_string_to_double(const char *text, char **end, object overflow) except? -1.0

ctypedef const unsigned char *Mark

cpdef enum:
    # A span: line, resource, first value, values; trace id in two numbers, span id, id of the parent, start, end; where
    # the texts of trace id, span id, parent, start, end and name stand (-1 for none), the length of the name (-1 for
    # none), and whether it is escaped; where the span stands, and its length; whether it
    # failed or lost attributes.
    SPAN_COLUMNS = 21
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


include "spans_scanning.pxi"
include "spans_texts.pxi"
include "spans_known.pxi"


cdef class Shapes:
    """How spans are written: by which keys and constant values they have, in which order."""

    cdef object learn_keys, learn_span
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
        cdef Py_ssize_t row
        if out.shape[0] != spans.shape[0] or spans.shape[1] != SPAN_COLUMNS or values.shape[1] != VALUE_COLUMNS:
            raise IndexError("other rows")
        for row in range(spans.shape[0]):
            if not 0 <= spans[row, 2] <= values.shape[0] - spans[row, 3] or spans[row, 3] < 0:
                raise IndexError("values outside the block")
            out[row] = self.number_of(texts, values[spans[row, 2]:spans[row, 2] + spans[row, 3]], spans[row])

    cdef int64_t number_of(self, Texts texts, const int64_t[:, ::1] values, const int64_t[::1] span) except? -2:
        cdef Py_ssize_t row
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
        fixed, numbers = entry
        if fixed is None:
            return -1
        constants = [HAS_PARENT * (span[7] != 0) | HAS_END * (span[9] != 0) | HAS_NAME * (span[16] >= 0)]
        for row in fixed:
            constants.append(PyBytes_FromStringAndSize(texts.at(values[row, 2], values[row, 3]), values[row, 3]))
        named = tuple(constants)
        number = numbers.get(named)
        if number is None:
            if self.size > self.most:
                return -1
            self.size += 1
            keys = [part[1:].decode() for part in key.split(b"\x1f")[1:]]
            kinds = [values[row, 4] for row in range(values.shape[0])]
            number = numbers[named] = self.learn_span(keys, kinds, named[0], dict(zip(fixed, named[1:])))
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
