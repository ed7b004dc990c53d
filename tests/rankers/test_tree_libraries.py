"""The libraries' LambdaMART, against the libraries' own estimators with the same settings."""

from dataclasses import replace

import numpy as np
import pytest
from conftest import random_queries

from letorbench.rankers import ranker


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("name", ["lightgbm", "xgboost"])
def test_every_setting_is_what_the_library_calls_by_another_name(name, missing, rng) -> None:
    """Also where values are missing, in training or, as by LightGBM alone, only afterwards."""
    library = pytest.importorskip(name)
    pytest.importorskip("sklearn", reason="the libraries' estimators need scikit-learn")
    train = random_queries(rng, [12, 40, 1, 30, 25], levels=4)
    new = rng.permuted(train.features, axis=0)
    new[rng.random(new.shape) < 0.4] = np.nan
    if missing:  # a feature has no missing value in training
        gone = rng.random(new.shape) < [0.3, 0.0, 0.6, 0.9, 0.1]
        train = replace(train, features=np.where(gone, np.float32(np.nan), train.features))
    X, y, sizes = train.features, train.labels, train.lengths
    common = {"n_estimators": 9, "learning_rate": 0.3, "random_state": 0}
    for truncation, depth in ((1, 3), (2, 0), (5, 3)):  # 0: of any depth
        settings = {"rounds": 9, "learning_rate": 0.3, "truncation": truncation}
        if name == "lightgbm":
            settings |= {"leaves": 5, "min_docs": 7}
            theirs = library.LGBMRanker(
                num_leaves=5, min_child_samples=7, lambdarank_truncation_level=truncation,
                verbosity=-1, **common,
            ).fit(X, y, group=sizes)  # fmt: skip
        else:
            settings |= {"depth": depth, "min_weight": 0.2}
            theirs = library.XGBRanker(
                max_depth=depth, min_child_weight=0.2, lambdarank_pair_method="topk",
                lambdarank_num_pair_per_sample=truncation, tree_method="hist", **common,
            ).fit(X, y, group=sizes)  # fmt: skip
        model = ranker(name)(**settings).fit_sets(train).learned.model
        assert model.has_missing == missing
        for each in (X, new) if missing or name == "lightgbm" else (X,):
            np.testing.assert_allclose(model.predict(each), theirs.predict(each), 1e-6, 1e-6)
        if name == "lightgbm":
            gains = theirs.booster_.feature_importance("gain")
        else:
            scores = theirs.get_booster().get_score(importance_type="total_gain")
            gains = [scores.get(f"f{k}", 0.0) for k in range(5)]
        np.testing.assert_allclose(np.bincount(model.feature, model.gain, 5), gains, rtol=1e-5)
