"""Linear and tree models as the texts of RankLib, LightGBM, Solr and Elasticsearch.

Features are float32, so `x <= threshold` decides the same with the largest float32 that is not
above the threshold; another program's threshold is the one with which it decides so.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from letorbench.errors import UsageError
from letorbench.models.base import Model
from letorbench.models.linear import Linear
from letorbench.models.tree_ensemble import TreeEnsemble

#: what Solr adds to a threshold
SLACK = np.float32(1e-6)


def ranklib_text(model: Model) -> str:
    """Return a linear model as RankLib's coordinate ascent, trees as its LambdaMART."""
    if isinstance(model, Linear):
        weights = " ".join(f"{k}:{w!r}" for k, w in enumerate(model.weights.tolist(), 1))
        return f"## Coordinate Ascent\n\n{weights}\n"
    trees = _trees(model)

    def split(node: int, left: str, right: str) -> str:
        return (
            f"<feature> {trees.feature[node] + 1} </feature>\n"
            f"<threshold> {float(_threshold(trees, node))!r} </threshold>\n"
            f'<split pos="left">\n{left}\n<split pos="right">\n{right}\n</split>'
        )

    roots = _nested(trees, lambda node, value: f"<output> {value!r} </output>\n</split>", split)
    lines = ["## LambdaMART", f"## No. of trees = {len(roots)}", "", "<ensemble>"]
    for number, root in enumerate(roots, 1):
        lines += [f'\t<tree id="{number}" weight="1.0">', "<split>", root, "\t</tree>"]
    return "\n".join([*lines, "</ensemble>", ""])


def solr_text(model: Model, name: str = "model", features: Sequence[str] | None = None) -> str:
    """Return a linear or tree model as the JSON that Solr's model store takes.

    Solr 9 adds 1e-6 to a threshold, in float32; the written ones make up for it, exactly but below
    4e-6 and just above -1, -2, -4, ... A linear model loses its constant.
    """
    names = _names(model, features)
    params: dict[str, object]
    if isinstance(model, Linear):
        kind, params = "LinearModel", {"weights": dict(zip(names, model.weights.tolist()))}
    else:
        trees = _trees(model)

        def split(node: int, left: object, right: object) -> object:
            feature, threshold = names[trees.feature[node]], _threshold(trees, node)
            written = _before_slack(threshold)
            size = abs(threshold)  # LightGBM's 1e-35 and XGBoost's 1.4e-45 stand for 0
            if size > 2e-35 and threshold - (written + SLACK) > 1e-3 * size:
                raise UsageError(
                    f"found {feature} <= {threshold:g}, expected no threshold so near 0: Solr adds "
                    "1e-6 to each, in float32; train with values of ordinary size"
                )
            texts = {"feature": feature, "threshold": repr(float(written))}
            return texts | {"left": left, "right": right}

        roots = _nested(trees, lambda node, value: {"value": repr(value)}, split)
        kind = "MultipleAdditiveTreesModel"
        params = {"trees": [{"weight": "1", "root": root} for root in roots]}
    head = {"class": f"org.apache.solr.ltr.model.{kind}", "name": name}
    return json.dumps(head | {"features": [{"name": n} for n in names], "params": params}) + "\n"


def elasticsearch_text(
    model: Model, name: str = "model", features: Sequence[str] | None = None
) -> str:
    """Return a linear or tree model as the JSON of Elasticsearch's plug-in; trees as XGBoost's."""
    names = _names(model, features)
    definition: object
    if isinstance(model, Linear):
        kind, definition = "model/linear", dict(zip(names, model.weights.tolist()))
    else:
        trees = _trees(model)
        depth = np.zeros(len(trees.left), np.int64)
        for node in np.flatnonzero(trees.left > np.arange(len(depth))):  # parents come first
            depth[[trees.left[node], trees.right[node]]] = depth[node] + 1

        @np.errstate(over="ignore")  # at the end of float32
        def split(node: int, *children: object) -> object:
            above = np.nextafter(_threshold(trees, node), np.float32(np.inf))
            yes, no = int(trees.left[node]), int(trees.right[node])
            return {
                "nodeid": node, "depth": int(depth[node]), "split": names[trees.feature[node]],
                "split_condition": min(float(above), 2.0**128), "yes": yes, "no": no,
                "missing": yes if trees.missing_left[node] else no, "children": children,
            }  # fmt: skip

        kind = "model/xgboost+json"
        definition = _nested(trees, lambda node, value: {"nodeid": node, "leaf": value}, split)
    inner = {"type": kind, "definition": json.dumps(definition)}
    return json.dumps({"model": {"name": name, "model": inner}}) + "\n"


def lost(model: Model, form: str) -> str:
    """Return what a form cannot say of a model, though it ranks documents with all values alike."""
    if form not in ("ranklib", "solr") or not getattr(model, "has_missing", False):
        return ""
    return (
        f"{form} cannot say where missing values go: documents that lack values may have other "
        "scores there"
    )


def _nested(
    trees: TreeEnsemble, leaf: Callable[[int, float], Any], split: Callable[[int, Any, Any], Any]
) -> list[Any]:
    """Return each tree, made of leaf(node, value) and split(node, left, right)."""
    made: dict[int, Any] = {}
    left, right, value = trees.left.tolist(), trees.right.tolist(), trees.value.tolist()
    for node in reversed(range(len(left))):  # a child comes after its parent
        if left[node] == node:
            made[node] = leaf(node, value[node])
        else:
            made[node] = split(node, made.pop(left[node]), made.pop(right[node]))
    return [made[root] for root in trees.roots.tolist()]


