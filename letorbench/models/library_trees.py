"""Models in files of LightGBM, XGBoost and CatBoost.

They are read and checked here because the libraries trust a file: an index out of range crashes the
process, and a cycle never ends.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from letorbench.errors import DataError
from letorbench.models.base import Model
from letorbench.models.linear import Linear
from letorbench.models.tree_ensemble import Float32Trees, Tree, TreeEnsemble, joined

#: LightGBM treats a value up to this size as 0
ZERO = float(np.float32(1e-35))
#: CatBoost's hash of a hash
_MULTIPLIER = 0x4906BA494954CB65
#: the keys of each split in LightGBM's text
AT_SPLITS = ("split_feature", "threshold", "decision_type", "split_gain")
#: the libraries whose models have a text that is read here
LIBRARIES = ("lightgbm", "xgboost", "catboost")
#: a model, and the feature names that the library was given
Read = tuple[Model, tuple[str, ...] | None]


class Ranges(NamedTuple):
    """A split by ranges: ..., cuts[k-1] < x <= cuts[k], ..."""

    cuts: np.ndarray
    goes_left: np.ndarray  # (n_cuts + 1,), of each range
    missing: int  # missing values go where this range goes


def library_of(model: Any) -> str:
    """Return which of `LIBRARIES` predicts a model's scores; "" for none, and for classes."""
    root = (getattr(model.predict, "__module__", None) or "").partition(".")[0]
    return root if root in LIBRARIES and not hasattr(model, "predict_proba") else ""


def text_of(model: Any, pool: Any = None) -> bytes:
    """Return a fitted model or estimator of one of `LIBRARIES` as its library's text.

    CatBoost writes the categories of a pool alone.
    """
    form = {"format": "json", "pool": pool} if library_of(model) == "catboost" else {}
    with TemporaryDirectory() as folder:
        path = Path(folder, "model.json")
        getattr(model, "booster_", model).save_model(str(path), **form)
        return path.read_bytes()


def of_lightgbm(content: bytes) -> Read:
    """Return the model in the text that LightGBM's `save_model` writes."""
    text, end, _ = content.decode().replace("\r\n", "\n").partition("\nend of trees")
    if not end:
        raise DataError("found no end of trees, expected a whole file")
    head, *trees = map(_lines, re.split(r"^Tree=.*\n", text, flags=re.MULTILINE))
    names = tuple(head["feature_names"].split(" "))
    _expect("features", int(head["max_feature_idx"]) + 1, len(names))
    _expect("trees", len(trees), len(head["tree_sizes"].split()))
    _expect("scores of a document", int(head["num_tree_per_iteration"]))
    weight = 1.0 / max(1, len(trees)) if "average_output" in head else 1.0
    model = _ensemble(map(_of_lightgbm, trees), [weight] * len(trees), len(names))
    return model, None if names[0] == "Column_0" else names


