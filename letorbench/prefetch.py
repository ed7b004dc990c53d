"""Bringing an array into the processor's cache while it computes something else.

The processor foresees where a pass over an array reads next. It cannot foresee which query comes
next in a random order.
"""

from __future__ import annotations

import numba
import numpy as np
from llvmlite import ir
from numba.extending import intrinsic, overload

from letorbench.jit import kernel

#: the bytes that are brought at once
LINE = 64


@kernel()
def prefetch(rows: np.ndarray) -> None:
    """Let the processor bring the rows, which lie in one piece, into its cache."""
    for address in range(rows.ctypes.data, rows.ctypes.data + rows.nbytes, LINE):
        _prefetch_line(address)


def _prefetch_line(address: int) -> None:
    """Do nothing: plain Python has no such instruction."""


@overload(_prefetch_line)
def _compiled(address):
    return lambda address: _instruction(address)  # type: ignore[call-arg]  # Numba gives context


@intrinsic
def _instruction(context, address):
    """Compile to LLVM's prefetch: for reading, into all caches but the first, of data."""
    number, nothing = ir.IntType(32), ir.VoidType()
    pointer = ir.IntType(8).as_pointer()
    form = ir.FunctionType(nothing, [pointer, number, number, number])

    def instruction(context, builder, signature, arguments):
        fetch = builder.module.declare_intrinsic("llvm.prefetch", [pointer], form)
        place = builder.inttoptr(arguments[0], pointer)
        builder.call(fetch, [place, number(0), number(2), number(1)])
        return context.get_dummy_value()

    return numba.types.void(numba.types.intp), instruction
