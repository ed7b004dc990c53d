"""Results: the only package that knows the names and the formats of result files.

`paths` has every name. `fold_result` writes a fold, `fit_file` says whether it is finished and
sound, `stored_folds` reads it. `summary` and `per_query` read what is finished, `derived_tables`
writes the CSV copies, `dataframes` gives DataFrames. Other people's score files come in by
`import_external`, ours go out by `export_trec`.
"""

from __future__ import annotations

from letorbench.results.dataframes import (
    fits_frame,
    folds_frame,
    per_query_frame,
    summary_frame,
)
from letorbench.results.fit_file import is_done, stored_fit
from letorbench.results.fold_result import CutOff, FoldResult, Measured, write_fold
from letorbench.results.paths import (
    algo_folder,
    algorithms,
    fold_folder,
    models,
    present,
)
from letorbench.results.per_query import PerQuery, check_paired
from letorbench.results.scores import read_scores, write_scores
from letorbench.results.stored_folds import StoredFold, current_folds, fold_scores, read_folds
from letorbench.results.summary import Row, Summary, curve, read_per_query, read_summary

__all__ = [
    "CutOff", "FoldResult", "Measured", "PerQuery", "Row", "StoredFold", "Summary",
    "algo_folder", "algorithms", "check_paired", "current_folds", "curve", "fits_frame",
    "fold_folder", "fold_scores", "folds_frame", "is_done", "models", "per_query_frame",
    "present", "read_folds", "read_per_query", "read_scores", "read_summary", "stored_fit",
    "summary_frame", "write_fold", "write_scores",
]  # fmt: skip
