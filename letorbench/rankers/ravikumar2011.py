"""The surrogates of the NDCG consistency paper, each of them a ranker.

P. Ravikumar, A. Tewari, E. Yang, "On NDCG Consistency of Listwise Ranking Methods", AISTATS 2011.
`letorbench.losses.consistent` defines the surrogates in plain NumPy, with the theorems that say
which of them are consistent.
"""

from dataclasses import dataclass
from typing import ClassVar

from letorbench.losses import consistent
from letorbench.losses.base import Loss, of_settings
from letorbench.losses.gains import GainSettings
from letorbench.models.linear import LinearFamily
from letorbench.parameters import number, one_of
from letorbench.rankers.base import FitResult, Generator, QuerySet, Ranker, Validation
from letorbench.rankers.tuning import Between
from letorbench.registry import preset
from letorbench.solvers.descent import LBFGS, LineSearch

#: the ways to fit: to the minimum, and the paper's
SOLVERS = {"lbfgs": LBFGS, "line-search": LineSearch}


@dataclass
class _Surrogate(Ranker):
    """All surrogates are fitted alike.

    The objective is the mean over queries of a `surrogate`, s = w . x + b.

    Parameters
    ----------
    solver : {"lbfgs", "line-search"}
        "lbfgs" ends at the minimum. "line-search" is steepest descent, as in the paper.
    iterations : int
        The largest number of iterations; a warning says if they were not enough.

    Notes
    -----
    The paper used MATLAB's gradient descent and does not give the number of steps. 400 is MATLAB's
    default, and `--protocol published` takes them, without a prior. They end far from the minimum:
    the few steps act as a prior, whose strength nobody chose. The cosine and the q-norm have no
    prior here: they do not depend on the size of w, so any prior leads to w = 0. L-BFGS converges
    in tens of steps, from every start to the same minimum, even for the cosine and the q-norm,
    which are not convex. At the minimum the losses that fit the level of the scores overfit without
    a prior.
    Where the paper is silent: the weights start at zero; the discount of Z is 1 / log2(1 + rank)
    under every measuring convention; features far from the scale of 0 to 1 are rescaled to suit the
    steps (`LinearFamily.conditioned`). No ranking depends on b. It is there because these losses
    depend on the level of the scores: sum e^s should be sum G / Z.
    """

    families = ("listwise", "linear")
    figure = "consistency"
    paper = "Ravikumar, Tewari, Yang: On NDCG Consistency of Listwise Ranking Methods, AISTATS 2011"
    as_published = {"solver": "line-search", "iterations": 400}

    #: the loss, whose parameters are attributes of the ranker, and its name in the title
    surrogate: ClassVar[type[Loss]]
    by: ClassVar[str]

    # a field in the rankers whose loss depends on the size of the scores
    l2 = 0.0
    solver: str = one_of(SOLVERS, "lbfgs")
    iterations: int = number(500, least=1)

    def __init_subclass__(cls) -> None:
        """Make the title and the formula from the surrogate and the k of Z@k."""
        if "name" in vars(cls):
            k = vars(cls).get("truncation")  # a field in QNorm, which has no fixed k
            at = f"@{k}" if isinstance(k, int) and k else ""
            cls.title = f"Linear score on {cls.by}{at}"
            cls.formula = cls.surrogate.formula.replace("Z", f"Z{at}")

    def learn(self, train: QuerySet, validation: Validation | None, rng: Generator) -> FitResult:
        family = LinearFamily.conditioned(train.features, intercept=True)
        loss = of_settings(self.surrogate, self)
        solver = SOLVERS[self.solver](self.iterations, self.l2)
        return solver.fit(family, loss, train, validation, rng, self.deadline)


@dataclass
class _WithPrior(_Surrogate):
    """A surrogate of scores that have a size. The objective also has l2 c/2 |w|^2.

    Parameters
    ----------
    l2 : float
        The strength of the prior in units of c, the mean curvature of the loss at the start.
        Validation chooses it. The paper has no prior and tunes nothing (section 6).
    """

    grid = {"l2": (1e-3, 1e-2, 1e-1, 1.0, 10.0)}
    ranges = {"l2": Between(1e-6, 1e3, log=True)}
    as_published = {**_Surrogate.as_published, "l2": 0.0}

    l2: float = number(0.1, least=0)


