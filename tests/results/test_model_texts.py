"""Models as other programs' texts: each is read by its program, or by its documentation.

Solr and Elasticsearch are no libraries. What they do with a model is written down here once more,
in plain Python and float32, by their documentation and sources: Solr's `LinearModel.java` and
`MultipleAdditiveTreesModel.java`, the Elasticsearch plug-in's `LinearRanker.java`,
`XGBoostJsonParser.java` and `NaiveAdditiveDecisionTree.java`.
"""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from conftest import parts_of, random_queries, same
from sample_models import SAMPLES

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.models import Float32Trees, Linear, Model, TreeEnsemble
from letorbench.models.tree_ensemble import joined
from letorbench.rankers import ranker
from letorbench.results.model_texts import (
    FORMATS,
    SLACK,
    _before_slack,
    elasticsearch_text,
    lightgbm_text,
    lost,
    ranklib_text,
    solr_text,
)

#: two trees, one of which has two splits and one of which has none
TREES = TreeEnsemble(
    roots=[0, 5], feature=[4, 1, 0, 0, 0, 0], threshold=[0.5, 0.5, 0, 0, 0, 0],
    left=[2, 3, 2, 3, 4, 5], right=[1, 4, 2, 3, 4, 5], value=[0.25, 0.75, 1.0, 2.0, 3.0, 0.5],
    gain=[4.0, 1.5, 0, 0, 0, 0], cover=[9.0, 5.0, 4.0, 3.0, 2.0, 9.0], n_features=5,
)  # fmt: skip
MODELS = {"linear": SAMPLES["linear"](), "trees": TREES}
TEXTS = Path(__file__).with_name("model_texts.txt")


def train() -> QuerySet:
    """Features of many ties, of 1e30 and around -1e-3, and one that is constant."""
    rng = np.random.default_rng(0)
    queries = random_queries(rng, [20] * 15, levels=4)
    X = rng.normal(size=(300, 6)).astype(np.float32)
    X[:, 1] = np.round(X[:, 1] * 2.0) / 2.0
    X[:, 2] *= np.float32(1e30)
    X[:, 3] = -np.abs(X[:, 3]) * np.float32(1e-3)
    X[:, 4] = 7.0
    # large labels go with large values of all but the last feature
    signal = X[:, 0] + X[:, 1] + X[:, 2] / 1e30 + 500 * X[:, 3] - 2 * X[:, 5]
    labels = np.clip(np.rint(signal + 1.0), 0, 3)
    return replace(queries, features=X, labels=labels.astype(np.int32))


#: rankers of trees, and how they are set
FITTED = {
    "ndcgboost": {"rounds": 20},
    "ndcgboost of trees": {"rounds": 8, "weak": "tree"},
    "ndcgboost of a sample": {"rounds": 8, "stumps": "sample"},
    "rankboost": {"rounds": 20},
    "frank": {"rounds": 10},
    "mart": {"rounds": 10},
    "mart of drawn documents": {"rounds": 10, "docs": 0.5},
    "lambdamart": {"rounds": 10},
    "random-forests": {"bags": 3},
    "lightgbm": {"rounds": 10, "min_docs": 5},
    "lightgbm of a few documents": {"rounds": 5, "min_docs": 0, "leaves": 40},
    "xgboost": {"rounds": 10},
    "xgboost of light leaves": {"rounds": 8, "min_weight": 0.0, "depth": 8},
}
#: made by hand: what rankers seldom make
LEAF = {"feature": [0], "threshold": [0.0], "left": [0], "right": [0], "gain": [0.0]}
MADE = {
    "no tree": joined([], [], 6),
    "one leaf": TreeEnsemble([0], **LEAF, value=[0.25], cover=[9.0], n_features=6),
    "one feature": TreeEnsemble(
        [0], [0, 0, 0], [0.5, 0, 0], [1, 1, 2], [2, 1, 2], [0, -1.0, 1e30], [1.0, 0, 0],
        [9.0, 4.0, 5.0], n_features=1,
    ),
    "at the ends of float32": TreeEnsemble(
        [0, 3], [0, 0, 0, 1, 0, 0], [-3.4028234663852886e38, 0, 0, 1e300, 0, 0],
        [1, 1, 2, 4, 4, 5], [2, 1, 2, 5, 4, 5], [0, 1.0, 2.0, 0, 4.0, 8.0], [1.0, 0, 0, 1.0, 0, 0],
        [9.0, 4.0, 5.0, 9.0, 8.0, 1.0], n_features=2,
    ),
    "two and a leaf": TREES,
}  # fmt: skip
TREE_KINDS = [*FITTED, *MADE]


