"""Reference points in results: what is stored, shown, compared, and never ranked."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner
from letorbench.analysis.across_datasets import overall
from toy_data import write_toy

import letorbench as lb
from letorbench.analysis.results_table import summary_table
from letorbench.cli import cli
from letorbench.errors import UsageError
from letorbench.measures import default_measures, query_metrics

ALGOS = "random,best-feature,ideal,regression"


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    folder = tmp_path_factory.mktemp("references")
    write_toy(folder / "data")
    names = ALGOS.split(",")
    run = lb.run("TOY", names, data_dir=folder / "data", out=folder / "out")
    return run, folder


def test_random_is_the_mean_of_many_orders(found):
    results, folder = found
    frame = results.per_query().query("algo == 'random'")
    bench = lb.load("TOY", data_dir=folder / "data")
    rng = np.random.default_rng(0)
    measures = default_measures(bench.convention)
    for fold in bench.folds:
        test = fold.test
        drawn = [
            query_metrics(
                test.labels, rng.random(test.n_docs), test.offsets, measures, bench.convention
            )
            for _ in range(500)
        ]
        stored = frame[frame["fold"] == fold.number][[str(each) for each in measures]]
        spread = np.std(drawn, axis=0) / 500**0.5
        assert (np.abs(stored - np.mean(drawn, axis=0)) < 5.0 * spread + 1e-9).all(axis=None)


def test_a_measure_that_is_not_stored_is_a_mean_too(found):
    results, _ = found
    frame = results.summary("err@3,ndcg@10").set_index("algo")
    assert 0.0 < frame.loc["random", "err@3"] < frame.loc["ideal", "err@3"]
    assert frame.loc["ideal", "ndcg@10"] == frame["ndcg@10"].max()


def test_ideal_is_neither_ranked_nor_marked_nor_compared(found):
    results, _ = found
    (summary,) = results.summaries
    table = summary_table(summary, ["ndcg@10"])
    places = {row[0].value: row[1].place for row in table.rows}
    assert places["ideal"] == 0 and sorted(places.values()) == [0, 0, 1, 2]
    assert any("not ranked" in note for note in table.notes)
    assert any("exact mean" in note for note in table.notes)
    assert "ideal" not in overall([summary, summary], "ndcg@10").algos
    pairs = results.compare()
    assert "ideal" not in {*pairs["algo"], *pairs["against"]} and len(pairs) == 3
    assert set(results.compare("ideal")["against"]) == {"ideal"}
    assert results._repr_html_().count("<b>") >= 5
    page = results.report(results.out / "report.html").read_text()
    assert "ideal is the best" not in page
    assert "Shares of the way from random to ideal" in page


def test_relative_is_the_share_of_the_way(found):
    results, folder = found
    plain = results.summary("ndcg@5,map").set_index("algo")
    share = results.summary("ndcg@5,map", relative=True).set_index("algo")
    for name in ("ndcg@5", "map"):
        low, high = plain.loc["random", name], plain.loc["ideal", name]
        np.testing.assert_allclose(share[name], (plain[name] - low) / (high - low), atol=1e-12)
    assert share.loc["random", "map"] == pytest.approx(0.0, abs=1e-12)
    assert share.loc["ideal", "map"] == pytest.approx(1.0)


def test_relative_tables_say_so(found):
    results, folder = found
    options = ["--data-dir", str(folder / "data"), "--out", str(folder / "out"), "--relative"]
    text = CliRunner().invoke(cli, ["table", *options]).output
    assert "share of the way from random to ideal" in text and "1.0000" in text
    csv = CliRunner().invoke(cli, ["table", "--format", "csv", "--measure", "map", *options])
    assert "map-relative" in csv.output.splitlines()[0]
    refused = CliRunner().invoke(cli, ["table", "--published", *options])
    assert refused.exit_code == UsageError.exit_status and "--relative needs" in refused.output


def test_relative_needs_no_reference_to_be_run(found):
    results, _ = found
    alone = results.only(algos="regression").summary("map", relative=True)
    both = results.summary("map", relative=True).set_index("algo")
    assert alone["map"][0] == both.loc["regression", "map"]
