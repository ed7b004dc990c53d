"""The model texts of LightGBM and XGBoost, checked before the libraries read them.

The libraries trust their own texts: an index beyond its array, or a text that ends early, reads
memory that is not theirs. Both kinds of text list a tree's nodes in arrays; a node's number is
larger than its parent's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from letorbench.errors import DataError

#: an array of a LightGBM tree -> how many entries it has fewer than the tree has leaves
_ARRAYS = {
    "split_feature": 1, "split_gain": 1, "threshold": 1, "decision_type": 1, "left_child": 1,
    "right_child": 1, "internal_value": 1, "internal_weight": 1, "internal_count": 1,
    "leaf_value": 0, "leaf_weight": 0, "leaf_count": 0,
}  # fmt: skip
#: those of whole numbers
_WHOLE = frozenset({"split_feature", "decision_type", "left_child", "right_child"})
#: the trees of one score a document, and neither categories nor linear leaves
_PLAIN_FOREST = {"num_class": "1", "num_tree_per_iteration": "1", "objective": "lambdarank"}
_PLAIN_TREE = {"num_cat": "0", "is_linear": "0"}
#: the arrays of an XGBoost tree, with an entry a node: of whole numbers that fit 32 bits, of others
_NODES = (
    "left_children", "right_children", "split_indices", "default_left", "parents", "split_type",
)  # fmt: skip
_VALUES = ("split_conditions", "base_weights", "loss_changes", "sum_hessian")
#: what stands for the parameters of the training, which no score depends on
_END = "end of trees\n\nparameters:\n\nend of parameters\n\npandas_categorical:null\n"


def checked_lightgbm(text: str) -> str:
    """Return the text without what is said behind the trees.

    Raises
    ------
    DataError
        It is no whole forest.
    """
    try:
        header, _, rest = text.partition("\n\n")
        first, _, lines = header.partition("\n")
        forest = _entries(lines)
        _require(first == "tree", "the first line", first, "tree")
        _require_all(forest, _PLAIN_FOREST)
        n_features = _whole(forest["max_feature_idx"]) + 1
        for name in ("feature_names", "feature_infos"):
            _require(len(forest[name].split()) == n_features, name, forest[name], n_features)
        stop = 0
        for number, size in enumerate(map(_whole, forest["tree_sizes"].split())):
            _require(size > 0, "the size of a tree", size, "more than 0")
            tree = rest[stop : stop + size]
            whole = len(tree) == size and tree.isascii() and tree.endswith("\n\n")
            _require(whole, f"tree {number}", len(tree), f"{size} characters and an empty line")
            stop += size
            name, _, lines = tree.partition("\n")
            _require(name == f"Tree={number}", "a tree", name, f"Tree={number}")
            _check_lightgbm_tree(_entries(lines), n_features)
        _require(rest[stop:].startswith("end of trees\n"), "behind the trees", "more", "the end")
        return f"{header}\n\n{rest[:stop]}{_END}"
    except (KeyError, ValueError, OverflowError) as error:
        raise DataError(f"found no model of LightGBM ({_reason(error)})") from None


def checked_xgboost(text: str) -> str:
    """Return the text.

    Raises
    ------
    DataError
        It is no whole forest.
    """
    try:
        learner = json.loads(text, object_pairs_hook=_unique)["learner"]
        n_features = _whole(learner["learner_model_param"]["num_feature"])
        forest = learner["gradient_booster"]
        _require(forest["name"] == "gbtree", "the booster", forest["name"], "gbtree")
        trees = forest["model"]["trees"]
        one_each = list(range(len(trees) + 1))
        _require(forest["model"]["tree_info"] == [0] * len(trees), "tree_info", "others", "zeros")
        rounds = forest["model"]["iteration_indptr"]
        _require(rounds == one_each, "iteration_indptr", len(rounds), "a tree a round")
        _require_all(forest["model"]["gbtree_model_param"], {"num_trees": str(len(trees))})
        _require_all(learner["learner_model_param"], {"num_class": "0", "num_target": "1"})
        for number, tree in enumerate(trees):
            _require(tree["id"] == number, "the number of a tree", tree["id"], number)
            _check_xgboost_tree(tree, n_features)
        return text
    except (KeyError, ValueError, TypeError, OverflowError, RecursionError) as error:
        raise DataError(f"found no model of XGBoost ({_reason(error)})") from None


def _check_lightgbm_tree(tree: Mapping[str, str], n_features: int) -> None:
    _require_all(tree, _PLAIN_TREE)
    strange = set(tree) - {*_ARRAYS, *_PLAIN_TREE, "num_leaves", "shrinkage"}
    _require(not strange, "entries of a tree", sorted(strange), "those of plain trees")
    leaves = _whole(tree["num_leaves"])
    _real(tree["shrinkage"])
    if leaves == 1:
        for name in _ARRAYS:
            whole = len(tree[name].split()) == 1 or (name != "leaf_value" and not tree[name])
            _require(whole, name, tree[name], "one number")
        _real(tree["leaf_value"])
        return
    numbers: dict[str, list[float]] = {}
    for name, fewer in _ARRAYS.items():
        entries = tree[name].split()
        _require(len(entries) == leaves - fewer, name, len(entries), leaves - fewer)
        numbers[name] = [*map(_whole if name in _WHOLE else _real, entries)]
    _require_below(numbers["split_feature"], n_features, "split_feature")
    categorical = any(not 0 <= each < 16 or each % 2 for each in numbers["decision_type"])
    _require(not categorical, "decision_type", "others", "numerical ones")
    expected = [*range(-leaves, 0), *range(1, leaves - 1)]  # leaf k is written as -k - 1
    _check_children(numbers["left_child"], numbers["right_child"], expected)


def _check_xgboost_tree(tree: Mapping[str, Any], n_features: int) -> None:
    n = _whole(tree["tree_param"]["num_nodes"])
    for name in (*_NODES, *_VALUES):
        _require(isinstance(tree[name], list), name, type(tree[name]).__name__, "a list")
        _require(len(tree[name]) == n > 0, name, len(tree[name]), n)
    for name in _NODES:
        whole = all(type(each) is int and -1 <= each < 2**31 for each in tree[name])
        _require(whole, name, "others", "whole numbers")
    for name in _VALUES:
        plain = all(type(each) in (int, float) for each in tree[name])
        _require(plain, name, "others", "numbers")
    _require(set(tree["default_left"]) <= {0, 1}, "default_left", "others", "0 and 1")
    leaves_of_one = tree["tree_param"]["size_leaf_vector"] in ("0", "1")
    _require(leaves_of_one, "size_leaf_vector", "others", "1")
    for name in ("categories", "categories_nodes", "categories_segments", "categories_sizes"):
        _require(tree[name] == [], name, "some", "none")
    _require(not any(tree["split_type"]), "split_type", "categories", "zeros")
    _require_all(tree["tree_param"], {"num_deleted": "0", "num_feature": str(n_features)})
    _require_below(tree["split_indices"], n_features, "split_indices")
    left, right = tree["left_children"], tree["right_children"]
    alike = all((a == -1) == (b == -1) for a, b in zip(left, right, strict=True))
    _require(alike, "a node", "one child", "two or none")
    _check_children(left, right, range(1, n))
    own = [tree["parents"][child] == node for side in (left, right)
           for node, child in enumerate(side) if child != -1]  # fmt: skip
    _require(all(own), "parents", "others", "each node's own")


def _check_children(left: Sequence[float], right: Sequence[float], expected: Sequence[int]) -> None:
    """Raise where the children are not every expected node once, each behind its parent."""
    leaves_apart = min(expected, default=0) < 0
    found = [child for child in (*left, *right) if leaves_apart or child != -1]
    _require(sorted(found) == sorted(expected), "children", "others", "every node once")
    for side in (left, right):
        behind = all(child < 0 or child > node for node, child in enumerate(side))
        _require(behind, "a child", "one before its parent", "one behind it")


def _entries(lines: str) -> dict[str, str]:
    """Return the lines ``name=value``; other lines, but empty ones at the end, are refused.

    An empty line is where the library stops. Control characters are refused too: some of them
    separate words for Python and not for the library.
    """
    found: dict[str, str] = {}
    for line in lines.rstrip("\n").split("\n"):
        name, equals, value = line.partition("=")
        whole = bool(equals) and re.fullmatch("[a-z_]+", name) is not None and value.isprintable()
        _require(whole and name not in found, "a line", repr(line[:40]), "a new name=value")
        found[name] = value
    return found


def _whole(text: str) -> int:
    """Return the number, which both languages read alike: no 1_0, no digits of other scripts."""
    _require(re.fullmatch("-?[0-9]{1,9}", text) is not None, "a number", text, "a whole one")
    return int(text)


def _real(text: str) -> float:
    form = r"-?([0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?|inf|nan)"
    _require(re.fullmatch(form, text) is not None, "a number", text, "digits")
    return float(text)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    _require(len(found) == len(pairs), "an object", "a name twice", "each name once")
    return found


def _require_all(found: Mapping[str, str], expected: Mapping[str, str]) -> None:
    for name, value in expected.items():
        _require(found[name] == value, name, found[name], value)


def _require_below(values: Sequence[float], size: int, what: str) -> None:
    inside = all(type(each) is int and 0 <= each < size for each in values)
    _require(inside, what, "others", f"whole numbers from 0 to {size - 1}")


def _require(holds: bool, what: str, found: object, expected: object) -> None:
    if not holds:
        raise ValueError(f"{what}: found {found}, expected {expected}")


def _reason(error: Exception) -> str:
    missing = f"{error} is missing" if isinstance(error, KeyError) else str(error)
    return " ".join(missing.split())[:200]
