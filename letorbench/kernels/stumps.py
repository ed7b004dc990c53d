"""The best decision stump of every feature: one histogram of document weights a feature."""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel

#: features whose histograms are filled in one pass over the documents, and parts of a
#: histogram that are scanned side by side: independent chains of additions hide the latency
#: of adding to the same number again and again
TOGETHER = 4

#: bins from which on additions to the same bin in a row are rare enough
FEW = 256


@kernel()
def best_sums(
    codes: np.ndarray,
    n_bins: np.ndarray,
    weights: np.ndarray,
    total: float,
    first: int,
    last: int,
    best: np.ndarray,
) -> None:
    """For the features k = first..last - 1, over every cut b: the largest sums of weights.

    best[k] = (largest sum of the documents with code <= b, largest with code > b), 0 where
    none is positive. total is the sum of all weights.
    """
    width = 0
    for k in range(first, last):
        width = max(width, n_bins[k])
    histograms = np.empty((2 * TOGETHER, width + TOGETHER))
    k = first
    while k < last:
        few = k + TOGETHER <= last
        for g in range(k, min(k + TOGETHER, last)):
            few = few and n_bins[g] <= FEW
        together = TOGETHER if few else min(2, last - k)
        for g in range(k, k + together):
            histograms[g - k, : n_bins[g] + TOGETHER] = 0.0
        if few:
            for g in range(k, k + together):
                histograms[TOGETHER + g - k, : n_bins[g]] = 0.0
            _fill_together(codes, weights, k, histograms)
            for g in range(k, k + together):
                for b in range(n_bins[g]):
                    histograms[g - k, b] += histograms[TOGETHER + g - k, b]
        elif together == 2 and n_bins[k] > 1 and n_bins[k + 1] > 1:
            _fill_two(codes[k], codes[k + 1], weights, histograms[0], histograms[1])
        else:
            for g in range(k, k + together):
                if n_bins[g] > 1:
                    _fill(codes[g], weights, histograms[g - k])
        for g in range(k, k + together):
            _scan(histograms[g - k], n_bins[g], total, best[g])
        k += together


@kernel()
def _fill(codes: np.ndarray, weights: np.ndarray, histogram: np.ndarray) -> None:
    for i in range(len(codes)):
        histogram[codes[i]] += weights[i]


@kernel()
def _fill_two(
    a: np.ndarray, b: np.ndarray, weights: np.ndarray, for_a: np.ndarray, for_b: np.ndarray
) -> None:
    for i in range(len(a)):
        for_a[a[i]] += weights[i]
        for_b[b[i]] += weights[i]


