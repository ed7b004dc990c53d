"""The measures, each a function of the rankings and of a cut-off that begins with its definition.

Relevant is r >= 1, in `mslr` r >= 2. The definitions treat ties, queries without a relevant
document and short lists like `standard` and the LETOR tools; other conventions differ. If equal
scores count by the mean over their orders, `letorbench.measures.evaluation` has the sums.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from letorbench.conventions import Convention
from letorbench.measures.measure import Measure, measure
from letorbench.measures.rankings import Rankings, owner, rank, ratio, score_groups

#: the probability that a reader of `rbp` goes on to the next document
PERSISTENCE = 0.8


@measure("tau", "none", "Kendall's tau-b of scores and labels, from -1 to 1", bounded=False)
def Tau(rankings: Rankings, k: int | None) -> np.ndarray:
    """tau-b = (C - D) / sqrt((pairs - ties of scores) (pairs - ties of labels)).

    C pairs of documents have their scores in the order of the labels, D in the other order.
    Kendall 1945, "The treatment of ties in ranking problems".
    Ties: no order. Equal labels or equal scores throughout: 0. The whole list counts.
    """
    assert rankings.scores is not None
    groups = score_groups(rankings.scores, rankings.offsets)
    right, wrong, same_label = rankings.pairs(groups)
    n, sizes = rankings.lengths, np.diff(groups)
    of_query = np.searchsorted(groups, rankings.offsets)
    same_score = rankings.sums(sizes * (sizes - 1) / 2, of_query)
    pairs = n * (n - 1) / 2
    return ratio(right - wrong, np.sqrt((pairs - same_score) * (pairs - same_label)))


@measure("rho", "none", "Spearman's rho of scores and labels, from -1 to 1", bounded=False)
def Rho(rankings: Rankings, k: int | None) -> np.ndarray:
    """rho: the correlation of the ranks by score and by label; equal ones share their mean rank.

    Spearman 1904, "The proof and measurement of association between two things".
    Ties: no order. Equal labels or equal scores throughout: 0. The whole list counts.
    """
    assert rankings.scores is not None
    offsets = rankings.offsets
    x, y = (_centred_ranks(each, offsets) for each in (rankings.scores, rankings.labels))
    xy, xx, yy = (rankings.sums(each, offsets) for each in (x * y, x * x, y * y))
    return ratio(xy, np.sqrt(xx * yy))


def _centred_ranks(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return mean ranks by falling value minus the mean rank of the query, (n_docs,) float64."""
    order = rank(values, offsets)
    groups = score_groups(values[order], offsets)
    middles = np.repeat((groups[:-1] + groups[1:]) / 2, np.diff(groups))
    centred = np.empty(len(values))
    centred[order] = middles - ((offsets[:-1] + offsets[1:]) / 2)[owner(offsets)]
    return centred


@measure(
    "auc", "none", "share of the pairs of a relevant and an irrelevant document in the right order"
)
def AUC(rankings: Rankings, k: int | None) -> np.ndarray:
    """#{(i, j): i relevant, j not, i ranked above j} / #{(i, j): i relevant, j not}.

    W. Zhang's lecture of 2018 names it for pairwise approaches. With two labels it is
    `pairwise`, the share of the pairs in the right order.
    Ties: file order, so a tied pair is right or wrong, never half. No relevant document, or no
    other: 0. The whole list counts, however short.
    """
    return rankings.fraction(*replace(rankings, labels=rankings.hit.astype(np.int32)).correct_pairs)


@measure(
    "map", "optional",
    "average precision: the mean of P@rank over the relevant documents, 0 for those below k",
)  # fmt: skip
def MAP(rankings: Rankings, k: int | None) -> np.ndarray:
    """(1/R) sum over the R relevant documents of P@(rank of the document).

    Manning, Raghavan & Schütze 2008, section 8.4. With k, the sum ends at rank k. It is still
    divided by R, as in trec_eval's map_cut; LightGBM and XGBoost divide by min(R, k).
    Ties: file order. No relevant document: 0. The whole list counts, however short.
    """
    precisions = rankings.hit_counts / rankings.hit_ranks
    if k is not None:
        precisions[rankings.hit_ranks > k] = 0.0
    total = rankings.sums(precisions, rankings.hit_offsets)
    return rankings.fraction(total, average_precision_divisor(rankings, k))


def average_precision_divisor(rankings: Rankings, k: int | None) -> np.ndarray:
    """Return R, or min(R, k) with map_cut=k, (n_queries,) int64."""
    if k is None or rankings.convention.map_cut == "all":
        return rankings.relevant
    return np.minimum(rankings.relevant, k)


