"""Repeats in tables, comparisons, ranks, figures and the report: spreads, and what is open."""

from __future__ import annotations

import re

import numpy as np
import pytest
from letorbench.analysis.across_datasets import overall, text
from letorbench.analysis.comparison_table import comparison_frame
from letorbench.analysis.comparison_table import render as render_comparison
from letorbench.analysis.published_comparison import render as render_published

from letorbench.analysis.comparison import Procedure, compare
from letorbench.analysis.critical_difference import SCALE, SEED_COLOUR
from letorbench.analysis.critical_difference import draw as draw_difference
from letorbench.analysis.figures import MOST_BANDS, draw, panel
from letorbench.analysis.published import lookup
from letorbench.analysis.report.conclusions import conclusions
from letorbench.analysis.report.gather import Algorithm, Results
from letorbench.analysis.results_table import remarks, render, summary_table
from letorbench.results.per_query import PerQuery
from letorbench.results.summary import Row, Summary

#: three near ones that draw, one sure of its first place in MAP, one that draws nothing
SEEDS = np.array([-0.004, 0.001, 0.003])


def drawn(algo, asked=3, **means):
    repeated = {m.replace("_", "@"): tuple((v + SEEDS).tolist()) for m, v in means.items()}
    values = {m: float(np.mean(v)) for m, v in repeated.items()}
    return Row(algo, "letor3", 5, values, 5, 0, repeated, asked)


SUMMARY = Summary(
    "OHSUMED",
    (
        drawn("a", ndcg_10=0.450, map=0.600),
        drawn("b", ndcg_10=0.452, map=0.400),
        Row("c", "letor3", 5, {"ndcg@10": 0.3, "map": 0.5}, 5),
    ),
)


def cells(measure):
    table = summary_table(SUMMARY, [measure])
    return {row[0].value: row[1] for row in table.rows}


def test_places_that_other_seeds_could_change_are_open():
    near, far = cells("ndcg@10"), cells("map")
    assert (near["b"].place, near["a"].place) == (1, 2)
    assert near["a"].open and near["b"].open and not near["c"].open
    assert (far["a"].place, far["c"].place) == (1, 2)
    assert not any(cell.open for cell in far.values())


def test_numbers_have_their_deviation():
    sd = f"±{np.std(SEEDS, ddof=1):.4f}".replace("±0.", "±.")
    assert cells("map")["a"].spread == sd and cells("map")["c"].spread == ""
    shown = render(SUMMARY, ["ndcg@10", "map"], "text")
    assert re.search(rf"^b +0\.4520\*~ {sd} +0\.4000  ?{sd}$", shown, re.MULTILINE)
    assert re.search(r"^c +0\.3000 +0\.5000$", shown, re.MULTILINE)
    assert "mean over 5 folds and 3 seeds" in shown and "± = standard deviation" in shown
    digits = {line.index("0.") for line in shown.splitlines()[2:]}
    assert len(digits) == 1
    assert rf"**0.4520**~ {sd}" in render(SUMMARY, ["ndcg@10"], "markdown")
    latex = render(SUMMARY, ["ndcg@10"], "latex")
    assert r"\textbf{0.4520}$^{\sim}$ {\scriptsize $\pm$" in latex and "±" not in latex
    header, first, *_, last = render(SUMMARY, ["map"], "csv").splitlines()
    assert header == "dataset,algo,convention,folds,repeats,cut_off,map,map-sd"
    assert first.split(",")[4] == "3" and last.endswith(",1,0,0.5,")
    assert float(first.split(",")[-1]) == pytest.approx(np.std(SEEDS, ddof=1))


def test_the_fewest_and_the_most_seeds_are_said():
    means = {n: tuple(np.linspace(0.4, 0.5, n).tolist()) for n in (3, 4, 5)}
    rows = tuple(
        Row(f"of {n}", "letor3", 5, {"map": 0.45}, 5, 0, {"map": each}, n)
        for n, each in means.items()
    )
    assert "mean over 5 folds and 3-5 seeds;" in render(Summary("S", rows), ["map"], "text")
    assert "mean over 5 folds and 3-4 seeds;" in render(Summary("S", rows[:2]), ["map"], "text")


def test_without_repeats_nothing_is_said_of_seeds():
    shown = render(SUMMARY.only(["c"]), ["map"], "text")
    assert "seed" not in shown and "±" not in shown and "~" not in shown


def test_a_single_seed_and_missing_repeats_are_said():
    one = Row("d", "letor3", 5, {"map": 0.4}, 5, 0, {"map": (0.4,)}, 1)
    shown = render(Summary("S", (one,)), ["map"], "text")
    assert "one seed: d; how far other seeds move them is not known (--repeats)" in shown
    unfinished = drawn("e", asked=5, map=0.4)
    assert remarks(Summary("S", (unfinished,))) == {"e": "3 of 5 repeats"}


def per_query(algo, level, sd, repeats, seed):
    rng = np.random.default_rng(seed)
    folds = np.repeat([1, 2, 3, 4, 5], 8)
    base = np.random.default_rng(0).random(40) * 0.2 + level
    table = base + rng.normal(0.0, sd, (repeats, 5))[:, folds - 1]
    values = {"ndcg@10": table.mean(axis=0)}
    repeated = {"ndcg@10": table} if repeats > 1 else {}
    return PerQuery(algo, folds, np.arange(40), values, repeated)


