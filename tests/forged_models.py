"""Model files of LightGBM and XGBoost that no library wrote: small good ones, and damaged ones."""

import copy
import json
import re
from collections.abc import Iterator
from typing import Any

#: two trees: one has a split by category (0, 2 and 5 go left), one where 0 is a missing value
LIGHTGBM = """tree
version=v4
num_class=1
num_tree_per_iteration=1
label_index=0
max_feature_idx=4
objective=lambdarank
feature_names=a b c d e
feature_infos=[0:1] [0:1] [0:1] [0:1] 0:1:2:5
tree_sizes=440 300

Tree=0
num_leaves=4
num_cat=1
split_feature=1 4 0
split_gain=3 2 1
threshold=0.5 0 -0.25
decision_type=10 1 2
left_child=1 -1 -2
right_child=2 -3 -4
leaf_value=0.25 -0.5 1 2
leaf_weight=1 1 1 1
leaf_count=5 6 7 8
internal_value=0 0 0
internal_weight=4 2 2
internal_count=26 12 14
cat_boundaries=0 1
cat_threshold=37
is_linear=0
shrinkage=0.1


Tree=1
num_leaves=2
num_cat=0
split_feature=2
split_gain=1
threshold=0.75
decision_type=4
left_child=-1
right_child=-2
leaf_value=-1 1
leaf_weight=1 1
leaf_count=10 16
internal_value=0
internal_weight=2
internal_count=26
is_linear=0
shrinkage=0.1


end of trees

parameters:
end of parameters

pandas_categorical:null
"""
TREE: dict[str, Any] = {
    "base_weights": [0.0] * 7, "categories": [0, 2, 5], "categories_nodes": [1],
    "categories_segments": [0], "categories_sizes": [3], "default_left": [1, 0, 0, 0, 0, 0, 0],
    "id": 0, "left_children": [1, 3, 5, -1, -1, -1, -1],
    "loss_changes": [3.0, 2.0, 1.5, 0.0, 0.0, 0.0, 0.0],
    "parents": [2147483647, 0, 0, 1, 1, 2, 2], "right_children": [2, 4, 6, -1, -1, -1, -1],
    "split_conditions": [0.5, 1e-45, -0.25, 0.25, -0.5, 1.0, 2.0],
    "split_indices": [1, 4, 0, 0, 0, 0, 0], "split_type": [0, 1, 0, 0, 0, 0, 0],
    "sum_hessian": [4.0] * 7,
    "tree_param": {"num_deleted": "0", "num_feature": "5", "num_nodes": "7",
                   "size_leaf_vector": "1"},
}  # fmt: skip
XGBOOST: dict[str, Any] = {
    "learner": {
        "attributes": {}, "feature_names": [], "feature_types": [],
        "gradient_booster": {
            "model": {"gbtree_model_param": {"num_parallel_tree": "1", "num_trees": "1"},
                      "iteration_indptr": [0, 1], "tree_info": [0], "trees": [TREE]},
            "name": "gbtree",
        },
        "learner_model_param": {"base_score": "[5E-1]", "num_class": "0", "num_feature": "5",
                                "num_target": "1"},
        "objective": {"name": "rank:ndcg"},
    },
    "version": [3, 0, 0],
}  # fmt: skip
INDEX = (-100_000, 77, 10**9, 2**31, 2**63, 10**30, 1.5, "x", None)
#: a line of the first tree, or of the head -> what no file may have there
WRONG_LINES: dict[str, list[object]] = {
    **{key: [*(f"{bad} 4 0" for bad in INDEX[:-1]), "1 4", "1 4 0 0", "", "nan 1 1"]
       for key in ("split_feature", "left_child", "right_child")},
    "left_child ": ["0 -1 -2", "1 0 -2", "1 1 -2", "2 -1 -2", "1 -1 -1"],
    "threshold": ["nan 0 1", "1e999 0 1", "0.5 1 0", "0.5 -1 0", "0.5 0.5 0", "0.5", "x 0 0"],
    "leaf_value": ["nan 1 1 1", "1 1 1", "1e999 1 1 1", "", "1 1 1 x"],
    "decision_type": ["1 1 1", "x 1 2", "10 1", "1.5 1 2"],
    "cat_boundaries": ["0 0", "0 9", "1 1", "-1 1", "0 -5", "", "0 1 2", "0 1.5"],
    "cat_threshold": ["-1", "4294967296", "", "1 2", "x", "1.5", "0"],
    "num_cat": [0, -1, 10**12, "x"],
    "num_leaves": [0, 1, 99, -1, 10**12, "x"],
    "is_linear": [1, "x"],
    "max_feature_idx": [3, -1, 10**12, "x"],
    "num_tree_per_iteration": [3, "x"],
    "tree_sizes": ["1", "1 1 1"],
}  # fmt: skip
#: a place in an XGBoost tree, or above it -> what no file may have there
WRONG_VALUES: dict[str, list[object]] = {
    "split_indices": [*([bad, 4, 0, 0, 0, 0, 0] for bad in INDEX), [1, 4], [], None],
    **{key: [[bad, 3, 5, -1, -1, -1, -1] for bad in INDEX] + [[1, 3], [], 1, None]
       for key in ("left_children", "right_children")},
    "left_children ": [[0, 3, 5, -1, -1, -1, -1], [1, 0, 5, -1, -1, -1, -1],
                       [1, 3, 3, -1, -1, -1, -1], [1, 1, 5, -1, -1, -1, -1]],
    "split_conditions": [[bad] + [0.5] * 6 for bad in (float("nan"), 1e39, "x", None)] + [[1.0]],
    "default_left": [[1], [], None],
    "split_type": [[1] * 7, [], [0] * 7, [0] * 7 + [1]],
    "categories": [[], [0], [-1, 2, 5], [0, 2, 2**24], [0, 2, "x"], None],
    "categories_nodes": [[], [0], [77], [-1], [1, 1], None],
    "categories_sizes": [[], [0], [4], [-1], [10**12], ["x"], None],
    "loss_changes": [[0.0], [float("inf")] * 7, None],
}  # fmt: skip


