"""What people type first in Python, one line each, as in other libraries."""

import pickle

import numpy as np
import pandas as pd
import pytest

import letorbench as lb
from letorbench.errors import LetorError


@pytest.fixture(scope="module")
def names(tmp_path_factory) -> dict[str, object]:
    """What the lines may use: a benchmark of a frame, its first fold, two fitted rankers."""
    rng, out = np.random.default_rng(3), tmp_path_factory.mktemp("tries")
    df = pd.DataFrame(rng.random((120, 2)), columns=["bm25", "links"])
    df = df.assign(
        label=np.digitize(df["bm25"] + rng.normal(0, 0.3, 120), [0.5, 0.8]),
        qid=np.repeat(np.arange(30), 4),
    )
    df["docid"] = [f"d{n}" for n in range(120)]
    bench = lb.from_frame(df, folds=3)
    train, valid, test = bench[0]
    runs = [
        lb.run(bench, algos, out=out / str(n)) for n, algos in enumerate(["regression,random"] * 2)
    ]
    return {
        "lb": lb, "np": np, "pd": pd, "pickle": pickle, "df": df, "bench": bench, "train": train,
        "valid": valid, "test": test, "out": out,
        "X": train.X, "y": train.y, "qid": train.qid, "runs": runs,
        "pairs": [(valid.X, valid.y, valid.qid), (train.X, train.y, train.qid)],
        "linear": lb.Regression().fit(train), "trees": lb.MART(rounds=3, min_docs=2).fit(train),
    }  # fmt: skip


#: lines that are true
TRUE = """
lb.datasets()[0] == "OHSUMED" and "DEMO" in lb.datasets("nowhere")
len(bench) == 3 and bench[-1] is bench.folds[2] and [fold.number for fold in bench] == [1, 2, 3]
[len(test) for train, valid, test in bench] == [10, 10, 10]
train.docids[0].startswith(b"d") and train.shape == X.shape == (40, 2)
[each is own for each, own in zip(train, (train.X, train.y, train.qid))] == [True] * 3
list(train.to_frame()) == ["qid", "docid", "label", "bm25", "links"]
all(train.to_frame().label == df.label[train.rows])
list(train.rows) == [*train.to_frame().index]
lb.from_frame(train.to_frame(), folds=3)[0].train.n_features == 2
"<td>d" in train._repr_html_() and "40 documents" in train._repr_html_()
bench.folds[0].train.queries(0, 0)._repr_html_().count("<td>") == 0
bench._repr_html_().count("<td>40</td>") == 9 and "&#x27;frame&#x27;" in bench._repr_html_()
"<td>1000</td>" in lb.LambdaMART(n_estimators=1000)._repr_html_()
lb.LambdaMART(n_estimators=9, lr=0.5).get_params()["rounds"] == 9
lb.MART().set_params(n_estimators=7).rounds == 7
linear.coef_.shape == (2,) and np.allclose(linear.predict(X), X @ linear.coef_ + linear.intercept_)
trees.feature_importances_.sum() == 1.0 and trees.feature_importances_.argmax() == 0
trees.best_iteration_ == 3 and not hasattr(linear, "best_iteration_") and linear.n_features_in_ == 2
not hasattr(linear, "feature_importances_") and not hasattr(trees, "coef_")
not hasattr(lb.MART(), "feature_importances_")
str(lb.nDCG(10)) == str(lb.ndcg @ 10) == str(lb.NDCG(10)) == "ndcg@10"
lb.compare(y, [X[:, 0], X[:, 1]], qid=qid)["algo"].tolist() == ["1"]
len(lb.compare(runs[0], measures="map")) == 1
len(lb.compare(runs[0]["regression"], runs[0]["random"])) == 1
lb.compare(*runs, baseline="random")["difference"].abs().max() > 0
lb.run(bench, "random", folds=2, out=out / "two").summary("all")["folds"].tolist() == [1]
lb.fit(bench, "regression", out=out / "0").predict(test).shape == (40,)
pickle.loads(pickle.dumps(lb.MART(n_estimators=3).fit(train))).predict(X).shape == (40,)
"""


@pytest.mark.parametrize("line", TRUE.strip().splitlines())
def test_a_line_works(line, names):
    assert eval(line, dict(names))  # noqa: S307


#: lines that fail, and what their one line says
FAILS = {
    "lb.LambdaMART(n_estimator=3)": "the parameter 'n_estimator', expected one of",
    "lb.LambdaMART(rounds=3, n_estimators=3)": "found rounds twice",
    "lb.LightGBM(categories=['brand'])": "found categories=['brand'], expected none or text",
    "lb.compare(X[:, 0], X[:, 1], qid=qid)": "expected {name: scores} behind the labels",
    "lb.MART().fit(train, eval_set=[valid, (X[:, :1], y, qid)])": "sets of 1 and of 2 features",
    "lb.MART().fit(train, eval_set=pairs, eval_qid=[qid])": "eval_qid: found 1, expected 2",
    "lb.MART().best_iteration_": "call fit first",
    "lb.run(bench, 'random', folds=1.5)": "folds: found 1.5, expected a number or numbers",
}  # fmt: skip


@pytest.mark.parametrize("line", FAILS)
def test_a_line_that_fails_says_why(line, names):
    with pytest.raises(LetorError) as error:
        eval(line, dict(names))  # noqa: S307
    assert FAILS[line] in str(error.value)


def test_the_first_of_several_evaluation_sets_chooses_and_all_are_measured(names):
    """Never the training set; in tuples, query sets, and with the queries of each apart."""
    train, valid, pairs = names["train"], names["valid"], names["pairs"]
    make = lb.MART(rounds=9, min_docs=2)
    alone = {
        name: lb.MART(rounds=9, min_docs=2).fit(train, eval_set=each).learned
        for name, each in (("valid_0", valid), ("training", train))
    }
    expected = {name: {"ndcg@10": list(each.curve)} for name, each in alone.items()}
    assert expected["valid_0"] != expected["training"]
    halves = {"eval_set": [each[:2] for each in pairs], "eval_qid": [each[2] for each in pairs]}
    for given in ({"eval_set": pairs}, {"eval_set": [valid, train]}, halves):
        made = make.fit(train, **given)
        assert made.evals_result_ == expected and made.best_iteration_ == alone["valid_0"].best
    turned = make.fit(train, eval_set=pairs[::-1]).evals_result_
    assert [*turned] == ["valid_1", "training"] and turned["valid_1"] == expected["valid_0"]
    groups = make.fit(train, eval_set=[pairs[0][:2]], eval_group=[valid.lengths])
    assert groups.evals_result_ == {"valid_0": expected["valid_0"]}
