"""What every ranker must do, whichever is registered: a new one is tested unasked.

Rankers of one module that learn alike differ in their losses, which have tests of their own: of
these the first one stands for the others where a training is tested.
"""

import math
import os
import pickle
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from functools import cache
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from conftest import few_rounds, learners, parts_of, random_queries, same, unlocked

import letorbench as lb
from letorbench.cli.models import description
from letorbench.compiled.threads import limited_threads, parallel_for
from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError, UsageError
from letorbench.experiment.plan import parameters
from letorbench.losses.label_order import random_order
from letorbench.measures import parse, query_metrics
from letorbench.parameters import choices, kinds
from letorbench.rankers import RandomForests, Ranker, load_model, names, ranker
from letorbench.rankers.any_model import ranker_of
from letorbench.results.measuring import IDEAL
from letorbench.solvers.stopping import Validation

RANKERS = [
    pytest.param(
        ranker(name),
        id=name,
        marks=pytest.mark.skipif(
            not ranker(name).available(), reason=f"{name} needs {ranker(name).needs}"
        ),
    )
    for name in names()
    if name not in (IDEAL, "best")  # the members of the latter are here, itself is in test_best.py
]
EVERY = pytest.mark.parametrize("cls", RANKERS)
LEARNERS = pytest.mark.parametrize(
    "cls", [each for each in RANKERS if learners()[each.id] == each.id]
)


def toy(seed: int, lengths: list[int], n_features: int = 5) -> QuerySet:
    """Features in [0, 1]; the label is what feature 1 says, cut into 0, 1 and 3."""
    queries = random_queries(np.random.default_rng(seed), lengths, n_features)
    features = np.random.default_rng(seed + 1).random(queries.features.shape, dtype=np.float32)
    labels = np.int32([0, 1, 3])[np.digitize(features[:, 1], [0.6, 0.85])]
    return QuerySet(features, labels, queries.offsets, queries.qids)


def tied(seed: int, lengths: list[int], n_features: int = 5) -> QuerySet:
    """Features of eleven values, many documents alike, and labels that they do not explain."""
    queries, rng = toy(seed, lengths, n_features), np.random.default_rng(seed)
    features = np.round(queries.features, 1)
    features[1::3] = features[::3][: len(features[1::3])]
    noisy = features[:, 1] + 0.5 * features[:, 2] + 0.3 * rng.normal(size=queries.n_docs)
    labels = np.digitize(noisy, [0.6, 1.1]).astype(np.int32)
    return QuerySet(features, labels, queries.offsets, queries.qids)


def fitted(cls: type[Ranker], train: QuerySet, valid: QuerySet, **settings: object) -> Ranker:
    return cls(**settings).fit_sets(train, Validation(valid), np.random.default_rng(0))


@cache
def learned(cls: type[Ranker]) -> Ranker:
    return fitted(cls, toy(1, [15] * 25), toy(3, [15] * 12))


TEST = toy(5, [20] * 20)


@EVERY
def test_missing_values_are_taken_or_refused_in_one_line(cls):
    """What takes them can order documents by whether a feature is missing, as labels are here."""
    train, test = toy(1, [15] * 25), TEST
    holed = [
        replace(each, features=np.where(each.labels[:, None] > [[0, 9, 1, 9, 9]], np.nan,
                                        each.features * [1, 0, 1, 1, 1]).astype("f4"))
        for each in (train, test)
    ]  # fmt: skip
    settings = {"weak": "tree"} if cls.name == "ndcgboost" else {}
    settings |= {"model": "trees"} if cls.name == "recipe" else {}
    made = cls(**settings)
    if not made.takes_missing:
        for fold in ((holed[0], None), (train, Validation(holed[1]))):
            with pytest.raises(DataError, match=f"^{cls.name}: found missing values .NULL, NaN."):
                made.fit_sets(*fold)
        with pytest.raises(DataError, match=f"^{cls.name}: found missing values .NULL, NaN."):
            learned(cls).predict(holed[1])
    elif cls.learns:
        made.fit_sets(holed[0], Validation(holed[0]), np.random.default_rng(0))
        assert made.learned.model.has_missing and made.score(holed[1]) > 0.9
    else:
        assert not made.fit_sets(holed[0]).predict(holed[1]).any()


