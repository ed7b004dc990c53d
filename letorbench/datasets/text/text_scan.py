"""Scan LETOR text without parsing it: blanks, lines, rows, and the largest feature index.

A text is a uint8 array that ends in a newline and has PADDING readable bytes after it. The
kernels therefore look for the ends of lines only, not for the end of the text.
"""

from __future__ import annotations

import numpy as np

from letorbench.datasets.text.text_words import load8, newlines, zero_bytes
from letorbench.jit import kernel

TAB, NEWLINE, RETURN, BLANK, HASH, COLON = 9, 10, 13, 32, 35, 58
ZERO, NINE = 48, 57
#: the most digits of a feature index
LONGEST_INDEX = 6
#: the characters whose newlines are counted in 16 bits
COUNTED = 1 << 13


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
def count_lines(text, size, found):
    """Count the newlines of text[:size] into found[0].

    found[1] is the position after the last newline. found[2] counts the lines that may be no
    row: a row begins with a digit or a sign, which are above '#'. text[size] is read as well.
    """
    lines = 0
    low = 0
    for start in range(0, size, COUNTED):
        stop = min(start + COUNTED, size)
        here, after = text[start:stop], text[start + 1 : stop + 1]
        some, some_low = np.int16(0), np.int16(0)  # four times as many fit a vector
        for i in range(len(here)):
            ends = here[i] == NEWLINE
            some = np.int16(some + ends)
            some_low = np.int16(some_low + (ends & (after[i] <= HASH)))
        lines += some
        low += some_low
    end = size
    while end > 0 and text[end - 1] != NEWLINE:
        end -= 1
    found[0], found[1], found[2] = lines, end, low


@kernel()
def count_rows(text, size):
    """Return the number of lines of text[:size] that are neither blank nor only a comment."""
    rows = 0
    p = 0
    while p < size:
        p = skip_blanks(text, p)
        rows += text[p] != NEWLINE and text[p] != HASH
        p = skip_line(text, p)
    return rows


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
