"""Grow trees on histograms of first and second derivatives.

The derivatives of a node's documents are summed once, by feature and bin. The sums of its larger
child are those of the node minus those of the smaller child (Ke et al.: LightGBM, NIPS 2017,
algorithm 1; scikit-learn's histogram trees and pygbm do the same).

Derivatives are rounded to 30 bits of the largest one and summed as integers. A sum of integers
does not depend on its order. So a tree is the same for any number of threads and any order of the
documents, and whether a histogram was counted or subtracted.

`tree_splitting` defines the splits and the choice among them. The test of this module grows the
same trees in plain NumPy.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from letorbench.compiled.jit import kernel
from letorbench.compiled.threads import parallel_for, thread_count
from letorbench.models.tree_ensemble import Tree
from letorbench.solvers.tree_splitting import (
    CRITERIA,
    GROUP,
    HALF,
    Rules,
    TreeFeatures,
    TreeParams,
    best_cut,
    fill_histograms,
)

#: values (documents times features) whose histograms are worth more than one thread
LEAST = 2_000_000
#: the bits of a rounded derivative
BITS = 30


class TreeBuffers(NamedTuple):
    """A growing tree, with one entry per node; siblings follow each other."""

    feature: np.ndarray  # the node's split; for a leaf, the best one that it could have
    cut: np.ndarray
    also_left: np.ndarray  # the bin that goes left as well, -1 for none
    left: np.ndarray  # the first child, 0 for a leaf
    depth: np.ndarray  # the splits above the node
    start: np.ndarray  # the node's documents are rows[start..stop - 1]
    stop: np.ndarray
    slot: np.ndarray  # the place of the node's histograms
    gain: np.ndarray
    sums: np.ndarray  # (n_nodes, 2), of the node's documents, see `_gather`
    drawn: np.ndarray  # (n_nodes, n_places) bool, the features that may split the node
    rows: np.ndarray  # the documents, those of a leaf one after the other
    gradients: np.ndarray  # (2, n_docs), first and second derivatives as multiples of units
    ordered_gradients: np.ndarray  # (n_docs, 2), by row, of the leaves whose histograms are counted
    units: np.ndarray  # (2,), of first and second derivatives
    to_split: np.ndarray  # (2,), the leaves to search next, the smaller first, -1 for none
    size: np.ndarray  # (2,), the number of nodes and of leaves
    best_splits: np.ndarray  # (n_groups, 2, 4), gain, feature, cut and `also_left` of both leaves
    # (slots, n_groups, GROUP, 2 * most bins): for each bin the sum of first derivatives, then one
    # number that holds the sum of second ones and the count of documents
    histograms: np.ndarray


class Grower:
    """Grows trees on the same features, in the same buffers."""

    def __init__(self, features: TreeFeatures, params: TreeParams) -> None:
        self.features, self.params = features, params
        n_groups, n_docs = features.codes.shape
        nodes, places = 2 * params.leaves - 1, len(features.used)
        self._rules = Rules(
            params.leaves, params.depth, params.leaf_wise, params.least_docs, params.least_hessian,
            params.l2, CRITERIA.index(params.criterion), n_docs.bit_length(), features,
        )  # fmt: skip
        most = 2 * int(features.n_bins.max(initial=1))
        gradients = np.empty((2, n_docs), np.int32)
        self._buffers = TreeBuffers._make((
            *np.zeros((8, nodes), np.int64), np.zeros(nodes), np.zeros((nodes, 2), np.int64),
            np.ones((nodes, places), np.bool_), np.empty(n_docs, np.int32), gradients,
            np.empty((n_docs, 2), np.int32),
            np.ones(2), np.empty(2, np.int64), np.empty(2, np.int64), np.zeros((n_groups, 2, 4)),
            np.empty((params.leaves, n_groups, GROUP, most), np.int64),
        ))  # fmt: skip
        self._every = np.arange(n_docs, dtype=np.int32)

    def grow(
        self,
        gradient: np.ndarray,  # (n_docs,) float64, the first derivatives of the loss by the scores
        hessian: np.ndarray,  # (n_docs,) float64, the second ones, at least 0
        rng: np.random.Generator | None = None,  # draws features if `params.columns` < 1
        rows: np.ndarray | None = None,  # (n_rows,) int32, ascending; all by default
    ) -> Tree:
        """Grow a tree with leaf values -G / (H + l2), Newton's step on the sums of derivatives.

        With another criterion than "newton" a leaf has the value 1 if G < 0, else 0.
        """
        buffers, columns = self._buffers, self.params.columns
        rows = self._every if rows is None else rows
        buffers.start[0], buffers.stop[0], buffers.rows[: len(rows)] = 0, len(rows), rows
        if columns < 1.0 and rng is not None:
            n_features = len(self.features.first_cut) - 1
            ranks = rng.random((len(buffers.drawn), n_features)).argsort(axis=1)
            most = max(1, round(columns * n_features))
            np.less(ranks.take(self.features.used, axis=1), most, out=buffers.drawn)
        # second derivatives and counts share 63 bits, which must hold the sums of all documents
        buffers.units[:] = (
            _unit(gradient, BITS), _unit(hessian, min(BITS, 63 - 2 * self._rules.shift))
        )  # fmt: skip
        whole, real = np.zeros((3, len(buffers.left)), np.int64), np.zeros((4, len(buffers.left)))
        left = np.zeros(len(buffers.left), np.bool_)
        tree = Tree(whole[0], real[0], whole[1], whole[2], real[1], real[2], real[3], left)
        buffers.left[0] = buffers.depth[0] = buffers.slot[0] = buffers.gain[0] = 0
        buffers.to_split[:], buffers.size[:] = (0, -1), 1
        for values, unit, multiples in zip((gradient, hessian), buffers.units, buffers.gradients):
            _round_to(values, unit, multiples)
        _gather(0, buffers, self._rules)
        n_groups = len(buffers.best_splits)
        alone = LEAST // max(1, GROUP * n_groups) if thread_count() > 1 else len(buffers.rows)
        while buffers.to_split[0] >= 0:
            _grow_alone(buffers, self._rules, alone)
            if buffers.to_split[0] >= 0:
                parallel_for(partial(_search, buffers, self._rules), n_groups)
                _split_next(buffers, self._rules)
        _finalize(buffers, self._rules, tree)
        return Tree._make(each[: buffers.size[0]] for each in tree)

    def predict(self, tree: Tree) -> np.ndarray:
        """Return the values (n_docs,) of all documents in the tree that was grown last."""
        values = np.full(len(self._buffers.rows), np.nan)
        _leaf_values(self._buffers, self._rules, tree.value, values)
        return values


def _unit(values: np.ndarray, bits: int) -> float:
    """Return the unit in which the largest derivative is a whole number of that many bits."""
    largest = float(max(values.max(initial=0.0), -values.min(initial=0.0)))
    return largest / ((1 << bits) - 1) if largest > 0.0 else 1.0


@kernel()
def _round_to(values: np.ndarray, unit: float, multiples: np.ndarray) -> None:
    for i in range(len(values)):  # one array at a time can be vectorised
        multiples[i] = np.rint(values[i] / unit)


@kernel()
def _grow_alone(buffers: TreeBuffers, rules: Rules, most: int) -> None:
    """Search and split on this thread until the leaf to count has more than `most` documents."""
    while buffers.to_split[0] >= 0:
        if buffers.stop[buffers.to_split[0]] - buffers.start[buffers.to_split[0]] > most:
            return
        _search(buffers, rules, 0, len(buffers.best_splits))
        _split_next(buffers, rules)


@kernel()
def _gather(node: int, buffers: TreeBuffers, rules: Rules) -> None:
    """Put the derivatives of a node's documents in the order of its rows, and sum them."""
    G, H = 0, 0
    for i in range(buffers.start[node], buffers.stop[node]):
        g, h = buffers.gradients[0, buffers.rows[i]], buffers.gradients[1, buffers.rows[i]]
        buffers.ordered_gradients[i, 0], buffers.ordered_gradients[i, 1] = g, h
        G += g
        H += h
    buffers.sums[node, 0] = G
    buffers.sums[node, 1] = (H << rules.shift) + buffers.stop[node] - buffers.start[node]


