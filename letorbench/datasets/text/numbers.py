"""From decimal text to float32, with the bits of `np.float32(float(text))`.

A text is a uint8 array that ends in a newline and has PADDING readable bytes after it. Short
numbers are read eight characters at a time: the first character is in the lowest byte of a 64-bit
word, and each function flags bytes by arithmetic on the whole word. Its lowest flag is exact; flags
above it may be wrong, and no caller reads them.

An integer below 2^53, multiplied or divided by an exact power of ten (10^0..10^22), is rounded
correctly once, so the float64 is the one that `float()` gives. A longer number is computed to a
relative error below 2^-50. If both ends of that interval round to one float32, the exact value
does too. If they do not, the caller asks Python.
"""

from __future__ import annotations

import sys

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, register_jitable

from letorbench.jit import kernel

ONES = np.uint64(0x0101010101010101)
HIGH = np.uint64(0x8080808080808080)
DIGIT_ZERO = np.uint64(0x3030303030303030)
TO_HIGH = np.uint64(0x7676767676767676)
DOTS = np.uint64(0x2E2E2E2E2E2E2E2E)
BLANKS = np.uint64(0x2121212121212121)
NEWLINES = np.uint64(0x0A0A0A0A0A0A0A0A)
PAIRS = np.uint64(0x00FF00FF00FF00FF)
QUADS = np.uint64(0x0000FFFF0000FFFF)
OCTET = np.uint64(0x00000000FFFFFFFF)
TEN, HUNDRED, MYRIAD = np.uint64(10), np.uint64(100), np.uint64(10000)
SHIFT_8, SHIFT_16, SHIFT_32 = np.uint64(8), np.uint64(16), np.uint64(32)

#: the bytes past the end of a text that may be read, but are never used
PADDING = 32
GOOD, HARD, BAD = 0, 1, 2

POWERS = np.array([float(f"1e{d}") for d in range(128)])
INTEGER_POWERS = np.array([10**d for d in range(16)], dtype=np.int64)

EXACT_POWER = 22
EXACT_MANTISSA = np.uint64(1 << 53)
FULL_MANTISSA = np.uint64((10**19 - 10) // 10)
#: the largest float32, whatever is to be rounded to infinity is above it
LARGEST_FLOAT = np.float32(np.finfo(np.float32).max)
#: a mantissa below 2^64 times 10^-80 is below half the smallest float32; any mantissa times
#: 10^40 is above the largest
LEAST_POWER, LARGEST_POWER = -80, 40
MARGIN = 2.0**-50
LARGEST_EXPONENT = 10**15

TAB, NEWLINE, RETURN, BLANK, HASH = 9, 10, 13, 32, 35
PLUS, MINUS, DOT, ZERO, NINE, COLON, UPPER_E, LOWER_E = 43, 45, 46, 48, 57, 58, 69, 101
MINUS_BYTE, LOW_BYTE = np.uint64(45), np.uint64(255)


@intrinsic
def load8(typingctx, text, position):
    """Return the eight bytes text[position : position + 8] as one uint64, at any alignment."""

    def generate(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        place = builder.gep(data, [args[1]])
        word = builder.load(builder.bitcast(place, ir.IntType(64).as_pointer()), align=1)
        return word if sys.byteorder == "little" else builder.bswap(word)

    return types.uint64(text, types.int64), generate


@intrinsic
def zero_bytes(typingctx, flags):
    """Return the number of whole bytes below the lowest set bit; 8 where no bit is set."""

    def generate(context, builder, signature, args):
        zeros = builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))
        return builder.lshr(zeros, ir.Constant(ir.IntType(64), 3))

    return types.int64(types.uint64), generate


@kernel()
def dots(word):
    """Flag the first '.'."""
    x = word ^ DOTS
    return (x - ONES) & ~x & HIGH


@kernel()
def newlines(word):
    """Flag the first newline."""
    x = word ^ NEWLINES
    return (x - ONES) & ~x & HIGH


@kernel()
def blanks(word):
    """Flag the first character at or below the blank."""
    return (word - BLANKS) & ~word & HIGH


@kernel()
def align_digits(word, count):
    """Subtract '0' from the first `count` (0..8) characters and move them up behind zeros."""
    half = np.uint64(4 * (8 - count))
    return ((word ^ DIGIT_ZERO) << half) << half


@kernel()
def not_digits(aligned):
    """Return a value other than 0 when a byte of `align_digits` is not 0..9."""
    return ((aligned + TO_HIGH) | aligned) & HIGH


@kernel()
def digits_value(aligned):
    """Return the number that eight aligned digits spell."""
    x = (aligned * TEN + (aligned >> SHIFT_8)) & PAIRS
    x = (x * HUNDRED + (x >> SHIFT_16)) & QUADS
    return (x * MYRIAD + (x >> SHIFT_32)) & OCTET


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
    mantissa, digits, power, decimals = np.uint64(0), 0, 0, False
    while ZERO <= text[p] <= NINE or (text[p] == DOT and not decimals):
        if text[p] == DOT:
            decimals = True
        elif mantissa <= FULL_MANTISSA:
            mantissa = mantissa * TEN + np.uint64(text[p] - ZERO)
            digits += 1
            power -= decimals
        else:  # what does not fit 19 digits is dropped
            power += not decimals
        p += 1
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