@EVERY
def test_learns_a_separable_toy_set(cls):
    scores = learned(cls).predict(TEST.features)
    assert scores.shape == (TEST.n_docs,) and scores.dtype == np.float64
    standard = CONVENTIONS["standard"]
    ndcg = query_metrics(TEST.labels, scores, TEST.offsets, [parse("ndcg@10")], standard)
    assert ndcg.mean() > 0.93 or not cls.learns


def alike(scores: np.ndarray, again: np.ndarray) -> bool:
    return np.allclose(again, scores, rtol=0.0, atol=1e-6 * np.abs(scores).max())


@LEARNERS
def test_the_order_of_documents_does_not_matter(cls):
    """But for rounding, which a net keeps as float32; a ranker may say why it does.

    Documents are alike and labels tie, so that any rule that looks at the order is found out.
    """
    train, valid = tied(27, [12] * 15), tied(29, [12] * 10)
    rows = random_order(train, np.random.default_rng(0))
    permuted = QuerySet(train.features[rows], train.labels[rows], train.offsets, train.qids)
    scores, again = (fitted(cls, each, valid).predict(valid.features) for each in (train, permuted))
    assert alike(scores, again) or cls.order_matters


@LEARNERS
def test_the_order_of_features_does_not_matter(cls):
    """But for rounding, also where features are equal, constant or multiples of another.

    A ranker may say why the order matters.
    """
    if cls().draws:
        pytest.skip("it draws random numbers, for one feature after the other")
    train, valid = (tied(seed, [12] * 20, 8) for seed in (27, 29))
    with unlocked(train, valid):
        for x in (train.features, valid.features):
            x[:, 3], x[:, 4], x[:, 5], x[:, 6] = 0.5, x[:, 1], 2.0 * x[:, 1], 0.0
    scores, order = fitted(cls, train, valid).predict(valid.features), [6, 1, 7, 0, 4, 3, 5, 2]
    turned = [
        replace(each, features=np.ascontiguousarray(each.features[:, order]))
        for each in (train, valid)
    ]
    again = fitted(cls, *turned).predict(turned[1].features)
    assert alike(scores, again) or cls.feature_order_matters


@LEARNERS
def test_scales_of_features_are_no_matter(cls):
    """To `auto` as to the transformation it asks for: powers of two leave no rounding behind."""
    train, valid = toy(15, [8] * 10), toy(17, [8] * 30)
    scales = np.float32([2.0**-20, 1.0, 2.0**30, 2.0**7, 2.0**100])
    grown = [replace(each, features=each.features * scales) for each in (train, valid)]
    scores = cls(features=cls().auto_features).fit_sets(train, valid).predict(valid)
    stretched = cls(features="auto").fit_sets(*grown)
    assert stretched.transformation_.name == cls().auto_features
    np.testing.assert_array_equal(stretched.predict(grown[1]), scores)


@EVERY
def test_is_registered_and_documented(cls):
    assert ranker(cls.name) is cls and getattr(lb, cls.__name__) is cls and cls.__doc__
    assert pickle.loads(pickle.dumps(cls())) == cls()
    for name, values in cls.grid.items():
        assert len(values) > 1 and list(values) == sorted(set(values))
        cls(**{name: values[0]}), cls(**{name: values[-1]})
    documented = description(cls.name).partition("\n\n")[2]
    assert all(documented.count(cls.spelled.get(name, name)) > 1 for name in parameters(cls))