@kernel()
def _split_next(buffers: TreeBuffers, rules: Rules) -> None:
    """Store the best split of each leaf of the pair; split the next leaf into the new pair."""
    feature, cut, gain, left = buffers.feature, buffers.cut, buffers.gain, buffers.left
    start, stop, slot, sums = buffers.start, buffers.stop, buffers.slot, buffers.sums
    rows, to_split, size = buffers.rows, buffers.to_split, buffers.size
    for side in range(2):
        node = to_split[side]
        for group in range(len(buffers.best_splits)):
            best = buffers.best_splits[group, side]
            if node >= 0 and best[0] > gain[node]:
                gain[node], feature[node] = best[0], int(best[1])
                cut[node], buffers.also_left[node] = int(best[2]), int(best[3])
    buffers.best_splits[:] = 0.0
    to_split[:] = -1
    node = -1
    for leaf in range(size[0]):
        if left[leaf] == 0 and gain[leaf] > 0.0:
            if node < 0 or (rules.leaf_wise and gain[leaf] > gain[node]):
                node = leaf
    if node < 0 or size[1] == rules.leaves:
        return
    small, large = size[0], size[0] + 1
    left[node] = small
    middle = start[node] + _partition(
        rows[start[node] : stop[node]], rules.features.codes[feature[node] // GROUP],
        feature[node] % GROUP, cut[node], buffers.also_left[node],
    )  # fmt: skip
    start[small], stop[small], start[large], stop[large] = start[node], middle, middle, stop[node]
    for child in (small, large):
        left[child], gain[child], buffers.depth[child] = 0, 0.0, buffers.depth[node] + 1
    if stop[small] - start[small] > stop[large] - start[large]:
        small, large = large, small
    _gather(small, buffers, rules)
    for n in range(2):
        sums[large, n] = sums[node, n] - sums[small, n]
    # the larger child takes over its parent's histograms
    slot[large], slot[small] = slot[node], size[1]
    size[0] += 2
    size[1] += 1
    if size[1] < rules.leaves:
        to_split[0], to_split[1] = small, large


@kernel()
def _partition(rows: np.ndarray, codes: np.ndarray, k: int, cut: int, also_left: int) -> int:
    """Put the rows that go left first, in order; return how many."""
    upper = np.empty(len(rows), dtype=rows.dtype)
    low, high = 0, 0
    for i in range(len(rows)):
        row = rows[i]
        # both are written and one counter moves, so there is no branch to mispredict
        code = (codes[row] >> (8 * k)) & 255
        goes = (code <= cut) | (code == also_left)
        rows[low] = row
        upper[high] = row
        low += goes
        high += 1 - goes
    for i in range(high):  # putting an array into a slice takes seconds to compile
        rows[low + i] = upper[i]
    return low


@kernel()
def _finalize(buffers: TreeBuffers, rules: Rules, tree: Tree) -> None:
    """Fill in the tree, which holds zeros."""
    for node in range(buffers.size[0]):
        tree.left[node], tree.right[node] = node, node
        if buffers.left[node] > 0:
            k = rules.features.used[buffers.feature[node]]
            tree.feature[node], tree.gain[node] = k, buffers.gain[node]
            cut = rules.features.first_cut[k] + buffers.cut[node]
            tree.threshold[node] = rules.features.cuts[cut]
            tree.left[node], tree.right[node] = buffers.left[node], buffers.left[node] + 1
            as_0 = rules.features.missing[buffers.feature[node]] < 0 and tree.threshold[node] >= 0.0
            tree.missing_left[node] = as_0 or buffers.also_left[node] >= 0
        G = buffers.sums[node, 0] * buffers.units[0]
        H = (buffers.sums[node, 1] >> rules.shift) * buffers.units[1] + rules.l2
        if rules.criterion > 0:
            tree.value[node] = G < 0.0
        elif H > 0.0:
            tree.value[node] = -G / H
        tree.cover[node] = buffers.stop[node] - buffers.start[node]


@kernel()
def _leaf_values(buffers: TreeBuffers, rules: Rules, value: np.ndarray, values: np.ndarray) -> None:
    """Fill in the value of each document's leaf."""
    for node in range(len(value)):
        if buffers.left[node] == 0:
            for i in range(buffers.start[node], buffers.stop[node]):
                values[buffers.rows[i]] = value[node]
    # documents that did not train have NaN so far and go down the tree
    if buffers.stop[0] < len(values):
        for i in range(len(values)):
            if np.isnan(values[i]):
                node = 0
                while buffers.left[node] > 0:
                    group, k = divmod(buffers.feature[node], GROUP)
                    code = (rules.features.codes[group, i] >> (8 * k)) & 255
                    high = code > buffers.cut[node] and code != buffers.also_left[node]
                    node = buffers.left[node] + high
                values[i] = value[node]


@kernel()
def _search(buffers: TreeBuffers, rules: Rules, first: int, last: int) -> None:
    """Find the best splits of the pair of leaves in the groups first..last - 1."""
    small, large = buffers.to_split
    wanted = rules.depth == 0 or buffers.depth[small] < rules.depth
    most = buffers.stop[small] - buffers.start[small]
    if large >= 0:
        most = buffers.stop[large] - buffers.start[large]
    if not wanted or most < 2 * rules.least_docs:
        return
    for group in range(first, last):
        bins = rules.features.n_bins[GROUP * group : GROUP * (group + 1)]
        for side in range(2 if large >= 0 else 1):
            node = buffers.to_split[side]
            filled = buffers.histograms[buffers.slot[node], group]
            if side == 0:
                part = slice(buffers.start[node], buffers.stop[node])
                codes, rows = rules.features.codes[group], buffers.rows[part]
                ordered = buffers.ordered_gradients[part]
                if bins[HALF] > 1:
                    fill_histograms(codes, rows, ordered, bins, rules.shift, filled, GROUP)
                else:
                    fill_histograms(codes, rows, ordered, bins, rules.shift, filled, HALF)
            # the parent's histograms become those of the larger leaf
            else:
                other = buffers.histograms[buffers.slot[small], group]
                for k in range(GROUP):
                    for place in range(2 * bins[k]):
                        filled[k, place] -= other[k, place]
            best, sums, units = buffers.best_splits[group, side], buffers.sums[node], buffers.units
            for k in range(GROUP):
                feature = GROUP * group + k
                missing = rules.features.missing[feature]
                turns = 2 if missing >= 0 and filled[k, 2 * missing + 1] > 0 else 1
                for turn in range(turns if buffers.drawn[node, feature] else 0):
                    also_left = missing if turn == 0 else -1
                    cut, gain = best_cut(filled[k], feature, also_left, sums, units, rules, best[0])
                    if cut >= 0:
                        best[0], best[1], best[2], best[3] = gain, feature, cut, also_left
