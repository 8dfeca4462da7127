# A question as letters, words and pieces. Read into `questions.pyx`.

cdef enum:
    MOST_WORDS = 64
    MOST_PIECES = 200  # of MOST_LETTERS with a space between two
    AT_ONCE = 8  # letters that are copied together, which may be more than are asked for
    KEYED = 3
    LETTER_BITS = 21
    SLOTS = 8192
    SHIFT = 51  # leaves a slot of a hash
    SUFFIXES = 16
    LONGEST_SUFFIX = 8
    LOWERED = 0x3000  # letters up to here are looked up; of those beyond, these are left to the plain way:
    CASED_FROM = 0x10400
    CASED_TO = 0x1EFFF

# What a letter of ASCII is.
cdef enum:
    NO_WORD = 1
    RETRY_MARK = 2
    ENDS_SUFFIX = 4

# What a word is: the bits of `pair_features.Trait`.
cdef enum:
    CONTENT = 1
    POINTS = 2
    FOLLOWS_ON = 4
    INTERJECTION = 8
    WHAT = 16
    ABOUT = 32
    TELL = 64
    ME = 128
    OPENS = 256
    ASKING_SHIFT = 12

cdef uint32_t CAPITAL_SIGMA = 0x3A3
cdef extern from *:
    """
    #define SEED 0xCBF29CE484222325ULL
    #define FACTOR 0x9E3779B97F4A7C15ULL
    """
    const uint64_t SEED
    const uint64_t FACTOR


cdef struct Letters:
    uint32_t[MOST_LETTERS + AT_ONCE] letters
    int length


cdef struct Piece:
    uint64_t key  # its first KEYED letters, as a number that sorts alike
    int start
    int end


cdef struct Question:
    uint32_t letters[MOST_LETTERS + AT_ONCE]
    int length
    uint64_t stems[MOST_WORDS]
    int traits[MOST_WORDS]
    int words
    uint64_t fresh  # bit i where the stem of word i did not stand before
    uint64_t content
    uint64_t new_content  # content words whose stem did not stand before among these
    uint64_t bits  # bit h for a word whose hash begins with h
    uint64_t content_bits
    # All below is known once a question is studied.
    bint is_studied
    uint64_t names  # fresh words that are no pronouns
    int asks
    bint points
    bint goes_on
    Piece pieces[MOST_PIECES]  # in order of their letters
    int count
    Letters sorted  # the pieces with a space between two


cdef struct Known:
    uint64_t keys[SLOTS]
    int traits[SLOTS]
    uint64_t stems[SLOTS]
    uint8_t kinds[ASCII]
    uint32_t lowered[LOWERED]  # 0 where lower case is more than a letter, or not always the same
    uint32_t suffixes[SUFFIXES][LONGEST_SUFFIX]
    uint32_t instead[SUFFIXES]
    int sizes[SUFFIXES]
    uint32_t ends[SUFFIXES]
    int count
    int shortest
    uint64_t pointing_bits  # bit h for a pronoun whose hash begins with h


cdef class Vocabulary:
    """The words that features ask for, with their Trait bits; any other word is content.

    `suffixes` maps an ending to what stands in its place (a letter or nothing), `shortest` is what must be left.
    """

    cdef Known known

    def __init__(self, dict traits, dict suffixes, int shortest, str no_word, str retry_marks):
        if len(traits) > SLOTS // 2 or len(suffixes) > SUFFIXES or max(map(len, suffixes)) > LONGEST_SUFFIX:
            raise ValueError(f"{len(traits)} words and {len(suffixes)} suffixes are more than fit.")
        for number, (suffix, instead) in enumerate(suffixes.items()):
            for place, letter in enumerate(suffix):
                self.known.suffixes[number][place] = ord(letter)
            self.known.sizes[number] = len(suffix)
            self.known.ends[number] = ord(suffix[len(suffix) - 1])
            self.known.kinds[ord(suffix[len(suffix) - 1])] |= ENDS_SUFFIX
            self.known.instead[number] = ord(instead) if instead else 0
        self.known.count, self.known.shortest = len(suffixes), shortest
        for code in range(1, LOWERED):
            letter = chr(code).lower()
            self.known.lowered[code] = ord(letter) if len(letter) == 1 and code != CAPITAL_SIGMA else 0
        for letter in no_word:
            self.known.kinds[ord(letter)] |= NO_WORD
        for letter in retry_marks:
            self.known.kinds[ord(letter)] |= RETRY_MARK
        for word, value in traits.items():
            self.put(word, value)

    cdef put(self, str word, int traits):
        """Keep a word at the first slot from its hash on that is free."""
        cdef uint64_t[MOST_LETTERS + 1] hashes
        cdef uint32_t[MOST_LETTERS] letters
        cdef int place, slot
        hashes[0] = SEED
        for place, letter in enumerate(word[:MOST_LETTERS]):
            letters[place] = ord(letter)
            hashes[place + 1] = longer(hashes[place], letters[place])
        slot = slot_of(hashes[len(word)], &self.known)
        self.known.keys[slot], self.known.traits[slot] = hashes[len(word)], traits
        if traits & POINTS:
            self.known.pointing_bits |= <uint64_t>1 << (hashes[len(word)] >> 58)
        self.known.stems[slot] = stem(letters, len(word), hashes, &self.known)


cdef inline uint64_t longer(uint64_t key, uint32_t letter) noexcept nogil:
    """Return the hash of a word that has one more letter."""
    return (key ^ letter) * FACTOR


cdef inline int slot_of(uint64_t key, const Known* known) noexcept nogil:
    """Return the slot of a word, or one with the key 0 where it is not known."""
    cdef int slot = <int>(key >> SHIFT)
    while known.keys[slot] and known.keys[slot] != key:
        slot = (slot + 1) % SLOTS
    return slot


