"""Regression trees of LightGBM and XGBoost, kept as the libraries' own model text.

The libraries trust their own texts: an index beyond its array, or a text that ends early, reads
memory that is not theirs. So a text is checked before a library reads it. Both kinds of text list
a tree's nodes in arrays; a node's number is larger than its parent's.
"""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from letorbench.errors import DataError, UsageError
from letorbench.models.base import Model, array
from letorbench.threads import thread_count

#: how many feature values are worth a thread: with fewer, threads that wait for each other in
#: thousands of short loops take several times as long as one thread (the results are equal)
LEAST = 2_000_000
#: an array of a LightGBM tree -> how many entries it has fewer than the tree has leaves
_ARRAYS = {
    "split_feature": 1, "split_gain": 1, "threshold": 1, "decision_type": 1, "left_child": 1,
    "right_child": 1, "internal_value": 1, "internal_weight": 1, "internal_count": 1,
    "leaf_value": 0, "leaf_weight": 0, "leaf_count": 0,
}  # fmt: skip
#: the trees of one score a document, and neither categories nor linear leaves
_PLAIN_FOREST = {"num_class": "1", "num_tree_per_iteration": "1", "objective": "lambdarank"}
_PLAIN_TREE = {"num_cat": "0", "is_linear": "0"}
#: numbers that Python and the libraries read alike: no 1_0, no digits of other scripts
_WHOLE = re.compile("-?[0-9]{1,9}")
_REAL = re.compile(r"-?([0-9]+(\.[0-9]*)?([eE][-+]?[0-9]+)?|inf|nan)")
#: the arrays of an XGBoost tree, with an entry a node: of whole numbers that fit 32 bits, of others
_NODES = (
    "left_children", "right_children", "split_indices", "default_left", "parents", "split_type",
)  # fmt: skip
_VALUES = ("split_conditions", "base_weights", "loss_changes", "sum_hessian")
_CATEGORIES = ("categories", "categories_nodes", "categories_segments", "categories_sizes")
#: what stands for the parameters of the training, which no score depends on
_END = "end of trees\n\nparameters:\n\nend of parameters\n\npandas_categorical:null\n"