@dataclass
class _OfGains(GainSettings, _Surrogate):
    """A surrogate of gains."""


@dataclass
class _OfGainsWithPrior(GainSettings, _WithPrior):
    """A surrogate of gains and of scores that have a size."""


Cosine = preset(_OfGains, "Cosine", name="cosine", surrogate=consistent.Cosine,
    by="the cosine of scores and gains",
    doc="RankCosine (Qin et al., IPM 2008), in this paper's form (section 3.2).")  # fmt: skip
CosineNDCG = preset(_OfGains, "CosineNDCG", name="cosine-ndcg", surrogate=consistent.CosineNDCG,
    by="the cosine of scores and gains, made NDCG consistent by Z", truncation=0,
    doc="The cosine with G / Z, which is NDCG consistent (section 3.3).")  # fmt: skip
CosineNDCG1 = preset(CosineNDCG, "CosineNDCG1", name="cosine-ndcg@1", truncation=1,
    doc="The cosine with G / Z@1, the norm truncated at 1 (section 6).")  # fmt: skip
CosineNDCG10 = preset(CosineNDCG, "CosineNDCG10", name="cosine-ndcg@10", truncation=10,
    doc="The cosine with G / Z@10, the norm truncated at 10 (section 6).")  # fmt: skip

LeastSquares = preset(_OfGainsWithPrior, "LeastSquares", name="least-squares",
    surrogate=consistent.LeastSquares, by="the squared error of gains",
    doc="The squared error of the gains (section 3.2).")  # fmt: skip
LeastSquaresNDCG = preset(_OfGainsWithPrior, "LeastSquaresNDCG", name="least-squares-ndcg",
    surrogate=consistent.LeastSquaresNDCG, truncation=0,
    by="the squared error of gains, made NDCG consistent by Z",
    doc="The squared error with G / Z, which is NDCG consistent (section 3.3).")  # fmt: skip
LeastSquaresNDCG1 = preset(LeastSquaresNDCG, "LeastSquaresNDCG1", name="least-squares-ndcg@1",
    truncation=1,
    doc="The squared error with G / Z@1, the norm truncated at 1 (section 6).")  # fmt: skip
LeastSquaresNDCG10 = preset(LeastSquaresNDCG, "LeastSquaresNDCG10", name="least-squares-ndcg@10",
    truncation=10,
    doc="The squared error with G / Z@10, the norm truncated at 10 (section 6).")  # fmt: skip

CrossEntropy = preset(_WithPrior, "CrossEntropy", name="cross-entropy",
    surrogate=consistent.CrossEntropy, by="the cross entropy of lists",
    doc="ListNet's cross entropy (section 3.2).")  # fmt: skip
CrossEntropyNDCG = preset(_OfGainsWithPrior, "CrossEntropyNDCG", name="cross-entropy-ndcg",
    surrogate=consistent.CrossEntropyNDCG, truncation=0,
    by="the cross entropy of lists, made NDCG consistent by Z",
    doc="The cross entropy with G / Z, which is NDCG consistent (section 3.3).")  # fmt: skip
CrossEntropyNDCG1 = preset(CrossEntropyNDCG, "CrossEntropyNDCG1", name="cross-entropy-ndcg@1",
    truncation=1,
    doc="The cross entropy with G / Z@1, the norm truncated at 1 (section 6).")  # fmt: skip
CrossEntropyNDCG10 = preset(CrossEntropyNDCG, "CrossEntropyNDCG10", name="cross-entropy-ndcg@10",
    truncation=10,
    doc="The cross entropy with G / Z@10, the norm truncated at 10 (section 6).")  # fmt: skip


@dataclass
class QNorm(_OfGains):
    """The scores divided by their q-norm (equation 4).

    Parameters
    ----------
    p : float
        The dual of q, 1 < p <= 2; 0 is the paper's q = log(m) + 2 for a query of m documents.
    truncation : int
        The k of Z@k; 0 is the whole list.
    """

    name = "qnorm"
    by = "gains over Z, scores divided by their q-norm"
    surrogate = consistent.QNorm

    p: float = number(0.0)
    truncation: int = number(0, least=0)


@dataclass
class QNormPenalised(_WithPrior, QNorm):
    """The scores penalised by their q-norm (section 4)."""

    name = "qnorm-penalised"
    by = "gains over Z, scores penalised by their q-norm"
    surrogate = consistent.QNormPenalised
