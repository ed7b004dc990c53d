"""Results: the only package that knows the names and the formats of result files.

`paths` has every name. `store` writes, reads and checks the folds; `summary` makes tables of
them and their CSV copies, `dataframes` gives DataFrames, `measuring` adds measures that were not
stored. Other people's score files come in by `external`, ours go out by `export`.
"""

from letorbench.results.paths import (
    algo_folder,
    algorithms,
    fold_folder,
    models,
    present,
)
from letorbench.results.per_query import PerQuery
from letorbench.results.scores import read_scores, write_scores
from letorbench.results.store import (
    FoldResult,
    Store,
    StoredFold,
    fold_scores,
    is_done,
    read_folds,
    stored_fit,
    write_fold,
)
from letorbench.results.summary import Row, Summary, read_per_query, read_summary

__all__ = [
    "FoldResult", "PerQuery", "Row", "Store", "StoredFold", "Summary", "algo_folder",
    "algorithms", "fold_folder", "fold_scores", "is_done", "models", "present", "read_folds",
    "read_per_query", "read_scores", "read_summary", "stored_fit", "write_fold", "write_scores",
]  # fmt: skip
