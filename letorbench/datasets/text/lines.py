"""Parse LETOR text to arrays, line by line: `label qid:Q 1:0.5 2:3 … #docid = X`.

See `numbers` for what a text is. The kernels look for the ends of lines only, not for the end of
the text.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from letorbench.datasets.limits import LARGEST_LABEL, LONGEST_QID
from letorbench.datasets.text.numbers import (
    BLANK,
    COLON,
    HASH,
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
from letorbench.jit import kernel

EQUALS, LETTER_D = 61, 100

# how `parse` ended (state[CODE]): WRONG at a mistake, WIDER at an index beyond the width
UNREAD, DONE, WRONG, WIDER = 0, 1, 2, 3
# the places of the numbers in the state that `parse` leaves
CODE, ROWS, IDS, QUERIES, QIDS, WORDS = range(6)
STATE = 6

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
def integer(text, p):
    """Return (value, end) of up to 6 digits at p; end is -1 where there is none."""
    value = 0
    first = p
    while ZERO <= text[p] <= NINE and p - first < LONGEST_INDEX:
        value = value * 10 + np.int64(text[p] - ZERO)
        p += 1
    return value, p if p > first else np.int64(-1)


@kernel()
def find_index(text, p):
    """Return (index, position after its colon); position is -1 where p has no `digits:`."""
    index, p = integer(text, p)
    return index, p + 1 if p >= 0 and text[p] == COLON else np.int64(-1)


@kernel()
def end_of_word(text, p):
    """Return the end of the word at p, which a blank or a comment ends."""
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
def widest(text, size, limit):
    """Return the largest `index:` in text[:size] that is at most `limit`, outside comments."""
    largest = 0
    p = 0
    while p < size:
        while text[p] != NEWLINE and text[p] != HASH:
            if text[p - 1 if p > 0 else 0] <= BLANK:
                index, end = find_index(text, p)
                if end > 0 and index <= limit:
                    largest = max(largest, index)
            p += 1
        p = skip_line(text, p)
    return largest


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
    """Return (label, start, end of Q) of `label qid:Q` at p; end is -1 where that is wrong."""
    wrong = 0, p, np.int64(-1)
    label, end = integer(text, p + (text[p] == PLUS))
    if end < 0 or text[end] > BLANK or label > LARGEST_LABEL:
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
    """Return whether the bytes from two positions on are the same."""
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


class Notes(NamedTuple):
    """What `parse` leaves beside the rows.

    Attributes
    ----------
    docids : ndarray of shape (rows, 2), int64
        Where each row's document id is in the text.
    qids : ndarray of shape (rows, 3), int64
        Where the query id is in the text, and the row, of each row whose query id is not that
        of the row before. The text's first row is always one of them.
    words : ndarray of shape (words, 4), int64
        Start and end in the text, row and feature of the values that are left to Python.
    state : ndarray of shape (STATE,), int64
        The code, the rows, the length of the longest document id, the number of query ids, the
        length of the longest, and the number of words.
    """

    docids: np.ndarray
    qids: np.ndarray
    words: np.ndarray
    state: np.ndarray


@kernel()
def parse_features(text, p, prefixes, limit, row, features, notes):
    """Parse ` 1:0.5 2:3 …` at p into a row; return (code, end).

    prefixes[j] has ` 17:` as a word, the mask of its bytes and its length. An index beyond the
    width, but not beyond the limit, stops the parser with WIDER.
    """
    words, state = notes.words, notes.state
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
                return WRONG, p
            if index > width:
                return WIDER, p
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
            word = words[state[WORDS]]
            word[0], word[1], word[2], word[3] = p, end, row, j
            state[WORDS] += 1
        p = end
        j += 1
    for k in range(j, width):
        features[row, k] = 0
    return DONE, p


@kernel()
def parse(text, size, first, last, prefixes, limit, features, labels, notes):
    """Parse text[:size] into the rows first..last of features and labels."""
    docids, qids, state = notes.docids, notes.qids, notes.state
    state[WORDS] = 0
    row, p, longest, code = first, 0, 0, DONE
    queries, widest, qid, qid_length = 0, 0, 0, 0
    while p < size:
        p = skip_blanks(text, p)
        if text[p] == NEWLINE or text[p] == HASH:
            p = skip_line(text, p)
            continue
        label, start, p = parse_head(text, p)
        if p < 0 or row == last:  # more rows than lines were counted: the file has changed
            code = WRONG
            break
        labels[row] = label
        if p - start != qid_length or not same_text(text, start, qid, qid_length):
            qid, qid_length = start, p - start
            qids[queries, 0], qids[queries, 1], qids[queries, 2] = start, p, row
            queries += 1
            widest = max(widest, qid_length)
        code, p = parse_features(text, p, prefixes, limit, row, features, notes)
        if code != DONE:
            break
        start, end = find_docid(text, p)
        docids[row - first, 0], docids[row - first, 1] = start, end
        longest = max(longest, end - start)
        p = skip_line(text, p)
        row += 1
    state[CODE], state[ROWS], state[IDS] = code, row - first, longest
    state[QUERIES], state[QIDS] = queries, widest