def forged_lightgbm() -> Iterator[bytes]:
    """Damaged texts of LightGBM."""
    for key, values in WRONG_LINES.items():
        assert f"\n{key.strip()}=" in LIGHTGBM
        for value in values:
            yield re.sub(
                f"\n{key.strip()}=.*", f"\n{key.strip()}={value}", LIGHTGBM, count=1
            ).encode()
    for line in ("end of trees", "feature_names=a b c d e", "num_leaves=4", "Tree=1"):
        yield LIGHTGBM.replace(line, "").encode()


def forged_xgboost() -> Iterator[bytes]:
    """Damaged JSON of XGBoost."""
    for key, values in WRONG_VALUES.items():
        for value in values:
            forged = copy.deepcopy(XGBOOST)
            forged["learner"]["gradient_booster"]["model"]["trees"][0][key.strip()] = value
            yield json.dumps(forged).encode()
    text = json.dumps(XGBOOST)
    for old, new in (
        ('"num_feature": "5", "num_target"', '"num_feature": "4", "num_target"'),
        ('"num_class": "0"', '"num_class": "3"'), ('"num_target": "1"', '"num_target": "2"'),
        ("[5E-1]", "[NaN]"), ("[5E-1]", "[1,2]"), ('"num_trees": "1"', '"num_trees": "2"'),
        ('"gbtree"', '"dart", "weight_drop": [1, 2]'), ('"gbtree"', '"gblinear"'),
        ('"gbtree"', '"dart", "weight_drop": [1e999]'),
        ('"feature_names": []', '"feature_names": ["a"]'),
        ('"learner": ', '"learner": ' + "[" * 100_000),
    ):  # fmt: skip
        assert old in text
        yield text.replace(old, new).encode()


#: damaged files of a form, at least 60
FORGED = {"lightgbm": forged_lightgbm, "xgboost": forged_xgboost}
