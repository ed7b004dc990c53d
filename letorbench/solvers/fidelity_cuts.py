"""FRank's sums for every cut of a feature: over the documents, and over the wrong pairs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from letorbench.jit import kernel, longest_query
from letorbench.losses.exponentials import VECTOR, padded
from letorbench.solvers.fidelity_weights import Pairs, both_sides

#: rows of pairs that are compared with a feature's codes in one pass over them
ROWS = 4


@kernel()
def sum_wrong(
    codes: np.ndarray,
    features: np.ndarray,
    pairs: Pairs,
    first: int,
    last: int,
    kind: np.ndarray,
    wrong: np.ndarray,
) -> None:
    """Add up, over the queries first..last - 1, what W- of feature features[n] grows by at bin b.

    codes: in label order. wrong[n, b]: W of the wrong pairs with their higher document in bin b,
    which the stumps code > b and on get wrong, minus W of those with their lower document there.
    kind: an array of the type that W is taken in and summed over a query in.
    """
    blocks, share, all_u, near = pairs
    n = len(features)
    size = longest_query(blocks.offsets, first, last) + VECTOR
    u, rows = np.empty(size, kind.dtype), np.empty((ROWS, size), kind.dtype)
    own, signed = np.zeros((n, size), kind.dtype), np.empty((n, size), kind.dtype)
    for q in range(first, last):
        if blocks.queries[q + 1] - blocks.queries[q] < 2:  # one label: no pairs
            continue
        begin, end = blocks.offsets[q], blocks.offsets[q + 1]
        m = end - begin
        u[:m], u[m:] = all_u[begin:end], 0.0
        for k in range(n):
            own[k, :m] = codes[features[k], begin:end]
            signed[k, :m] = 0.0
        for b in range(blocks.queries[q], blocks.queries[q + 1] - 1):
            below = blocks.starts[b + 1] - begin
            stop = below + padded(m - below)
            for i in range(blocks.starts[b] - begin, below, ROWS):
                for r in range(ROWS):
                    if i + r < below:
                        row = rows[r, : stop - below]
                        if near[q]:
                            _fill_near_row(u[i + r], u[below:stop], row)
                        else:
                            _fill_far_row(all_u[begin + i + r], all_u[begin + below : end], row)
                    else:
                        rows[r, : stop - below] = 0.0
                for k in range(n):
                    _move_above(
                        rows, own[k, i : i + ROWS], own[k, below:stop],
                        signed[k, i : i + ROWS], signed[k, below:stop],
                    )  # fmt: skip
        for k in range(n):
            _scatter(signed[k], share[q], codes[features[k], begin:end], wrong[k])


@kernel()
def _scatter(signed: np.ndarray, share: float, codes: np.ndarray, bins: np.ndarray) -> None:
    """Add share times each document's number to the bin of its code."""
    for p in range(len(codes)):
        bins[np.uint64(codes[p])] += share * signed[p]  # unsigned: no check for one from the end


@kernel(reorder=True)
def _move_above(
    rows: np.ndarray, own: np.ndarray, codes: np.ndarray, higher: np.ndarray, lower: np.ndarray
) -> None:
    """Add each pair's W to its higher document and take it from its lower where code > own.

    Such a pair is wrong at the cuts from the higher document's bin on and before the lower one's.
    """
    first, second, third, fourth = rows[0], rows[1], rows[2], rows[3]
    a, b, c, d = own[0], own[1], own[2], own[3]
    zero = rows.dtype.type(0.0)
    a_sum = b_sum = c_sum = d_sum = zero
    for j in range(len(codes)):
        code = codes[j]
        w, x, y, z = first[j], second[j], third[j], fourth[j]
        w = w if code > a else zero
        x = x if code > b else zero
        y = y if code > c else zero
        z = z if code > d else zero
        a_sum += w
        b_sum += x
        c_sum += y
        d_sum += z
        lower[j] -= (w + x) + (y + z)
    higher[0] += a_sum
    higher[1] += b_sum
    higher[2] += c_sum
    higher[3] += d_sum


@kernel(reorder=True)
def _fill_near_row(u_i: float, u: np.ndarray, row: np.ndarray) -> None:
    """Fill row with the W of a document's pairs, without the share."""
    one = row.dtype.type(1.0)
    for j in range(len(u)):
        r = one / (u_i + u[j])
        row[j] = np.sqrt(u_i * r) * (u[j] * r)


@kernel()
def _fill_far_row(s_i: float, s: np.ndarray, row: np.ndarray) -> None:
    """Do as `_fill_near_row` from scores that are too far apart; fill up with zeros."""
    for j in range(len(s)):
        right, wrong = both_sides(s_i - s[j])
        row[j] = np.sqrt(right) * wrong
    row[len(s) :] = 0.0


@kernel()
def sum_bins(codes: np.ndarray, sums: np.ndarray, bins: np.ndarray) -> None:
    """Add both sums of each document, of what `sum_weights` gave, to each feature's bins.

    Two features at a time take less long than one after the other.
    """
    for k in range(0, len(codes) - 1, 2):
        _sum_two(codes[k], codes[k + 1], sums, bins[k], bins[k + 1])
    for k in range(len(codes) // 2 * 2, len(codes)):
        _sum_one(codes[k], sums, bins[k])


@kernel()
def _sum_two(
    a: np.ndarray, b: np.ndarray, sums: np.ndarray, for_a: np.ndarray, for_b: np.ndarray
) -> None:
    for i in range(len(a)):
        row = np.uint64(i)
        _add_row(for_a, np.uint64(a[row]), sums, row)
        _add_row(for_b, np.uint64(b[row]), sums, row)


@kernel()
def _sum_one(codes: np.ndarray, sums: np.ndarray, bins: np.ndarray) -> None:
    for i in range(len(codes)):
        _add_row(bins, np.uint64(codes[i]), sums, np.uint64(i))


def _row_adder(typingctx, into, b, rows, i):
    """Compile into[b] += rows[i], float64 (n, 2) in C order, b and i uint64, as one addition.

    The stores to the bins are what takes the time, and this halves them.
    """

    def generate(context, builder, signature, args):
        def place(array, row):
            data = context.make_array(signature.args[array])(context, builder, args[array]).data
            first = builder.gep(data, [builder.shl(args[row], ir.Constant(ir.IntType(64), 1))])
            return builder.bitcast(first, ir.VectorType(ir.DoubleType(), 2).as_pointer())

        bin_, row = place(0, 1), place(2, 3)
        total = builder.fadd(builder.load(bin_, align=8), builder.load(row, align=8))
        builder.store(total, bin_, align=8)
        return context.get_dummy_value()

    return types.void(into, types.uint64, rows, types.uint64), generate


_add_row: Callable[..., None] = intrinsic(_row_adder)
