# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Pairs of questions measured straight from the bytes of Arrow columns, without the lock of the interpreter.

Features are those of `ingest.signals.pair_features`, and the three ratios those of rapidfuzz, bit by bit; tests hold
both. A question is read into a `Question` on the stack: its letters, its words by a 64-bit hash of their stems (two of
one hash are not expected in a lifetime), and its pieces, which is what stands between spaces.
"""

from libc.math cimport exp, fabs, floor, log, rint
from libc.stdint cimport int8_t, int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

cdef enum:
    MOST_LETTERS = 400
    ASCII = 128
    FEATURES = 17
    LONGEST_OPENING = 6  # letters that a retry may add in front, `hm` aside, which some hum long

# What is said of a pair, added up.
cdef enum:
    NO_REPHRASE = 0
    ALIKE = 1
    TO_WEIGH = 2
    MAY_BE_REPEATED = 4
    UNREAD = 8
    REPEATED = 16

# What it comes to: places in `rephrasing.KINDS`, or one of the last two.
cdef enum:
    RESTATED = 0
    REWORDED = 1
    REPEATED_KIND = 3
    NO_KIND = -1
    LEFT_TO_PLAIN_WAY = -2

cdef double NEARLY_BETWEEN = 1e-6  # as in `rephrasing`: of a thousandth

include "offsets.pxi"
include "questions_words.pxi"
include "questions_study.pxi"
include "questions_likeness.pxi"


cdef struct Side:
    Question* question
    const uint8_t* text
    int size
    bint is_read


cdef struct Bars:
    double hopeless
    double may_be_same
    double nearly_all


def measure_pairs(
    const uint8_t[::1] earlier,
    const int32_t[::1] earlier_offsets,
    const uint8_t[::1] later,
    const int32_t[::1] later_offsets,
    Vocabulary vocabulary,
    Bars bars,
    uint8_t[::1] verdicts,
    double[::1] word_sets,
    double[:, ::1] features,
):
    """Measure pairs of texts in UTF-8, each given as Arrow gives a column; an empty text is no part of a pair.

    Fills `verdicts` with what is said of each pair, `word_sets` with rapidfuzz's token_set_ratio where it was needed,
    and a row of `features`, in the order of LEXICAL_FEATURES, for each pair to be weighed; returns how many these are.
    """
    cdef const Known* known = &vocabulary.known
    cdef Py_ssize_t pairs = verdicts.shape[0], pair, weighed = 0
    cdef Side first, second
    cdef Question[2] questions
    cdef Patterns patterns
    if min(earlier_offsets.shape[0], later_offsets.shape[0], word_sets.shape[0] + 1, features.shape[0] + 1) <= pairs:
        raise ValueError("the columns are of different lengths.")
    if features.shape[1] != FEATURES or not (
        in_bounds(earlier_offsets, earlier.shape[0]) and in_bounds(later_offsets, later.shape[0])
    ):
        raise ValueError("a column is not what it says.")
    memset(&patterns, 0, sizeof(patterns))
    first.question, second.question = &questions[0], &questions[1]
    first.size = second.size = 0
    first.is_read = second.is_read = False
    with nogil:
        for pair in range(pairs):
            verdicts[pair], word_sets[pair] = NO_REPHRASE, 0.0
            if earlier_offsets[pair] == earlier_offsets[pair + 1] or later_offsets[pair] == later_offsets[pair + 1]:
                continue
            first, second = second, first
            take(&first, &earlier[earlier_offsets[pair]], earlier_offsets[pair + 1] - earlier_offsets[pair], known)
            take(&second, &later[later_offsets[pair]], later_offsets[pair + 1] - later_offsets[pair], known)
            if not first.is_read or not second.is_read:
                verdicts[pair] = UNREAD
                continue
            verdicts[pair] = judge(
                first.question, second.question, known, &patterns, &bars, &word_sets[pair], &features[weighed, 0]
            )
            if verdicts[pair] & TO_WEIGH:
                weighed += 1
    return weighed


def give_verdicts(
    const uint8_t[::1] measured,
    const double[::1] word_sets,
    const double[:, ::1] features,
    const double[:, ::1] heads,
    int8_t[::1] kinds,
    double[::1] scores,
):
    """Give pairs their kind and score by what `measure_pairs` said of them; returns how many are left to the plain way.

    `heads` are the weights, intercept and threshold of the two kinds that are weighed.
    """
    cdef Py_ssize_t pairs = measured.shape[0], pair, weighed = 0, left = 0
    if min(word_sets.shape[0], kinds.shape[0], scores.shape[0]) < pairs or features.shape[1] != FEATURES:
        raise ValueError("the columns are of different lengths.")
    if heads.shape[0] != 2 or heads.shape[1] != FEATURES + 2:
        raise ValueError("the weights are not those of two kinds.")
    with nogil:
        for pair in range(pairs):
            kinds[pair], scores[pair] = NO_KIND, 0.0
            if measured[pair] & (MAY_BE_REPEATED | UNREAD):
                kinds[pair] = LEFT_TO_PLAIN_WAY
            elif measured[pair] & REPEATED:
                kinds[pair], scores[pair] = REPEATED_KIND, 1.0
            elif measured[pair] & ALIKE:
                kinds[pair] = kind_by_score(RESTATED, word_sets[pair] / 100.0, &scores[pair])
            elif measured[pair] & TO_WEIGH and weighed < features.shape[0]:
                kinds[pair] = weigh(&features[weighed, 0], &heads[0, 0], &heads[1, 0], &scores[pair])
            if measured[pair] & TO_WEIGH:
                weighed += 1
            left += kinds[pair] == LEFT_TO_PLAIN_WAY
    return left


cdef int weigh(const double* row, const double* restated, const double* reworded, double* score) noexcept nogil:
    cdef double as_restated = margin(row, restated), as_reworded = margin(row, reworded)
    cdef double best = max(as_restated, as_reworded)
    if fabs(best) < NEARLY_BETWEEN:
        return LEFT_TO_PLAIN_WAY
    if best < 0:
        return NO_KIND
    return kind_by_score(RESTATED if as_restated >= as_reworded else REWORDED, 0.5 + best / 2, score)


cdef double margin(const double* row, const double* head) noexcept nogil:
    """Return how far a probability lies above the threshold, as a share of the way to 1; negative below it."""
    cdef double logit = head[FEATURES], threshold = head[FEATURES + 1]
    cdef int feature
    for feature in range(FEATURES):
        logit += row[feature] * head[feature]
    return (1.0 / (1.0 + exp(-logit)) - threshold) / (1.0 - threshold)


cdef inline int kind_by_score(int kind, double exact, double* score) noexcept nogil:
    """Round a score to three places, unless it lies between two."""
    cdef double thousands = exact * 1000.0
    if fabs(thousands - floor(thousands) - 0.5) < NEARLY_BETWEEN:
        return LEFT_TO_PLAIN_WAY
    score[0] = rint(thousands) / 1000.0
    return kind


cdef void take(Side* side, const uint8_t* text, int size, const Known* known) noexcept nogil:
    """Read a text, unless it is the one that was read last: in a session one's later is the next one's earlier."""
    if size == side.size and memcmp(text, side.text, size) == 0:
        return
    side.text, side.size = text, size
    side.is_read = read(side.question, text, size, known)


cdef int judge(
    Question* a,
    Question* b,
    const Known* known,
    Patterns* patterns,
    const Bars* bars,
    double* word_sets,
    double* row,
) noexcept nogil:
    """Measure as much of a pair as it needs: most share no content word."""
    cdef int both, verdict = NO_REPHRASE
    if are_same(a, b):
        word_sets[0] = 100.0
        return REPEATED
    if not may_share_content(a, b):
        return NO_REPHRASE
    study(a, known)
    study(b, known)
    both = shared_content(a, b)
    word_sets[0] = word_sets_alike(a, b, patterns)
    if word_sets[0] >= bars.nearly_all:
        verdict = ALIKE
    elif word_sets[0] >= bars.hopeless:
        verdict = TO_WEIGH
        row[0] = word_sets[0] / 100.0
        row[1] = letters_alike(a.sorted.letters, a.sorted.length, b.sorted.letters, b.sorted.length, patterns)
        row[2] = letters_alike(a.letters, a.length, b.letters, b.length, patterns)
        count_features(a, b, both, &row[3])
    if word_sets[0] >= bars.may_be_same and may_be_repeated(a, b, known):
        verdict |= MAY_BE_REPEATED
    return verdict


cdef inline bint are_same(Question* a, Question* b) noexcept nogil:
    return a.length == b.length and memcmp(a.letters, b.letters, a.length * sizeof(uint32_t)) == 0


cdef bint may_share_content(Question* a, Question* b) noexcept nogil:
    """Tell whether two questions share a content word, or one of them has none."""
    cdef int word
    if not a.content or not b.content:
        return True
    if not a.content_bits & b.content_bits:
        return False
    for word in range(a.words):
        if a.content >> word & 1 and places_of(a.stems[word], b) & b.content:
            return True
    return False


cdef int shared_content(Question* a, Question* b) noexcept nogil:
    """Return how many content words, each counted once, stand in both."""
    cdef int word, both = 0
    for word in range(a.words):
        if a.new_content >> word & 1 and places_of(a.stems[word], b) & b.content:
            both += 1
    return both


cdef void count_features(Question* a, Question* b, int both, double* row) noexcept nogil:
    """Fill in what is counted in words, in the order of `pair_features.COUNTED_FEATURES`."""
    cdef uint64_t gone = ~<uint64_t>0, alike
    cdef int of_a = ones(a.new_content), of_b = ones(b.new_content), named = ones(a.names), names_kept = 0, word
    for word in range(a.words):
        alike = places_of(a.stems[word], b)
        if alike and a.names >> word & 1:
            names_kept += 1
        alike &= gone
        gone = (gone + alike) | (gone - alike)
    named = max(named, 1)
    row[0] = <double>both / max(of_a + of_b - both, 1)
    row[1] = <double>names_kept / named
    row[2] = <double>both / max(min(of_a, of_b), 1)
    row[3] = <double>both / max(of_a, 1)
    row[4] = <double>both / max(of_b, 1)
    row[5] = min(1.0, <double>ones(~gone) / named)
    row[6] = a.asks != 0 if a.asks == b.asks else 0
    row[7] = a.points
    row[8] = b.points
    row[9] = a.points and not b.points
    row[10] = min(b.words, 30) / 10.0
    row[11] = log((1.0 + b.words) / (1.0 + a.words))
    row[12] = min(of_a, 8) / 8.0
    row[13] = b.goes_on


cdef bint may_be_repeated(Question* a, Question* b, const Known* known) noexcept nogil:
    """Tell whether two questions could be one but for marks, spaces and an opening: their ends are alike."""
    cdef int in_a = a.length - 1, in_b = b.length - 1
    while True:
        in_a, in_b = last_letter(a, in_a, known), last_letter(b, in_b, known)
        if in_a < 0 or in_b < 0 or a.letters[in_a] != b.letters[in_b]:
            return may_be_opening(a, in_a) and may_be_opening(b, in_b)
        in_a, in_b = in_a - 1, in_b - 1


cdef inline int last_letter(Question* q, int place, const Known* known) noexcept nogil:
    """Return the place of the last letter up to `place` that is no mark; below zero where there is none."""
    while place >= 0 and q.letters[place] < ASCII and known.kinds[q.letters[place]] & RETRY_MARK:
        place -= 1
    return place


cdef inline bint may_be_opening(Question* q, int last) noexcept nogil:
    return last < LONGEST_OPENING or (q.letters[0] == c"h" and q.letters[1] == c"m")