@measure("bpref", "none", "binary preference: few irrelevant documents above the relevant")
def BPref(rankings: Rankings, k: int | None) -> np.ndarray:
    """(1/R) sum over the relevant documents of 1 - min(irrelevant above, R) / min(R, N).

    Buckley & Voorhees 2004, in trec_eval's form: R relevant documents, N judged irrelevant ones,
    ranked or not. A relevant document with none above it counts 1. Unjudged documents do not count.
    Ties: file order. No relevant document: 0. The whole list counts, however short.
    """
    R, n_hits = rankings.relevant, rankings.retrieved_relevant
    misses = rankings.misses
    above = misses[rankings.hits] - np.repeat(misses[rankings.offsets[:-1]], n_hits)
    least = np.repeat(np.minimum(R, rankings.irrelevant), n_hits)
    losses = ratio(np.minimum(above, np.repeat(R, n_hits)), least)
    return rankings.fraction(rankings.sums(1.0 - losses, rankings.hit_offsets), R)


@measure(
    "dcg", "optional", "discounted cumulative gain down to rank k, not normalised", bounded=False
)
def DCG(rankings: Rankings, k: int | None) -> np.ndarray:
    """sum_{i <= k} (2^{r_i} - 1) D(i). Without k, the whole list.

    Järvelin & Kekäläinen 2002, with Burges et al. 2005's gain. It has no largest value.
    Ties: file order. No relevant document: 0. A list shorter than k: its sum.
    """
    return rankings.at(rankings.dcg, k)


@measure("err", "optional", "expected reciprocal rank of the document that satisfies, down to k")
def ERR(rankings: Rankings, k: int | None) -> np.ndarray:
    """sum_{i <= k} (1/i) R(r_i) prod_{j < i} (1 - R(r_j)), R(r) = (2^r - 1) / 2^{r_max}.

    Chapelle, Metzler, Zhang & Grinspan 2009, eqs. 4 and 5. r_max is that of the convention,
    else the largest label of the data set, else of the scale (4; 2 in the LETOR conventions).
    Without k, the whole list.
    Ties: file order. No relevant document (all r = 0): 0. A list shorter than k: its sum.
    """
    return rankings.at(rankings.err, k)


@measure("hit", "required", "1 where a relevant document is among the first k (success)")
def Hit(rankings: Rankings, k: int) -> np.ndarray:
    """1 if a relevant document is at one of the ranks 1 .. k, else 0: trec_eval's success.

    Ties: file order. No relevant document: 0. A list shorter than k: the whole list.
    """
    return np.minimum(rankings.hits_within(k), 1).astype(np.float64)


@measure("mean-ndcg", "none", "mean of NDCG@k over every rank k of the list")
def MeanNDCG(rankings: Rankings, k: int | None) -> np.ndarray:
    """(1/m) sum_{k = 1..m} NDCG@k.

    As the LETOR 4.0 evaluation tool prints it (Qin & Liu 2013, "Introducing LETOR 4.0").
    Ties: file order. No relevant document: 0. No list is shorter than its own length.
    """
    best = rankings.ideal.dcg
    if rankings.all_judged is not None:  # which has other lengths
        query = owner(rankings.offsets)
        within = np.minimum(rankings.ranks, rankings.ideal.lengths[query])
        best = np.append(best, 0.0)[rankings.ideal.offsets[query] + within - 1] * (within > 0)
    of_lists = rankings.sums(ratio(rankings.dcg, best), rankings.offsets)
    return rankings.fraction(ratio(of_lists, rankings.lengths), rankings.ideal_dcg() > 0)


@measure("mrr", "optional", "reciprocal rank of the first relevant document, 0 below k")
def MRR(rankings: Rankings, k: int | None) -> np.ndarray:
    """1 / (the rank of the first relevant document). With k, 0 if that is below rank k.

    Voorhees 1999, "The TREC-8 question answering track report".
    Ties: file order. No relevant document: 0. The whole list counts, however short.
    """
    values = np.zeros(len(rankings.retrieved_relevant))
    some = rankings.retrieved_relevant > 0 if k is None else rankings.hits_within(k) > 0
    values[some] = 1.0 / rankings.hit_ranks[rankings.hit_offsets[:-1][some]]
    return values


@measure("ndcg", "optional", "normalised discounted cumulative gain down to rank k")
def nDCG(rankings: Rankings, k: int | None) -> np.ndarray:
    """sum_{i <= k} (2^{r_i} - 1) D(i), over its largest value for the query's labels.

    Järvelin & Kekäläinen 2002, with Burges et al. 2005's gain. Without k, the whole list.
    Ties: file order. No relevant document: 0. A list shorter than k: 0 in the LETOR tools,
    the value of the whole list in `standard`.
    """
    depth = k if rankings.convention.ideal == "k" else None
    values = rankings.fraction(rankings.at(rankings.dcg, k), rankings.ideal_dcg(depth))
    whole = rankings.convention.short_ndcg == "whole"
    return values if whole else rankings.zero_if_short(values, k)


