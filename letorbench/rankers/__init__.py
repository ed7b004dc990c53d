"""The published algorithms, one file each, and the table of their names.

To add a ranker, write its file and add its line to `RANKERS` (and to the imports above it,
which only editors and type checkers read). Rankers of other packages and files are found by
`letorbench.rankers.plugins`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from letorbench import lazy
from letorbench.choices import require_choice

if TYPE_CHECKING:
    from letorbench.rankers.adarank import AdaRankMAP as AdaRankMAP
    from letorbench.rankers.adarank import AdaRankNDCG as AdaRankNDCG
    from letorbench.rankers.base import Ranker as Ranker
    from letorbench.rankers.classification import Classification as Classification
    from letorbench.rankers.frank import FRank as FRank
    from letorbench.rankers.lambdarank import LambdaRank as LambdaRank
    from letorbench.rankers.lightgbm import LightGBM as LightGBM
    from letorbench.rankers.listnet import ListNet as ListNet
    from letorbench.rankers.ndcgboost import NDCGBoost as NDCGBoost
    from letorbench.rankers.rankboost import RankBoost as RankBoost
    from letorbench.rankers.ranknet import RankNet as RankNet
    from letorbench.rankers.ranksvm import RankSVM as RankSVM
    from letorbench.rankers.ravikumar2011 import Cosine as Cosine
    from letorbench.rankers.ravikumar2011 import CosineNDCG as CosineNDCG
    from letorbench.rankers.ravikumar2011 import CosineNDCG1 as CosineNDCG1
    from letorbench.rankers.ravikumar2011 import CosineNDCG10 as CosineNDCG10
    from letorbench.rankers.ravikumar2011 import CrossEntropy as CrossEntropy
    from letorbench.rankers.ravikumar2011 import CrossEntropyNDCG as CrossEntropyNDCG
    from letorbench.rankers.ravikumar2011 import CrossEntropyNDCG1 as CrossEntropyNDCG1
    from letorbench.rankers.ravikumar2011 import CrossEntropyNDCG10 as CrossEntropyNDCG10
    from letorbench.rankers.ravikumar2011 import LeastSquares as LeastSquares
    from letorbench.rankers.ravikumar2011 import LeastSquaresNDCG as LeastSquaresNDCG
    from letorbench.rankers.ravikumar2011 import LeastSquaresNDCG1 as LeastSquaresNDCG1
    from letorbench.rankers.ravikumar2011 import LeastSquaresNDCG10 as LeastSquaresNDCG10
    from letorbench.rankers.ravikumar2011 import QNorm as QNorm
    from letorbench.rankers.ravikumar2011 import QNormPenalised as QNormPenalised
    from letorbench.rankers.recipe import Recipe as Recipe
    from letorbench.rankers.references import BestFeature as BestFeature
    from letorbench.rankers.references import Ideal as Ideal
    from letorbench.rankers.references import Random as Random
    from letorbench.rankers.regression import Regression as Regression
    from letorbench.rankers.saved import load_model as load_model
    from letorbench.rankers.svmmap import SVMMAP as SVMMAP
    from letorbench.rankers.tran2012 import MCL as MCL
    from letorbench.rankers.tran2012 import RPL as RPL
    from letorbench.rankers.tran2012 import WPL as WPL
    from letorbench.rankers.tran2012 import WPLL as WPLL
    from letorbench.rankers.tran2012 import WUB as WUB
    from letorbench.rankers.tran2012 import Pairwise as Pairwise
    from letorbench.rankers.tran2012 import SmoothERR as SmoothERR
    from letorbench.rankers.tran2012 import SmoothMRR as SmoothMRR
    from letorbench.rankers.tran2012 import SmoothNDCG as SmoothNDCG
    from letorbench.rankers.xgboost import XGBoost as XGBoost
    from letorbench.solvers.fit_result import FitResult as FitResult
    from letorbench.solvers.stopping import Validation as Validation

#: algorithm -> its module in this package and its class, imported when it is first used
RANKERS: dict[str, str] = {
    "adarank-map": "adarank:AdaRankMAP",
    "adarank-ndcg": "adarank:AdaRankNDCG",
    "best-feature": "references:BestFeature",
    "classification": "classification:Classification",
    "cosine": "ravikumar2011:Cosine",
    "cosine-ndcg": "ravikumar2011:CosineNDCG",
    "cosine-ndcg@1": "ravikumar2011:CosineNDCG1",
    "cosine-ndcg@10": "ravikumar2011:CosineNDCG10",
    "cross-entropy": "ravikumar2011:CrossEntropy",
    "cross-entropy-ndcg": "ravikumar2011:CrossEntropyNDCG",
    "cross-entropy-ndcg@1": "ravikumar2011:CrossEntropyNDCG1",
    "cross-entropy-ndcg@10": "ravikumar2011:CrossEntropyNDCG10",
    "frank": "frank:FRank",
    "ideal": "references:Ideal",
    "lambdarank": "lambdarank:LambdaRank",
    "least-squares": "ravikumar2011:LeastSquares",
    "least-squares-ndcg": "ravikumar2011:LeastSquaresNDCG",
    "least-squares-ndcg@1": "ravikumar2011:LeastSquaresNDCG1",
    "least-squares-ndcg@10": "ravikumar2011:LeastSquaresNDCG10",
    "lightgbm": "lightgbm:LightGBM",
    "listnet": "listnet:ListNet",
    "mcl": "tran2012:MCL",
    "ndcgboost": "ndcgboost:NDCGBoost",
    "pairwise": "tran2012:Pairwise",
    "qnorm": "ravikumar2011:QNorm",
    "qnorm-penalised": "ravikumar2011:QNormPenalised",
    "random": "references:Random",
    "rankboost": "rankboost:RankBoost",
    "ranknet": "ranknet:RankNet",
    "ranksvm": "ranksvm:RankSVM",
    "recipe": "recipe:Recipe",
    "regression": "regression:Regression",
    "rpl": "tran2012:RPL",
    "smooth-err": "tran2012:SmoothERR",
    "smooth-mrr": "tran2012:SmoothMRR",
    "smooth-ndcg": "tran2012:SmoothNDCG",
    "svmmap": "svmmap:SVMMAP",
    "wpl": "tran2012:WPL",
    "wpll": "tran2012:WPLL",
    "wub": "tran2012:WUB",
    "xgboost": "xgboost:XGBoost",
}

#: what this package offers besides the classes of the table
OTHERS = {
    "FitResult": "letorbench.solvers.fit_result:FitResult",
    "Ranker": "letorbench.rankers.base:Ranker",
    "Validation": "letorbench.solvers.stopping:Validation",
    "load_model": "letorbench.rankers.saved:load_model",
}


def classes() -> dict[str, str]:
    """Return the places of the table's classes by their names: ``{"ListNet": "…:ListNet"}``."""
    return {place.partition(":")[2]: f"{__name__}.{place}" for place in RANKERS.values()}


def names() -> list[str]:
    """Return the names of all rankers, those of plug-ins too, sorted."""
    from letorbench.rankers import plugins

    return sorted({*RANKERS, *plugins.load_all()})


def ranker(name: str) -> type[Ranker]:
    """Return the ranker class of that name.

    Raises
    ------
    UsageError
        There is none; the message suggests the nearest name.

    Examples
    --------
    >>> ranker("listnet")().top
    1
    """
    from letorbench.rankers import plugins

    if name in RANKERS:
        return lazy.load(f"{__name__}.{RANKERS[name]}")
    found = plugins.load_all()
    return found[require_choice(name, sorted({*RANKERS, *found}), "algorithm")]


__getattr__, __dir__ = lazy.attach(__name__, {**classes(), **OTHERS})
