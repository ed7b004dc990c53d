"""From decimal text to float32, with the bits of `np.float32(float(text))`.

An integer below 2^53, multiplied or divided by an exact power of ten (10^0..10^22), is rounded
correctly once, so the float64 is the one that `float()` gives. A longer number is computed to a
relative error below 2^-50. If both ends of that interval round to one float32, the exact value
does too. If they do not, the caller asks Python.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from letorbench.datasets.text.text_words import (
    align_digits,
    blanks,
    digits_value,
    dots,
    load8,
    not_digits,
    zero_bytes,
)
from letorbench.jit import kernel

GOOD, HARD, BAD = 0, 1, 2

POWERS = np.array([float(f"1e{d}") for d in range(128)])
INTEGER_POWERS = np.array([10**d for d in range(16)], dtype=np.int64)

EXACT_POWER = 22
EXACT_MANTISSA = np.uint64(1 << 53)
FULL_MANTISSA = np.uint64((10**19 - 10) // 10)
TEN = np.uint64(10)
#: the largest float32, whatever is to be rounded to infinity is above it
LARGEST_FLOAT = np.float32(np.finfo(np.float32).max)
#: a mantissa below 2^64 times 10^-80 is below half the smallest float32; any mantissa times
#: 10^40 is above the largest
LEAST_POWER, LARGEST_POWER = -80, 40
MARGIN = 2.0**-50
LARGEST_EXPONENT = 10**15

BLANK, HASH, PLUS, MINUS, DOT, NINE, ZERO = 32, 35, 43, 45, 46, 57, 48
UPPER_E, LOWER_E = 69, 101
MINUS_BYTE, LOW_BYTE = np.uint64(45), np.uint64(255)


@register_jitable(inline="always")
def short_number(text, start):
    """Return (value, end) of `-12345678.12345678` and shorter; end is -1 for anything else."""
    word = load8(text, start)
    # there are no branches here: the processor cannot predict where a number ends
    length = zero_bytes(blanks(word))
    beyond = zero_bytes(blanks(load8(text, start + 8)))
    length += beyond if length == 8 else 0
    end = start + length
    negative = (word & LOW_BYTE) == MINUS_BYTE
    start += negative
    length -= negative
    word = load8(text, start)
    whole = min(zero_bytes(dots(word)), length)
    decimals = max(length - whole - 1, 0)
    left = align_digits(word, whole)
    right = align_digits(load8(text, start + whole + 1), min(decimals, 8))
    # not a digit, no digit at all, too many decimals or whole digits, or the end is not in sight
    if (
        (not_digits(left) | not_digits(right)) != 0
        or whole + decimals == 0
        or decimals > 8
        or (whole == 8 and length > 8)
        or length >= 15
    ):
        return 0.0, np.int64(-1)
    place = np.uint64(decimals)
    mantissa = np.int64(digits_value(left)) * INTEGER_POWERS[place]
    mantissa += np.int64(digits_value(right))
    value = np.float64(mantissa) / POWERS[place]
    return (-value if negative else value), end


@kernel()
def digit_run(text, start, mantissa, kept):
    """Return (end, mantissa, digits kept, digits dropped) of the digits that begin at start.

    What does not fit 19 digits is dropped.
    """
    dropped = 0
    p = start
    while ZERO <= text[p] <= NINE:
        if mantissa <= FULL_MANTISSA:
            mantissa = mantissa * TEN + np.uint64(text[p] - ZERO)
            kept += 1
        else:
            dropped += 1
        p += 1
    return p, mantissa, kept, dropped


@kernel()
def exponent_at(text, start):
    """Return (end, exponent) of `e-12` at start; end is -1 where no digit follows the e."""
    p = start + 1
    negative = text[p] == MINUS
    if negative or text[p] == PLUS:
        p += 1
    first = p
    exponent = 0
    while ZERO <= text[p] <= NINE:
        exponent = min(exponent * 10 + np.int64(text[p] - ZERO), LARGEST_EXPONENT)
        p += 1
    if p == first:
        return np.int64(-1), 0
    return p, -exponent if negative else exponent


@kernel()
def scaled(mantissa, power):
    """Return (status, value) of mantissa times 10^power, rounded to float32 as Python would."""
    if mantissa == 0 or power < LEAST_POWER:
        return GOOD, np.float32(0.0)
    if power > LARGEST_POWER:
        return GOOD, np.float32(np.inf)
    value = np.float64(mantissa)
    if power < 0:
        value /= POWERS[-power]
    else:
        value *= POWERS[power]
    if mantissa < EXACT_MANTISSA and abs(power) <= EXACT_POWER:
        return GOOD, np.float32(value)
    low, high = np.float32(value * (1 - MARGIN)), np.float32(value * (1 + MARGIN))
    return (GOOD if low == high else HARD), low


@kernel()
def number(text, start):
    """Return (status, value, end) of the decimal number at start, up to a blank or a '#'."""
    p = start
    negative = text[p] == MINUS
    if negative or text[p] == PLUS:
        p += 1
    first = p
    p, mantissa, kept, over = digit_run(text, p, np.uint64(0), 0)
    digits, power = p - first, over
    if text[p] == DOT:
        first = p + 1
        p, mantissa, after, over = digit_run(text, first, mantissa, 0)
        digits += p - first
        power -= after
    if digits == 0:
        return BAD, np.float32(0), p
    if text[p] == LOWER_E or text[p] == UPPER_E:
        p, exponent = exponent_at(text, p)
        if p < 0:
            return BAD, np.float32(0), p
        power += exponent
    if text[p] > BLANK and text[p] != HASH:
        return BAD, np.float32(0), p
    status, value = scaled(mantissa, power)
    return status, (-value if negative else value), p


@kernel()
def integer(text, start):
    """Return (value, end) of an integer of up to 18 digits; end is -1 where there is none."""
    p = start
    negative = text[p] == MINUS
    if negative or text[p] == PLUS:
        p += 1
    first = p
    value = 0
    while ZERO <= text[p] <= NINE:
        value = value * 10 + np.int64(text[p] - ZERO)
        p += 1
        if p - first > 18:
            return 0, np.int64(-1)
    if p == first:
        return 0, np.int64(-1)
    return (-value if negative else value), p