@measure("pairwise", "none", "share of the pairs of different labels in the right order")
def PairwiseCorrect(rankings: Rankings, k: int | None) -> np.ndarray:
    """#{(i, j): r_i > r_j, i ranked above j} / #{(i, j): r_i > r_j}.

    Burges, Ragno & Le 2006, section 2 ("pair-wise error", 1 minus this). With two labels it
    is the area under the ROC curve. All labels count, whatever the convention calls relevant.
    Ties: file order, so a tied pair is right or wrong, never half. No pair of different
    labels (so no relevant document either): 0. The whole list counts, however short.
    """
    return rankings.fraction(*rankings.correct_pairs)


@measure("p", "required", "precision: the share of relevant documents among the first k")
def P(rankings: Rankings, k: int) -> np.ndarray:
    """(relevant documents at the ranks 1 .. k) / k.

    Manning, Raghavan & Schütze 2008, section 8.4.
    Ties: file order. No relevant document: 0. A list shorter than k: its relevant documents
    over k; in `letor3`, 0 (the 3.0 tool adds nothing to its sum beyond a list's end).
    """
    short = rankings.convention.short_p
    if short == "length":
        return ratio(rankings.hits_within(k), np.minimum(rankings.lengths, k))
    values = rankings.hits_within(k) / k
    return values if short == "k" else rankings.zero_if_short(values, k)


@measure(
    "rbp", "optional",
    "rank-biased precision: a reader goes on to the next rank with the chance 0.8",
)  # fmt: skip
def RBP(rankings: Rankings, k: int | None) -> np.ndarray:
    """(1 - p) sum_{i <= k} p^(i - 1) [document i is relevant], with p = 0.8.

    Moffat & Zobel 2008, "Rank-biased precision for measurement of retrieval effectiveness",
    eq. 4. Without k, the whole list.
    Ties: file order. No relevant document: 0. A list shorter than k: its sum.
    """
    hit = rankings.hit.astype(np.float64)
    shares = hit if rankings.groups is None else rankings.mean_of_group(hit)
    weights = (1.0 - PERSISTENCE) * PERSISTENCE ** (rankings.ranks - 1.0)
    return rankings.at(rankings.running(weights * shares), k)


@measure("recall", "required", "share of the relevant documents among the first k")
def Recall(rankings: Rankings, k: int) -> np.ndarray:
    """(relevant documents at the ranks 1 .. k) / (relevant documents).

    Manning, Raghavan & Schütze 2008, section 8.3.
    Ties: file order. No relevant document: 0. A list shorter than k: the whole list.
    """
    return rankings.fraction(rankings.hits_within(k), rankings.relevant)


@measure("rprec", "none", "precision at the rank R, the number of relevant documents")
def RPrec(rankings: Rankings, k: int | None) -> np.ndarray:
    """(relevant documents at the ranks 1 .. R) / R, with R relevant documents.

    Manning, Raghavan & Schütze 2008, section 8.4.
    Ties: file order. No relevant document: 0. A list shorter than R: its relevant documents.
    """
    return rankings.fraction(rankings.hits_within(rankings.relevant), rankings.relevant)


@measure(
    "rmse", "none",
    "root of the mean squared difference of scores and labels; the lowest is best",
    error=True, bounded=False,
)  # fmt: skip
def RMSE(rankings: Rankings, k: int | None) -> np.ndarray:
    """sqrt((1/m) sum over the query's m documents of (score - label)^2).

    W. Zhang's lecture of 2018 names it for pointwise approaches.
    Ties: the order does not count. No relevant document: as any other query. The whole list
    counts, however short.
    """
    assert rankings.scores is not None
    squares = np.square(rankings.scores - rankings.labels)
    return np.sqrt(ratio(rankings.sums(squares, rankings.offsets), rankings.lengths))


@measure("wta", "none", "winner takes all: 1 where the first document is relevant")
def WTA(rankings: Rankings, k: int | None) -> np.ndarray:
    """1 if the document at rank 1 is relevant, else 0.

    Burges, Ragno & Le 2006, section 2 (there as a cost: 1 minus this).
    Ties: file order. No relevant document: 0. The length of a list does not matter.
    """
    return rankings.hits_within(1).astype(np.float64)


def default_measures(convention: Convention) -> list[Measure]:
    """Return the measures that an experiment stores for every query, in order."""
    # cut-offs end at 10 or at the last one of the convention's tool
    cutoffs = range(1, min(convention.cutoffs, 10) + 1)
    at_cutoffs = [*(nDCG @ k for k in cutoffs), *(P @ k for k in cutoffs)]
    usual = [*at_cutoffs, MAP, MRR, ERR @ 10, MeanNDCG, WTA, PairwiseCorrect, BPref]
    # a library's convention leaves out the measures that the library does not compute
    return [each for each in usual if convention.apart(str(each)) is not None]
