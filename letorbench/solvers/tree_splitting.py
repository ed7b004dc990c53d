"""The features of trees, the histograms of their bins and the best cut of one: parts of `Grower`.

A feature with missing values (NaN) has a separate bin for them. Cuts are tried with that bin on the
left and on the right, and the better side is kept (Chen and Guestrin: XGBoost, KDD 2016,
algorithm 3). If a leaf has none, both sides are equal and left is kept, as in LightGBM. If the
training set has none, a missing value goes where the value 0 goes, as in LightGBM.

Documents in bins up to the cut go left, and so does the bin `also_left`, if missing values go left.
Of splits with equal gain the lowest feature's is taken, then one with missing values on the left,
then the lowest cut's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from letorbench.compiled.jit import kernel
from letorbench.datasets.arrays import LARGEST_FLOAT32
from letorbench.features.columns import BinnedFeatures

#: features whose codes are the bytes of one number; their histograms fit into the first cache
GROUP = 8
#: a group of at most this many features takes about half as long
HALF = GROUP // 2
#: the most bins of a feature: a code is one byte
MOST_BINS = 256
#: documents whose codes are read together, so that the processor waits for many of them at a time
BLOCK = 512
#: criteria of a split; compiled code numbers them in this order
CRITERIA = ("newton", "misclassification", "entropy")
#: a gain below this share of a leaf's is rounding
ROUNDING = 1e-12


@dataclass(frozen=True)
class TreeParams:
    """The settings of a tree."""

    leaves: int  # at most
    depth: int = 0  # the most splits between the root and a leaf; 0 means any number
    leaf_wise: bool = True  # split the leaf with the largest gain next, not level by level
    least_docs: int = 20  # the fewest documents of a leaf
    least_hessian: float = 1e-3  # the least sum of second derivatives of a leaf
    l2: float = 0.0  # added to each such sum
    columns: float = 1.0  # the share of the features that are candidates, drawn for each split
    criterion: str = "newton"  # one of `CRITERIA`, see `_leaf_gain`


class TreeFeatures(NamedTuple):
    """Binned features in groups of `GROUP` places, without features of a single bin."""

    codes: np.ndarray  # (n_groups, n_docs) int64, one byte per feature, the first in the lowest
    n_bins: np.ndarray  # (n_places,) int64; 1 in an empty place
    used: np.ndarray  # (n_places,) int64, the places' features, ascending; 0 in an empty place
    missing: np.ndarray  # (n_places,) int64, the bin of missing values, -1 for none
    cuts: np.ndarray  # as in `BinnedFeatures`, of all features, one after the other
    first_cut: np.ndarray  # (n_features + 1,) int64, where each feature's cuts begin

    @staticmethod
    def of(features: np.ndarray, bins: int) -> TreeFeatures:
        """Bin features (n_docs, n_features), each with at most `bins` bins."""
        binned = BinnedFeatures.of(features, bins)
        used = np.flatnonzero(binned.n_bins > 1)
        places, middle = np.arange(len(used)), -(-len(used) // 2)
        places[middle:] += -middle % GROUP  # so that two threads have as much to do
        groups = 1 + places.max(initial=-1) // GROUP
        codes = np.zeros((groups, len(features)), dtype=np.int64)
        for place, k in zip(places, used, strict=True):
            codes[place // GROUP] |= binned.codes[k].astype(np.int64) << (8 * (place % GROUP))
        n_bins, by_place = np.ones(groups * GROUP, np.int64), np.zeros(groups * GROUP, np.int64)
        n_bins[places], by_place[places] = binned.n_bins[used], used
        last = np.array([cuts.max(initial=0.0) for cuts in binned.cuts]).take(by_place)
        missing = np.where((last == LARGEST_FLOAT32) & (n_bins > 1), n_bins - 1, -1)
        cuts, first_cut = np.concatenate(binned.cuts), np.cumsum([0, *map(len, binned.cuts)])
        return TreeFeatures(codes, n_bins, by_place, missing, cuts, first_cut)


class Rules(NamedTuple):
    """The constants of all trees: `TreeParams`, the features and how sums are packed."""

    leaves: int
    depth: int
    leaf_wise: bool
    least_docs: int
    least_hessian: float
    l2: float
    criterion: int
    shift: int  # the bits that count documents; those above them sum second derivatives
    features: TreeFeatures


@intrinsic
def _add_both(typing, sums, place, g, h):
    """Add g to sums[place] and h to sums[place + 1], (n,) int64, in one instruction."""

    def generate(context, builder, signature, arguments):
        two = ir.VectorType(ir.IntType(64), 2)
        both = ir.Constant(two, ir.Undefined)
        for n in range(2):
            both = builder.insert_element(both, arguments[2 + n], ir.IntType(32)(n))
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), two.as_pointer())
        builder.store(builder.add(builder.load(address, align=8), both), address, align=8)
        return context.get_dummy_value()

    return types.void(sums, types.int64, types.int64, types.int64), generate


@kernel()
def fill_histograms(
    codes: np.ndarray, rows: np.ndarray, ordered: np.ndarray, bins: np.ndarray, shift: int,
    histogram: np.ndarray, places: int,
) -> None:  # fmt: skip
    """Sum the derivatives of the rows by the bins of a group's first `places` features."""
    for k in range(places):
        histogram[k, : 2 * bins[k]] = 0
    words = np.empty(BLOCK, dtype=np.int64)
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        for i in range(len(block)):
            words[i] = codes[block[i]]
        for i in range(len(block)):
            word, g, h = words[i], ordered[start + i, 0], (ordered[start + i, 1] << shift) + 1
            for k in range(places):
                place = 2 * ((word >> (8 * k)) & 255)
                _add_both(histogram[k], place, g, h)  # type: ignore[call-arg]