SYSTEMS = [
    per_query("near", 0.41, 0.05, 4, 1), per_query("far", 0.8, 0.05, 4, 2),
    per_query("one", 0.4, 0.0, 1, 3),
]  # fmt: skip


def test_a_comparison_counts_seeds_and_marks_open_orders():
    pairs = compare("S", SYSTEMS, "ndcg@10", "one")
    near, far = (pair.seeds for pair in pairs)
    assert near.open and near.repeats == (4, 1) and near.deviations[1] is None
    assert not far.open and far.turned == 0.0
    shown = render_comparison(pairs, "letor3", Procedure(), "text")
    assert re.search(r"^near .*~ .* \.\d\d$", shown, re.MULTILINE)
    assert "queries of all folds and the seeds" in shown and "turned = share" in shown
    frame = comparison_frame(pairs)
    assert frame["repeats"].tolist() == [4, 4] and frame["open"].tolist() == [1, 0]
    wilcoxon = Procedure("wilcoxon")
    tested = compare("S", SYSTEMS, "ndcg@10", "one", wilcoxon)
    assert "counts queries alone" in render_comparison(tested, "letor3", wilcoxon, "text")


def test_a_comparison_without_repeats_is_as_before():
    alone = [SYSTEMS[2], per_query("two", 0.5, 0.0, 1, 4)]
    shown = render_comparison(compare("S", alone, "ndcg@10"), "letor3", Procedure(), "text")
    assert "seed" not in shown and "turned" not in shown


def test_ranks_that_other_seeds_could_change():
    found = overall([SUMMARY, SUMMARY], "ndcg@10")
    assert found.open == ("a", "b")
    shown = text(found)
    assert re.search(r"^b .* 1\.00~ +1\.00-2\.00$", shown, re.MULTILINE)
    assert re.search(r"^c .* 3\.00 +3\.00-3\.00$", shown, re.MULTILINE)
    assert overall([SUMMARY, SUMMARY], "map").open == ()
    alone = overall([SUMMARY.only(["c"])] * 2, "map")
    assert alone.spans is None and "seed" not in text(alone)


def test_the_diagram_shows_ranks_that_move():
    found = overall([SUMMARY, SUMMARY], "ndcg@10")
    figure = draw_difference(found.ranked, found.ranks, found.difference, found.spans)
    labels = [item.get_text() for item in figure.axes[0].texts]
    assert sum("~" in label for label in labels) == 2 and "c  3.00" in labels
    # from rank 1 to rank 2, half of the scale, once for each of the two
    moved = [line.get_xydata() for line in figure.axes[0].lines if line.get_color() == SEED_COLOUR]
    assert len(moved) == 2
    for ends in moved:
        np.testing.assert_allclose(ends, [[0.0, 0.0], [SCALE / 2, 0.0]])


def test_bands_of_one_standard_deviation():
    figure = draw([panel(SUMMARY_10)])
    (bands,) = [figure.axes[0].collections]
    assert len(bands) == 2
    heights = bands[0].get_paths()[0].vertices[:, 1]
    assert heights.max() - heights.min() == pytest.approx(2 * np.std(SEEDS, ddof=1))
    note = figure.texts[0].get_text()
    assert "one standard deviation over seeds of b, a" in " ".join(note.split())


SUMMARY_10 = Summary(
    "S",
    tuple(
        drawn(name, **{f"ndcg_{k}": level for k in range(1, 11)})
        for name, level in (("a", 0.45), ("b", 0.5))
    ),
)


def test_thirty_algorithms_have_few_bands():
    rows = tuple(
        drawn(f"x{i:02}", **{f"ndcg_{k}": 0.4 + i / 500 for k in range(1, 11)}) for i in range(30)
    )
    figure = draw([panel(Summary("S", rows))])
    assert len(figure.axes[0].collections) == MOST_BANDS


def test_published_numbers_stand_beside_mean_and_deviation():
    (known, *_) = [row for row in lookup("OHSUMED", "ndcg@3") if row.ours]
    summary = Summary("OHSUMED", (drawn(known.ours, ndcg_3=0.45),))
    shown = render_published(summary, ["ndcg@3"], "text")
    assert "0.4500 ±.0036" in shown and "published: as printed, of single runs" in shown


def test_conclusions_say_what_seeds_could_turn():
    rows = tuple(
        Row(s.algo, "letor3", 5, {"ndcg@10": s.mean("ndcg@10")}, 5, 0,
            {"ndcg@10": s.means("ndcg@10")}, 4)
        for s in (SYSTEMS[0], SYSTEMS[2])
    )  # fmt: skip
    algorithms = tuple(Algorithm(r, s, {}) for r, s in zip(rows, (SYSTEMS[0], SYSTEMS[2])))
    found = Results(Summary("S", rows), algorithms, "one")
    said = " ".join(conclusions(found, Procedure(), "ndcg@10"))
    assert "other seeds could turn it" in said


@pytest.mark.parametrize(("sets", "algos", "tested"), [
    (1, "abc", False), (2, "ab", False), (2, "abc", True), (3, "abc", True), (4, "ab", False),
])  # fmt: skip
def test_ranks_are_tested_with_three_algorithms_on_two_sets_or_more(sets, algos, tested):
    found = overall([SUMMARY.only(list(algos))] * sets, "ndcg@10")
    assert (found.friedman is not None) == (found.difference is not None) == tested
    assert found.ranked == tuple(algos)
