"""Parse LETOR text to arrays, line by line: `label qid:Q 1:0.5 2:3 … #docid = X`.

`numbers` defines a text. The kernels look for the ends of lines only, not for the end of the text.
"""

from typing import NamedTuple

import numpy as np

from letorbench.compiled.jit import kernel
from letorbench.datasets import LARGEST_LABEL, LONGEST_LABEL, LONGEST_QID, UNJUDGED
from letorbench.datasets.text.numbers import (
    BLANK,
    COLON,
    HASH,
    MINUS,
    NEWLINE,
    NEWLINES,
    NINE,
    PLUS,
    RETURN,
    TAB,
    ZERO,
    load8,
    long_number,
    places,
    short_number,
    zero_bytes,
)

EQUALS, LETTER_D = 61, 100
#: the most digits of a feature index
LONGEST_INDEX = 6
#: the characters whose newlines are counted in 16 bits
COUNTED = 1 << 13
FOUR_BYTES = np.uint64(0xFFFFFFFF)
WORD_QID = np.uint64(int.from_bytes(b"qid:", "little"))
WORD_OCID = np.uint64(int.from_bytes(b"ocid", "little"))


@kernel()
def skip_blanks(text, p):
    """Return the first position from p on that is not blank."""
    while text[p] == BLANK or text[p] == TAB or text[p] == RETURN:
        p += 1
    return p


@kernel()
def skip_line(text, p):
    """Return the start of the next line."""
    flags = places(load8(text, p), NEWLINES)
    while flags == 0:
        p += 8
        flags = places(load8(text, p), NEWLINES)
    return p + zero_bytes(flags) + 1


@kernel()
def integer(text, p, longest):
    """Return (value, end) of up to `longest` digits at p; end is -1 if there is none."""
    value = 0
    first = p
    while ZERO <= text[p] <= NINE and p - first < longest:
        value = value * 10 + np.int64(text[p] - ZERO)
        p += 1
    return value, p if p > first else np.int64(-1)


@kernel()
def find_index(text, p):
    """Return (index, position after its colon) of `digits:` at p; position is -1 without it."""
    index, p = integer(text, p, LONGEST_INDEX)
    return index, p + 1 if p >= 0 and text[p] == COLON else np.int64(-1)


@kernel()
def end_of_word(text, p):
    """Return the end of the word at p, before a blank or a comment."""
    while text[p] > BLANK and text[p] != HASH:
        p += 1
    return p


@kernel()
def count_lines(text, size):
    """Return the number of newlines of text[:size], and the position after the last one."""
    lines = 0
    for start in range(0, size, COUNTED):
        here = text[start : min(start + COUNTED, size)]
        few = np.int16(0)  # four times as many fit a vector
        for i in range(len(here)):
            few = np.int16(few + (here[i] == NEWLINE))
        lines += few
    end = size
    while end > 0 and text[end - 1] != NEWLINE:
        end -= 1
    return lines, end


@kernel()
def find_docid(text, p):
    """Return (start, end) of X in the comment `#docid = X …` at p, equal if it has none."""
    if text[p] != HASH:
        return p, p
    p = skip_blanks(text, p + 1)
    if text[p] != LETTER_D or (load8(text, p + 1) & FOUR_BYTES) != WORD_OCID:
        return p, p
    p = skip_blanks(text, p + 5)
    if text[p] != EQUALS:
        return p, p
    p = skip_blanks(text, p + 1)
    end = p
    while text[end] > BLANK:
        end += 1
    return p, end


@kernel()
def parse_head(text, p):
    """Return (label, start, end of Q) of `label qid:Q` at p; end is -1 for a mistake."""
    wrong = 0, p, np.int64(-1)
    minus = text[p] == MINUS
    label, end = integer(text, p + (minus or text[p] == PLUS), LONGEST_LABEL)
    label = -label if minus else label
    if end < 0 or text[end] > BLANK or not UNJUDGED <= label <= LARGEST_LABEL:
        return wrong
    p = skip_blanks(text, end)
    if (load8(text, p) & FOUR_BYTES) != WORD_QID:
        return wrong
    start = p + 4
    end = end_of_word(text, start)
    after = text[end]
    ends = after == BLANK or after == TAB or after == RETURN or after == NEWLINE or after == HASH
    if end == start or end - start > LONGEST_QID or not ends:
        return wrong
    return label, start, end