@cache
def fitted(kind: str) -> Model:
    if kind in MADE:
        return MADE[kind]
    found = ranker(kind.split()[0])
    if not found.available():
        pytest.skip(f"no {found.needs}")
    return found(**FITTED[kind]).fit_sets(train()).learned.model


def edges(model: TreeEnsemble, features: np.ndarray) -> np.ndarray:
    """The features, and rows with a threshold in one of them, or a neighbour of it.

    LightGBM reads what is not above 1e-35 in size as 0, so it tells no such values apart.
    """
    inner = np.flatnonzero(model.left != np.arange(len(model.left)))
    largest = np.finfo(np.float32).max
    values = np.clip(model.threshold[inner], -largest, largest).astype(np.float32)
    rows = [features]
    for towards in (-np.inf, None, np.inf):
        with np.errstate(over="ignore"):
            near = values if towards is None else np.nextafter(values, np.float32(towards))
        rows.append(np.resize(features, (len(inner), model.n_features)))
        near = np.where(np.abs(near) < 1e-30, 0.0, np.clip(near, -largest, largest))
        rows[-1][np.arange(len(inner)), model.feature[inner]] = near
    return np.concatenate(rows)


def documents(model: Model) -> np.ndarray:
    features = train().features[:, : model.n_features]
    return edges(model, features) if isinstance(model, TreeEnsemble) else features


def close(found: np.ndarray, expected: np.ndarray, rtol: float) -> None:
    """Compare scores, to within a share of the largest."""
    most = np.abs(expected).max()
    np.testing.assert_allclose(np.ravel(found), expected, rtol=0, atol=rtol * most)


def double(model: Model) -> float:
    """How precise a program in float64 is: XGBoost's trees themselves are summed in float32."""
    return 1e-6 if isinstance(model, Float32Trees) else 1e-14


# --- each text is read by its program


def ranklib_scores(text: str, features: np.ndarray) -> np.ndarray:
    """Score as RankLib does, from 1 on: `x <= threshold` goes left."""
    body = "\n".join(line for line in text.splitlines() if not line.startswith("##")).strip()
    if not body.startswith("<"):
        pairs = [pair.split(":") for pair in body.split()]
        return sum(float(w) * features[:, int(k) - 1].astype(float) for k, w in pairs)

    def score(split: ElementTree.Element, x: np.ndarray) -> float:
        if (output := split.find("output")) is not None:
            return float(output.text)
        low = x[int(split.find("feature").text) - 1] <= np.float32(split.find("threshold").text)
        return score(split.find(f"split[@pos='{'left' if low else 'right'}']"), x)

    trees = ElementTree.fromstring(body).findall("tree")
    return np.array([sum(float(t.get("weight")) * score(t[0], x) for t in trees) for x in features])


