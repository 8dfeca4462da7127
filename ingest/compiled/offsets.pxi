# What a loop asks of the offsets of an Arrow column before it reads. Included where it is needed.

cdef bint in_bounds(const int32_t[::1] offsets, Py_ssize_t size) noexcept nogil:
    """Tell whether the offsets rise and stay within what they cut."""
    cdef Py_ssize_t place
    if offsets.shape[0] == 0 or offsets[0] < 0 or offsets[offsets.shape[0] - 1] > size:
        return False
    for place in range(1, offsets.shape[0]):
        if offsets[place] < offsets[place - 1]:
            return False
    return True
