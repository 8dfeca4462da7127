# Programs made of expressions by `ingest.signals.phrase_programs`, followed step by step. Read into `declining.pyx`.

cdef enum:
    SYMBOLS = 257  # letters of Latin-1, and the end of a text
    CLASS_BITS = 5
    ALL_HEADS = 32768  # of three classes
    MOST_STEPS = 1000000  # for one answer; hardly any takes a tenth
    DEEPEST = 1000
    # What a step does: the numbers of `phrase_programs.Step`.
    FOUND = 0
    TEXT = 1
    ANY = 2
    BOUNDARY = 3
    BEGIN = 4
    END = 5
    MOST = 6
    LEAST = 7
    WAYS = 8
    TABLE = 9
    AHEAD = 10
    NOT_AHEAD = 11
    ANYWHERE = 1  # may a match begin, not only where a word does


cdef struct Step:
    int32_t does, given, then, other


cdef struct Programs:
    const int32_t* steps
    const uint8_t* pool
    const uint8_t* sets
    const int32_t* bounds
    const int32_t* ways
    const int32_t* tables
    const int32_t* entries
    const uint8_t* beginnings
    const uint8_t* classes


cdef struct Said:
    const uint8_t* text
    int size


cdef struct Scan:
    const Programs* programs
    Said said
    int left  # steps; below 0 nothing matches any more


cdef struct Found:
    int start, end  # -1 where nothing was


cdef uint8_t[SYMBOLS] IS_WORD
for _code in range(256):
    IS_WORD[_code] = chr(_code).isalnum() or chr(_code) == "_"
IS_WORD[256] = 0


cdef inline Said until(Said said, int end) noexcept nogil:
    return Said(said.text, end)


cdef inline Said since(Said said, int start) noexcept nogil:
    return Said(said.text + start, said.size - start)


cdef inline bint finds(Scan* scan, int program, Said said) noexcept nogil:
    return find(scan, program, said, 0).start >= 0


cdef Found find(Scan* scan, int program, Said said, int first) noexcept nogil:
    """Return the first match from the place `first` on."""
    cdef const uint8_t* beginnings = scan.programs.beginnings + program * (ALL_HEADS // 4)
    cdef const uint8_t* classes = scan.programs.classes
    cdef int entry = scan.programs.entries[program], place, end
    cdef uint32_t head
    cdef uint8_t begins
    scan.said = said
    head = classes[letter(scan, first)] << CLASS_BITS | classes[letter(scan, first + 1)]
    for place in range(first, said.size + 1):
        head = (head << CLASS_BITS | classes[letter(scan, place + 2)]) % ALL_HEADS
        begins = beginnings[head >> 2] >> (head & 3) * 2 & 3
        if place == 0 or begins and (begins & ANYWHERE or is_boundary(scan, place)):
            end = follow(scan, entry, place, 0)
            if end >= 0:
                return Found(place, end)
    return Found(-1, -1)


cdef inline int letter(const Scan* scan, int place) noexcept nogil:
    return scan.said.text[place] if place < scan.said.size else SYMBOLS - 1


cdef inline bint is_boundary(const Scan* scan, int place) noexcept nogil:
    cdef bint was_word = IS_WORD[scan.said.text[place - 1]] if place else False
    return IS_WORD[letter(scan, place)] != was_word


cdef inline const Step* step_at(const Scan* scan, int step) noexcept nogil:
    return (<const Step*>scan.programs.steps) + step


cdef inline bint is_in(const Scan* scan, int number, int letter) noexcept nogil:
    return scan.programs.sets[number * SYMBOLS + letter]


cdef inline int class_at(const Scan* scan, int place) noexcept nogil:
    return scan.programs.classes[letter(scan, place)]


cdef inline bint fits(const int32_t* classes, const Scan* scan, int place) noexcept nogil:
    """Tell whether the next two letters are of two sets of classes."""
    return <uint32_t>classes[0] >> class_at(scan, place) & <uint32_t>classes[1] >> class_at(scan, place + 1) & 1


cdef int advance(Scan* scan, int* step, int place) noexcept nogil:
    """Follow the steps that go on in one way, up to one that does not; return the place there, or -1."""
    cdef const Step* s
    cdef int each
    while True:
        scan.left -= 1
        s = step_at(scan, step[0])
        if s.does == TEXT:
            if scan.said.size - place < s.other:
                return -1
            for each in range(s.other):
                if scan.said.text[place + each] != scan.programs.pool[s.given + each]:
                    return -1
            place += s.other
        elif s.does == BOUNDARY:
            if not is_boundary(scan, place):
                return -1
        elif s.does == ANY:
            if not is_in(scan, s.given, letter(scan, place)):
                return -1
            place += 1
        elif s.does == BEGIN:
            if place:
                return -1
        elif s.does == END:
            if place != scan.said.size:
                return -1
        else:
            return place
        step[0] = s.then


cdef int follow(Scan* scan, int step, int place, int depth) noexcept nogil:
    """Return where a match ends that goes on here, or -1."""
    cdef const Step* s
    cdef int end
    if depth > DEEPEST or scan.left < 0:
        scan.left = -1
        return -1
    place = advance(scan, &step, place)
    while place >= 0:
        s = step_at(scan, step)
        if s.does == FOUND:
            return place
        if s.does == MOST:
            return take_most(scan, s, place, depth)
        if s.does == LEAST:
            return take_least(scan, s, place, depth)
        if s.does == WAYS:
            return try_ways(scan, s.given, place, depth)
        if s.does == TABLE:
            return try_ways(scan, scan.programs.tables[s.given << CLASS_BITS | class_at(scan, place)], place, depth)
        if (follow(scan, s.other, place, depth + 1) >= 0) != (s.does == AHEAD):
            return -1
        step = s.then
        place = advance(scan, &step, place)
    return -1


cdef int try_ways(Scan* scan, int ways, int place, int depth) noexcept nogil:
    """Follow the ways of a list, in turn, that may go on with the next two letters."""
    cdef const int32_t* way = scan.programs.ways + ways
    cdef const int32_t* last = way + 3 * way[0]
    cdef int first = class_at(scan, place), second = class_at(scan, place + 1), end
    way += 1
    while way < last:
        if <uint32_t>way[1] >> first & <uint32_t>way[2] >> second & 1:
            end = follow(scan, way[0], place, depth + 1)
            if end >= 0:
                return end
        way += 3
    return -1


cdef int take_most(Scan* scan, const Step* s, int place, int depth) noexcept nogil:
    cdef const int32_t* bounds = scan.programs.bounds + 4 * s.other
    cdef int least = place + bounds[0], most = place + bounds[1], end
    while place < most and is_in(scan, s.given, letter(scan, place)):
        place += 1
    while place >= least:
        if fits(bounds + 2, scan, place):
            end = follow(scan, s.then, place, depth + 1)
            if end >= 0:
                return end
        place -= 1
    return -1


cdef int take_least(Scan* scan, const Step* s, int place, int depth) noexcept nogil:
    cdef const int32_t* bounds = scan.programs.bounds + 4 * s.other
    cdef int least = place + bounds[0], most = place + bounds[1], end
    while True:
        if place >= least and fits(bounds + 2, scan, place):
            end = follow(scan, s.then, place, depth + 1)
            if end >= 0:
                return end
        if place == most or not is_in(scan, s.given, letter(scan, place)):
            return -1
        place += 1
