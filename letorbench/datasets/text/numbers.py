"""From decimal text to float32, with the bits of `np.float32(float(text))`.

A text is a uint8 array that ends in a newline and has PADDING readable bytes after it. Short
numbers are read eight characters at a time: the first character is in the lowest byte of a 64-bit
word, and each function flags bytes by arithmetic on the whole word. Its lowest flag is exact; flags
above it may be wrong, and no caller reads them.

An integer below 2^53, divided by an exact power of ten, is rounded correctly once, so the float64
is that of `float()`. A longer number is computed to a relative error below 2^-50. If both ends of
that interval round to one float32, so does the exact value. Python parses everything else.
"""

import sys

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, register_jitable

from letorbench.compiled.jit import kernel

ONES = np.uint64(0x0101010101010101)
HIGH = np.uint64(0x8080808080808080)
DIGIT_ZERO = np.uint64(0x3030303030303030)
TO_HIGH = np.uint64(0x7676767676767676)
DOTS = np.uint64(0x2E2E2E2E2E2E2E2E)
NEWLINES = np.uint64(0x0A0A0A0A0A0A0A0A)
ABOVE_BLANKS = np.uint64(0x2121212121212121)
PAIRS = np.uint64(0x00FF00FF00FF00FF)
QUADS = np.uint64(0x0000FFFF0000FFFF)
OCTET = np.uint64(0x00000000FFFFFFFF)
TEN, HUNDRED, MYRIAD = np.uint64(10), np.uint64(100), np.uint64(10000)
SHIFT_8, SHIFT_16, SHIFT_32 = np.uint64(8), np.uint64(16), np.uint64(32)
#: the bytes past the end of a text that may be read, but are never used
PADDING = 32

POWERS = np.array([10**d for d in range(16)], dtype=np.int64)
MINUS_BYTE, LOW_BYTE = np.uint64(ord("-")), np.uint64(255)
#: powers of ten that float64 holds exactly, and the largest mantissa with room for another digit
EXACT_POWERS = 10.0 ** np.arange(23)
FULL_MANTISSA = np.uint64((10**19 - 10) // 10)
MARGIN = 2.0**-50
TAB, NEWLINE, RETURN, BLANK, HASH = 9, 10, 13, 32, 35
PLUS, MINUS, DOT, ZERO, NINE, COLON = 43, 45, 46, 48, 57, 58


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
    """Return the number of whole bytes below the lowest set bit; 8 if no bit is set."""

    def generate(context, builder, signature, args):
        zeros = builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))
        return builder.lshr(zeros, ir.Constant(ir.IntType(64), 3))

    return types.int64(types.uint64), generate


@kernel()
def places(word, characters):
    """Flag the first place of a character, which `characters` has eight times."""
    x = word ^ characters
    return (x - ONES) & ~x & HIGH


@kernel()
def blanks(word):
    """Flag the first character at or below the blank."""
    return (word - ABOVE_BLANKS) & ~word & HIGH


@kernel()
def align_digits(word, count):
    """Subtract '0' from the first `count` (0..8) characters and move them up behind zeros."""
    half = np.uint64(4 * (8 - count))
    return ((word ^ DIGIT_ZERO) << half) << half


@kernel()
def not_digits(aligned):
    """Return a value other than 0 if a byte of `align_digits` is not 0..9."""
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
    # no branches here: the processor cannot predict where a number ends
    length = zero_bytes(blanks(word))
    beyond = zero_bytes(blanks(load8(text, start + 8)))
    length += beyond if length == 8 else 0
    end = start + length
    negative = (word & LOW_BYTE) == MINUS_BYTE
    start += negative
    length -= negative
    word = load8(text, start)
    whole = min(zero_bytes(places(word, DOTS)), length)
    decimals = max(length - whole - 1, 0)
    left = align_digits(word, whole)
    right = align_digits(load8(text, start + whole + 1), min(decimals, 8))
    # not a digit, no digit at all, too many decimals or whole digits, or the end is too far away
    if (
        (not_digits(left) | not_digits(right)) != 0
        or whole + decimals == 0
        or decimals > 8
        or (whole == 8 and length > 8)
        or length >= 15
    ):
        return 0.0, np.int64(-1)
    power = POWERS[np.uint64(decimals)]
    mantissa = np.int64(digits_value(left)) * power + np.int64(digits_value(right))
    value = np.float64(mantissa) / np.float64(power)
    return (-value if negative else value), end


@kernel()
def long_number(text, start):
    """Return (value, end) of a number of up to 19 digits; end is -1 for anything else."""
    failed = 0.0, np.int64(-1)
    p = first = start + (text[start] == MINUS)
    mantissa, point = np.uint64(0), np.int64(-1)
    while ZERO <= text[p] <= NINE or (text[p] == DOT and point < 0):
        if text[p] == DOT:
            point = p
        elif mantissa > FULL_MANTISSA:
            return failed
        else:
            mantissa = mantissa * TEN + np.uint64(text[p] - ZERO)
        p += 1
    decimals = p - point - 1 if point >= 0 else 0
    if p - first - (point >= 0) == 0 or decimals >= len(EXACT_POWERS):
        return failed
    value = np.float64(mantissa) / EXACT_POWERS[decimals]
    same = np.float32(value * (1 - MARGIN)) == np.float32(value * (1 + MARGIN))
    if not same or (text[p] > BLANK and text[p] != HASH):
        return failed
    return (-value if first > start else value), p
