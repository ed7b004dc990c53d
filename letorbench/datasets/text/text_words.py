"""Eight characters at a time: the blanks, the dot and the digits of a 64-bit word of text.

The first character is in the lowest byte. Each function flags bytes by arithmetic on the whole
word. Its lowest flag is exact; flags above it may be wrong, and no caller reads them.
"""

from __future__ import annotations

import sys

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

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
