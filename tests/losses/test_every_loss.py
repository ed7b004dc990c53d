"""What holds for any loss; a new one is tested unasked."""

import math
from collections import Counter
from contextlib import nullcontext
from dataclasses import asdict

import numpy as np
import pytest
from conftest import every_loss, odd_queries, random_queries

from letorbench import parameters
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError, UsageError
from letorbench.losses import Loss, choices, families, loss
from letorbench.losses.base import LONGEST_COMPARED, defaults
from letorbench.losses.lambdas import Lambda

LEVELS = 4
#: the families with gains, and the weight that has them
WITH_GAIN = [
    (name, next((f", weight={w}" for w in choice.get("weight", ()) if set(w) & set("R^")), ""))
    for name, family in families().items()
    if (choice := parameters.choices(family)) is not None and "gain" in defaults(family)
]
EVERY = [
    *every_loss(),
    *(
        loss(f"{name}({settings})")
        for name, family in families().items()
        for settings in ("truncation=1", "truncation=10", "truncation=3, p=1.5")
        if {each.partition("=")[0] for each in settings.split(", ")} <= set(defaults(family))
    ),
    loss("neural-ndcg(tau=0.5)"),
    *(
        loss(f"{name}(gain={gain}{weight})")
        for gain in ("linear", "0/0.5/0.5/3")
        for name, weight in WITH_GAIN
    ),
]
#: of the families with weights, those with the first one and a composed one
FAMILIES = [
    e
    for e in EVERY
    if getattr(e, "weight", "1") in ("1", "1/log(1+pi)", "(Ri-Rj)/m") or "gain" in str(e)
]
#: they have no value where all scores are 0, or jump there, and so no derivative
UNDEFINED_AT_ZERO = ("cosine", "cosine-ndcg", "qnorm", "lambdaloss")


@pytest.fixture
def queries(rng: np.random.Generator) -> QuerySet:
    return odd_queries(rng, [1, 7, 2, 4, 9, 3, 1, 6], LEVELS, 5)


@pytest.mark.parametrize("each", FAMILIES, ids=str)
def test_the_gradient_is_the_finite_difference(each: Loss, queries: QuerySet, rng) -> None:
    for spread in (0.0, 1.0, 10.0, 300.0):
        drowned = "exponential" in str(each) or each.name == "cross-entropy-ndcg"
        if (drowned and spread > 1.0) or (each.name in UNDEFINED_AT_ZERO and spread == 0.0):
            continue
        scores, width = spread * rng.normal(size=queries.n_docs), 1e-4
        gradient = each(scores, queries).gradient
        assert np.isfinite(each(1e3 * scores, queries).gradient).all()
        for i, move in enumerate(width * np.eye(queries.n_docs)):
            rise = (each(scores + move, queries)[0] - each(scores - move, queries)[0]).sum()
            assert gradient[i] == pytest.approx(rise / (2 * width), rel=1e-6, abs=2e-6)


def test_descent_can_leave_zero() -> None:
    labels = np.array([2, 0, 1], np.int32)
    queries = QuerySet(np.zeros((3, 1), np.float32), labels, np.array([0, 3]), np.array([1]))
    for name in ("cosine", "cosine-ndcg", "qnorm"):
        gradient = loss(name)(np.zeros(3), queries)[1]
        assert gradient[0] < gradient[2] < gradient[1] == 0.0


@pytest.mark.parametrize("each", EVERY, ids=str)
def test_threads_change_nothing_and_empty_queries_have_no_loss(each: Loss, monkeypatch, rng):
    monkeypatch.setattr("letorbench.losses.base.query_share", lambda queries, documents: 1)
    queries = random_queries(rng, [0, 4, 0, *[9, 2] * 20, 0], levels=LEVELS)
    scores, results = rng.normal(size=queries.n_docs), []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("LETORBENCH_THREADS", threads)
        results.append(each(scores, queries))
    for other in results[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(results[0], other))
    empty = 1.0 if each.name.startswith("cosine") else 0.0
    assert (results[0].value[queries.lengths == 0] == empty).all()


