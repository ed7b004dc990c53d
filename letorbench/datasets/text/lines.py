"""Parse LETOR text to arrays, line by line: `label qid:Q 1:0.5 2:3 … #docid = X`.

See `numbers` for what a text is. The kernels look for the ends of lines only, not for the end of
the text.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from letorbench.datasets.limits import LARGEST_LABEL, LONGEST_QID
from letorbench.datasets.text.numbers import (
    BAD,
    BLANK,
    COLON,
    HARD,
    HASH,
    LARGEST_FLOAT,
    NEWLINE,
    NINE,
    RETURN,
    TAB,
    ZERO,
    integer,
    load8,
    newlines,
    number,
    short_number,
    zero_bytes,
)
from letorbench.jit import kernel

#: the status of a NULL, beside those of a number
NULL = 3

# what stopped `parse` (state[CODE])
DONE, LABEL, QID, INDEX, VALUE, WIDER, CHANGED = 0, 1, 2, 3, 4, 5, 6
#: the codes of lines whose label and qid are right
AFTER_QID = (INDEX, VALUE, WIDER)
# the places of the numbers in the state that `parse` leaves
CODE, POSITION, ROWS, FEWEST, LAST, IDS, QUERIES, QIDS, HARDS, NULLS = range(10)
STATE = 10

#: the most digits of a feature index
LONGEST_INDEX = 6
#: the characters whose newlines are counted in 16 bits
COUNTED = 1 << 13
EQUALS, LETTER_D = 61, 100
FOUR_BYTES = np.uint64(0xFFFFFFFF)
WORD_QID = np.uint64(int.from_bytes(b"qid:", "little"))
WORD_NULL = np.uint64(int.from_bytes(b"NULL", "little"))
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
    flags = newlines(load8(text, p))
    while flags == 0:
        p += 8
        flags = newlines(load8(text, p))
    return p + zero_bytes(flags) + 1


@kernel()
def find_index(text, p):
    """Return (index, position after its colon); position is -1 where p has no `digits:`."""
    index = 0
    first = p
    while ZERO <= text[p] <= NINE and p - first <= LONGEST_INDEX:
        index = index * 10 + np.int64(text[p] - ZERO)
        p += 1
    if p == first or text[p] != COLON or p - first > LONGEST_INDEX:
        return 0, np.int64(-1)
    return index, p + 1


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
    """Return (code, label, start, end of Q) of `label qid:Q` at p; a failure is at `end`."""
    label, end = integer(text, p)
    if end < 0 or text[end] > BLANK or label < 0 or label > LARGEST_LABEL:
        return LABEL, 0, p, p
    p = skip_blanks(text, end)
    if (load8(text, p) & FOUR_BYTES) != WORD_QID:
        return QID, 0, p, p
    start = end = p + 4
    while text[end] > BLANK and text[end] != HASH:
        end += 1
    after = text[end]
    ends = after == BLANK or after == TAB or after == RETURN or after == NEWLINE or after == HASH
    if end == start or end - start > LONGEST_QID or not ends:
        return QID, 0, p, p
    return DONE, label, start, end


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


class Syntax(NamedTuple):
    """What the values of a line may look like.

    Attributes
    ----------
    prefixes : ndarray of shape (width + 1, 2), uint64
        ` 17:` as a word, and the mask of its bytes.
    skips : ndarray of shape (width + 1,), int64
        The length of each prefix.
    limit : int
        The largest index there may be at all. An index beyond the width but not beyond the
        limit stops the parser with WIDER.
    null : float32
        What NULL becomes where `has_null`.
    has_null : bool
    """

    prefixes: np.ndarray
    skips: np.ndarray
    limit: int
    null: np.float32
    has_null: bool


class Rows(NamedTuple):
    """The arrays that the rows are written to, each of n_docs rows.

    Attributes
    ----------
    features : ndarray of shape (n_docs, width), float32
    labels : ndarray of shape (n_docs,), int32
    """

    features: np.ndarray
    labels: np.ndarray


class Notes(NamedTuple):
    """What `parse` leaves beside the rows.

    Attributes
    ----------
    docids : ndarray of shape (rows, 2), int64
        Where each row's document id is in the text.
    qids : ndarray of shape (rows, 3), int64
        Where the query id is in the text, and the row, of each row whose query id is not that
        of the row before. The text's first row is always one of them.
    hard : ndarray of shape (numbers, 3), int64
        Row, feature and start of the numbers that Python must round.
    state : ndarray of shape (STATE,), int64
        The code, the position, the rows, the fewest features in a row but the last, the
        features in the last row, the length of the longest document id, the number of query
        ids, the length of the longest, and the numbers of hard numbers and of NULLs.
    """

    docids: np.ndarray
    qids: np.ndarray
    hard: np.ndarray
    state: np.ndarray


@kernel()
def next_index(text, p, previous, width, limit):
    """Return (code, index, position of its value) of the index at p, after `previous`."""
    index, start = find_index(text, p)
    if start < 0 or index <= previous or index > limit:
        return INDEX, index, p
    return (WIDER if index > width else DONE), index, start


@kernel()
def long_value(text, p, null, has_null):
    """Return (status, value, end) of a number of any length, or of NULL if it has a value.

    A number beyond float32 is a bad one.
    """
    status, value, end = number(text, p)
    if abs(value) > LARGEST_FLOAT:
        return BAD, value, end
    if status == BAD and has_null and (load8(text, p) & FOUR_BYTES) == WORD_NULL:
        if text[p + 4] <= BLANK or text[p + 4] == HASH:
            return NULL, null, p + 4
    return status, value, end


@kernel()
def parse_features(text, p, syntax, row, features, notes):
    """Parse ` 1:0.5 2:3 …` at p into a row of features; return (code, end, features present)."""
    prefixes, skips, hard = syntax.prefixes, syntax.skips, notes.hard
    counts = notes.state[HARDS:]
    width = features.shape[1]
    present = width
    j = 0
    while True:
        if (load8(text, p) & prefixes[j, 1]) == prefixes[j, 0]:
            p += skips[j]
        else:
            p = skip_blanks(text, p)
            if text[p] == NEWLINE or text[p] == HASH:
                break
            code, index, p = next_index(text, p, j, width, syntax.limit)
            if code != DONE:
                return code, p, present
            present -= index - 1 - j
            for k in range(j, index - 1):
                features[row, k] = 0
            j = index - 1
        value, end = short_number(text, p)
        if end >= 0:
            features[row, j] = value
        else:
            status, rounded, end = long_value(text, p, syntax.null, syntax.has_null)
            if status == BAD:
                return VALUE, p, present
            if status == HARD:
                hard[counts[0], 0], hard[counts[0], 1], hard[counts[0], 2] = row, j, p
                counts[0] += 1
            counts[1] += status == NULL
            features[row, j] = rounded
        p = end
        j += 1
    for k in range(j, width):
        features[row, k] = 0
    return DONE, p, present - (width - j)


@kernel()
def parse(text, size, first, last, syntax, rows, notes):
    """Parse text[:size] into the rows first..last."""
    features, labels = rows
    docids, qids, state = notes.docids, notes.qids, notes.state
    state[HARDS:] = 0
    row, p, longest, code = first, 0, 0, DONE
    queries, widest, qid, qid_length = 0, 0, 0, 0
    fewest = present = features.shape[1]
    while p < size:
        p = skip_blanks(text, p)
        if text[p] == NEWLINE or text[p] == HASH:
            p = skip_line(text, p)
            continue
        if row == last:
            code = CHANGED
            break
        code, label, start, p = parse_head(text, p)
        if code != DONE:
            break
        labels[row] = label
        if p - start != qid_length or not same_text(text, start, qid, qid_length):
            qid, qid_length = start, p - start
            qids[queries, 0], qids[queries, 1], qids[queries, 2] = start, p, row
            queries += 1
            widest = max(widest, qid_length)
        fewest = min(fewest, present)
        code, p, present = parse_features(text, p, syntax, row, features, notes)
        if code != DONE:
            break
        start, end = find_docid(text, p)
        docids[row - first, 0], docids[row - first, 1] = start, end
        longest = max(longest, end - start)
        p = skip_line(text, p)
        row += 1
    state[CODE], state[POSITION], state[ROWS] = code, p, row - first
    state[FEWEST], state[LAST], state[IDS] = fewest, present, longest
    state[QUERIES], state[QIDS] = queries, widest