@pytest.mark.parametrize("validated", [True, False])
@LEARNERS
def test_a_time_limit_ends_the_training(cls, validated):
    """With no time left, a ranker makes one round or step, says so, and is what that one gives."""
    train, valid = toy(27, [8] * 12), toy(29, [8] * 6)
    validation = Validation(valid) if validated else None
    unlimited = cls(**few_rounds(cls)).fit_sets(train, validation, time_limit=1e9)
    whole = unlimited.learned
    if whole.curve:  # the round that validation chooses is the one that is kept
        kept = validation(unlimited.predict(valid)).mean()
        assert kept == pytest.approx(whole.curve[whole.best - 1], abs=1e-12)
    rounds = len(whole.curve) or whole.best
    ranker = cls(**few_rounds(cls)).fit_sets(train, validation, time_limit=1e-9)
    short, trained = ranker.learned, bool(rounds or whole.objective)
    assert short.cut_off == trained and not whole.cut_off
    assert short.curve == whole.curve[:1] and short.best == (rounds and 1)
    begun = 1 + (len(whole.objective) != rounds)  # with the start's objective or without
    if cls.name == "coordinate-ascent":  # which looks at each weight
        assert short.objective == whole.objective[:1] * 2
        return
    assert short.objective == whole.objective[:begun]
    if few_rounds(cls):
        one = cls(**dict.fromkeys(few_rounds(cls), 1)).fit_sets(train, validation)
        np.testing.assert_array_equal(ranker.predict(valid), one.predict(valid))


#: the bounds of settings that several rankers have, or of one ranker's
BOUNDS = {
    "1 or more": "rounds iterations epochs restarts sweeps starts bags hidden dimensions cutoff "
    "min_docs lightgbm.truncation xgboost.truncation",
    "0 or more": "patience l2 depth truncation tolerance query_features min_weight "
    "lightgbm.min_docs",
    "2 or more": "leaves frank.bins",
    "2 or more and at most 256": "bins",
    "1 or more and at most 10": "ndcgboost.depth",
    "1 or more and at most 16": "catboost.depth",
    "0 or more and less than 1": "rho",
    "more than 0": "learning_rate C gap tau",
    "more than 0 and at most 1": "docs columns",
    "more than 0 and at most 10": "sample",
    "a finite number": "margin p",
}
KEPT = {name: bound for bound, several in BOUNDS.items() for name in several.split()}


@EVERY
def test_a_setting_is_of_its_type_and_range(cls):
    """Also one that is set later. NaN passes comparisons, and a loop over 2.5 rounds never ends."""
    queries = random_queries(np.random.default_rng(0), [5, 5])
    for each in fields(cls):
        if bound := each.metadata.get("range"):
            kept = KEPT.get(f"{cls.name}.{each.name}", KEPT.get(each.name))
            assert kept in (None, str(bound)), each.name
    for each in fields(cls):
        kind, metadata = kinds(cls)[each.name], each.metadata
        wrong: list[object] = ["odd"] if "values" in metadata else []
        wrong += [str(v) for v in metadata.get("values", ()) if not isinstance(v, str)]
        if "range" in metadata:
            least, above, most, below = metadata["range"]
            beyond = (least is not None and least - 1, above, most and most + 1, below)
            wrong += ["x", True, math.inf, math.nan, *([2.5] if kind is int else [])]
            wrong += [None] if kind in (int, float) else []
            wrong += [value for value in beyond if value is not None and value is not False]
        for value in wrong:
            said = f"found {each.name}={value!r}, expected|unknown {each.name} of .* '{value}'"
            with pytest.raises(UsageError, match=said):
                cls(**{each.name: value})
            with pytest.raises(UsageError, match=said):
                cls().set_params(**{each.name: value}).fit_sets(queries)


