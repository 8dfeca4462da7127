# What was read before, by a digest of its letters. Read into `declining.pyx`.

cdef enum:
    SLOTS = 65536
    KIND = 7  # the bits of a slot that are one more than the kind


cdef struct Slot:
    uint64_t first, second  # the digest, but for KIND


cdef class Memory:
    """How answers declined that were read before, for one thread at a time: many are given again, word by word.

    It goes by 125 bits of their SipHash under a key of its own, so that none can be made to be taken for another.
    """

    cdef uint64_t[2] key
    cdef Slot[SLOTS] slots

    def __init__(self):
        self.key = [int.from_bytes(urandom(8), "little"), int.from_bytes(urandom(8), "little")]


# As SipHash begins, for 128 bits.
cdef uint64_t BEGIN_A = 0x736F6D6570736575
cdef uint64_t BEGIN_B = 0x646F72616E646F83
cdef uint64_t BEGIN_C = 0x6C7967656E657261
cdef uint64_t BEGIN_D = 0x7465646279746573


cdef struct Sip:
    uint64_t a, b, c, d


cdef inline uint64_t turned(uint64_t word, int bits) noexcept nogil:
    return word << bits | word >> (64 - bits)


cdef inline void mix(Sip* s, int rounds) noexcept nogil:
    cdef int each
    for each in range(rounds):
        s.a += s.b
        s.b = turned(s.b, 13) ^ s.a
        s.a = turned(s.a, 32)
        s.c += s.d
        s.d = turned(s.d, 16) ^ s.c
        s.a += s.d
        s.d = turned(s.d, 21) ^ s.a
        s.c += s.b
        s.b = turned(s.b, 17) ^ s.c
        s.c = turned(s.c, 32)


cdef inline void take(Sip* s, uint64_t word) noexcept nogil:
    s.d ^= word
    mix(s, 1)
    s.a ^= word


cdef Slot digest(const uint64_t* key, const uint8_t* text, int size) noexcept nogil:
    """Return SipHash-1-3 of 128 bits."""
    cdef Sip s = Sip(key[0] ^ BEGIN_A, key[1] ^ BEGIN_B, key[0] ^ BEGIN_C, key[1] ^ BEGIN_D)
    cdef uint64_t word = 0
    cdef int place
    cdef Slot found
    for place in range(0, size - 7, 8):
        memcpy(&word, text + place, 8)
        take(&s, word)
    word = 0
    if size % 8:
        memcpy(&word, text + size - size % 8, size % 8)
    take(&s, word | <uint64_t>size << 56)
    s.c ^= 0xEE
    mix(&s, 3)
    found.first = s.a ^ s.b ^ s.c ^ s.d
    s.b ^= 0xDD
    mix(&s, 3)
    found.second = (s.a ^ s.b ^ s.c ^ s.d) & ~<uint64_t>KIND
    return found
