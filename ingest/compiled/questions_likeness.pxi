# How alike two questions are: the ratios of rapidfuzz, in single precision as it gives them. Read into `questions.pyx`.

cdef enum:
    BLOCKS = 7  # of 64 letters, for MOST_LETTERS
    ROWS = 528  # ASCII and MOST_LETTERS


cdef struct Letters:
    uint32_t[MOST_LETTERS] letters
    int length


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
    while first < a.pieces or second < b.pieces:
        order = 1 if first == a.pieces else -1 if second == b.pieces else order_of(a, first, b, second)
        if order == 0:
            both += a.ends[first] - a.starts[first] + (both > 0)
        elif order < 0:
            append(&only_a, a, first)
        else:
            append(&only_b, b, second)
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
    while piece < q.pieces and order_of(q, piece - 1, q, piece) == 0:
        piece += 1
    return piece


cdef inline double share_left(int changes, int letters) noexcept nogil:
    """Return how many per cent of the letters need no change."""
    return 100.0 - 100.0 * changes / letters if letters else 100.0


cdef void sort_pieces(Question* q) noexcept nogil:
    """Sort by insertion: there are few."""
    cdef int number, place
    for number in range(1, q.pieces):
        place = number
        while place and order_of(q, place - 1, q, place) > 0:
            q.starts[place - 1], q.starts[place] = q.starts[place], q.starts[place - 1]
            q.ends[place - 1], q.ends[place] = q.ends[place], q.ends[place - 1]
            place -= 1


cdef inline int order_of(Question* a, int first, Question* b, int second) noexcept nogil:
    """Return which of two pieces comes first: below, at or above zero."""
    cdef int size_a = a.ends[first] - a.starts[first], size_b = b.ends[second] - b.starts[second], place
    cdef const uint32_t* in_a = &a.letters[a.starts[first]]
    cdef const uint32_t* in_b = &b.letters[b.starts[second]]
    for place in range(min(size_a, size_b)):
        if in_a[place] != in_b[place]:
            return -1 if in_a[place] < in_b[place] else 1
    return size_a - size_b


cdef inline void append(Letters* joined, Question* q, int piece) noexcept nogil:
    """Add a piece after a space; never more than the letters of a question."""
    cdef int size = q.ends[piece] - q.starts[piece]
    if joined.length:
        joined.letters[joined.length] = c" "
        joined.length += 1
    memcpy(&joined.letters[joined.length], &q.letters[q.starts[piece]], size * sizeof(uint32_t))
    joined.length += size


cdef double sorted_words_alike(Question* a, Question* b, Patterns* patterns) noexcept nogil:
    """Return rapidfuzz's token_sort_ratio, 0 to 1."""
    cdef Letters sorted_a, sorted_b
    cdef int piece
    sorted_a.length = sorted_b.length = 0
    for piece in range(a.pieces):
        append(&sorted_a, a, piece)
    for piece in range(b.pieces):
        append(&sorted_b, b, piece)
    return letters_alike(sorted_a.letters, sorted_a.length, sorted_b.letters, sorted_b.length, patterns)


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
    cdef uint64_t[BLOCKS] gone
    cdef uint64_t kept, carry, over, total
    cdef int blocks = (length_a + 63) // 64, place, block, row, common = 0
    patterns.foreigners = 0
    for place in range(length_a):
        row = row_of(a[place], patterns)
        if row < 0:
            row = ASCII + patterns.foreigners
            patterns.foreign[patterns.foreigners] = a[place]
            patterns.foreigners += 1
        patterns.rows[row][place // 64] |= <uint64_t>1 << (place % 64)
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
    clear(a, length_a, blocks, patterns)
    return common


cdef inline int row_of(uint32_t letter, Patterns* patterns) noexcept nogil:
    """Return the row of a letter; below zero where it has none."""
    cdef int number
    if letter < ASCII:
        return letter
    for number in range(patterns.foreigners):
        if patterns.foreign[number] == letter:
            return ASCII + number
    return -1


cdef void clear(const uint32_t* a, int length, int blocks, Patterns* patterns) noexcept nogil:
    cdef int place
    for place in range(length):
        memset(patterns.rows[row_of(a[place], patterns)], 0, blocks * sizeof(uint64_t))


cdef inline int ones(uint64_t bits) noexcept nogil:
    """Count the bits that are set."""
    bits = bits - ((bits >> 1) & <uint64_t>0x5555555555555555)
    bits = (bits & <uint64_t>0x3333333333333333) + ((bits >> 2) & <uint64_t>0x3333333333333333)
    bits = (bits + (bits >> 4)) & <uint64_t>0x0F0F0F0F0F0F0F0F
    return <int>((bits * <uint64_t>0x0101010101010101) >> 56)
