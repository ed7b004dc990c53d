"""Comparisons of systems: pairs, corrections, slices, and the sentences that are made of them."""

from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest
from conftest import random_queries
from toy_data import row_of

from letorbench.analysis.comparison import (
    MOST_PAIRS,
    Procedure,
    against_the_best,
    compare,
    marks,
    on_common_folds,
    power_table,
    with_values,
)
from letorbench.analysis.conclusions import conclusions, page_tests
from letorbench.analysis.paired import randomization, seed_variances
from letorbench.analysis.ranks import overall
from letorbench.analysis.report import gains, shown_first
from letorbench.analysis.resplits import resplit_comparison
from letorbench.analysis.results_table import best_first, summary_table
from letorbench.analysis.slices import sliced
from letorbench.analysis.tables import render, to_frame
from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import Benchmark, Fold
from letorbench.errors import DataError, UsageError
from letorbench.results.dataset_results import DatasetResults
from letorbench.results.per_query import PerQuery


def system(algo: str, folds: tuple[int, ...]) -> PerQuery:
    """Ten queries a fold, with the same noise for every algorithm on the same queries."""
    numbers = np.repeat(folds, 10)
    qids = np.concatenate([10 * fold + np.arange(10) for fold in folds])
    noise = np.concatenate([np.random.default_rng(fold).random(10) for fold in folds])
    own = np.concatenate([np.random.default_rng([fold, len(algo)]).random(10) for fold in folds])
    return PerQuery(algo, numbers, qids, {"map": noise + 0.1 * own})


WHOLE, OTHER, PART = system("a", (1, 2, 3)), system("bb", (1, 2, 3)), system("ccc", (1, 3))


def test_the_power_is_what_draws_of_the_queries_show(rng):
    """2,000 draws of 50 and more queries from a population whose mean difference is known."""
    base, d = rng.random(200), rng.normal(0.0, 0.1, 200)
    d += 0.01 - d.mean()
    systems = [PerQuery(n, np.ones(200, int), np.arange(200).astype(str), {"map": v})
               for n, v in (("a", base + d), ("b", base))]  # fmt: skip
    (row,) = to_frame(power_table(compare("SET", systems, "map"), "letor3")).to_dict("records")
    for n in (50, 300, row["needed"]):
        drawn = rng.choice(d, (2_000, n))
        t = drawn.mean(axis=1) / (drawn.std(axis=1, ddof=1) / np.sqrt(n))
        assert (t > 1.96).mean() == pytest.approx(row.get(str(n), 0.8), abs=0.04)


def test_the_p_of_a_pair_depends_on_no_other_system_and_on_no_name(rng):
    """Also of one with a fold less, with gaps, with seeds, and of ones that are almost equal."""
    first, query = WHOLE.values["map"], np.arange(30)
    others = {
        "same": first,
        "near": first + 1e-9 * rng.random(30) * (query < 5),
        "gaps": np.where(query % 7, rng.random(30), np.nan),
        "seeds": first + 0.1 * rng.normal(size=(3, 30)),
        "steps": np.round(first, 1),
    }
    systems = [WHOLE, OTHER, PART]
    systems += [replace(WHOLE, algo=name, tables={"map": v}) for name, v in others.items()]
    by_name = {each.algo: each for each in systems}
    pairs = compare("SET", systems, "map")
    assert len(pairs) == 28 and sum(pair.p > 0.999 for pair in pairs) == 1
    for pair in pairs:
        one, other = with_values(*on_common_folds("", by_name[pair.a], by_name[pair.b]), "map")
        seeds = seed_variances(one.tables["map"], other.tables["map"], one.folds)
        values, draws = (one.values["map"], other.values["map"]), np.random.default_rng(0)
        assert pair.p == randomization(*values, draws, seeds), (pair.a, pair.b)
        apart = [abs(each.mean("map") - each.values["map"].mean()) for each in (one, other)]
        assert pair.from_folds == max(apart)


def test_over_draws_a_pair_of_two_baselines_is_one_test_by_holm_instead_of_tukey(rng):
    def frame() -> DatasetResults:
        systems = (PerQuery(n, np.arange(1, 6), np.arange(5), {"map": rng.random(5)}) for n in "ab")
        return DatasetResults("SET", tuple(map(row_of, systems)))

    draws, both = {k: frame() for k in (1, 2, 3)}, [("a", "b"), ("b", "a")]
    table = resplit_comparison(frame(), draws, both, "map", Procedure(correction="tukey"))
    found = to_frame(table)
    assert found["p_adjusted"].tolist() == found["p"].tolist() and 0.0 < found["p"].max() < 1.0
    assert "Holm's correction" in table.caption
    with pytest.raises(UsageError, match="tukey: found test=t, expected randomization"):
        Procedure("t", "tukey")