def solr_scores(text: str, features: np.ndarray, names: list[str]) -> np.ndarray:
    """Score as Solr 9 does, in float32; `names` says which feature a column is."""
    model = json.loads(text)
    assert model["features"] == [{"name": name} for name in names]
    assert len(set(names)) == len(names) > 0  # else Solr refuses the model
    kind = model["class"].removeprefix("org.apache.solr.ltr.model.")
    params, f = model["params"], np.float32
    if kind == "LinearModel":
        weights = [f(params["weights"][name]) for name in names]
        return np.array([_sum(x * w for x, w in zip(row, weights)) for row in features])
    assert kind == "MultipleAdditiveTreesModel"

    def score(node: dict, row: np.ndarray) -> np.float32:
        while "feature" in node:
            x = row[names.index(node["feature"])]
            node = node["left" if x <= f(node["threshold"]) + f(1e-6) else "right"]
        return f(node["value"])

    return np.array([
        _sum(f(tree["weight"]) * score(tree["root"], row) for tree in params["trees"])
        for row in features
    ])  # fmt: skip


def _sum(values) -> np.float32:
    total = np.float32(0.0)
    for value in values:
        total += np.float32(value)
    return total


def elasticsearch_scores(text: str, features: np.ndarray, names: list[str]) -> np.ndarray:
    """Score as the plug-in of Elasticsearch does, in float32."""
    outer = json.loads(text)
    assert list(outer) == ["model"] and sorted(outer["model"]) == ["model", "name"]
    model, f = outer["model"]["model"], np.float32
    definition = json.loads(model["definition"])
    if model["type"] == "model/linear":
        weights = [f(definition.get(name, 0.0)) for name in names]
        return np.array([_sum(w * x for x, w in zip(row, weights)) for row in features])
    assert model["type"] == "model/xgboost+json" and definition  # "at least one tree"
    fields = {"nodeid", "depth", "split", "split_condition", "yes", "no", "missing", "children"}

    def checked(node: dict, depth: int) -> None:
        if "leaf" in node:
            assert set(node) == {"nodeid", "leaf"}
            return
        assert set(node) == fields and node["depth"] == depth and node["split"] in names
        assert [child["nodeid"] for child in node["children"]] == [node["yes"], node["no"]]
        for child in node["children"]:
            checked(child, depth + 1)

    def score(node: dict, row: np.ndarray) -> np.float32:
        while "leaf" not in node:
            with np.errstate(over="ignore"):
                threshold = f(node["split_condition"])
            x = row[names.index(node["split"])]
            child = node["missing"] if np.isnan(x) else node["yes" if x < threshold else "no"]
            node = next(each for each in node["children"] if each["nodeid"] == child)
        return f(node["leaf"])

    for tree in definition:
        checked(tree, 0)
    return np.array([_sum(score(tree, row) for tree in definition) for row in features])


def test_trees_are_written_word_for_word_where_lightgbm_is_missing():
    same(TEXTS, parts_of(TEXTS)["trees as lightgbm"], lightgbm_text(TREES))


@pytest.mark.parametrize("kind", ["regression", "adarank-map", *TREE_KINDS])
def test_ranklib_scores_as_here(kind):
    model = fitted(kind) if kind in TREE_KINDS else _linear(kind)
    X, constant = documents(model), getattr(model, "bias", 0.0)
    close(ranklib_scores(ranklib_text(model), X), model.predict(X) - constant, 1e-6)


def test_elasticsearch_sends_missing_values_where_the_model_does():
    missing_left = np.random.default_rng(2).random(len(fitted("mart").left)) < 0.5
    for kind, more in (("mart", {}), ("mart", {"missing_left": missing_left}), ("rankboost", {})):
        model = replace(fitted(kind), **more)
        X, names = documents(model), [f"f{k}" for k in range(model.n_features)]
        X[np.random.default_rng(3).random(X.shape) < 0.4] = np.nan
        found = elasticsearch_scores(elasticsearch_text(model, "m", names), X, names)
        close(found, model.predict(X), 3e-6)