#: another value of every setting, where it is no choice of names
OTHER = {
    "C": 0.1, "bags": 5, "bins": 3, "categories": "2", "columns": 0.45, "cutoff": 1, "depth": 1,
    "dimensions": 2, "docs": 0.496, "epochs": 5, "gain": "linear", "gap": 0.9, "hidden": 3,
    "intercept": True, "iterations": 5,
    "l2": 5.0, "learning_rate": 1e-4, "leaves": 3, "loss": "ranknet", "margin": 0.5,
    "measure": "err@5", "min_docs": 40, "min_weight": 30.0, "neighbours": True, "normalise": False,
    "normalised": False, "p": 1.5, "patience": 1, "query_features": 1, "restarts": 2, "rho": 0.5,
    "rounds": 5, "sample": 0.3, "solver": "line-search", "starts": 9, "sweeps": 3,
    "tau": 0.5,
    "tolerance": 1.0, "truncation": 1,
}  # fmt: skip
#: what a setting needs beside it, of what a ranker has
BESIDE: dict[str, dict[str, object]] = {
    "criterion": {"weak": "tree"}, "depth": {"weak": "tree"}, "rounds": {"min_docs": 5},
    "dimensions": {"functional": "bilinear", "model": "bilinear"}, "epochs": {"model": "trees"},
    "gain": {"target": "gain"},
    "group": {"functional": "group"}, "individual": {"functional": "group"},
    "hidden": {"model": "mlp"}, "learning_rate": {"model": "trees"},
    "patience": {"rounds": 12, "epochs": 12, "learning_rate": 1.0, "model": "trees"},
    "function": {"margin": 0.5},
    "query_features": {"functional": "bilinear", "model": "bilinear"},
    "rho": {"functional": "quadratic", "model": "quadratic"}, "sample": {"stumps": "sample"},
    "starts": {"loss": "smooth"},
    "tau": {"functional": "distance", "model": "distance"}, "tolerance": {"sweeps": 3},
}  # fmt: skip


#: what takes a size
SIZED = ("once", "average")
#: settings of more than one value that may make a ranker draw
DRAWING = {
    "ndcgboost": [{"stumps": "sample", "weak": "tree"}],
    "recipe": [
        {"loss": "ranknet", "solver": "gradient-descent"},
        {"model": "trees", "loss": "wpl", "ties": "random"},
    ],
}


def variants(cls: type[Ranker]) -> Iterator[tuple[dict[str, object], dict[str, object]]]:
    """Settings beside which one is changed, and those with the change: each to each named value.

    What another ranker that learns alike is varied in is left out.
    """
    first, known = learners()[cls.name], choices(cls)
    yield from (({}, each) for each in [{}, *DRAWING.get(cls.name, [])])
    for name in parameters(cls):
        if first != cls.name and name in parameters(ranker(first)):
            continue
        beside = {key: each for key, each in BESIDE.get(name, {}).items() if hasattr(cls, key)}
        if cls.name == "recipe" and name in parameters(RandomForests):
            beside = {"model": "trees"}
        if name == "ties":
            weights = [each for each in known.get("weight", ()) if "pi" in each or "e" in each]
            beside = {"weight": weights[0]} if weights else {"loss": "wpl"}
        if name == "gain" and "weight" in known:
            beside = {"weight": next(each for each in known["weight"] if set("R^") & set(each))}
        default = getattr(cls(), name)
        same_or_refused = (default, *({"lbfgs", "boosting"} if name == "solver" else ()))
        others = [each for each in known.get(name, ()) if each not in same_or_refused]
        if name == "function":  # a compiled kernel for each
            others = others[-1:]
        for other in others or [another(cls, name)]:
            # of few documents the default sizes give the exact stumps
            more = {"sample": {"once": 0.1, "average": 3.0}[other]} if other in SIZED else {}
            yield beside, beside | {name: other} | more


def another(cls: type[Ranker], name: str) -> object:
    """Another value of a setting, of its range where `OTHER` does not have it."""
    default = getattr(cls(), name)
    if name in OTHER or isinstance(default, bool) or not isinstance(default, int | float):
        return OTHER.get(name, not default)
    [allowed] = [each.metadata.get("range") for each in fields(cls) if each.name == name]
    values = (default + 1, default - 1) if isinstance(default, int) else (default / 2.0, 0.5, 1.5)
    return next(v for v in values if v != default and (allowed is None or allowed.has(v)))


LEARNED = Path(__file__).with_name("learned.txt")


def summary(each: Ranker, valid: QuerySet) -> str:
    """The means of a training's history, the round that is kept, scores, kinds of warnings."""
    fit, scores = each.learned, each.predict(valid)
    means = [float(np.mean(values)) for values in (fit.objective, fit.curve) if values]
    numbers = [f"{value:.4g}" for value in (*means, scores[0], np.ptp(scores))]
    kept = [f"{fit.best}/{len(fit.curve)}"] if fit.curve else []
    return " ".join([*numbers, *kept, *(each.kind for each in fit.warnings)])


