"""Measures of users: functions, values, plug-in files; and what is stored of them."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import forget_user_code, printed, random_queries, refused
from toy_data import content, write_toy

import letorbench as lb
from letorbench.conventions import CONVENTIONS, convention
from letorbench.errors import DataError, UsageError
from letorbench.measures import Measure, measure_of, query_metrics
from letorbench.results.scores import COLUMNS

PLUGIN = """
import math
import numpy as np

def top(y_true, y_score):
    best = [label for _, label in sorted(zip(-y_score, y_true), key=lambda pair: pair[0])]
    return math.nan if max(y_true) == 0 else best[0] / max(y_true)
"""


def top_two(y_true, y_score):
    """How many of the first two are relevant."""
    return (y_true[np.argsort(-y_score, kind="stable")[:2]] > 0).sum()


def place(y_true, y_score):
    """What tells the order of the rows."""
    return float(y_true @ (10.0 ** -np.arange(len(y_true))))


@pytest.mark.parametrize("rules", [name for name, r in CONVENTIONS.items() if r.ties != "mean"])
def test_a_function_sees_each_query_as_it_is(rng, rules):
    queries = random_queries(rng, [3, 1, 8, 20, 0], levels=4)
    scores = np.round(rng.normal(size=queries.n_docs), 1)
    seen = []

    def spy(y_true, y_score):
        seen.append((y_true.tolist(), y_score.tolist()))
        return len(y_true)

    named = convention(rules)
    values = query_metrics(queries.labels, scores, queries.offsets, [measure_of(spy)], named)
    bounds = list(zip(queries.offsets[:-2], queries.offsets[1:-1]))
    compared = scores if named.scores == "float64" else scores.astype(np.float32).astype(float)
    assert seen == [(queries.labels[a:b].tolist(), compared[a:b].tolist()) for a, b in bounds]
    kept = ~np.isnan(values[:-1, 0])
    assert (values[:-1, 0][kept] == np.diff(queries.offsets)[:-1][kept]).all()
    assert np.isnan(values[-1, 0]) and (kept.all() or named.empty == "drop")


def test_what_is_not_ranked_has_no_score_and_what_is_not_judged_is_left_out():
    labels, scores = np.array([0, 2, -1, 1]), np.array([0.5, -np.inf, 3.0, 0.7])
    seen = []

    def spy(y_true, y_score):
        seen.append((y_true.tolist(), y_score.tolist()))
        return 1

    for rules in ("standard", "standard,unjudged=0", "standard,depth=1"):
        query_metrics(labels, scores, np.array([0, 4]), [measure_of(spy)], convention(rules))
    none = -np.inf
    assert seen == [
        ([0, 2, 1], [0.5, none, 0.7]),
        ([0, 2, 0, 1], [0.5, none, 3.0, 0.7]),
        ([0, 2, 1], [none, none, 0.7]),
    ]


def test_evaluate_takes_functions_beside_names():
    y, scores, qid = [0, 1, 1, 0, 2, 0], [0.1, 0.9, 0.8, 0.2, 0.2, 0.3], [1, 1, 1, 2, 2, 2]

    def undefined(y_true, y_score):
        return np.nan if y_true.max() < 2 else 0.5

    table = lb.evaluate(y, scores, qid, [top_two, "p@1", undefined], per_query=True)
    assert table.columns.tolist() == ["top_two", "p@1", "undefined"]
    np.testing.assert_array_equal(table, [[2, 1, np.nan], [0, 0, 0.5]])
    assert lb.evaluate(y, scores, qid, undefined)["undefined"] == 0.5
    shuffled = [3, 0, 4, 1, 5, 2]
    again = lb.evaluate(
        np.take(y, shuffled), np.take(scores, shuffled), np.take(qid, shuffled), place
    )
    assert again["place"] == pytest.approx((0.11 + 0.20) / 2)  # the rows of each query in order


def odd(value):
    """A measure that returns the value."""

    def returns(y_true, y_score):
        return value

    return returns


def fails(y_true, y_score):
    return y_true[99]


def sorts(y_true, y_score):
    y_score.sort()


def ndcg(y_true, y_score):
    return 1.0


def alone(y_true):
    return 1.0


def three(y_true, y_score, k):
    return 1.0


@pytest.mark.parametrize("function, error, nouns", [
    (odd(np.inf), DataError, "returns: found inf, .* finite"),
    (odd(None), DataError, "returns: found None"), (odd("0.5"), DataError, "returns: found 0.5"),
    (odd(np.zeros(2)), DataError, r"returns: .* array of shape \(2,\)"),
    (fails, DataError, "measure fails: IndexError"), (sorts, DataError, "sorts: .* read-only"),
    (ndcg, UsageError, "a measure of letorbench is named 'ndcg'"),
    (alone, UsageError, r"alone: found a function of \(y_true\), .*\(y_true, y_sc"),
    (three, UsageError, r"three: found a function of \(y_true, y_score, k\)"),
    (lambda y_true, y_score: 1.0, UsageError, "as a measure.* a name"),
    (Measure("X", "map", lambda rankings, k: k, "none", ""), UsageError, "is named 'map'"),
])  # fmt: skip
def test_a_wrong_measure_is_one_line(function, error, nouns):
    with pytest.raises(error, match=nouns) as raised:
        lb.evaluate([0, 1], [0.3, 0.1], [1, 1], [function])
    assert "\n" not in str(raised.value)


def test_functions_of_one_name_are_told_apart():
    """A function may be defined again; two that one function made are not mixed."""
    halves, wholes = odd(0.5), odd(1.0)
    assert lb.evaluate([0, 1], [0.3, 0.1], [1, 1], [halves]).tolist() == [0.5]
    with pytest.raises(UsageError, match="two functions are named 'returns'"):
        lb.evaluate([0, 1], [0.3, 0.1], [1, 1], [halves, wholes])


@pytest.fixture
def plugin(tmp_path, monkeypatch, no_figures):
    """A plug-in file with a measure alone, beside data without results."""
    monkeypatch.chdir(tmp_path)
    write_toy(tmp_path / "data")
    (tmp_path / "mine.py").write_text(PLUGIN)
    return tmp_path / "mine.py"


RUN = ["run", "--dataset", "TOY", "--algo", "regression", "--plugin", "mine.py"]


def test_a_plugin_of_a_measure_alone_serves_every_command(plugin):
    printed(*RUN, "--folds", "1-2", "--out", "usual")
    printed(*RUN, "--folds", "1-2", "--measure", "top,ndcg@20")
    fold = lb.load("TOY").folds[1].test
    scores, folder = "results/TOY/regression/fold2/scores.txt", "TOY/regression/per_query.csv"
    lists = [slice(*ends) for ends in zip(fold.offsets, fold.offsets[1:])]
    first = [fold.labels[q][np.argmax(np.loadtxt(scores)[q])] for q in lists]
    largest = [fold.labels[q].max() for q in lists]
    expected = [a / b if b else np.nan for a, b in zip(first, largest)]
    usual, stored = (pd.read_csv(Path(out, folder)) for out in ("usual", "results"))
    np.testing.assert_array_equal(stored["top"][8:], expected)
    assert stored["map"].equals(usual["map"])
    # the trained models stay as they are
    before, after = content(Path("usual")), content(Path("results"))
    kept = [name for name in after if name.endswith(("scores.txt", "validation.txt", "model.npz"))]
    assert len(kept) == 6 and all(after[name] == before[name] for name in kept)
    # computed later from stored scores it is the same
    asked = ["--measure", "top", "--plugin", "mine.py"]
    later = ["table", *asked, "--format", "csv"]
    assert printed(*later) == printed(*later, "--out", "usual")
    test = ["--data", "data/TOY/Fold2/test.txt", "--scores", scores, "--format", "csv"]
    mean = float(printed("score", *test, *asked).splitlines()[1].split(",")[-1])
    assert mean == pytest.approx(np.nanmean(expected), abs=1e-4)


def test_no_measure_has_the_name_of_another_column(plugin):
    """A reader of the files would take one for the other."""
    results = lb.run("TOY", "listnet", measures="map", fixed=["epochs=1"], repeats=2)
    files = [pd.read_csv(path) for path in Path("results").rglob("*.csv")]
    frames = [*files, results.summary(), results.per_query()]
    named = {name for frame in frames for name in frame if not name.endswith("-sd")}
    assert named - {*results.frames[0].measures} <= COLUMNS
    plugin.write_text(PLUGIN.replace("top", "weight"))
    assert "'weight'" in refused(2, *RUN, "--measure", "map,weight")


def test_a_stored_column_without_its_plugin_breaks_nothing(plugin, monkeypatch):
    printed(*RUN, "--folds", "1-2", "--measure", "top")
    lb.run("TOY", "best-feature")
    forget_user_code(monkeypatch)
    table = printed("table", "--measure", "top,map")
    assert "regression (2 of 5 folds)" in table and "top" in table
    assert "best-feature: found no values of 'top'" in table and "no value of top" not in table
    for command in ("compare", "report"):
        printed(command)
    # folds without the column: all five count, and the column is shown no more
    printed(*RUN[:-2])
    frame = lb.load_results().summary().set_index("algo")
    assert frame.loc["regression", "folds"] == 5 and "top" not in frame
    assert "unknown measure 'top'" in refused(2, "table", "--measure", "top")
    # nothing is trained for it: the folds that lack it are measured
    before = content(Path("results"))
    monkeypatch.setattr("letorbench.experiment.job._fit_and_score", None)
    printed(*RUN, "--measure", "top")
    assert not lb.load_results().summary()["top"][[1]].isna().any()
    after = content(Path("results"))
    changed = {name.rpartition("/")[2] for name in after if after[name] != before[name]}
    assert changed <= {"per_query.csv", "folds.csv", "summary.csv", "fit.json"}


def test_a_measure_that_changed_is_measured_again(plugin, monkeypatch):
    for value, folds in ((0.25, [1, 2]), (0.75, None)):
        mine = odd(value)
        mine.__name__ = "mine"
        forget_user_code(monkeypatch)
        results = lb.run("TOY", "regression", measures=[mine], folds=folds)
        assert results.summary()["mine"].tolist() == [value]
    assert results.summary([mine])["mine"].tolist() == [0.75]


def test_validation_chooses_by_a_function(plugin):
    results = lb.run("TOY", "ranknet", select=top_two, fixed=["epochs=3"], repeats=1, folds=[1])
    [fit] = results.fits().to_dict("records")
    queries = results.scores("validation").groupby("qid", sort=False)
    values = [top_two(q["label"].to_numpy(), q.iloc[:, -1].to_numpy()) for _, q in queries]
    assert fit["select"] == "top_two" and len(values) == 8
    assert fit["validation"] == pytest.approx(np.mean(values))
