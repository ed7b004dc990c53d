"""Pairs of algorithms: what is compared, on which queries, and what seeds leave open."""

from dataclasses import replace

import numpy as np
import pytest
from conftest import random_queries
from toy_data import row_of

from letorbench.analysis.comparison import (
    Procedure,
    compare,
    comparison_table,
    marks,
    on_common_folds,
    power_table,
    query_tables,
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
from letorbench.datasets.queryset import Benchmark, Fold, QuerySet
from letorbench.errors import DataError, UsageError
from letorbench.results.dataset_results import DatasetResults, SystemResults
from letorbench.results.per_query import PerQuery


def system(algo: str, folds: tuple[int, ...]) -> PerQuery:
    """Ten queries a fold, with the same noise for every algorithm on the same queries."""
    numbers = np.repeat(folds, 10)
    qids = np.concatenate([10 * fold + np.arange(10) for fold in folds])
    noise = np.concatenate([np.random.default_rng(fold).random(10) for fold in folds])
    own = np.concatenate([np.random.default_rng([fold, len(algo)]).random(10) for fold in folds])
    return PerQuery(algo, numbers, qids, {"map": noise + 0.1 * own})


def test_the_power_is_what_draws_of_the_queries_show(rng):
    """4,000 draws of 20 to 400 queries from a population whose mean difference is known."""
    base, d = rng.random(200), rng.normal(0.0, 0.1, 200)
    d += 0.01 - d.mean()
    systems = [PerQuery(n, np.ones(200, int), np.arange(200).astype(str), {"map": v})
               for n, v in (("a", base + d), ("b", base))]  # fmt: skip
    (row,) = to_frame(power_table(compare("SET", systems, "map"), "letor3")).to_dict("records")
    for n in (50, 100, 300, row["needed"]):
        drawn = rng.choice(d, (4_000, n))
        t = drawn.mean(axis=1) / (drawn.std(axis=1, ddof=1) / np.sqrt(n))
        assert (t > 1.96).mean() == pytest.approx(row.get(str(n), 0.8), abs=0.03)


def test_a_partial_algorithm_is_compared_on_the_folds_that_both_have():
    whole, other, part = system("a", (1, 2, 3)), system("bb", (1, 2, 3)), system("ccc", (1, 3))
    pairs = compare("SET", [whole, other, part], "map")
    assert [(pair.a, pair.b, pair.folds) for pair in pairs] == [
        ("a", "bb", ()), ("a", "ccc", (1, 3)), ("bb", "ccc", (1, 3)),
    ]  # fmt: skip
    shared = [each.values["map"] for each in on_common_folds("SET", whole, part)]
    assert [each.mean() for each in pairs[1].values] == [values.mean() for values in shared]
    assert pairs[1].difference.n_values == 20 and pairs[0].difference.n_values == 30
    text = render(comparison_table(pairs), "text")
    assert "a, ccc: compared on the folds that both have, 1,3 (20 queries)" in text
    assert "convention" not in to_frame(comparison_table(pairs))
    # draws depend neither on the partial algorithm nor on what rows and data sets are called
    renamed = [replace(each, algo=f"{each.algo}[rounds=20]") for each in (whole, other)]
    assert pairs[0].p == compare("SET", [whole, other], "map")[0].p
    assert pairs[0].p == compare("OTHER", renamed, "map")[0].p
    for systems, baseline, told in (
        ([system("a", (1,)), system("bb", (2, 3))], None,
         "SET: found folds 1 of a and 2,3 of bb, expected one in common: run the missing folds"),
        ([system(name, (1,)) for name in "abcd"], "ideal",
         "SET: no results of the baseline 'ideal'; expected one of a, b, c, d"),
        ([whole, system("ideal[select=map]", (1,))], None,
         "SET: found a, expected two algorithms or more to compare"),
    ):  # fmt: skip
        with pytest.raises((DataError, UsageError)) as error:
            compare("SET", systems, "map", baseline)
        assert str(error.value) == told


def test_the_p_of_a_pair_depends_on_no_other_system(rng):
    """Also of one with a fold less, with gaps, with seeds, and of ones that are almost equal."""
    systems = [system("a", (1, 2, 3)), system("bb", (1, 2, 3)), system("ccc", (1, 3))]
    first, query = systems[0].values["map"], np.arange(30)
    others = {
        "same": first,
        "near": first + 1e-9 * rng.random(30) * (query < 5),
        "gaps": np.where(query % 7, rng.random(30), np.nan),
        "seeds": first + 0.1 * rng.normal(size=(3, 30)),
        "steps": np.round(first, 1),
    }
    systems += [replace(systems[0], algo=n, tables={"map": v}) for n, v in others.items()]
    by_name = {each.algo: each for each in systems}
    pairs = compare("SET", systems, "map")
    assert len(pairs) == 28 and sum(pair.p > 0.999 for pair in pairs) == 1
    for pair in pairs:
        both = on_common_folds("SET", by_name[pair.a], by_name[pair.b])
        one, other = with_values(*both, "map")
        seeds = seed_variances(one.tables["map"], other.tables["map"], one.folds)
        values, draws = (one.values["map"], other.values["map"]), np.random.default_rng(0)
        assert pair.p == randomization(*values, draws, seeds), (pair.a, pair.b)
        apart = [abs(each.mean("map") - each.values["map"].mean()) for each in (one, other)]
        assert pair.from_folds == max(apart)


@pytest.mark.parametrize(
    ("correction", "signs"),
    [("none", [-1, 0, 1]), ("bh", [0, 0, 1]), ("holm", [0, 0, 1]), ("bonferroni", [0, 0, 1])],
)
def test_signs_and_stars_go_by_the_corrected_p(correction, signs):
    """Alone, two of three differences are significant; corrected, one of them is."""
    queries = np.arange(40)
    base = PerQuery("base", queries // 8, queries, {"map": np.full(40, 0.5)})
    spread = np.resize([1.0, -1.0], 40)

    def shifted(algo: str, shift: float) -> PerQuery:
        return PerQuery(algo, base.folds, queries, {"map": 0.5 + 0.1 * (shift + spread)})

    systems = [shifted("bad", -0.335), shifted("like", 0.05), shifted("good", 0.8), base]
    procedure = Procedure(test="t", correction=correction)
    pairs = compare("SET", systems, "map", "base", procedure)
    raw = [pair.p for pair in pairs]
    assert raw[2] < 0.001 < 0.034 < raw[0] < 0.05 < raw[1]
    assert [pair.sign(procedure.alpha) for pair in pairs] == signs
    results = DatasetResults("SET", tuple(map(row_of, systems)))
    found = marks(results, ["map"], "base", procedure).signs
    assert [found[name, "map"] for name in ("bad", "like", "good")] == signs
    lines = render(comparison_table(pairs, procedure), "text").splitlines()
    starred = [next("*" in x for x in lines if x.startswith(n)) for n in ("bad", "like", "good")]
    assert starred == [sign != 0 for sign in signs]


def test_tukey_counts_all_pairs_also_where_baselines_choose_some():
    """Of a partial algorithm the folds that all have; a pair of baselines is one test."""
    systems = [system("a", (1, 2, 3)), system("bb", (1, 2, 3)), system("ccc", (1, 3))]
    procedure = Procedure(correction="tukey")
    every = compare("SET", systems, "map", None, procedure)
    some = compare("SET", systems, "map", ["a", "bb"], procedure)
    assert [(pair.a, pair.b) for pair in some] == [
        ("bb", "a"), ("ccc", "a"), ("a", "bb"), ("ccc", "bb")
    ]  # fmt: skip
    p = {frozenset((pair.a, pair.b)): pair.adjusted for pair in every}
    assert [pair.adjusted for pair in some] == [p[frozenset((x.a, x.b))] for x in some]
    one = compare("SET", systems, "map", "a", procedure)
    assert [pair.adjusted for pair in one] == [p[frozenset(("a", x))] for x in ("bb", "ccc")]
    assert {pair.tests for pair in (*every, *some, *one)} == {3}
    caption = comparison_table(some, procedure).caption
    assert "Tukey's HSD by randomisation for 3 comparisons" in caption
    alone = [each.only(np.array([1, 3])) for each in systems]
    assert [x.adjusted for x in compare("SET", alone, "map", None, procedure)] == [*p.values()]
    with pytest.raises(UsageError, match="tukey: found test=t, expected randomization"):
        Procedure("t", "tukey")


def test_over_draws_a_pair_of_two_baselines_is_one_test_by_holm_instead_of_tukey(rng):
    def frame() -> DatasetResults:
        values = {"a": rng.random(5) + 0.9, "b": rng.random(5)}
        systems = (
            PerQuery(n, np.arange(1, 6), np.arange(5), {"map": v}) for n, v in values.items()
        )
        return DatasetResults("SET", tuple(map(row_of, systems)))

    draws, pairs = {k: frame() for k in (1, 2, 3)}, [("a", "b"), ("b", "a")]
    table = resplit_comparison(frame(), draws, pairs, "map", Procedure(correction="tukey"))
    found = to_frame(table)
    assert found["p_adjusted"].tolist() == found["p"].tolist() and 0.0 < found["p"].max() < 0.5
    assert "Holm's correction" in table.caption


def test_queries_that_differ_most_are_listed_by_name():
    """A measure where less is better: the largest gain is the largest fall."""
    a = PerQuery("a", np.ones(5, int), np.array(list("pqrst")), {"rmse": [0.1, 0.5, 0.9, 0.3, 0.3]})
    b = PerQuery("b", np.ones(5, int), a.qids, {"rmse": [0.4, 0.1, 0.8, 0.3, 0.5]})
    for n, expected in ((1, "pq"), (2, "ptrq"), (9, "ptrq")):
        [found] = query_tables("SET", [a, b], "rmse", None, n, {"t": "what is a query?"})
        rows = to_frame(found)
        assert "".join(rows["qid"]) == expected
        assert rows["difference"].tolist() == pytest.approx(
            [{"p": 0.3, "t": 0.2, "r": -0.1, "q": -0.4}[qid] for qid in expected]
        )
    assert rows.set_index("qid")["query"]["t"] == "what is a query?"


def test_an_error_is_best_where_it_is_lowest(rng):
    """In tables, marks, pairs, ranks over data sets, sentences and charts."""
    noise, qids = rng.random(30) / 100, np.arange(30).astype(str)

    def row(algo: str, values: np.ndarray) -> SystemResults:
        return row_of(PerQuery(algo, np.repeat([1, 2, 3, 4, 5], 6), qids, {"rmse": values}))

    values = {"high": 0.9 + noise, "low": 0.1 + noise[::-1], "middle": 0.5 - noise}
    rows = tuple(row(algo, own) for algo, own in values.items())
    frame, procedure = DatasetResults("SET", rows), Procedure()
    assert [row.algo for row in best_first(rows, "rmse")] == ["low", "middle", "high"]
    found = marks(frame, ["rmse"], "middle", procedure)
    assert found.signs == {("high", "rmse"): -1, ("low", "rmse"): 1}
    lines = render(summary_table(frame, ["rmse"], found), "text").splitlines()
    shown = {line.split()[0]: line.split()[1] for line in lines[2:5]}
    assert shown["low"].endswith("*+") and shown["high"].endswith("-")
    systems = [row.queries for row in rows]
    [worse, better] = compare("SET", systems, "rmse", "middle", procedure)
    assert (worse.a, worse.counts) == ("high", (0, 0, 30))
    assert (better.a, better.counts) == ("low", (30, 0, 0))
    across = overall([frame, replace(frame, dataset="OTHER")], "rmse")
    assert dict(zip(across.ranked, across.ranks)) == {"high": 3.0, "low": 1.0, "middle": 2.0}
    pairs = page_tests(frame, ["high"], procedure, "rmse")
    [first, *_, last] = conclusions(frame, pairs, "high", procedure, "rmse")
    assert "low is the best of 3" in first and "low is significantly better than all" in last
    many = DatasetResults("SET", tuple(row(f"of {k:02}", k + noise) for k in range(20)))
    shown = shown_first(many, "of 19", "rmse")  # the best ones and the baseline
    assert shown[:2] == ["of 00", "of 01"] and shown[-1] == "of 19"
    assert [title for title, _ in gains(frame, "middle", "rmse").values()] == [
        "high: better on 0 queries, worse on 30 of 30",
        "low: better on 30 queries, worse on 0 of 30",
    ]


def test_segments_of_a_file(tmp_path):
    """Every query is in one slice: a name, a quarter of many numbers, or those without one."""

    def no_data():
        raise DataError("SET: no such data set")

    base = system("base", tuple(range(1, 6)))
    base = replace(base, qids=base.qids.astype(str))
    qids = base.qids.tolist()
    path = tmp_path / "own.csv"
    lines = [f"{qid},{'nav' if int(qid) % 3 else 'info'},{int(qid) % 20}" for qid in qids[:-2]]
    path.write_text("\n".join(["query,intent,length", *lines, "other,nav,3"]))
    found = sliced(path, [base], "map", no_data)
    assert {name: own.get_level_values(1).tolist() for name, own in found.items()} == {
        "intent info": [qid for qid in qids[:-2] if int(qid) % 3 == 0],
        "intent nav": [qid for qid in qids[:-2] if int(qid) % 3],
        "(no segment)": qids[-2:],
    }
    by_length = sliced(f"{path}:length", [base], "map", no_data)
    assert [*by_length] == ["length 0-5", "length 6-11", "length 12-15", "length 16-19",
                            "(no segment)"]  # fmt: skip
    assert sum(map(len, by_length.values())) == len(qids)
    named = replace(random_queries(np.random.default_rng(0), [1] * 50), qids=base.qids,
                    query_names=np.array([f"red {qid}" for qid in qids]))  # fmt: skip
    data = Benchmark("SET", (Fold(1, named, named, named),), CONVENTIONS["standard"], {})
    path.write_text("\n".join(["q,s", qids[0] + ",a", *(f"red  {qid} ,b" for qid in qids[:9])]))
    found = sliced(path, [base], "map", lambda: data)
    assert [len(found[name]) for name in ("s a", "s b", "(no segment)")] == [1, 8, 41]
    for text in ("10,a\n11,b\n12,a", "10\t.5\n11\t.7\n12\t.5", "q;s\n10;a\n11;b\n12;a"):
        path.write_text(text)
        assert [len(own) for own in sliced(path, [base], "map", no_data).values()] == [2, 1, 47]
    for text, said in (("q,s\n1,a\n1,b", ":3: found query 1 again"), ("q\n1", "found one column"),
                       ("1,a\n1,a", ":2: found query 1 again"), ("q,s\n", "found only headings"),
                       ("q,s\nzz,a", "found none of the compared queries")):  # fmt: skip
        path.write_text(text)
        with pytest.raises(DataError, match=said):
            sliced(path, [base], "map", no_data)


def test_slices_by_documents_count_the_judged_ones():
    """Of nine documents, 1 .. 8 are judged; of these, all but the first are relevant."""
    labels = [[0] + [1] * q + [-1] * (8 - q) for q in range(8)]
    test = QuerySet.from_arrays(np.zeros((72, 1)), np.ravel(labels), group=[9] * 8)
    fold, base = Fold(1, test, test, test), PerQuery("a", np.ones(8, int), test.qids, {})
    data = Benchmark("SET", (fold,), CONVENTIONS["letor3"], {})
    for by, names in (
        ("length", ["1-2 documents", "3-4 documents", "5-6 documents", "7-8 documents"]),
        ("relevant", ["0-1 relevant", "2-3 relevant", "4-5 relevant", "6-7 relevant"]),
    ):
        found = sliced(by, [base], "map", lambda: data)
        assert list(found) == names
        assert [qid for own in found.values() for _, qid in own] == test.qids.tolist()


def test_slices_by_difficulty_find_no_difference_where_there_is_none(rng):
    """Two algorithms of equal quality, each with noise of its own, and `ideal` beside them."""
    n = 4_000
    base, folds, qids = rng.random(n), np.ones(n, int), np.arange(n).astype(str)
    values = {algo: base + rng.normal(0.0, 0.3, n) for algo in ("a", "b")}
    values["ideal"] = values["a"]
    systems = [PerQuery(algo, folds, qids, {"map": own}) for algo, own in values.items()]
    slices = sliced("difficulty", systems, "map", None)
    pairs = compare("X", systems, "map", "b", Procedure("t"), slices)[:4]
    assert [pair.difference.n_values for pair in pairs] == [1_000] * 4
    for pair in pairs:
        low, high = pair.difference.interval()  # four standard errors wide
        assert abs(pair.difference.mean) < high - low
    means = [sum(own.mean() for own in pair.tables) for pair in pairs]
    assert means == sorted(means)