@EVERY
def test_every_setting_changes_what_is_learned_and_kept(cls, tmp_path):
    """Three rounds with each setting changed.

    What does not draw leaves the generator alone; what does has other bytes for another seed.
    Each is read again from its file. What letorbench's rankers learn is in `LEARNED`; `make renew`
    adds a new one.
    """
    train, valid = tied(27, [8] * 12, 6), tied(29, [8] * 6, 6)
    with unlocked(train, valid):
        for each in (train, valid):
            each.features[:, 2] *= -1.0
            if hasattr(cls, "categories"):  # they are whole numbers from 0
                each.features[:, 1] = np.round(10.0 * each.features[:, 1])
    few = few_rounds(cls) | ({"min_docs": 5} if hasattr(cls, "min_docs") else {})
    found: dict[str, str] = {}

    def learned(settings: dict[str, object]) -> str:
        name = ", ".join(f"{key}={value}" for key, value in settings.items()) or "as it is"
        if name in found:
            return found[name]
        each, files = cls(**(few | settings)), []
        for seed in (1, 0) if each.draws else (0,):
            rng = np.random.default_rng(seed)
            untouched = rng.bit_generator.state
            each.fit_sets(train, Validation(valid), rng).save(tmp_path / "model.npz")
            files.append((tmp_path / "model.npz").read_bytes())
            assert (rng.bit_generator.state != untouched) == each.draws, each
        # of several starts the first, which is not drawn, may be the best
        assert len(set(files)) == len(files) or getattr(each, "starts", 1) > 1, each
        again = load_model(tmp_path / "model.npz")
        assert (again.name, again.get_params()) == (each.name, each.get_params())
        np.testing.assert_array_equal(again.predict(valid.features), each.predict(valid.features))
        return found.setdefault(name, summary(each, valid))

    for beside, changed in variants(cls):
        differs = beside == changed or learned(changed) != learned(beside)
        assert differs or "starts" in changed, changed
    if cls.needs is not None:  # the versions of libraries differ
        return
    all_of_it = {"as it is": learned({}), **found}.items()
    lines = textwrap.fill(
        "; ".join(f"{name}: {each}" for name, each in all_of_it), 100, break_on_hyphens=False
    )
    part, kept = f"$ {cls.name}\n{lines}\n", parts_of(LEARNED).get(cls.name)
    if kept is not None:
        same(LEARNED, f"$ {cls.name}\n{kept}", part, rtol=1e-3)
    elif "RENEW" in os.environ:
        LEARNED.write_text(f"{LEARNED.read_text(encoding='utf-8')}{part}", encoding="utf-8")


@EVERY
def test_a_fit_that_learned_nothing_warns(cls):
    if not cls.learns:
        pytest.skip("it does not learn")
    train, model = toy(33, [8] * 40), cls()
    equal = replace(train, features=np.ones_like(train.features))
    with pytest.warns(UserWarning, match=f"^{cls.name}: (constant training scores|no weak learn)"):
        model.fit(equal)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        model.fit(train)
    assert not [each for each in given if "constant" in str(each.message)]


@EVERY
def test_scikit_learn_checks_and_clones_it(cls):
    checks = pytest.importorskip("sklearn.utils.estimator_checks", reason="no scikit-learn")
    from sklearn.base import clone

    checks.check_no_attributes_set_in_init(cls.__name__, cls())
    checks.check_parameters_default_constructible(cls.__name__, cls())
    checks.check_get_params_invariance(cls.__name__, cls())
    checks.check_set_params(cls.__name__, cls())
    first = cls().set_fit_request(qid=True, group=False).set_score_request(qid="queries")
    copy = clone(first)
    assert copy is not first and type(copy) is cls and copy.get_params() == first.get_params()
    requests = copy.get_metadata_routing()
    assert requests.fit.requests["qid"] is True and requests.fit.requests["group"] is False
    assert requests.score.requests["qid"] == "queries"
    assert copy.__sklearn_tags__().target_tags.required
    assert "`score`: ``set_score_request(qid=True)``" in cls.set_score_request.__doc__