@kernel()
def best_cut(
    histogram: np.ndarray,  # of one feature, for a leaf
    k: int,
    also_left: int,
    sums: np.ndarray,  # of the leaf's documents, see `TreeBuffers`
    units: np.ndarray,
    rules: Rules,
    least: float,
) -> tuple[int, float]:
    """Return the best cut of the feature in place k and its gain; -1 if none exceeds `least`."""
    counts, (g_unit, h_unit) = (1 << rules.shift) - 1, units
    docs = sums[1] & counts
    g, h = float(sums[0]), float(sums[1] >> rules.shift)  # whole numbers: differences are exact
    parent = _leaf_gain(g * g_unit, h * h_unit, rules)
    best, place = max(least, ROUNDING * abs(parent)), -1
    bound = (best + parent) * (1.0 - ROUNDING)
    first, second, cuts = 0, 0, rules.features.n_bins[k] - 1
    if also_left >= 0:  # the last bin is on the left already
        first, second, cuts = histogram[2 * also_left], histogram[2 * also_left + 1], cuts - 1
    for b in range(cuts):
        first += histogram[2 * b]
        second += histogram[2 * b + 1]
        low = second & counts
        if low < rules.least_docs:
            continue
        if docs - low < rules.least_docs:
            break
        g_l, h_l = float(first), float(second >> rules.shift)
        G_l, H_l = g_l * g_unit, h_l * h_unit
        G_r, H_r = (g - g_l) * g_unit, (h - h_l) * h_unit
        if min(H_l, H_r) < rules.least_hessian:
            continue
        if rules.criterion == 0:  # the sum of both leaves' gains with one division, or without
            D_l, D_r = H_l + rules.l2, H_r + rules.l2
            top, both = G_l * G_l * D_r + G_r * G_r * D_l, D_l * D_r
            if top < bound * both:
                continue
            gains = top / both if both > 0.0 else parent
        else:
            gains = _leaf_gain(G_l, H_l, rules) + _leaf_gain(G_r, H_r, rules)
        gain = gains - parent
        if gain > best:
            best, place = gain, b
            bound = gains * (1.0 - ROUNDING)
    return place, best


@kernel()
def _leaf_gain(G: float, H: float, rules: Rules) -> float:
    """Return how much a leaf lowers the objective, whose documents' derivatives sum to G and H.

    "newton" is G^2 / (H + l2), twice the amount by which the step -G / (H + l2) lowers
    sum_i (g_i v + h_i v^2 / 2) + l2 v^2 / 2 (Friedman: Greedy function approximation, 2001;
    Burges, MSR-TR-2010-82, section 7). A weighted binary classification has g = -w and h = |w|,
    with w > 0 for the class 1. "misclassification" is |G|, the weight of right minus wrong
    classifications. "entropy" is -H times the entropy of the classes.
    """
    if rules.criterion == 0:
        return G * G / (H + rules.l2) if H + rules.l2 > 0.0 else 0.0
    if rules.criterion == 1:
        return abs(G)
    total = 0.0
    for half in (0.5 * (H - G), 0.5 * (H + G)):
        if half > 0.0:
            total += half * np.log(half / H)
    return total
