"""letorbench: learning to rank under the LETOR protocol, from Python and the command line.

Every name is imported on first use, so that ``import letorbench`` takes no time. Type checkers read
the imports below, and `registry.imports_of` reads them as text.

Examples
--------
>>> import letorbench as lb
>>> X, y, qid = [[0.1, 3.0], [0.9, 1.0], [0.4, 2.0]], [0, 2, 1], [7, 7, 7]
>>> scores = lb.Regression().fit(X, y, qid=qid).predict(X)
>>> lb.evaluate(y, scores, qid=qid, measures=[lb.nDCG @ 10, "map"])
ndcg@10    1.0
map        1.0
Name: mean, dtype: float64
"""

from typing import TYPE_CHECKING

from letorbench import registry
from letorbench.version import __version__ as __version__

if TYPE_CHECKING:
    from letorbench.analysis.importance import importance as importance
    from letorbench.analysis.importance import importance_figure as importance_figure
    from letorbench.api.fitting import fit as fit
    from letorbench.api.leaderboard import leaderboard as leaderboard
    from letorbench.api.measuring import compare as compare
    from letorbench.api.measuring import evaluate as evaluate
    from letorbench.api.results import Results as Results
    from letorbench.api.results import load_results as load_results
    from letorbench.api.running import run as run
    from letorbench.conventions import CONVENTIONS as CONVENTIONS
    from letorbench.datasets.load import from_frame as from_frame
    from letorbench.datasets.load import load as load
    from letorbench.datasets.queryset import Benchmark as Benchmark
    from letorbench.datasets.queryset import Fold as Fold
    from letorbench.datasets.queryset import QuerySet as QuerySet
    from letorbench.datasets.reader import read_letor as read_letor
    from letorbench.errors import DataError as DataError
    from letorbench.errors import UsageError as UsageError
    from letorbench.features import transformation as transformation
    from letorbench.measures import AUC as AUC
    from letorbench.measures import DCG as DCG
    from letorbench.measures import ERR as ERR
    from letorbench.measures import MAP as MAP
    from letorbench.measures import MRR as MRR
    from letorbench.measures import RBP as RBP
    from letorbench.measures import RMSE as RMSE
    from letorbench.measures import WTA as WTA
    from letorbench.measures import BPref as BPref
    from letorbench.measures import Hit as Hit
    from letorbench.measures import MeanNDCG as MeanNDCG
    from letorbench.measures import Measure as Measure
    from letorbench.measures import P as P
    from letorbench.measures import PairwiseCorrect as PairwiseCorrect
    from letorbench.measures import Recall as Recall
    from letorbench.measures import Rho as Rho
    from letorbench.measures import RPrec as RPrec
    from letorbench.measures import Tau as Tau
    from letorbench.measures import nDCG as nDCG
    from letorbench.rankers import *  # noqa: F403
    from letorbench.rankers import Ranker as Ranker
    from letorbench.rankers import load_model as load_model
    from letorbench.rankers import names as algorithms  # noqa: F401
    from letorbench.rankers import ranker as ranker
    from letorbench.results.scores import parse as parse

__getattr__, __dir__ = registry.attach(
    __name__,
    registry.by_class("rankers", "name")
    | registry.imports_of(__file__)
    | {"datasets": "letorbench.datasets"},
)
