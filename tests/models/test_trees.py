"""Texts of LightGBM and XGBoost: whole forests give the library's scores, others one line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

import numpy as np
import pytest
from conftest import random_queries

from letorbench.errors import DataError
from letorbench.models import LightGBMTrees, Model, XGBoostTrees
from letorbench.rankers import ranker

KINDS = {"lightgbm": LightGBMTrees, "xgboost": XGBoostTrees}
QUERIES = random_queries(np.random.default_rng(0), [60] * 5)


@pytest.fixture(params=sorted(KINDS))
def kind(request: pytest.FixtureRequest) -> str:
    pytest.importorskip(request.param, reason=f"{request.param} is not installed")
    return request.param


def trained(kind: str) -> str:
    return ranker(kind)(rounds=4).fit_sets(QUERIES).learned.model.model.tobytes().decode()


@pytest.fixture
def text(kind: str) -> str:
    return trained(kind)


def model(kind: str, text: str) -> Model:
    return KINDS[kind](np.frombuffer(text.encode(), dtype=np.uint8))


def is_refused_or_scores(kind: str, text: str) -> bool:
    """Whether the text is refused; the process must live in any case."""
    try:
        scores = model(kind, text).predict(np.resize(QUERIES.features, (500, 5)))
    except DataError as error:
        assert "\n" not in str(error)
        return True
    assert scores.shape == (500,)
    return False


def test_a_whole_text_gives_the_librarys_scores(kind: str, text: str) -> None:
    if kind == "lightgbm":
        import lightgbm

        theirs = lightgbm.Booster(model_str=text).predict(QUERIES.features, raw_score=True)
    else:
        import xgboost

        booster = xgboost.Booster(model_file=bytearray(text.encode()))
        theirs = booster.inplace_predict(QUERIES.features, predict_type="margin")
    np.testing.assert_array_equal(model(kind, text).predict(QUERIES.features), theirs)


def test_trees_of_one_leaf_are_taken(kind: str) -> None:
    setting = {"min_docs": 10_000} if kind == "lightgbm" else {"min_weight": 1e9}
    fitted = ranker(kind)(rounds=2, **setting).fit_sets(QUERIES)
    assert len(set(fitted.predict(QUERIES.features))) == 1


@pytest.mark.parametrize("share", [0.0, 0.1, 0.3, 0.5, 0.9, 0.99])
def test_a_text_that_ends_early_is_refused(kind: str, text: str, share: float) -> None:
    whole = text.index("end of trees") if kind == "lightgbm" else len(text)
    assert is_refused_or_scores(kind, text[: int(share * whole)])


LIGHTGBM: dict[str, Callable[[str], str]] = {
    "a tree longer than the text": lambda t: t.replace("tree_sizes=", "tree_sizes=99999999 "),
    "a negative size": lambda t: t.replace("tree_sizes=", "tree_sizes=-5 "),
    "a feature too large": lambda t: t.replace("split_feature=", "split_feature=7", 1),
    "fewer features": lambda t: t.replace("max_feature_idx=4", "max_feature_idx=1"),
    "two classes": lambda t: t.replace("num_class=1", "num_class=2"),
    "categories": lambda t: t.replace("num_cat=0", "num_cat=1", 1),
    "a split by category": lambda t: re.sub("decision_type=[0-9]+", "decision_type=3", t, count=1),
    "linear leaves": lambda t: t.replace("is_linear=0", "is_linear=1", 1),
    "a child of itself": lambda t: t.replace("right_child=1", "right_child=0", 1),
    "a leaf beyond": lambda t: t.replace("left_child=-1", "left_child=-9", 1),
    "more leaves": lambda t: t.replace("num_leaves=", "num_leaves=1", 1),
    "a huge number of leaves": lambda t: t.replace("num_leaves=", "num_leaves=99999999", 1),
    "a name twice": lambda t: t.replace("num_cat=0", "num_cat=0\nnum_cat=0", 1),
    "another booster": lambda t: t.replace("tree\n", "dart\n", 1),
    "an empty line": lambda t: re.sub(r"\n(num_leaves=.*)((.*\n)+?)\n", r"\n\2\n\1", t, count=1),
    "no end of a tree": lambda t: t.replace("\n\n\nTree=1", "111Tree=1", 1),
    "a separator for Python alone": lambda t: re.sub("(leaf_value=[^ ]+) ", "\\1\x1c", t, count=1),
    "a number for Python alone": lambda t: re.sub(r"(leaf_weight=.*?)\.", r"\1_", t, count=1),
}


def with_right_sizes(text: str) -> str:
    """Write the trees' sizes anew, so that nothing but the change itself can be refused."""
    trees = re.findall(r"^Tree=.*?(?=^Tree=|^end of trees)", text, re.MULTILINE | re.DOTALL)
    return re.sub("tree_sizes=.*", f"tree_sizes={' '.join(str(len(t)) for t in trees)}", text)


def test_odd_lightgbm_forests_are_refused() -> None:
    pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    text = trained("lightgbm")
    for what, change in LIGHTGBM.items():
        changed = (
            change(text) if "size" in what or "longer" in what else with_right_sizes(change(text))
        )
        assert changed != text and is_refused_or_scores("lightgbm", changed), what
    assert with_right_sizes(text) == text


XGBOOST: dict[str, object] = {
    "split_indices": [99], "left_children": [0], "right_children": [10**6],
    "split_conditions": ["x"], "split_type": [1], "categories": [1], "default_left": [None],
    "left_children ": [-1], "default_left ": [2], "left_children  ": [1.0], "parents": [2**31],
}  # fmt: skip


@pytest.mark.parametrize("shorter", [False, True])
def test_odd_xgboost_forests_are_refused(shorter: bool) -> None:
    pytest.importorskip("xgboost", reason="xgboost is not installed")
    text = trained("xgboost")
    for name, first in XGBOOST.items():
        content = json.loads(text)
        tree = content["learner"]["gradient_booster"]["model"]["trees"][0]
        if shorter and tree[name.strip()]:
            tree[name.strip()].pop()
        else:
            tree[name.strip()][:1] = first
        assert is_refused_or_scores("xgboost", json.dumps(content)), name
    for name, value in {"size_leaf_vector": str(2**63 - 1), "num_deleted": "1"}.items():
        content = json.loads(text)
        content["learner"]["gradient_booster"]["model"]["trees"][0]["tree_param"][name] = value
        assert is_refused_or_scores("xgboost", json.dumps(content)), name


def test_random_changes_crash_nothing(kind: str, text: str) -> None:
    rng = np.random.default_rng(3)
    pieces = [*'-9=\n []{}e.,"', "99999999", "null", ""]
    refused = 0
    for _ in range(300):
        at = int(rng.integers(len(text)))
        stop = at + int(rng.integers(0, 4))
        changed = text[:at] + str(rng.choice(pieces)) + text[stop:]
        refused += is_refused_or_scores(kind, changed)
    assert refused > 50