def test_a_draw_may_have_a_fold_in_which_no_query_counts():
    def frame(folds: tuple[int, ...]) -> DatasetResults:
        return DatasetResults("SET", tuple(row_of(system(algo, folds)) for algo in ("a", "bb")))

    draws = {1: frame((1, 2, 3, 4, 5)), 2: frame((1, 3, 4, 5))}
    table = resplit_comparison(draws[1], draws, [("a", "bb")], "map", Procedure())
    assert "corrected resampled t-test over 9 folds" in table.caption


def test_the_best_of_many_has_the_best_mean_over_all_slices_and_folds(rng):
    """It is not the best of the first slice, nor of the folds that a partial one has."""
    folds, qids = np.repeat([1, 2], 20), np.arange(40).astype(str)
    easy = np.where(folds == 1, 0.5, 0.0) + 0.1 * rng.random(40)
    values = {f"a{k:02}": np.where(qids.astype(int) % 4, easy + 0.01 * k, 0.0) for k in range(12)}
    systems = [PerQuery(name, folds, qids, {"map": of}) for name, of in values.items()]
    for some in (systems, [systems[0], systems[1].only(np.array([1])), *systems[2:]]):
        for by in (None, sliced("difficulty", some, "map", Mock())):
            pairs = compare("SET", some, "map", procedure=Procedure("t"), slices=by)
            shown = against_the_best(pairs)
            assert {"a11"} == set.intersection(*({pair.a, pair.b} for pair in shown))
            assert len(shown) <= MOST_PAIRS < len(pairs)
            assert {shown[0].a, shown[0].b} == {"a10", "a11"}


def test_ideal_takes_no_part_whatever_its_options_and_name(rng):
    qids, folds = np.arange(30).astype(str), np.repeat([1, 2, 3, 4, 5], 6)
    rows = tuple(
        row_of(PerQuery(algo, folds, qids, {"map": rng.random(30)}))
        for algo in ("a", "b", "ideal", "ideal[features=zscore]")
    )
    frame = DatasetResults("SET", rows)
    across = overall([frame, replace(frame, dataset="OTHER")], "map")
    assert across.ranked == across.algos == ("a", "b")
    part = row_of(rows[0].queries.only(np.array([1, 2])))  # of other queries
    across = overall([frame, replace(frame, rows=(part, rows[1]))], "map")
    assert across.ranked == ("b",) and np.isnan(across.values).tolist() == [[0, 0], [1, 0]]
    systems = [row.queries for row in rows]
    systems.append(replace(systems[2], algo="top"))
    assert [(pair.a, pair.b) for pair in compare("SET", systems, "map")] == [("a", "b")]
    found = [sliced("difficulty", each, "map", Mock()) for each in (systems, systems[:2])]
    assert all(found[0][name].equals(found[1][name]) for name in {**found[0], **found[1]})


def test_an_error_is_best_where_it_is_lowest(rng):
    noise, qids = rng.random(30) / 100, np.arange(30).astype(str)

    def row(algo: str, values: np.ndarray):
        return row_of(PerQuery(algo, np.repeat([1, 2, 3, 4, 5], 6), qids, {"rmse": values}))

    values = {"high": 0.9 + noise, "low": 0.1 + noise[::-1], "middle": 0.5 - noise}
    rows, procedure = tuple(row(algo, own) for algo, own in values.items()), Procedure()
    frame = DatasetResults("SET", rows)
    assert [row.algo for row in best_first(rows, "rmse")] == ["low", "middle", "high"]
    found = marks(frame, ["rmse"], "middle", procedure)
    assert found.signs == {("high", "rmse"): -1, ("low", "rmse"): 1}
    lines = render(summary_table(frame, ["rmse"], found), "text").splitlines()
    shown = {line.split()[0]: line.split()[1] for line in lines[2:5]}
    assert shown["low"].endswith("*+") and shown["high"].endswith("-")
    pairs = compare("SET", [row.queries for row in rows], "rmse", "middle", procedure)
    assert {pair.a: pair.counts for pair in pairs} == {"high": (0, 0, 30), "low": (30, 0, 0)}
    across = overall([frame, replace(frame, dataset="OTHER")], "rmse")
    assert dict(zip(across.ranked, across.ranks)) == {"high": 3.0, "low": 1.0, "middle": 2.0}
    pairs = page_tests(frame, ["high"], procedure, "rmse")
    [first, *_, last] = conclusions(frame, pairs, "high", procedure, "rmse")
    assert "low is the best of 3" in first and "low is significantly better than all" in last
    many = DatasetResults("SET", tuple(row(f"of {k:02}", k + noise) for k in range(20)))
    shown = shown_first(many, "of 19", "rmse")  # the best ones and the baseline
    assert shown[:2] == ["of 00", "of 01"] and shown[-1] == "of 19"
    titles = [title for title, _ in gains(frame, "middle", "rmse").values()]
    assert ["better on 0 queries, worse on 30" in title for title in titles] == [True, False]