cdef inline bint is_in_word(uint32_t letter, const Known* known) noexcept nogil:
    return letter >= ASCII or not known.kinds[letter] & NO_WORD


cdef uint64_t stem(const uint32_t* word, int size, const uint64_t* hashes, const Known* known) noexcept nogil:
    """Return the hash of a word without its ending, as `pair_features.stem` takes it off.

    `hashes[n]` is that of the first n letters.
    """
    cdef int number, place
    cdef uint32_t instead = 0
    cdef uint32_t end = word[size - 1]
    for number in range(known.count if end < ASCII and known.kinds[end] & ENDS_SUFFIX else 0):
        if end != known.ends[number] or size - known.sizes[number] < known.shortest:
            continue
        for place in range(known.sizes[number]):
            if word[size - known.sizes[number] + place] != known.suffixes[number][place]:
                break
        else:
            size -= known.sizes[number]
            instead = known.instead[number]
            break
    if instead:
        return hashes[size] if word[size - 1] == instead else longer(hashes[size], instead)
    if size > known.shortest and word[size - 1] == c"e":
        size -= 1
    if size > known.shortest and word[size - 1] == word[size - 2] and word[size - 1] not in (c"s", c"l"):
        size -= 1
    return hashes[size]


cdef bint read(Question* q, const uint8_t* text, int size, const Known* known) noexcept nogil:
    """Read a question in lower case; False where it is long, broken or oddly spaced, and left to the plain way."""
    cdef uint64_t[MOST_LETTERS + 1] hashes
    cdef uint32_t letter
    cdef uint64_t key = SEED
    cdef int place = 0, length = 0, word = 0  # letters of the question and of the word that is being read
    q.words = q.fresh = q.content = q.new_content = q.bits = q.content_bits = q.is_studied = 0
    hashes[0] = SEED
    while place < size:
        letter = text[place]
        if letter >= ASCII:
            letter = letter_beyond_ascii(text, size, &place)
        elif letter == c" " and (length == 0 or place + 1 == size or text[place - 1] == c" "):
            return False
        letter = known.lowered[letter] if letter < LOWERED else letter
        if letter < c" " or length == MOST_LETTERS:
            return False
        q.letters[length] = letter
        length += 1
        place += 1
        if is_in_word(letter, known):
            key = longer(key, letter)
            word += 1
            hashes[word] = key
        elif word:
            if not add_word(q, &q.letters[length - 1 - word], word, hashes, known):
                return False
            word, key = 0, SEED
    q.length = length
    return word == 0 or add_word(q, &q.letters[length - word], word, hashes, known)


cdef uint32_t letter_beyond_ascii(const uint8_t* text, int size, int* place) noexcept nogil:
    """Read a letter up to its last byte; 0 where it is broken, a space, or may be upper case that is not looked up."""
    cdef uint32_t letter = text[place[0]], follower
    cdef int more = 1 if letter >> 5 == 6 else 2 if letter >> 4 == 14 else 3 if letter >> 3 == 30 else size
    if place[0] + more >= size:
        return 0
    letter &= 0x3F >> more
    for _ in range(more):
        place[0] += 1
        follower = text[place[0]]
        if follower >> 6 != 2:
            return 0
        letter = letter << 6 | (follower & 0x3F)
    if letter < ASCII or (more > 1 and letter < 0x800) or (more > 2 and letter < 0x10000) or letter > 0x10FFFF:
        return 0
    return 0 if is_foreign_space(letter) or (letter >= LOWERED and is_cased(letter)) else letter


cdef inline bint is_cased(uint32_t letter) noexcept nogil:
    """Tell whether a letter from LOWERED on may be an upper case one."""
    return (
        CASED_FROM <= letter <= CASED_TO or 0xA640 <= letter <= 0xA7FF or 0xAB30 <= letter <= 0xABBF
        or 0xFF21 <= letter <= 0xFF3A
    )


cdef inline bint is_foreign_space(uint32_t letter) noexcept nogil:
    return (
        letter == 0x85 or letter == 0xA0 or letter == 0x1680 or 0x2000 <= letter <= 0x200A
        or letter == 0x2028 or letter == 0x2029 or letter == 0x202F or letter == 0x205F or letter == 0x3000
    )


cdef bint add_word(
    Question* q, const uint32_t* word, int size, const uint64_t* hashes, const Known* known
) noexcept nogil:
    """Add a word, `hashes[n]` being the hash of its first n letters; False where there are too many."""
    cdef int slot = slot_of(hashes[size], known), traits = CONTENT
    cdef uint64_t word_stem, before, bit, place
    if q.words == MOST_WORDS:
        return False
    if known.keys[slot]:
        traits, word_stem = known.traits[slot], known.stems[slot]
    else:
        word_stem = stem(word, size, hashes, known)
    q.stems[q.words], q.traits[q.words] = word_stem, traits
    before, bit, place = places_of(word_stem, q), <uint64_t>1 << (word_stem >> 58), <uint64_t>1 << q.words
    q.bits |= bit
    if not before:
        q.fresh |= place
    if traits & CONTENT:
        if not before & q.content:
            q.new_content |= place
        q.content |= place
        q.content_bits |= bit
    q.words += 1
    return True


cdef inline uint64_t places_of(uint64_t stem, Question* q) noexcept nogil:
    """Return a bit for each word that has this stem."""
    cdef uint64_t bits = 0
    cdef int word
    if not q.bits >> (stem >> 58) & 1:
        return 0
    for word in range(q.words):
        bits |= <uint64_t>(q.stems[word] == stem) << word
    return bits