def _of_lightgbm(lines: Mapping[str, str]) -> tuple[Tree, dict[int, Ranges]]:
    """Return a tree; the nodes with a split come first, then the leaves."""
    if int(lines.get("is_linear", 0)):
        raise DataError("found linear trees, expected trees with a constant in each leaf")

    def numbers(key: str, size: int) -> np.ndarray:
        text = ",".join(lines.get(key, "").split()).replace("inf", "1e300")  # as LightGBM does
        given = json.loads(f"[{text}]")
        _expect(key, len(given), size)
        return np.array(given) if size else none[:0]

    def child(key: str) -> np.ndarray:  # ~leaf is negative; invalid indices become 2n or more
        given = numbers(key, n - 1)
        given = np.where(given < 0, n - 1 + ~given, given + 2 * n * (given >= n - 1))
        return np.append(given, np.arange(n - 1, 2 * n - 1))

    n = len(lines["leaf_value"].split())
    _expect("num_leaves", int(lines["num_leaves"]), n)
    none = np.zeros(n, np.int64)
    split = {key: np.append(numbers(key, n - 1), none) for key in AT_SPLITS}
    threshold, decision = split["threshold"].astype(np.float64), split["decision_type"]
    by_category, goes_left, missing = (decision & bit > 0 for bit in (1, 2, 12))
    ranges = {
        node: _around_zero(float(threshold[node]), bool(goes_left[node]))
        for node in np.flatnonzero(~by_category & (decision & 12 == 4)).tolist()
    }
    if by_category.any():
        bounds = numbers("cat_boundaries", int(lines["num_cat"]) + 1)
        words = numbers("cat_threshold", bounds[-1])
        if bounds[0] != 0 or (np.diff(bounds) < 1).any() or (words >> 32).any():
            raise DataError("found cat_boundaries that do not part the numbers of cat_threshold")
        bits = np.unpackbits(words.astype("<u4").view(np.uint8), bitorder="little")
        sets = {k: bits[32 * bounds[k] : 32 * bounds[k + 1]] for k in range(len(bounds) - 1)}
        for node in np.flatnonzero(by_category).tolist():  # each has another set
            chosen = np.flatnonzero(sets.pop(threshold[node]))
            ranges[node] = _among(chosen, -1.0, True)  # values that truncate to 0 are category 0
    # LightGBM 3 counts no documents if a tree is one leaf
    leaf_count = numbers("leaf_count", n) if lines.get("leaf_count") else none
    return Tree(
        split["split_feature"], threshold, child("left_child"), child("right_child"),
        np.append(numbers("internal_value", n - 1), numbers("leaf_value", n)),
        split["split_gain"], np.append(numbers("internal_count", n - 1), leaf_count),
        np.where(missing, goes_left, threshold >= 0.0),
    ), ranges  # fmt: skip


def _lines(text: str) -> dict[str, str]:
    """Return the values of lines key=value by key."""
    return {key: value for key, _, value in (line.partition("=") for line in text.split("\n"))}


@np.errstate(all="ignore")  # numbers that are not finite are refused later
def of_xgboost(content: bytes) -> Read:
    """Return the model in XGBoost's JSON, with the best rounds if early stopping recorded them."""
    if not content[1:].lstrip().startswith((b'"', b"}")):
        raise DataError(
            "found binary JSON (UBJ), expected JSON: xgboost.Booster(model_file='m.ubj')"
            ".save_model('m.json') makes some"
        )
    learner = json.loads(content)["learner"]
    params, booster = learner["learner_model_param"], learner["gradient_booster"]
    for key in ("num_class", "num_target"):
        _expect("scores of a document", max(1, int(params.get(key, 1))))
    base, n_features = _constant(params, learner["objective"]["name"]), int(params["num_feature"])
    names = tuple(map(str, learner.get("feature_names") or ())) or None
    _expect("names of features", len(names or ()), n_features if names else 0)
    if booster["name"] == "gblinear":
        weights = np.append(booster["model"]["weights"], base)
        _expect("numbers", int(np.isfinite(weights).sum()), n_features + 2)
        return Linear(weights[:-2], float(weights[-2:].sum())), names
    model = booster.get("gbtree", booster)["model"]  # dart wraps it
    about = model["gbtree_model_param"]
    _expect("trees", len(model["trees"]), int(about["num_trees"]))
    weights = booster.get("weight_drop", [1.0] * len(model["trees"]))
    _expect("weights of trees", len(weights), len(model["trees"]))
    rounds = int(learner.get("attributes", {}).get("best_iteration", -1)) + 1
    kept = max(0, rounds) * int(about.get("num_parallel_tree", 1)) or len(model["trees"])
    leaf: dict[str, Any] = {
        "left_children": [-1], "right_children": [-1], "split_indices": [0],
        "split_conditions": [base], "loss_changes": [0.0], "default_left": [0],
    }  # fmt: skip
    trees = map(_of_xgboost, [leaf, *model["trees"][:kept]])
    return Float32Trees(**vars(_ensemble(trees, [1.0, *weights[:kept]], n_features))), names


def _constant(params: Mapping[str, str], objective: str) -> float:
    """Return the constant in XGBoost's scores; its file has it on the objective's scale."""
    (base,) = np.atleast_1d(np.float32(json.loads(params["base_score"])))
    if re.match("(reg|binary):logistic", objective):
        base = -np.log(1 / base - 1)
    elif re.match("count:|survival:|reg:(gamma|tweedie)", objective):
        base = np.log(base)
    return float(base)