def test_segments_of_a_file(tmp_path):
    def no_data():
        raise DataError("SET: no such data set")

    base = system("base", tuple(range(1, 6)))
    base, path = replace(base, qids=base.qids.astype(str)), tmp_path / "own.csv"
    qids = base.qids.tolist()
    lines = [f"{qid},{'nav' if int(qid) % 3 else 'info'},{int(qid) % 20}" for qid in qids[:-2]]
    path.write_text("\n".join(["query,intent,length", *lines, "other,nav,3"]))
    found = sliced(path, [base], "map", no_data)
    assert {name: own.get_level_values(1).tolist() for name, own in found.items()} == {
        "intent info": [qid for qid in qids[:-2] if int(qid) % 3 == 0],
        "intent nav": [qid for qid in qids[:-2] if int(qid) % 3],
        "(no segment)": qids[-2:],
    }
    found = sliced(f"{path}:length", [base], "map", no_data)
    names = [f"length {ends}" for ends in ("0-5", "6-11", "12-15", "16-19")]
    assert [*found] == [*names, "(no segment)"] and sum(map(len, found.values())) == len(qids)
    lines = [f"{qid},{number / 1e6}" for number, qid in enumerate(qids)]  # of many decimals
    path.write_text("\n".join(["query,clicks", *lines]))
    found = sliced(path, [base], "map", no_data)
    assert list(map(len, found.values())) == [13, 12, 13, 12]
    blank = replace(base, tables={"map": np.full(len(qids), np.nan)})
    with pytest.raises(DataError, match="found no query with a value of map"):
        sliced("difficulty", [blank], "map", no_data)
    named = replace(random_queries(np.random.default_rng(0), [1] * 50), qids=base.qids,
                    query_names=np.array([f"red {qid}" for qid in qids]))  # fmt: skip
    data = Benchmark("SET", (Fold(1, named, named, named),), CONVENTIONS["standard"], {})
    path.write_text("\n".join(["q,s", qids[0] + ",a", *(f"red  {qid} ,b" for qid in qids[:9])]))
    found = sliced(path, [base], "map", lambda: data)
    assert [len(found[name]) for name in ("s a", "s b", "(no segment)")] == [1, 8, 41]
    path.write_text("\n".join([f"red {qids[0]},a,1", f"red {qids[1]},a,2"]))
    assert [*sliced(path, [base], "map", lambda: data)] == ["segment a", "(no segment)"]
    for text in ("10,a\n11,b\n12,a", "10 , a\n11,b\n12,a ", "10\t.5\n11\t.7\n12\t.5",
                 "q;s\n10;a\n11;b\n12;a", "10,1,a\n11,2,b\n12,1,a"):  # fmt: skip
        path.write_text(text)
        assert [len(own) for own in sliced(path, [base], "map", no_data).values()] == [2, 1, 47]
    for text, words in (("q,s\n1,a\n1,b", ":3: found query 1 again"), ("q\n1", "found one column"),
                       ("10,a\n10,a", ":2: found query 10 again"), ("q,s\n", "found only headings"),
                       ("q,s\n1,a,\n2,b,", "found more cells in a line than headings"),
                       ("q,s\nzz,a", "found none of the compared queries")):  # fmt: skip
        path.write_text(text)
        with pytest.raises(DataError, match=words):
            sliced(path, [base], "map", no_data)
