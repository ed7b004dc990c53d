"""Other tools' names of measures, algorithms and parameters, and the names that these have here.

They are accepted wherever a name is read, and are printed as the names of letorbench. Names are
compared without regard to case, hyphens, underscores and blanks.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping

#: measures and algorithms: by what they are, the other name and that of letorbench
NAMES: Mapping[str, Mapping[str, str]] = {
    "measure": {
        # trec_eval, ir_measures, ranx, RankLib
        "NDCG": "ndcg", "NDCGCut": "ndcg", "AP": "map", "MAPCut": "map", "Precision": "p",
        "AveragePrecision": "map", "MeanAveragePrecision": "map", "R": "recall", "RR": "mrr",
        "RecipRank": "mrr", "ReciprocalRank": "mrr", "MeanReciprocalRank": "mrr",
        "Success": "hit", "HitRate": "hit", "RPrecision": "rprec", "KendallTau": "tau",
        "SpearmanRho": "rho", "ROCAUC": "auc",
    },
    "algorithm": {
        # a loss's usual name: `wpl` is ListMLE with its default weight
        "ListMLE": "wpl", "ApproxNDCG": "smooth-ndcg", "LambdaMart": "lambdamart", "MART": "mart",
        "GBRT": "mart", "GBDT": "mart", "RankingSVM": "ranksvm", "SVMRank": "ranksvm",
        "RandomForest": "random-forests", "CoordAscent": "coordinate-ascent",
        "LinearRegression": "regression", "LightGBMRanker": "lightgbm", "LGBMRanker": "lightgbm",
        "LGBM": "lightgbm", "XGBRanker": "xgboost", "XGB": "xgboost",
    },
}  # fmt: skip
#: parameters: the other name, and the names of letorbench of which a ranker has one at most
PARAMETERS: Mapping[str, tuple[str, ...]] = {
    # LightGBM, XGBoost, CatBoost, scikit-learn, RankLib
    **dict.fromkeys(
        ("n_estimators", "num_iterations", "num_boost_round", "num_trees", "n_trees"),
        ("rounds", "bags"),
    ),
    **dict.fromkeys(("max_iter", "n_iter"), ("iterations", "epochs", "rounds")),
    **dict.fromkeys(("n_epochs", "num_epochs", "max_epochs"), ("epochs",)),
    **dict.fromkeys(("num_leaves", "max_leaves", "max_leaf_nodes", "n_leaves"), ("leaves",)),
    **dict.fromkeys(("lr", "eta", "shrinkage", "shrinkage_rate"), ("learning_rate",)),
    **dict.fromkeys(
        ("min_child_samples", "min_data_in_leaf", "min_samples_leaf"), ("min_docs",)
    ),
    **dict.fromkeys(("subsample", "bagging_fraction", "max_samples"), ("docs",)),
    **dict.fromkeys(
        ("colsample_bytree", "feature_fraction", "max_features"), ("columns",)
    ),
    **dict.fromkeys(
        ("early_stopping_rounds", "early_stopping_round", "n_iter_no_change"), ("patience",)
    ),
    **dict.fromkeys(("reg_lambda", "lambda_l2", "weight_decay"), ("l2",)),
    "max_depth": ("depth",), "max_bin": ("bins",), "max_bins": ("bins",),
    "min_child_weight": ("min_weight",), "lambdarank_truncation_level": ("truncation",),
}  # fmt: skip


def plain(name: str) -> str:
    """Return a name in lower case without hyphens, underscores and blanks."""
    return name.lower().translate(_SIGNS)


_SIGNS = str.maketrans("", "", "-_ ")
_PLAIN = {kind: {plain(k): v for k, v in names.items()} for kind, names in NAMES.items()}


def named(name: str, choices: Iterable[str], kind: str) -> str | None:
    """Return the choice that another tool's name of a measure or an algorithm means, or None.

    Examples
    --------
    >>> named("Precision", ["map", "p"], "measure"), named("random_forests", ["frank"], "algorithm")
    ('p', None)
    """
    if kind not in _PLAIN:
        return None
    wanted = {plain(name), plain(_PLAIN[kind].get(plain(name), name))}
    return next((choice for choice in choices if plain(choice) in wanted), None)


def attribute(name: str, places: Iterable[str]) -> str | None:
    """Return the attribute of a package that another tool's name, as it is spelled, means."""
    for names in NAMES.values():
        if name in names:
            return next((each for each in places if plain(each) == plain(names[name])), None)
    return None


def parameter(name: str, known: Container[str]) -> str | None:
    """Return the known parameter that a name means, its own or another tool's, or None.

    Examples
    --------
    >>> parameter("n_estimators", ["rounds", "leaves"]), parameter("rounds", ["bags"])
    ('rounds', None)
    """
    return next((each for each in (name, *PARAMETERS.get(name, ())) if each in known), None)