def threads_for(features: np.ndarray) -> int:
    """Return the number of threads that trees should use on features (n_docs, n_features)."""
    return max(1, min(thread_count(), features.size // LEAST))


@dataclass(frozen=True, eq=False)
class _Trees(Model):
    """Trees of a library, which is named as the kind of the models.

    Parameters
    ----------
    model : ndarray of shape (n_bytes,), uint8
        The library's own text of the model.
    """

    model: np.ndarray = array("n_bytes", dtype=np.uint8)

    @cached_property
    def booster(self) -> Any:
        """The library's booster."""
        try:
            library = import_module(self.kind)
        except ImportError as error:
            raise UsageError(
                f"this model needs the package {self.kind} ({error}); "
                f"`python -m pip install 'letorbench[trees]'` installs it"
            ) from None
        try:
            return self._booster(library, self.model.tobytes())
        except Exception as error:
            reason = f"{error} is missing" if isinstance(error, KeyError) else str(error)
            reason = " ".join(reason.split())[-200:]
            raise DataError(
                f"found no model of {self.kind}, or a damaged one ({reason})"
            ) from error

    @abstractmethod
    def _booster(self, library: Any, text: bytes) -> Any:
        """Check the text, and let the library read it."""


class LightGBMTrees(_Trees):
    """Trees of LightGBM, as its model text."""

    kind = "lightgbm"

    def _booster(self, library: Any, text: bytes) -> Any:
        return library.Booster(model_str=checked_lightgbm(text.decode()))

    @property
    def n_features(self) -> int:
        return self.booster.num_feature()

    def _score(self, features: np.ndarray) -> np.ndarray:
        return self.booster.predict(features, raw_score=True, num_threads=threads_for(features))


class XGBoostTrees(_Trees):
    """Trees of XGBoost, as its model in JSON."""

    kind = "xgboost"

    def _booster(self, library: Any, text: bytes) -> Any:
        return library.Booster(model_file=bytearray(checked_xgboost(text.decode()).encode()))

    @property
    def n_features(self) -> int:
        return self.booster.num_features()

    def _score(self, features: np.ndarray) -> np.ndarray:
        self.booster.set_param({"nthread": threads_for(features)})
        return self.booster.inplace_predict(features, predict_type="margin")


def checked_lightgbm(text: str) -> str:
    """Return the text without what follows the trees; ValueError if it is no whole forest."""
    header, _, rest = text.partition("\n\n")
    first, _, lines = header.partition("\n")
    forest = _entries(lines)
    _require(
        first == "tree" and _PLAIN_FOREST.items() <= forest.items(), "a forest of another kind"
    )
    n_features = _whole(forest["max_feature_idx"]) + 1
    for name in ("feature_names", "feature_infos"):
        _require(len(forest[name].split()) == n_features, name)
    stop = 0
    for number, size in enumerate(map(_whole, forest["tree_sizes"].split())):
        tree = rest[stop : stop + size]
        whole = 0 < size == len(tree) and tree.isascii() and tree.endswith("\n\n")
        stop += size
        name, _, lines = tree.partition("\n")
        _require(whole and name == f"Tree={number}", f"tree {number} and its size")
        _check_lightgbm_tree(_entries(lines), n_features)
    _require(rest[stop:].startswith("end of trees\n"), "the end of the trees")
    return f"{header}\n\n{rest[:stop]}{_END}"


def _check_lightgbm_tree(tree: dict[str, str], n_features: int) -> None:
    plain = _PLAIN_TREE.items() <= tree.items()
    _require(plain and set(tree) <= {*_ARRAYS, *_PLAIN_TREE, "num_leaves", "shrinkage"}, "a tree")
    leaves = _whole(tree["num_leaves"])
    arrays = {name: tree[name].split() for name in _ARRAYS}
    if leaves == 1:  # the arrays of splits are empty or hold one number that is not used
        _require(all(len(each) <= 1 for each in arrays.values()), "a tree of one leaf")
        _reals([tree["shrinkage"], tree["leaf_value"]])
        return
    for name, fewer in _ARRAYS.items():
        _require(len(arrays[name]) == leaves - fewer, f"the length of {name}")
        _reals(arrays[name])
    _reals([tree["shrinkage"]])
    feature, decision, left, right = (
        [*map(_whole, arrays[name])]
        for name in ("split_feature", "decision_type", "left_child", "right_child")
    )
    _require(all(0 <= each < n_features for each in feature), "split_feature")
    _require(all(each in range(0, 16, 2) for each in decision), "decision_type: categories")
    # leaf k is written as -k - 1
    _check_children(left, right, [*range(-leaves, 0), *range(1, leaves - 1)])


def checked_xgboost(text: str) -> str:
    """Return the text; ValueError, KeyError or TypeError if it is no whole forest."""
    learner = json.loads(text, object_pairs_hook=_unique)["learner"]
    parameters, booster = learner["learner_model_param"], learner["gradient_booster"]
    forest = booster["model"]
    trees = forest["trees"]
    plain = booster["name"], parameters["num_class"], parameters["num_target"]
    _require(plain == ("gbtree", "0", "1"), "a forest of another kind")
    _require(forest["tree_info"] == [0] * len(trees), "tree_info")
    _require(forest["iteration_indptr"] == [*range(len(trees) + 1)], "iteration_indptr")
    _require(forest["gbtree_model_param"]["num_trees"] == str(len(trees)), "num_trees")
    for number, tree in enumerate(trees):
        _require(tree["id"] == number, "the number of a tree")
        _check_xgboost_tree(tree, _whole(parameters["num_feature"]))
    return text


def _check_xgboost_tree(tree: dict[str, Any], n_features: int) -> None:
    parameters = tree["tree_param"]
    n = _whole(parameters["num_nodes"])
    for name in (*_NODES, *_VALUES):
        _require(isinstance(tree[name], list) and len(tree[name]) == n > 0, name)
    for name in _NODES:
        _require(all(type(each) is int and -1 <= each < 2**31 for each in tree[name]), name)
    for name in _VALUES:
        _require(all(type(each) in (int, float) for each in tree[name]), name)
    _require(all(each in (0, 1) for each in tree["default_left"]), "default_left")
    _require(all(0 <= each < n_features for each in tree["split_indices"]), "split_indices")
    _require(not any(tree["split_type"]), "split_type: categories")
    _require(all(tree[name] == [] for name in _CATEGORIES), "categories")
    _require(parameters["size_leaf_vector"] in ("0", "1"), "size_leaf_vector")
    _require(parameters["num_deleted"] == "0", "num_deleted")
    _require(parameters["num_feature"] == str(n_features), "num_feature")
    left, right, parents = tree["left_children"], tree["right_children"], tree["parents"]
    pairs = [(node, *both) for node, both in enumerate(zip(left, right)) if both != (-1, -1)]
    _require(all(a != -1 != b for _, a, b in pairs), "a node of one child")
    inner = [node for node, _, _ in pairs]
    left, right = ([pair[side] for pair in pairs] for side in (1, 2))
    _check_children(left, right, range(1, n), inner)
    _require(all(parents[a] == parents[b] == node for node, a, b in pairs), "parents")


def _check_children(
    left: Sequence[int], right: Sequence[int], expected: Iterable[int], nodes: Sequence[int] = ()
) -> None:
    """Raise where the children are not every expected node once, each behind its parent."""
    _require(sorted([*left, *right]) == sorted(expected), "children")
    for node, *children in zip(nodes or range(len(left)), left, right):
        _require(all(child < 0 or child > node for child in children), "a child before its parent")


def _entries(lines: str) -> dict[str, str]:
    """Return the lines ``name=value``; other lines, but empty ones at the end, are refused.

    An empty line is where the library stops. Control characters are refused too: some of them
    separate words for Python and not for the library.
    """
    entries: dict[str, str] = {}
    for line in lines.rstrip("\n").split("\n"):
        name, equals, value = line.partition("=")
        whole = bool(equals) and re.fullmatch("[a-z_]+", name) is not None and value.isprintable()
        _require(whole and name not in entries, f"the line {line[:40]!r}")
        entries[name] = value
    return entries


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    _require(len(dict(pairs)) == len(pairs), "an object with one name twice")
    return dict(pairs)


def _whole(text: str) -> int:
    _require(_WHOLE.fullmatch(text) is not None, f"{text[:40]!r}, expected a whole number")
    return int(text)


def _reals(texts: Iterable[str]) -> None:
    for text in texts:
        _require(_REAL.fullmatch(text) is not None, f"{text[:40]!r}, expected a number")


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise ValueError(what)
