"""The surrogates of the NDCG consistency paper, each a ranker of its own.

P. Ravikumar, A. Tewari, E. Yang, "On NDCG Consistency of Listwise Ranking Methods", AISTATS
2011. The surrogates are defined in plain NumPy in `letorbench.losses.consistent`, with the
theorems that say which of them are consistent.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.losses import consistent
from letorbench.losses.base import Loss, of_settings
from letorbench.losses.gains import GainSettings
from letorbench.models.linear import LinearFamily
from letorbench.parameters import number
from letorbench.rankers.base import Ranker
from letorbench.solvers.descent import LBFGS
from letorbench.solvers.fit_result import FitResult
from letorbench.solvers.stopping import Validation


@dataclass
class _Surrogate(Ranker):
    """All surrogates are fitted alike.

    L-BFGS minimises, over w and b, the mean over queries of a `surrogate`, s = w . x + b. As in
    section 6, nothing is tuned and no validation set is used.

    Parameters
    ----------
    iterations : int
        L-BFGS has at most so many; a warning says where that was not enough.

    Notes
    -----
    The paper took MATLAB's gradient descent, after how many steps it does not say. Descent along
    the gradient is far from the minimum after 500 steps, and where it is then hangs on its start:
    NDCG@10 on OHSUMED's validation queries spreads by .008 for the cosine. L-BFGS arrives in tens
    of steps, in one minimum from every start, that of a cosine or a q-norm too, which are not
    convex. Where the paper is silent: the weights start at zero; the discount of Z is
    1 / log2(1 + rank) for every measuring convention; features of another size than 0 to 1 are
    measured in units that suit the steps (`LinearFamily.conditioned`). No ranking depends on b. It
    is there because these losses depend on the level of the scores: sum e^s should be sum G / Z.
    """

    families = ("listwise", "linear")
    figure = "consistency"
    paper = "Ravikumar, Tewari, Yang: On NDCG Consistency of Listwise Ranking Methods, AISTATS 2011"

    #: what is minimised, whose parameters are attributes of the ranker; and in a few words
    surrogate: ClassVar[type[Loss]]
    by: ClassVar[str]

    iterations: int = number(500, least=1)

    def __init_subclass__(cls) -> None:
        """Take the formula from the surrogate, with the k of Z@k."""
        k = vars(cls).get("truncation")  # of QNorm it is a parameter, which names no k
        at = f"@{k}" if isinstance(k, int) and k else ""
        cls.title = f"Linear score on {cls.by}{at}"
        cls.formula = cls.surrogate.formula.replace("Z", f"Z{at}")

    def learn(
        self, train: QuerySet, validation: Validation | None, rng: np.random.Generator
    ) -> FitResult:
        family = LinearFamily.conditioned(train.features, intercept=True)
        loss, solver = of_settings(self.surrogate, self), LBFGS(self.iterations)
        return solver.fit(family, loss, train, validation, rng, self.deadline)


@dataclass
class _OfGains(GainSettings, _Surrogate):
    """A surrogate of gains."""

    by = "gains"
    surrogate: ClassVar[type[Loss]] = consistent.Cosine  # for one


class Cosine(_OfGains):
    """RankCosine (Qin et al., IPM 2008), in this paper's form (section 3.2)."""

    name = "cosine"
    by = "the cosine of scores and gains"
    surrogate = consistent.Cosine


class CosineNDCG(_OfGains):
    """The cosine with G / Z, which is NDCG consistent (section 3.3)."""

    name = "cosine-ndcg"
    by = "the cosine of scores and gains, made NDCG consistent by Z"
    surrogate = consistent.CosineNDCG
    truncation = 0


class CosineNDCG1(CosineNDCG):
    """The cosine with G / Z@1, the norm truncated at 1 (section 6)."""

    name = "cosine-ndcg@1"
    truncation = 1


class CosineNDCG10(CosineNDCG):
    """The cosine with G / Z@10, the norm truncated at 10 (section 6)."""

    name = "cosine-ndcg@10"
    truncation = 10


class LeastSquares(_OfGains):
    """The squared error of the gains (section 3.2)."""

    name = "least-squares"
    by = "the squared error of gains"
    surrogate = consistent.LeastSquares


class LeastSquaresNDCG(_OfGains):
    """The squared error with G / Z, which is NDCG consistent (section 3.3)."""

    name = "least-squares-ndcg"
    by = "the squared error of gains, made NDCG consistent by Z"
    surrogate = consistent.LeastSquaresNDCG
    truncation = 0


class LeastSquaresNDCG1(LeastSquaresNDCG):
    """The squared error with G / Z@1, the norm truncated at 1 (section 6)."""

    name = "least-squares-ndcg@1"
    truncation = 1


class LeastSquaresNDCG10(LeastSquaresNDCG):
    """The squared error with G / Z@10, the norm truncated at 10 (section 6)."""

    name = "least-squares-ndcg@10"
    truncation = 10


class CrossEntropy(_Surrogate):
    """ListNet's cross entropy (section 3.2)."""

    name = "cross-entropy"
    by = "the cross entropy of lists"
    surrogate = consistent.CrossEntropy


class CrossEntropyNDCG(_OfGains):
    """The cross entropy with G / Z, which is NDCG consistent (section 3.3)."""

    name = "cross-entropy-ndcg"
    by = "the cross entropy of lists, made NDCG consistent by Z"
    surrogate = consistent.CrossEntropyNDCG
    truncation = 0


class CrossEntropyNDCG1(CrossEntropyNDCG):
    """The cross entropy with G / Z@1, the norm truncated at 1 (section 6)."""

    name = "cross-entropy-ndcg@1"
    truncation = 1


class CrossEntropyNDCG10(CrossEntropyNDCG):
    """The cross entropy with G / Z@10, the norm truncated at 10 (section 6)."""

    name = "cross-entropy-ndcg@10"
    truncation = 10


@dataclass
class QNorm(_OfGains):
    """The scores divided by their q-norm (equation 4).

    Parameters
    ----------
    p : float
        1 < p <= 2, the dual of q; 0 for q = log(m) + 2 of a query of m documents, the paper's.
    truncation : int
        The k of Z@k; 0 is the whole list.
    """

    name = "qnorm"
    by = "gains over Z, scores divided by their q-norm"
    surrogate = consistent.QNorm

    p: float = number(0.0)
    truncation: int = number(0, least=0)


class QNormPenalised(QNorm):
    """The scores penalised by their q-norm (section 4)."""

    name = "qnorm-penalised"
    by = "gains over Z, scores penalised by their q-norm"
    surrogate = consistent.QNormPenalised