def _of_xgboost(tree: Mapping[str, Any]) -> tuple[Tree, dict[int, Ranges]]:
    """Return a tree: documents below a float32 condition go left."""
    left, right = np.array(tree["left_children"]), np.array(tree["right_children"])
    nodes, condition = np.arange(len(left)), np.array(tree["split_conditions"], np.float32)
    leaf, goes_left = left == -1, np.array(tree["default_left"], np.bool_)
    by_category = tree.get("categories_nodes", [])
    if np.flatnonzero(tree.get("split_type", [])).tolist() != by_category:
        raise DataError("found other splits by category in split_type than in categories_nodes")
    condition[by_category] = 0.0  # XGBoost 2 writes NaN there
    ranges, stop = {}, 0
    for k, node in enumerate(by_category):
        start, stop = stop, stop + tree["categories_sizes"][k]
        split = _among(np.array(tree["categories"][start:stop]), -np.nextafter(0, 1), False)
        ranges[node] = split._replace(missing=int(not goes_left[node]))
    _expect("categories", len(tree.get("categories", ())), stop)
    return Tree(
        np.where(leaf, 0, tree["split_indices"]),
        np.nextafter(condition, np.float32(-np.inf)).astype(np.float64),
        np.where(leaf, nodes, left), np.where(leaf, nodes, right),
        condition,  # a leaf's is its value
        np.array(tree["loss_changes"]), np.zeros(len(left)), goes_left,
    ), ranges  # fmt: skip


def of_catboost(content: bytes, most: int | None = None) -> Read:
    """Return the model in the JSON that CatBoost's `save_model` writes, or its first trees."""
    every = json.loads(content)
    about = every["features_info"]
    by_category = {"categorical_features", "cat_features_hash", "ctrs"}
    if others := sorted({*about} - {"float_features"} - by_category):
        raise DataError(f"found {', '.join(others)}, expected features of numbers and categories")
    features = [*about.get("float_features", ()), *about.get("categorical_features", ())]
    features.sort(key=itemgetter("flat_feature_index"))
    _expect("features", 1 + features[-1]["flat_feature_index"], len(features))
    scale, bias = every["scale_and_bias"]
    _expect("scores of a document", np.size(bias))
    trees = [*map(_balanced, every.get("oblivious_trees", ())), *every.get("trees", ())][:most]
    constant = {"value": float(np.ravel(bias)[0]), "weight": 1.0}
    weights = [1.0, *[float(scale)] * len(trees)]
    by_word = _CategorySplits(about, every.get("ctr_data", {}))
    made = (_of_catboost(each, about, by_word) for each in [constant, *trees])
    model = _ensemble(made, weights, len(features))
    names = tuple(str(each["feature_id"]) for each in features)
    return model, names if all(names) else None