@pytest.mark.parametrize("sklearn", [True, False])
def test_what_needs_a_fit_says_so_as_scikit_learn_does(sklearn, monkeypatch, tmp_path):
    error: type[Exception] = AttributeError
    if sklearn:
        error = pytest.importorskip("sklearn.exceptions").NotFittedError
    else:
        monkeypatch.setitem(sys.modules, "sklearn.exceptions", None)
    queries, path = toy(0, [5]), tmp_path / "model.npz"
    every = [param.values[0]() for param in RANKERS] + [ranker_of(Mock(spec=["fit", "predict"]))]
    for each in every:
        for call, arg in ((each.predict, queries), (each.score, queries), (each.save, path)):
            with pytest.raises(error, match=f"^{type(each).__name__} is not fitted yet") as caught:
                call(arg)
            assert isinstance(caught.value, (UsageError, AttributeError))
            assert isinstance(caught.value, ValueError) and caught.value.exit_status == 2
    assert not [*tmp_path.iterdir()]


def test_a_package_that_cannot_load_is_not_said_to_be_missing(monkeypatch):
    """As LightGBM where the system has no libgomp."""
    cls = type("Needy", (ranker("listnet"),), {"needs": "no_such_package"})
    with pytest.raises(UsageError, match="needs the package no_such_package; .*install"):
        cls().fit_sets(toy(0, [5]))
    cls.needs = "numpy"
    for error in (OSError("libgomp.so.1: cannot open shared object file"), ImportError("no glue")):
        monkeypatch.setattr("letorbench.rankers.base.import_module", Mock(side_effect=error))
        with pytest.raises(UsageError, match=f"the package numpy cannot load: {error}$"):
            cls().fit_sets(toy(0, [5]))


# --- no bit of a model or of its scores depends on the number of threads: sizes are multiples of
# nothing, and a slice may be as short as one item, so that its bounds fall wherever they can

#: the least work of a thread, as modules call it
LEASTS = ("LEAST",)
FEW = [37, 1, 23, 61, 5, 40, 2, 13]
#: more documents than the largest block of rows that a sum is cut into
MANY = [97, 1, 313, 60, *[41, 17, 111, 5] * 30]


@pytest.fixture
def shortest_slices(monkeypatch):
    """Let every module give a thread as little as one item."""

    def sliced(task: Callable, total: int, least: int = 1, cost: np.ndarray | None = None) -> list:
        return parallel_for(task, total, 1, cost)

    for name, each in list(sys.modules.items()):
        if name.startswith("letorbench.") and name != parallel_for.__module__:
            for least in LEASTS:
                monkeypatch.setattr(each, least, 1, raising=False)
            if vars(each).get("parallel_for") is parallel_for:
                monkeypatch.setattr(each, "parallel_for", sliced)


def many_values(seed: int, lengths: list[int]) -> QuerySet:
    drawn = random_queries(np.random.default_rng(seed), lengths, 11)
    features = drawn.features.copy()
    for k, values in enumerate((2, 7, 40, 300)):
        features[:, k] = np.round(features[:, k] * values) / values
    return QuerySet(features, drawn.labels, drawn.offsets, drawn.qids)


THREAD_CASES = [(name, FEW) for name in sorted({*learners().values()})]
#: those whose solvers or libraries share rows among threads where there are thousands
THREAD_CASES += [(name, MANY) for name in ("lightgbm", "xgboost", "ndcgboost", "lambdarank", "wub")]


@pytest.mark.usefixtures("shortest_slices")
@pytest.mark.parametrize(("name", "lengths"), THREAD_CASES)
def test_no_ranker_depends_on_the_number_of_threads(name, lengths, tmp_path):
    cls = ranker(name)
    cls.available() or pytest.skip(f"{name} needs its package")
    train, valid = many_values(2, lengths), many_values(3, [29, 7, 31])
    results = set()
    for threads in (1, 3):
        with limited_threads(threads):
            fitted = cls(**few_rounds(cls)).fit_sets(train, valid, np.random.default_rng(0))
            fitted.save(tmp_path / "model.npz")
            scores = fitted.predict(valid)
        results.add(scores.tobytes() + (tmp_path / "model.npz").read_bytes())
    assert len(results) == 1
