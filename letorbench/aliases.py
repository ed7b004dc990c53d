"""Other tools' names of measures, algorithms and parameters, and the names that these have here.

They are accepted wherever a name is read, and are printed as the names of letorbench. Names of
measures and algorithms are compared without regard to case, hyphens, underscores and blanks.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence

#: measures and algorithms: by what they are, the other name and that of letorbench
NAMES: Mapping[str, Mapping[str, str]] = {
    "measure": {
        # trec_eval, ir_measures, ranx, RankLib
        "NDCG": "ndcg", "NDCGCut": "ndcg", "AP": "map", "MAPCut": "map", "Precision": "p",
        "AveragePrecision": "map", "MeanAveragePrecision": "map", "R": "recall", "RR": "mrr",
        "RecipRank": "mrr", "ReciprocalRank": "mrr", "MeanReciprocalRank": "mrr",
        "Success": "hit", "HitRate": "hit", "RPrecision": "rprec", "KendallTau": "tau",
        "SpearmanRho": "rho", "ROCAUC": "auc", "ndcg": "ndcg", "mrr": "mrr", "err": "err",
    },
    "algorithm": {
        # a loss's usual name: `wpl` is ListMLE with its default weight
        "ListMLE": "wpl", "ApproxNDCG": "smooth-ndcg", "LambdaMart": "lambdamart", "GBRT": "mart",
        "GBDT": "mart", "RankingSVM": "ranksvm", "SVMRank": "ranksvm",
        "RandomForest": "random-forests", "CoordAscent": "coordinate-ascent",
        "LinearRegression": "regression", "LightGBMRanker": "lightgbm", "LGBMRanker": "lightgbm",
        "LGBM": "lightgbm", "XGBRanker": "xgboost", "XGB": "xgboost", "CatBoostRanker": "catboost",
    },
}  # fmt: skip
#: parameters: the other name, and the names of letorbench, of which the first that a ranker has
PARAMETERS: Mapping[str, Sequence[str]] = {
    other: ours.split()
    for others, ours in {
        # LightGBM, XGBoost, CatBoost, scikit-learn, RankLib
        "n_estimators num_iterations num_boost_round num_trees n_trees": "rounds bags",
        "max_iter n_iter": "iterations epochs rounds",
        "n_epochs num_epochs max_epochs": "epochs",
        "num_leaves max_leaves max_leaf_nodes n_leaves": "leaves",
        "lr eta shrinkage shrinkage_rate": "learning_rate",
        "min_child_samples min_data_in_leaf min_samples_leaf": "min_docs",
        "subsample bagging_fraction max_samples": "docs",
        "colsample_bytree feature_fraction max_features": "columns",
        "early_stopping_rounds early_stopping_round n_iter_no_change": "patience",
        "reg_lambda lambda_l2 weight_decay": "l2",
        "max_depth": "depth",
        "max_bin max_bins": "bins",
        "min_child_weight": "min_weight",
        "lambdarank_truncation_level": "truncation",
    }.items()
    for other in others.split()
}


def plain(name: str) -> str:
    """Return a name in lower case without hyphens, underscores and blanks."""
    return name.lower().translate(_SIGNS)


_SIGNS = str.maketrans("", "", "-_ ")
_PLAIN = {kind: {plain(k): v for k, v in names.items()} for kind, names in NAMES.items()}


def named(name: str, choices: Iterable[str], kind: str) -> str | None:
    """Return the choice that a name of a measure or an algorithm means, here or elsewhere, or None.

    >>> named("Precision", ["map", "p"], "measure"), named("random_forests", ["frank"], "algorithm")
    ('p', None)
    """
    if kind not in NAMES:
        return None
    known = {plain(choice): choice for choice in choices}
    return known.get(plain(name)) or known.get(plain(_PLAIN[kind].get(plain(name), name)))


def attribute(name: str, places: Iterable[str]) -> str | None:
    """Return the attribute of a package that another tool's name, as it is spelled, means."""
    return next((named(name, places, kind) for kind in NAMES if name in NAMES[kind]), None)


def parameter(name: str, known: Container[str]) -> str | None:
    """Return the known parameter that a name means, its own or another tool's, or None.

    >>> parameter("n_estimators", ["rounds", "leaves"]), parameter("rounds", ["bags"])
    ('rounds', None)
    """
    return next((each for each in (name, *PARAMETERS.get(name, ())) if each in known), None)