@kernel()
def same_text(text, first, second, length):
    """Return whether the bytes from two positions on are equal."""
    for k in range(0, length, 8):
        beyond = np.uint64(8 * max(0, k + 8 - length))
        if (load8(text, first + k) ^ load8(text, second + k)) << beyond != 0:
            return False
    return True


@kernel()
def gather(text, spans, out):
    """Copy the bytes text[spans[i, 0]:spans[i, 1]] to out[i], and zeros after them."""
    for i in range(len(out)):
        start, end = spans[i, 0], spans[i, 1]
        for k in range(out.shape[1]):
            out[i, k] = text[start + k] if start + k < end else 0


@kernel()
def last_index(text, p, index, limit):
    """Return the last index and the end, -1 if wrong, of a row whose value of `index` is at p."""
    while p >= 0:
        p = skip_blanks(text, end_of_word(text, p))
        if text[p] == NEWLINE or text[p] == HASH:
            break
        before = index
        index, p = find_index(text, p)
        if index <= before or index > limit:
            p = np.int64(-1)
    return index, p


class Notes(NamedTuple):
    """The notes of `parse` on a text besides the rows, in arrays of its lines."""

    # (rows, 2) int64: start and end of each row's document id in the text
    docids: np.ndarray
    # (rows, 3) int64: start and end of a query id in the text, and the row, for the first row and
    # each row whose query id differs from that of the row before
    qids: np.ndarray
    # (words, 4) int64: start and end in the text, row and feature of each value that Python parses
    words: np.ndarray
    counts: np.ndarray  # (2,) int64: the number of words, the largest index beyond the width or 0


@kernel()
def parse_features(text, p, prefixes, limit, row, features, notes):
    """Parse ` 1:0.5 2:3 …` at p into a row; return the end, -1 for a mistake such as index > limit.

    Values from the first one beyond the width on are not read.
    """
    words, counts = notes.words, notes.counts
    width = features.shape[1]
    j = 0
    while True:
        if (load8(text, p) & prefixes[j, 1]) == prefixes[j, 0]:
            p += np.int64(prefixes[j, 2])
        else:
            p = skip_blanks(text, p)
            if text[p] == NEWLINE or text[p] == HASH:
                break
            index, p = find_index(text, p)
            if p < 0 or index <= j or index > limit:
                return np.int64(-1)
            if index > width:
                last, p = last_index(text, p, index, limit)
                counts[1] = max(counts[1], last)
                return p
            for k in range(j, index - 1):
                features[row, k] = 0
            j = index - 1
        value, end = short_number(text, p)
        if end < 0:
            value, end = long_number(text, p)
        if end >= 0:
            features[row, j] = value
        else:
            end = end_of_word(text, p)
            word = words[counts[0]]
            word[0], word[1], word[2], word[3] = p, end, row, j
            counts[0] += 1
        p = end
        j += 1
    for k in range(j, width):
        features[row, k] = 0
    return p


@kernel()
def parse(text, size, first, last, prefixes, limit, features, labels, notes):
    """Parse text[:size] into the rows first..last of features and labels.

    Return whether all is right, the numbers of rows and of noted query ids, and the lengths of the
    longest document id and query id.
    """
    docids, qids = notes.docids, notes.qids
    row, p, queries = first, 0, 0
    longest_docid, longest_qid, qid, qid_length = 0, 0, 0, 0
    while p < size:
        p = skip_blanks(text, p)
        if text[p] == NEWLINE or text[p] == HASH:
            p = skip_line(text, p)
            continue
        label, start, p = parse_head(text, p)
        if p < 0 or row == last:  # more rows than counted lines: the file has changed
            p = np.int64(-1)
            break
        labels[row] = label
        if p - start != qid_length or not same_text(text, start, qid, qid_length):
            qid, qid_length = start, p - start
            qids[queries, 0], qids[queries, 1], qids[queries, 2] = start, p, row
            queries += 1
            longest_qid = max(longest_qid, qid_length)
        p = parse_features(text, p, prefixes, limit, row, features, notes)
        if p < 0:
            break
        start, end = find_docid(text, p)
        docids[row - first, 0], docids[row - first, 1] = start, end
        longest_docid = max(longest_docid, end - start)
        p = skip_line(text, p)
        row += 1
    return p >= 0, row - first, queries, longest_docid, longest_qid