def _balanced(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tree of the same split in each node of a level as nested nodes; the last is first.

    Bit i of a leaf's number says whether a document is above the border of split i.
    """
    values = tree["leaf_values"]
    weights = tree.get("leaf_weights") or [0.0] * len(values)
    nodes = [{"value": v, "weight": weight} for v, weight in zip(values, weights, strict=True)]
    for split in tree["splits"]:
        pairs = zip(nodes[::2], nodes[1::2], strict=True)
        nodes = [{"split": split, "left": left, "right": right} for left, right in pairs]
    [root] = nodes
    return root


class _CategorySplits:
    """CatBoost's splits by one category, or by a statistic of the labels of each category.

    The categories are numbers, -1 for a missing value; one that was not seen counts no documents.
    """

    def __init__(self, about: Mapping[str, Any], statistics: Mapping[str, Any]):
        numbers = {each["value"]: each["hash"] for each in about.get("cat_features_hash") or ()}
        if words := [word for word in numbers if word != "-1" and not word.isdecimal()]:
            raise DataError(
                f"found the category {words[0]!r:.40}, expected numbers from 0, -1 if it is missing"
            )
        self.hashes = {int(value): hashed for value, hashed in numbers.items()}
        self.features = about.get("categorical_features", ())
        if self.features and not numbers:
            raise DataError(
                "found no cat_features_hash, expected JSON by save_model(..., pool=pool)"
            )
        self.statistics = {
            name: (
                {key: each["hash_map"][k + 1 : k + each["hash_stride"]] for k, key in rows},
                each["counter_denominator"],
            )
            for name, each in statistics.items()
            for rows in [[*enumerate(each["hash_map"])][:: each["hash_stride"]]]
        }
        # the number of a split counts the borders of numbers, then single words, then statistics
        before = sum(len(each.get("borders") or ()) for each in about.get("float_features", ()))
        before += sum(len(each.get("values") or ()) for each in self.features)
        ctrs = [ctr for ctr in about.get("ctrs", ()) for _ in ctr["borders"]]
        self.ctrs = dict(enumerate(ctrs, before))
        self.known = dict[int, tuple[int, Ranges]]()

    def __call__(self, split: Mapping[str, Any]) -> tuple[int, Ranges]:
        """Return the feature's column, and the ranges of its numbers."""
        number = split["split_index"]  # many nodes have the same split
        if number not in self.known:
            self.known[number] = self._made(split)
        return self.known[number]

    def _made(self, split: Mapping[str, Any]) -> tuple[int, Ranges]:
        if split["split_type"] == "OneHotFeature":
            feature, chosen = split["cat_feature_index"], split["value"] % 2**32
            right = {code for code, hashed in self.hashes.items() if hashed == chosen}
            unseen = False
        elif split["split_type"] == "OnlineCtr":
            ctr = self.ctrs[split["split_index"]]
            [element, *others] = ctr["elements"]
            if others or ctr["ctr_type"] not in ("Borders", "Counter"):
                raise DataError(
                    f"found {ctr['ctr_type']} of {1 + len(others)} features, expected Borders or "
                    "Counter of one (max_ctr_complexity=1)"
                )
            feature = element["cat_feature_index"]
            values = {code: self._statistic(ctr, hashed) for code, hashed in self.hashes.items()}
            right = {code for code, value in values.items() if value > split["border"]}
            unseen = bool(self._statistic(ctr, None) > split["border"])
        else:
            raise DataError(f"found a {split['split_type']}, expected numbers or categories")
        apart = {*self.hashes} - right if unseen else right
        chosen = np.array([*apart] or [2**24 - 1])  # which no document has
        ranges = _among(chosen, -np.nextafter(0, 1), unseen, least=-1)
        return self.features[feature]["flat_feature_index"], ranges._replace(missing=-1 in apart)

    def _statistic(self, ctr: Mapping[str, Any], hashed: int | None) -> np.float32:
        """Return what CatBoost compares with a border, in float32 as there."""
        counts, denominator = self.statistics[ctr["identifier"]]
        signed = 0 if hashed is None else hashed - (hashed >> 31 << 32)
        key = str(_MULTIPLIER * _MULTIPLIER * signed % 2**64)
        of_classes = () if hashed is None else counts.get(key, ())
        if ctr["ctr_type"] == "Counter":
            part, whole = sum(of_classes), denominator
        else:
            part, whole = sum(of_classes[ctr["target_border_idx"] + 1 :]), sum(of_classes)
        ratio = np.float32(part + ctr["prior_numerator"]) / np.float32(
            whole + ctr["prior_denomerator"]
        )
        return (ratio + np.float32(ctr["shift"])) * np.float32(ctr["scale"])


def _of_catboost(
    root: Mapping[str, Any], about: Mapping[str, Any], by_category: _CategorySplits
) -> tuple[Tree, dict[int, Ranges]]:
    """Return a tree of nested nodes; documents above a border go right."""
    nodes, columns, ranges = [root], [], dict[int, Ranges]()
    for number, node in enumerate(nodes):  # the list grows meanwhile
        if (split := node.get("split")) is None:
            value, weight = float(node["value"]), float(node["weight"])
            columns.append((0, 0.0, number, number, value, 0.0, weight, True))
            continue
        left, border, goes_left = len(nodes), 0.0, True
        if split["split_type"] == "FloatFeature":
            feature, border = about["float_features"][split["float_feature_index"]], split["border"]
            k, goes_left = feature["flat_feature_index"], feature["nan_value_treatment"] != "AsTrue"
        else:
            k, ranges[number] = by_category(split)
        columns.append((k, border, left, left + 1, 0.0, 0.0, 0.0, goes_left))
        nodes += [node["left"], node["right"]]
    made = Tree(*map(np.array, zip(*columns)))
    return made._replace(cover=add_up(made.cover, made.left, made.right)), ranges


def add_up(cover: np.ndarray, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Fill in the number of documents at each node from those of the leaves, and return it."""
    for node in np.flatnonzero(left != right)[::-1]:  # parents come before children
        cover[node] = cover[left[node]] + cover[right[node]]
    return cover


def _expect(what: str, found: int, expected: int = 1) -> None:
    if found != expected:
        raise DataError(f"{what}: found {found}, expected {expected}")


def _around_zero(threshold: float, default_left: bool) -> Ranges:
    """Return the split x <= threshold for which 0 is a missing value, and goes as those do."""
    below = np.nextafter(-ZERO, -np.inf)
    cuts = np.unique([below, ZERO, threshold])
    last = np.append(cuts, np.inf)  # of each range
    left = np.where((below < last) & (last <= ZERO), default_left, last <= threshold)
    return Ranges(cuts, left, int(np.searchsorted(cuts, ZERO)))


def _among(chosen: np.ndarray, below_0: float, left: bool, least: int = 0) -> Ranges:
    """Return the split by whether int(x) is chosen (missing: no); the chosen go left if `left`."""
    chosen = np.unique(chosen)
    if not len(chosen) or chosen[0] < least or chosen[-1] >= 1 << 24:
        raise DataError("found a split without categories, expected some from 0 to 16777215")
    begins = np.diff(chosen, prepend=chosen[0] - 2) > 1
    ends = np.append(begins[1:], True)
    cuts = np.stack([chosen[begins], chosen[ends] + 1], axis=1).ravel().astype(np.float64)
    # below_0 is the largest number below category 0
    cuts = np.where(cuts == 0.0, below_0, np.nextafter(cuts, -np.inf))
    return Ranges(cuts, (np.arange(len(cuts) + 1) % 2 == 1) == left, 0)


def _ensemble(
    trees: Iterable[tuple[Tree, Mapping[int, Ranges]]], weights: Sequence[float], n_features: int
) -> TreeEnsemble:
    """Return the weighted sum of trees; DataError if one of them is not a finite tree."""
    root, checked = np.zeros(1, np.int64), []
    for (tree, ranges), weight in zip(trees, weights, strict=True):
        tree = tree._replace(value=weight * tree.value)
        for name, column in zip(Tree._fields, tree):
            if not np.isfinite(column).all():
                raise DataError(f"found NaN or infinity in {name}, expected finite numbers")
        if TreeEnsemble(root, *tree[:-1], n_features, tree.missing_left).shares_nodes:
            raise DataError("found a node with two parents, expected a tree")
        checked.append(_spread(tree, ranges) if ranges else tree)
    return joined(checked, [1.0] * len(checked), n_features)


def _spread(tree: Tree, ranges: Mapping[int, Ranges]) -> Tree:
    """Replace some nodes by chains of nodes x <= cuts[0], x <= cuts[1], ..."""
    size = np.ones(len(tree.left), np.int64)
    for node, split in ranges.items():
        size[node] = len(split.cuts)
    first = np.cumsum(size) - size
    wide = Tree(*(np.repeat(column, size) for column in tree))
    left, right = first[wide.left], first[wide.right]
    for node, (cuts, goes_left, missing) in ranges.items():
        start, stop = first[node], first[node] + len(cuts)
        sides = np.where(goes_left, left[start], right[start])
        left[start:stop] = sides[:-1]
        right[start:stop] = np.append(np.arange(start + 1, stop), sides[-1])
        wide.threshold[start:stop] = cuts
        wide.missing_left[start:stop] = np.arange(len(cuts)) >= missing
    gain = wide.gain / np.repeat(size, size)  # the sum is the split's
    return wide._replace(left=left, right=right, gain=gain)