def test_forms_without_missing_values_keep_the_scores_of_documents_that_lack_none():
    plain = fitted("mart")
    model = replace(plain, missing_left=~plain.missing_left)
    X, names = documents(model), [f"f{k}" for k in range(model.n_features)]
    close(solr_scores(solr_text(model, "m", names), X, names), model.predict(X), 3e-6)
    close(ranklib_scores(ranklib_text(model), X), model.predict(X), 1e-6)
    assert all("missing values" in lost(model, form) for form in ("solr", "ranklib"))
    kept = ((model, "elasticsearch"), (plain, "solr"), (_linear("regression"), "ranklib"))
    assert not any(lost(*each) for each in kept)


def test_a_root_counts_the_documents_that_a_tree_is_of():
    """A share of the documents is drawn without replacement, to a whole number."""
    for docs in (0.5, 0.3, 1.0):
        model = ranker("mart")(rounds=3, docs=docs, min_docs=1).fit_sets(train()).learned.model
        assert model.cover[model.roots].tolist() == [max(1, round(docs * train().n_docs))] * 3


def _linear(kind: str) -> Linear:
    return ranker(kind)().fit_sets(train()).learned.model


@pytest.mark.parametrize("kind", ["regression", "adarank-map", *TREE_KINDS])
def test_solr_and_elasticsearch_score_as_here(kind):
    model = fitted(kind) if kind in TREE_KINDS else _linear(kind)
    X, constant = documents(model), getattr(model, "bias", 0.0)
    names = [f'na"m\\e {k} é' for k in range(model.n_features)]
    expected = model.predict(X) - constant
    scale = np.abs(X.astype(float) * getattr(model, "weights", 0.0)).sum(axis=1).max()
    precise = 3e-6 * max(1.0, scale / np.abs(expected).max(initial=1e-300))  # float32 sums
    for text, scores in ((solr_text, solr_scores), (elasticsearch_text, elasticsearch_scores)):
        close(scores(text(model, "m", names), X, names), expected, precise)
    unnamed = [f"feature_{k}" for k in range(1, model.n_features + 1)]
    close(solr_scores(solr_text(model), X, unnamed), expected, precise)
    assert json.loads(solr_text(model, 'my "m"'))["name"] == 'my "m"'


def test_what_solr_adds_to_a_threshold_is_made_up_for(rng):
    """Its float32 sum is the threshold wherever a float32 has that sum, else what is next below."""
    sizes = 10.0 ** rng.uniform(-10, 30, 2000)
    for t in np.concatenate([sizes, -sizes, [0.0, 0.5, -1.0, 1.0, 5e-7, -5e-7]]).astype("f4"):
        written = _before_slack(t)
        assert type(written) is np.float32
        near = [written]
        for _ in range(3):
            near = [np.nextafter(near[0], np.float32(-np.inf)), *near]
            near = [*near, np.nextafter(near[-1], np.float32(np.inf))]
        sums = np.array([each + np.float32(1e-6) for each in near])
        assert written + SLACK == sums[sums <= t].max()
        assert t < 4e-6 or written + SLACK == t
        assert abs(t) > 1e-6 or t - (written + SLACK) < 1.2e-13
    tiny = replace(TREES, threshold=[1e-12, 0.5, 0, 0, 0, 0])
    with pytest.raises(UsageError, match="found feature_5 <= 1e-12, expected no threshold so near"):
        solr_text(tiny)
    X = np.float32([[0, 1, 0, 0, v] for v in (0, 9e-13, 2e-12)])
    names = [f"feature_{k}" for k in range(1, 6)]
    close(elasticsearch_scores(elasticsearch_text(tiny), X, names), tiny.predict(X), 1e-6)
    for zero in (1e-35, 0.0, -1e-35, -1.4e-45):  # of LightGBM and XGBoost
        trees = replace(TREES, threshold=[zero, 0.5, 0, 0, 0, 0], missing_left=None)
        X = np.float32([[0, 1, 0, 0, v] for v in (-1e-6, -2e-13, 0.0, 1e-12)])
        close(solr_scores(solr_text(trees), X, names), trees.predict(X), 1e-6)


