"""Linear and tree models as the texts of RankLib and LightGBM, for what reads these.

Trees keep their decisions: features are float32 numbers, so a threshold is written as the largest
float32 that is not above it, which both programs read as it is.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from letorbench.errors import UsageError
from letorbench.models.base import Model
from letorbench.models.linear import Linear
from letorbench.models.tree_ensemble import TreeEnsemble


def ranklib_text(model: Model) -> str:
    """Return the text of a linear or tree model as RankLib saves it.

    A linear model becomes RankLib's coordinate ascent, without its constant, which no ranking
    depends on; trees become its LambdaMART, and a model of another kind is a UsageError. Features
    are numbered from 1.
    """
    if isinstance(model, Linear):
        weights = " ".join(f"{k}:{w!r}" for k, w in enumerate(model.weights.tolist(), 1))
        return f"## Coordinate Ascent\n\n{weights}\n"
    trees = _trees(model)
    lines = ["## LambdaMART", f"## No. of trees = {len(trees.roots)}", "", "<ensemble>"]
    for number, root in enumerate(trees.roots.tolist(), 1):
        lines += [f'\t<tree id="{number}" weight="1.0">', *_split(trees, root, ""), "\t</tree>"]
    return "\n".join([*lines, "</ensemble>", ""])


def _split(trees: TreeEnsemble, node: int, position: str) -> Iterator[str]:
    yield f'<split pos="{position}">' if position else "<split>"
    if trees.left[node] == node:
        yield f"<output> {float(trees.value[node])!r} </output>"
    else:
        yield f"<feature> {trees.feature[node] + 1} </feature>"
        yield f"<threshold> {_threshold(trees, node)} </threshold>"
        yield from _split(trees, int(trees.left[node]), "left")
        yield from _split(trees, int(trees.right[node]), "right")
    yield "</split>"


def lightgbm_text(model: Model) -> str:
    """Return the text of a linear or tree model as LightGBM saves it.

    A linear model becomes one linear tree, both leaves of which are the model. A model of another
    kind is a UsageError.
    """
    if isinstance(model, Linear):
        blocks = [_linear_tree(model)]
    else:
        trees = _trees(model)
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
        own = int(trees.left[node]) == node
        (leaves if own else inner).append(node)
        waiting += [] if own else [int(trees.right[node]), int(trees.left[node])]
    number = {node: n for n, node in enumerate(inner)} | {n: ~i for i, n in enumerate(leaves)}
    counts = trees.cover.astype(np.int64)
    array: dict[str, object] = {"num_leaves": len(leaves), "num_cat": 0}
    if inner:
        array |= {
            "split_feature": trees.feature[inner],
            "split_gain": trees.gain[inner],
            "threshold": [_threshold(trees, node) for node in inner],
            "decision_type": [0] * len(inner),
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


def _linear_tree(model: Linear) -> str:
    features, weights = range(model.n_features), model.weights.tolist()
    return _lines({
        "num_leaves": 2, "num_cat": 0, "split_feature": 0, "split_gain": 0, "threshold": 0.0,
        "decision_type": 0, "left_child": -1, "right_child": -2, "leaf_value": [0.0, 0.0],
        "leaf_weight": [1, 1], "leaf_count": [1, 1], "internal_value": 0, "internal_weight": 2,
        "internal_count": 2, "is_linear": 1, "leaf_const": [model.bias, model.bias],
        "num_features": [model.n_features] * 2, "leaf_features": [*features, *features],
        "leaf_coeff": weights + weights, "shrinkage": 1,
    })  # fmt: skip


def _lines(values: Mapping[str, object]) -> str:
    """Return lines key=values, with every digit of a number."""
    texts = (value if isinstance(value, str) else _numbers(value) for value in values.values())
    return "\n".join(f"{key}={text}" for key, text in zip(values, texts))


def _numbers(values: object) -> str:
    return " ".join(repr(each) for each in np.atleast_1d(np.asarray(values)).tolist())


def _threshold(trees: TreeEnsemble, node: int) -> float:
    exact = trees.threshold[node]
    rounded = np.float32(exact)
    return float(rounded if rounded <= exact else np.nextafter(rounded, np.float32(-np.inf)))


def _trees(model: Model) -> TreeEnsemble:
    if not isinstance(model, TreeEnsemble):
        raise UsageError(
            f"found a model of kind {model.kind!r}, expected linear or trees: the formats know no "
            "other"
        )
    return model


#: format -> what writes a model so
FORMATS = {"ranklib": ranklib_text, "lightgbm": lightgbm_text}
