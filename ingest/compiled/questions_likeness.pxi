# How alike two questions are: the ratios of rapidfuzz, in single precision as it gives them. Read into `questions.pyx`.

cdef enum:
    BLOCKS = 7  # of 64 letters, for MOST_LETTERS
    ROWS = 528  # ASCII and MOST_LETTERS


# Which letters of a text are a letter: bit i of its row for letter i. Those beyond ASCII get rows as they come.
cdef struct Patterns:
    uint64_t rows[ROWS][BLOCKS]
    uint32_t foreign[MOST_LETTERS]
    int foreigners


cdef double word_sets_alike(Question* a, Question* b, Patterns* patterns) noexcept nogil:
    """Return rapidfuzz's token_set_ratio."""
    cdef Letters only_a, only_b
    cdef int first = 0, second = 0, order, both = 0, common, apart, spaced
    cdef double best
    only_a.length = only_b.length = 0
    while first < a.count or second < b.count:
        order = 1 if first == a.count else -1
        if first < a.count and second < b.count:
            order = order_of(a, &a.pieces[first], b, &b.pieces[second])
        if order == 0:
            both += a.pieces[first].end - a.pieces[first].start + (both > 0)
        elif order < 0:
            append(&only_a, a, &a.pieces[first])
        else:
            append(&only_b, b, &b.pieces[second])
        if order <= 0:
            first = next_piece(a, first)
        if order >= 0:
            second = next_piece(b, second)
    if both and not (only_a.length and only_b.length):
        return 100.0
    common = common_letters(only_a.letters, only_a.length, only_b.letters, only_b.length, patterns)
    apart, spaced = only_a.length + only_b.length, both + (both > 0)
    best = share_left(apart - 2 * common, 2 * spaced + apart)
    if both:
        best = max(best, share_left(1 + only_a.length, 2 * both + 1 + only_a.length))
        best = max(best, share_left(1 + only_b.length, 2 * both + 1 + only_b.length))
    return <float>best


cdef inline int next_piece(Question* q, int piece) noexcept nogil:
    """Return the next piece that is another one."""
    piece += 1
    while piece < q.count and order_of(q, &q.pieces[piece - 1], q, &q.pieces[piece]) == 0:
        piece += 1
    return piece


cdef inline double share_left(int changes, int letters) noexcept nogil:
    """Return how many per cent of the letters need no change."""
    return 100.0 - 100.0 * changes / letters if letters else 100.0


cdef double letters_alike(
    const uint32_t* a, int length_a, const uint32_t* b, int length_b, Patterns* patterns
) noexcept nogil:
    """Return rapidfuzz's ratio, 0 to 1."""
    cdef int common = common_letters(a, length_a, b, length_b, patterns)
    cdef double changes = length_a + length_b - 2 * common
    return <double><float>((1.0 - changes / (length_a + length_b)) * 100.0) / 100.0


cdef int common_letters(
    const uint32_t* a, int length_a, const uint32_t* b, int length_b, Patterns* patterns
) noexcept nogil:
    """Return the length of the longest common subsequence."""
    cdef int common = 0
    while length_a and length_b and a[length_a - 1] == b[length_b - 1]:
        length_a, length_b, common = length_a - 1, length_b - 1, common + 1
    while length_a and length_b and a[0] == b[0]:
        a, b, length_a, length_b, common = a + 1, b + 1, length_a - 1, length_b - 1, common + 1
    if not length_a or not length_b:
        return common
    if length_a > length_b:
        a, b, length_a, length_b = b, a, length_b, length_a
    return common + in_order(a, length_a, b, length_b, patterns)


cdef int in_order(const uint32_t* a, int length_a, const uint32_t* b, int length_b, Patterns* patterns) noexcept nogil:
    """The bit-parallel way of Hyyrö (2004): bit i of a row is set where letter i of `a` is the row's."""
    cdef int blocks = (length_a + 63) // 64, place, row, common
    patterns.foreigners = 0
    for place in range(length_a):
        row = row_of(a[place], patterns)
        if row < 0:
            row = ASCII + patterns.foreigners
            patterns.foreign[patterns.foreigners] = a[place]
            patterns.foreigners += 1
        patterns.rows[row][place // 64] |= <uint64_t>1 << (place % 64)
    common = in_one_block(b, length_b, patterns) if blocks == 1 else in_blocks(b, length_b, blocks, patterns)
    for place in range(length_a):
        row = row_of(a[place], patterns)
        patterns.rows[row][place // 64] = 0
    return common


cdef int in_one_block(const uint32_t* b, int length_b, const Patterns* patterns) noexcept nogil:
    """Do as `in_blocks` for the most usual of texts."""
    cdef uint64_t gone = ~<uint64_t>0, kept
    cdef int place, row
    for place in range(length_b):
        row = row_of(b[place], patterns)
        if row >= 0:
            kept = gone & patterns.rows[row][0]
            gone = (gone + kept) | (gone - kept)
    return ones(~gone)


cdef int in_blocks(const uint32_t* b, int length_b, int blocks, const Patterns* patterns) noexcept nogil:
    cdef uint64_t[BLOCKS] gone
    cdef uint64_t kept, carry, over, total
    cdef int place, block, row, common = 0
    memset(gone, 0xFF, sizeof(gone))
    for place in range(length_b):
        row = row_of(b[place], patterns)
        if row < 0:
            continue
        carry = 0
        for block in range(blocks):
            kept = gone[block] & patterns.rows[row][block]
            total = gone[block] + kept
            over = total < kept
            total += carry
            carry = over | (total < carry)
            gone[block] = total | (gone[block] - kept)
    for block in range(blocks):
        common += ones(~gone[block])
    return common


cdef inline int row_of(uint32_t letter, const Patterns* patterns) noexcept nogil:
    """Return the row of a letter; below zero where it has none."""
    cdef int number
    if letter < ASCII:
        return letter
    for number in range(patterns.foreigners):
        if patterns.foreign[number] == letter:
            return ASCII + number
    return -1


cdef inline int ones(uint64_t bits) noexcept nogil:
    """Count the bits that are set."""
    bits = bits - ((bits >> 1) & <uint64_t>0x5555555555555555)
    bits = (bits & <uint64_t>0x3333333333333333) + ((bits >> 2) & <uint64_t>0x3333333333333333)
    bits = (bits + (bits >> 4)) & <uint64_t>0x0F0F0F0F0F0F0F0F
    return <int>((bits * <uint64_t>0x0101010101010101) >> 56)
