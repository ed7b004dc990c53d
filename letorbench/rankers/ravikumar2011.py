"""The surrogates of the NDCG consistency paper, each a ranker of its own.

P. Ravikumar, A. Tewari, E. Yang, "On NDCG Consistency of Listwise Ranking Methods", AISTATS
2011. The surrogates are defined in plain NumPy in `letorbench.losses.consistent`, with the
theorems that say which of them are consistent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import letorbench.losses.consistent as consistent
from letorbench.datasets.queryset import QuerySet
from letorbench.losses.base import Loss
from letorbench.models.linear import LinearFamily
from letorbench.rankers.base import Ranker
from letorbench.solvers.descent import LineSearch
from letorbench.solvers.fit_result import FitResult
from letorbench.solvers.stopping import Validation


@dataclass
class _Surrogate(Ranker):
    """All surrogates are fitted alike.

    Gradient descent minimises, over w and b, the mean over queries of the loss `surrogate`,
    s = w . x + b. As in section 6, nothing is tuned and no validation set is used.

    Parameters
    ----------
    iterations : int
        Gradient descent has at most so many; a warning says where that was not enough.

    Notes
    -----
    The paper took MATLAB's gradient descent. Where it is silent: the weights start at zero; the
    lengths of the steps are found by backtracking; the discount of Z is 1 / log2(1 + rank) for
    every measuring convention; features of another size than 0 to 1 are measured in units that
    suit the steps (`LinearFamily.conditioned`). No ranking depends on b. It is there because
    these losses depend on the level of the scores: sum e^s should be sum G / Z.
    """

    figure = "consistency"
    paper = "Ravikumar, Tewari, Yang: On NDCG Consistency of Listwise Ranking Methods, AISTATS 2011"

    #: what is minimised
    surrogate: ClassVar[Loss]

    iterations: int = 500

    def learn(
        self, train: QuerySet, validation: Validation | None, rng: np.random.Generator
    ) -> FitResult:
        family = LinearFamily.conditioned(train.features, intercept=True)
        solver = LineSearch(self.iterations)
        return solver.fit(family, self.surrogate, train, validation, rng, self.deadline)


def _truncated(cls: type[_Surrogate], k: int) -> tuple[str, str, Loss]:
    """Return the title, the formula and the surrogate of a class with Z@k instead of Z."""
    surrogate: Any = type(cls.surrogate)
    return f"{cls.title}@{k}", cls.formula.replace("Z", f"Z@{k}"), surrogate(k)


@dataclass
class Cosine(_Surrogate):
    """RankCosine (Qin et al., IPM 2008), in this paper's form (section 3.2)."""

    name = "cosine"
    title = "Linear score on the cosine of scores and gains"
    formula = "1 - (s / |s|) . (G / |G|)"
    surrogate = consistent.Cosine()


@dataclass
class CosineNDCG(_Surrogate):
    """The cosine with G / Z, which is NDCG consistent (section 3.3)."""

    name = "cosine-ndcg"
    title = "Linear score on the cosine of scores and gains, made NDCG consistent by Z"
    formula = "1 - (s / |s|) . (G / Z)"
    surrogate: ClassVar[Loss] = consistent.CosineNDCG()


class CosineNDCG1(CosineNDCG):
    """The cosine with G / Z@1, the norm truncated at 1 (section 6)."""

    name = "cosine-ndcg@1"
    title, formula, surrogate = _truncated(CosineNDCG, 1)


class CosineNDCG10(CosineNDCG):
    """The cosine with G / Z@10, the norm truncated at 10 (section 6)."""

    name = "cosine-ndcg@10"
    title, formula, surrogate = _truncated(CosineNDCG, 10)


@dataclass
class LeastSquares(_Surrogate):
    """The squared error of the gains (section 3.2)."""

    name = "least-squares"
    title = "Linear score on the squared error of gains"
    formula = "|s - G|^2"
    surrogate = consistent.LeastSquares()


@dataclass
class LeastSquaresNDCG(_Surrogate):
    """The squared error with G / Z, which is NDCG consistent (section 3.3)."""

    name = "least-squares-ndcg"
    title = "Linear score on the squared error of gains, made NDCG consistent by Z"
    formula = "|s - G / Z|^2"
    surrogate: ClassVar[Loss] = consistent.LeastSquaresNDCG()


class LeastSquaresNDCG1(LeastSquaresNDCG):
    """The squared error with G / Z@1, the norm truncated at 1 (section 6)."""

    name = "least-squares-ndcg@1"
    title, formula, surrogate = _truncated(LeastSquaresNDCG, 1)


class LeastSquaresNDCG10(LeastSquaresNDCG):
    """The squared error with G / Z@10, the norm truncated at 10 (section 6)."""

    name = "least-squares-ndcg@10"
    title, formula, surrogate = _truncated(LeastSquaresNDCG, 10)


@dataclass
class CrossEntropy(_Surrogate):
    """ListNet's cross entropy (section 3.2)."""

    name = "cross-entropy"
    title = "Linear score on the cross entropy of lists"
    formula = "KL(softmax(r) || softmax(s))"
    surrogate = consistent.CrossEntropy()


@dataclass
class CrossEntropyNDCG(_Surrogate):
    """The cross entropy with G / Z, which is NDCG consistent (section 3.3)."""

    name = "cross-entropy-ndcg"
    title = "Linear score on the cross entropy of lists, made NDCG consistent by Z"
    formula = "KL(G / Z || e^s)"
    surrogate: ClassVar[Loss] = consistent.CrossEntropyNDCG()


class CrossEntropyNDCG1(CrossEntropyNDCG):
    """The cross entropy with G / Z@1, the norm truncated at 1 (section 6)."""

    name = "cross-entropy-ndcg@1"
    title, formula, surrogate = _truncated(CrossEntropyNDCG, 1)


class CrossEntropyNDCG10(CrossEntropyNDCG):
    """The cross entropy with G / Z@10, the norm truncated at 10 (section 6)."""

    name = "cross-entropy-ndcg@10"
    title, formula, surrogate = _truncated(CrossEntropyNDCG, 10)


@dataclass
class QNorm(_Surrogate):
    """The scores divided by their q-norm (equation 4).

    Parameters
    ----------
    p : float
        1 < p <= 2, the dual of q; 0 for q = log(m) + 2 of a query of m documents, the paper's.
    truncation : int
        The k of Z@k; 0 is the whole list.
    """

    name = "qnorm"
    title = "Linear score on gains over Z, scores divided by their q-norm"
    formula = "-(s / |s|_q) . (G / Z), q = log(m) + 2"

    p: float = 0.0
    truncation: int = 0

    @property
    def surrogate(self) -> Loss:
        return consistent.QNorm(self.truncation, self.p)


@dataclass
class QNormPenalised(QNorm):
    """The scores penalised by their q-norm (section 4)."""

    name = "qnorm-penalised"
    title = "Linear score on gains over Z, scores penalised by their q-norm"
    formula = "|s|_q^2 - 2 s . (G / Z), q = log(m) + 2"

    @property
    def surrogate(self) -> Loss:
        return consistent.QNormPenalised(self.truncation, self.p)