def _names(model: Model, features: Sequence[str] | None) -> Sequence[str]:
    names = features or [f"feature_{k}" for k in range(1, model.n_features + 1)]
    if not len(names) == len(set(names)) == model.n_features:
        raise UsageError(
            f"found {len(names)} names of features, {len(set(names))} of them different, expected "
            f"{model.n_features} different ones"
        )
    return names


def lightgbm_text(model: Model) -> str:
    """Return trees as LightGBM saves them; UsageError where SHAP and onnxmltools would misread."""
    if isinstance(model, Linear):
        raise UsageError(
            "found a linear model, expected trees: SHAP and onnxmltools misread LightGBM's linear "
            "trees; the forms ranklib, solr and elasticsearch are right"
        )
    trees = _trees(model)
    leaf = trees.left == np.arange(len(trees.left))
    below = trees.cover[trees.left] + trees.cover[trees.right]
    if not ((trees.cover >= 1.0) & (leaf | (trees.cover == below))).all():  # as XGBoost's
        raise UsageError(
            "found a model without the numbers of training documents in its nodes, as those of "
            "CatBoost and files of XGBoost, expected them for SHAP; the forms ranklib, solr and "
            "elasticsearch do without"
        )
    blocks = [_tree(trees, root) for root in trees.roots.tolist()]
    texts = [f"Tree={number}\n{block}\n\n\n" for number, block in enumerate(blocks)]
    head: dict[str, object] = {
        "version": "v4",
        "num_class": 1,
        "num_tree_per_iteration": 1,
        "label_index": 0,
        "max_feature_idx": model.n_features - 1,
        "objective": "lambdarank",
        "feature_names": " ".join(f"Column_{k}" for k in range(model.n_features)),
        "feature_infos": " ".join(["[-3.5e38:3.5e38]"] * model.n_features),
        "tree_sizes": " ".join(str(len(text)) for text in texts),
    }
    end = "end of trees\n\nparameters:\n\nend of parameters\n\npandas_categorical:null\n"
    return f"tree\n{_lines(head)}\n\n{''.join(texts)}{end}"


def _tree(trees: TreeEnsemble, root: int) -> str:
    inner: list[int] = []
    leaves: list[int] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        is_leaf = int(trees.left[node]) == node
        (leaves if is_leaf else inner).append(node)
        waiting += [] if is_leaf else [int(trees.right[node]), int(trees.left[node])]
    number = {node: n for n, node in enumerate(inner)} | {n: ~i for i, n in enumerate(leaves)}
    counts = trees.cover.astype(np.int64)
    array: dict[str, object] = {"num_leaves": len(leaves), "num_cat": 0}
    if inner:
        array |= {
            "split_feature": trees.feature[inner],
            "split_gain": trees.gain[inner],
            "threshold": [float(_threshold(trees, node)) for node in inner],
            # 8: NaN is a missing value; 2: it goes to the left
            "decision_type": ((8 + 2 * trees.missing_left) * trees.has_missing)[inner],
            "left_child": [number[node] for node in trees.left[inner].tolist()],
            "right_child": [number[node] for node in trees.right[inner].tolist()],
        }
    array |= {
        "leaf_value": trees.value[leaves],
        "leaf_weight": trees.cover[leaves],
        "leaf_count": counts[leaves],
    }
    if inner:
        array |= {
            "internal_value": trees.value[inner],
            "internal_weight": trees.cover[inner],
            "internal_count": counts[inner],
        }
    return _lines(array | {"is_linear": 0, "shrinkage": 1})


def _lines(values: Mapping[str, object]) -> str:
    """Return lines key=values, with every digit of a number."""
    texts = (value if isinstance(value, str) else _numbers(value) for value in values.values())
    return "\n".join(f"{key}={text}" for key, text in zip(values, texts))


def _numbers(values: object) -> str:
    return " ".join(repr(each) for each in np.atleast_1d(np.asarray(values)).tolist())


def _threshold(trees: TreeEnsemble, node: int) -> np.float32:
    """Return the largest float32 that is not above a node's threshold."""
    exact, largest = trees.threshold[node], np.finfo(np.float32).max
    rounded = np.float32(np.clip(exact, -largest, largest))
    return rounded if rounded <= exact else np.nextafter(rounded, np.float32(-np.inf))


@np.errstate(over="ignore")
def _before_slack(threshold: np.float32) -> np.float32:
    """Return the largest float32 that is not above a threshold once `SLACK` is added."""
    low, infinity = threshold - SLACK, np.float32(np.inf)
    while low + SLACK > threshold:
        low = np.nextafter(low, -infinity)
    while (above := np.nextafter(low, infinity)) + SLACK <= threshold:
        low = above
    return low


def _trees(model: Model) -> TreeEnsemble:
    """Return a model of trees, with one leaf of 0 where it has none: readers want a tree."""
    if not isinstance(model, TreeEnsemble):
        raise UsageError(
            f"found a model of kind {model.kind!r}, expected linear or trees: the formats know no "
            "other"
        )
    if model.shares_nodes:
        raise UsageError(
            "found splits by category or by zeros as missing values, expected thresholds: the "
            "formats share no node; train with a feature for each word (`datasets split --one-hot "
            "COLUMN`)"
        )
    if len(model.roots):
        return model
    zero, number = np.zeros(1, np.int64), np.zeros(1)
    return TreeEnsemble(
        zero, zero, number, zero, zero, number, number, number + 1, model.n_features
    )


#: format -> what writes a model so, with its name and its features' names
FORMATS: dict[str, Callable[..., str]] = {
    "ranklib": lambda model, *_: ranklib_text(model),
    "lightgbm": lambda model, *_: lightgbm_text(model),
    "solr": solr_text,
    "elasticsearch": elasticsearch_text,
}