#: losses that compare each pair of a query's documents
OF_PAIRS = ("lambdaloss", "neural-ndcg", "pairwise", "ranknet", "smooth", "wub")


@pytest.mark.parametrize("each", [*map(loss, families()), loss("listnet(k=3)"), Lambda()], ids=str)
def test_a_query_of_very_many_documents_is_refused_where_pairs_are_compared(each) -> None:
    long = random_queries(np.random.default_rng(0), [3, LONGEST_COMPARED + 1], n_features=1)
    scores, refused = np.zeros(long.n_docs), pytest.raises(DataError, match="query 2: found 10001 ")
    if each == loss("listnet(k=3)"):
        refused = pytest.raises(UsageError, match="of 10001 documents, whose first 3 places")
    elif getattr(each, "name", "pairwise") not in OF_PAIRS:
        refused = nullcontext()
    with refused:
        each(scores, long)


def test_a_loss_prints_as_it_parses() -> None:
    for each in EVERY:
        assert loss(str(each)) == each
        given = ", ".join(f"{key}={value}" for key, value in asdict(each).items())
        assert loss(f" {each.name} ( {given} ) ") == each
        assert each.formula and type(each).__doc__
    sizes = {name: [len(each) for key, each in parameters.choices(family).items() if key != "ties"]
             for name, family in families().items()}  # fmt: skip
    assert Counter(each.name for each in set(every_loss())) == {
        name: math.prod(each) for name, each in sizes.items()
    }
    assert str(loss("pairwise(weight=(Ri-Rj)/m, phi=logistic)")) == "pairwise(weight=(Ri-Rj)/m)"
    assert choices(families()["smooth"]) == "measure=ndcg, err or mrr; alpha=1.0; gain=exp2"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing", "unknown loss 'nothing'; expected one of cosine, cosine-ndcg"),
        ("wpl(wieght=1)", "did you mean weight"),
        ("wpl(weight=2)", "unknown weight of wpl '2'; expected one of 1, r"),
        ("wpl(weight=1", "expected a form like"),
        ("listnet(k=two)", "unknown k of listnet 'two'; expected one of 1, 2, 3"),
        ("listnet(k=4)", "expected one of 1, 2, 3"),
        ("qnorm(p=1.0)", "found p=1.0, expected 0 or 1 < p <= 2"),
        ("qnorm-penalised(p=2.5)", "found p=2.5"),
    ],
)
def test_a_text_that_names_no_loss_is_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("(", r"\(").replace("?", r"\?")):
        loss(text)


#: of every parameter that is a number, a value outside its range and one that is not the default
NUMBERS = {
    "truncation": (-1, 2), "mu": (-1.0, 3.0), "tau": (0.0, 0.5), "scalings": (-1, 2),
    "alpha": (0.0, 2.0), "p": (2.5, 2.0), "gain": ("3/1", "linear"),
}  # fmt: skip


@pytest.mark.parametrize("family", families().values(), ids=lambda family: family.name)
def test_every_parameter_is_checked_and_changes_the_loss(family: type[Loss], queries, rng) -> None:
    scores = rng.normal(size=queries.n_docs)
    for key, default in defaults(family).items():
        outside = [math.nan, math.inf, NUMBERS[key][0]] if key in NUMBERS else []
        for each in ("odd", None, True, *outside):
            with pytest.raises(UsageError, match=f"{key}.*(?i:{each})"):
                family(**{key: each})
        if key != "ties":  # see test_references.py
            named = [each for each in parameters.choices(family).get(key, ()) if each != default]
            beside = {}
            if key == "gain" and "weight" in defaults(family):
                beside = {"weight": dict(WITH_GAIN)[family.name].partition("=")[2]}
            other = family(**{**beside, key: (named or NUMBERS[key])[-1]})
            values = other(scores, queries)[0], family(**beside)(scores, queries)[0]
            assert not np.allclose(*values), key