@pytest.mark.parametrize("kind", TREE_KINDS)
def test_the_programs_that_read_lightgbms_text_score_as_here(kind):
    """LightGBM, Treelite, SHAP, and ONNX's runtime by the converter of onnxmltools."""
    lightgbm = pytest.importorskip("lightgbm", reason="no LightGBM")
    model = fitted(kind)
    X = documents(model)
    booster, scores = lightgbm.Booster(model_str=lightgbm_text(model)), model.predict(X)
    close(booster.predict(X, raw_score=True), scores, double(model))
    close(booster.predict(X, pred_contrib=True).sum(axis=1), scores, 10 * double(model))
    treelite = pytest.importorskip("treelite", reason="no treelite")
    shap = pytest.importorskip("shap", reason="no shap")
    onnxmltools = pytest.importorskip("onnxmltools", reason="no onnxmltools")
    runtime = pytest.importorskip("onnxruntime", reason="no onnxruntime")
    from onnxmltools.convert.common.data_types import FloatTensorType

    read = treelite.frontend.from_lightgbm(booster)
    close(treelite.gtil.predict(read, X), scores, double(model))
    explainer = shap.TreeExplainer(booster)
    values = explainer.shap_values(X)
    close(values.sum(axis=1) + explainer.expected_value, scores, 10 * double(model))
    some = shap.TreeExplainer(booster, data=X[:40])
    values = some.shap_values(X[:40], check_additivity=False)
    close(values.sum(axis=1) + some.expected_value, scores[:40], 1e-6)
    shape = [("x", FloatTensorType([None, model.n_features]))]
    onnx = onnxmltools.convert_lightgbm(booster, None, shape, target_opset=15, zipmap=False)
    session = runtime.InferenceSession(onnx.SerializeToString())
    close(session.run(None, {"x": X})[0], scores, 1e-6)


# --- the counts of SHAP


@pytest.mark.parametrize("kind", [kind for kind in FITTED if "drawn" not in kind])
def test_a_node_knows_how_many_training_documents_come_to_it(kind):
    model, X = fitted(kind), train().features
    counts = np.zeros(len(model.left))
    for root in model.roots:
        for x in X:
            node = root
            counts[node] += 1
            while model.left[node] != node:
                low = x[model.feature[node]] <= model.threshold[node]
                node = (model.left if low else model.right)[node]
                counts[node] += 1
    if kind == "random-forests":  # a tree has the documents of the queries drawn
        assert (model.cover <= counts).all() and (model.cover >= 1).all()
    else:
        np.testing.assert_array_equal(model.cover, counts)


def test_trees_without_counts_are_refused_as_lightgbms():
    """As older versions stored stumps, with zeros, and XGBoost's, with sums of derivatives."""
    for cover in (np.zeros(6), [9.0, 4.5, 4.0, 3.0, 2.0, 9.0], [9.0, 5.0, 4.0, 5.0, 0.0, 9.0]):
        old = replace(TREES, cover=np.array(cover))
        with pytest.raises(UsageError, match="without the numbers of training documents"):
            lightgbm_text(old)
        assert ranklib_text(old) == ranklib_text(TREES) and solr_text(old) == solr_text(TREES)


# --- what cannot be said


NAMES = [list(names) for names in ("abcda", "abcd", "abcdef", "abcdea")]
REFUSED = [
    *((form, SAMPLES["net"], (), "kind 'net'") for form in FORMATS),
    ("lightgbm", MODELS["linear"], (), "linear model"),
    *((form, model, ("m", names), "expected 5 different ones") for names in NAMES
      for form in ("solr", "elasticsearch") for model in MODELS.values()),
]  # fmt: skip


@pytest.mark.parametrize(("form", "model", "more", "said"), REFUSED)
def test_what_cannot_be_said_is_refused(form, model, more, said):
    """Other models than lines and trees, and names that are not one for each feature."""
    with pytest.raises(UsageError, match=said):
        FORMATS[form](model() if callable(model) else model, *more)
