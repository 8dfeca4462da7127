# What is asked only of questions that share content with another: sorted pieces, for one. Read into `questions.pyx`.

cdef void study(Question* q, const Known* known) noexcept nogil:
    """Find out what is asked only of questions that share content with another."""
    cdef int word
    if q.is_studied:
        return
    q.names = q.asks = q.points = 0
    for word in range(q.words):
        if q.fresh >> word & 1 and not is_pointing(q.stems[word], known):
            q.names |= <uint64_t>1 << word
        if q.traits[word] & POINTS:
            q.points = True
        if not q.asks:
            q.asks = q.traits[word] >> ASKING_SHIFT
    q.goes_on = goes_on(q)
    cut(q)
    sort_pieces(q)
    q.is_studied = True


cdef inline bint is_pointing(uint64_t stem, const Known* known) noexcept nogil:
    return known.pointing_bits >> (stem >> 58) & 1 and known.traits[slot_of(stem, known)] & POINTS


cdef bint goes_on(Question* q) noexcept nogil:
    cdef int word, start = -1
    for word in range(q.words):
        if q.traits[word] & FOLLOWS_ON:
            return True
        if start < 0 and not q.traits[word] & INTERJECTION:
            start = word
    if not q.words:
        return False
    if q.traits[0] & OPENS or (q.words > 1 and q.traits[0] & TELL and q.traits[1] & ME):
        return True
    start = max(start, 0)
    return start + 1 < q.words and q.traits[start] & WHAT and q.traits[start + 1] & ABOUT


cdef void cut(Question* q) noexcept nogil:
    """Find the pieces."""
    cdef int place, start = 0
    q.count = 0
    for place in range(q.length + 1):
        if place < q.length and q.letters[place] != c" ":
            continue
        q.pieces[q.count].start, q.pieces[q.count].end = start, place
        q.pieces[q.count].key = key_of(&q.letters[start], place - start)
        q.count += 1
        start = place + 1


cdef inline uint64_t key_of(const uint32_t* piece, int size) noexcept nogil:
    cdef uint64_t key = 0
    cdef int place
    for place in range(KEYED):
        key = key << LETTER_BITS | (piece[place] if place < size else 0)
    return key


cdef void sort_pieces(Question* q) noexcept nogil:
    """Sort by insertion: there are few."""
    cdef int number, place
    cdef Piece piece
    q.sorted.length = 0
    for number in range(1, q.count):
        piece, place = q.pieces[number], number
        while place and order_of(q, &q.pieces[place - 1], q, &piece) > 0:
            q.pieces[place] = q.pieces[place - 1]
            place -= 1
        q.pieces[place] = piece
    for number in range(q.count):
        append(&q.sorted, q, &q.pieces[number])


cdef inline int order_of(Question* a, const Piece* first, Question* b, const Piece* second) noexcept nogil:
    """Return which of two pieces comes first: below, at or above zero."""
    cdef int size_a = first.end - first.start, size_b = second.end - second.start, place
    cdef const uint32_t* in_a = &a.letters[first.start]
    cdef const uint32_t* in_b = &b.letters[second.start]
    if first.key != second.key:
        return -1 if first.key < second.key else 1
    for place in range(KEYED, min(size_a, size_b)):
        if in_a[place] != in_b[place]:
            return -1 if in_a[place] < in_b[place] else 1
    return size_a - size_b


cdef inline void append(Letters* joined, Question* q, const Piece* piece) noexcept nogil:
    """Add a piece after a space; never more than the letters of a question."""
    cdef int place = 0, size = piece.end - piece.start
    if joined.length:
        joined.letters[joined.length] = c" "
        joined.length += 1
    while place < size:
        memcpy(&joined.letters[joined.length + place], &q.letters[piece.start + place], AT_ONCE * sizeof(uint32_t))
        place += AT_ONCE
    joined.length += size