@kernel()
def _fill_together(
    codes: np.ndarray, weights: np.ndarray, k: int, histograms: np.ndarray
) -> None:
    """Add the weights to four features' histograms, the even and the odd documents apart."""
    a, b, c, d = codes[k], codes[k + 1], codes[k + 2], codes[k + 3]
    a0, b0, c0, d0 = histograms[0], histograms[1], histograms[2], histograms[3]
    a1, b1, c1, d1 = histograms[4], histograms[5], histograms[6], histograms[7]
    for half in range(len(a) // 2):
        i = np.uint64(2 * half)  # unsigned: no check for an index from the end
        j = i | np.uint64(1)
        w, v = weights[i], weights[j]
        a0[a[i]] += w
        b0[b[i]] += w
        c0[c[i]] += w
        d0[d[i]] += w
        a1[a[j]] += v
        b1[b[j]] += v
        c1[c[j]] += v
        d1[d[j]] += v
    if len(a) % 2 == 1:
        i = np.uint64(len(a) - 1)
        a0[a[i]] += weights[i]
        b0[b[i]] += weights[i]
        c0[c[i]] += weights[i]
        d0[d[i]] += weights[i]


@kernel()
def _scan(histogram: np.ndarray, n_bins: int, total: float, best: np.ndarray) -> None:
    """One feature's two largest sums from its histogram, which has TOGETHER zeros behind it."""
    histogram[n_bins - 1] = 0.0  # a cut above the last bin separates nothing
    quarter = (n_bins - 1 + TOGETHER - 1) // TOGETHER
    p, q = histogram[:quarter], histogram[quarter : 2 * quarter]
    r, s = histogram[2 * quarter : 3 * quarter], histogram[3 * quarter : 4 * quarter]
    p_sum = q_sum = r_sum = s_sum = 0.0
    p_most = q_most = r_most = s_most = -np.inf
    p_least = q_least = r_least = s_least = np.inf
    for b in range(len(p)):
        p_sum += p[b]
        q_sum += q[b]
        r_sum += r[b]
        s_sum += s[b]
        p_most, p_least = max(p_most, p_sum), min(p_least, p_sum)
        q_most, q_least = max(q_most, q_sum), min(q_least, q_sum)
        r_most, r_least = max(r_most, r_sum), min(r_least, r_sum)
        s_most, s_least = max(s_most, s_sum), min(s_least, s_sum)
    before_r = p_sum + q_sum
    before_s = before_r + r_sum
    most = max(max(p_most, p_sum + q_most), max(before_r + r_most, before_s + s_most))
    least = min(min(p_least, p_sum + q_least), min(before_r + r_least, before_s + s_least))
    best[0] = max(0.0, most)
    best[1] = max(0.0, total - least)


@kernel()
def best_cut(codes: np.ndarray, n_bins: int, weights: np.ndarray, sign: float) -> int:
    """The cut b < n_bins - 1 with the largest sign * (sum of weights, code <= b), the lowest."""
    histogram = np.zeros(n_bins)
    _fill(codes, weights, histogram)
    below, most, cut = 0.0, -np.inf, -1
    for b in range(n_bins - 1):
        below += sign * histogram[b]
        if below > most:
            most, cut = below, b
    return cut


@kernel()
def encode(
    features: np.ndarray,
    cuts: np.ndarray,
    starts: np.ndarray,
    first: int,
    last: int,
    codes: np.ndarray,
) -> None:
    """codes[k, i] = how many of feature k's cuts are below features[i, k], rows first..last - 1.

    Feature k's cuts are cuts[starts[k]:starts[k + 1]], ascending.
    """
    rows = 512  # as many rows as stay in the cache while the features are gone through
    for begin in range(first, last, rows):
        end = min(begin + rows, last)
        for k in range(features.shape[1]):
            own = cuts[starts[k] : starts[k + 1]]
            half = 1
            while 2 * half <= len(own):
                half *= 2
            for i in range(begin, end):
                value = np.float64(features[i, k])
                low, step = 0, half if len(own) else 0
                while step > 0:  # no branch depends on the value: nothing to mispredict
                    probe = min(low + step, len(own))
                    low = probe if own[probe - 1] < value else low
                    step >>= 1
                codes[k, i] = low


@kernel()
def sort_column(bits: np.ndarray, k: int, keys: np.ndarray, spare: np.ndarray) -> None:
    """The float32 column k, given as its bits, sorted into keys (as bits) by a radix sort."""
    n = bits.shape[0]
    sign, digit = np.uint32(0x80000000), np.uint32(0x7FF)
    counts = np.zeros((3, 2048), np.int64)
    for i in range(n):
        key = bits[i, k]
        # the order of the flipped bits is the order of the numbers
        key = ~key if key & sign else key | sign
        keys[i] = key
        counts[0, key & digit] += 1
        counts[1, (key >> np.uint32(11)) & digit] += 1
        counts[2, key >> np.uint32(22)] += 1
    for p in range(3):
        shift = np.uint32(11 * p)
        start = 0
        for d in range(2048):
            start, counts[p, d] = start + counts[p, d], start
        for i in range(n):
            key = keys[i]
            d = (key >> shift) & digit
            spare[counts[p, d]] = key
            counts[p, d] += 1
        keys, spare = spare, keys
    for i in range(n):  # after three passes the two have changed places
        key = keys[i]
        spare[i] = key ^ sign if key & sign else ~key
