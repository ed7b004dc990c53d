"""The figure: its lines, its legend, its readability in grey, its bytes."""

import itertools
import re
import struct
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from conftest import drawing, random_queries, unlocked
from sample_models import SAMPLES
from toy_data import row_of, sample_row, store_fold, write_toy

import letorbench as lb
from letorbench.analysis.curves import validation_curves
from letorbench.analysis.figures import (
    BEST_LINES,
    MOST_LINES,
    Panel,
    draw,
    drawn_first,
    drawn_measures,
    panel,
    write,
)
from letorbench.analysis.importance import feature_groups, stored_importance
from letorbench.analysis.results_table import summary_table
from letorbench.api.ablation import ablations, without
from letorbench.cli.results import write_figure
from letorbench.errors import UsageError
from letorbench.models import Linear
from letorbench.results.dataset_results import DatasetResults
from letorbench.results.per_query import PerQuery
from letorbench.solvers.fit_result import FitResult


def panels(n_panels: int, n_lines: int, name: str = "algorithm-{}") -> list[Panel]:
    rng = np.random.default_rng(0)
    return [
        Panel(
            f"SET{p} dataset",
            "NDCG (letor3)",
            {name.format(a): np.linspace(0.5, 0.4, 10) + 0.02 * rng.random(10)
             for a in range(n_lines)},
        )
        for p in range(n_panels)
    ]  # fmt: skip


def assert_apart(figure, *more) -> None:
    """Nothing overlaps, and everything is within the page."""
    boxes = [axes.get_tightbbox() for axes in figure.axes]
    boxes += [each.get_window_extent() for each in (*figure.legends, *more)]
    for one, other in itertools.combinations(boxes, 2):
        assert not one.overlaps(other)
    for box in boxes:
        assert box.x0 >= 0 and box.y0 >= 0
        assert box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1


LONG = "NDCG_BOOST {} (ndcgboost-2009)"


@pytest.mark.parametrize("n_panels, n_lines, name", [(1, 1, "{}"), (2, 7, LONG), (5, 13, LONG)])
@pytest.mark.parametrize("width", [None, 6.0])
def test_layout(n_panels, n_lines, name, width):
    """One panel takes the title, several have it above them."""
    figure = draw(panels(n_panels, n_lines, name), width=width, title=width and "Mine")
    figure.draw_without_rendering()  # positions are known once it is drawn
    assert_apart(figure)
    (legend,) = figure.legends
    assert all(legend.get_window_extent().y1 < each.bbox.y0 for each in figure.axes)
    sizes = [text.get_fontsize() for axes in figure.axes for text in axes.get_xticklabels()]
    assert min([*sizes, *(text.get_fontsize() for text in legend.get_texts())]) >= 7
    if width:
        titles = [axes.get_title() for axes in figure.axes]
        assert figure.get_figwidth() == width
        assert [*titles, figure.get_suptitle()].count("Mine") == 1
        assert ("Mine" in titles) == (n_panels == 1)


def test_the_best_of_several_panels_rank_best_on_average():
    names = [f"a{i}" for i in range(MOST_LINES + 1)]
    up = {name: float(i) for i, name in enumerate(names)}
    half = dict(list(up.items())[:4])
    assert drawn_first(names, [up], ["regression"]) == names[-BEST_LINES:]
    # a3 is the best where it is not the worst but three
    assert drawn_first(names, [up, half], []) == ["a3", *names[-BEST_LINES + 1 :]]
    assert drawn_first(names[:4], [half], []) == names[:4]


def test_a_file_has_neither_a_date_nor_a_version(tmp_path):
    with drawing():
        paths = write(draw(panels(1, 2)), tmp_path / "a")
        others = [write(draw(panels(1, 2)), tmp_path / n, ["svg"]) for n in ("a.v1", "b.png")]
    assert [path.name for path in paths] == ["a.png", "a.svg", "a.pdf"]
    assert [path.name for [path] in others] == ["a.v1.svg", "b.svg"]
    for path in paths:
        found = path.read_bytes()
        assert not re.search(rb"Software|Date|Creator|Producer|matplotlib v\d", found, re.I), path
    size = struct.unpack(">II", paths[0].read_bytes()[16:24])
    assert size == (770, round(220 * float(draw(panels(1, 2)).get_figheight())))


def test_what_is_drawn_of_a_measure():
    stored = [*(f"ndcg@{k}" for k in (1, 2, 3, 10)), "p@1", "map", "err@10"]
    summary = DatasetResults("S", (sample_row("a", dict.fromkeys(stored, 0.5)),))
    for asked, drawn in (
        ("NDCG", "ndcg@1 ndcg@2 ndcg@3 ndcg@10"),
        ("p", "p@1"), ("map", "map"), ("ndcg@10", "ndcg@10"), ("rmse", "rmse"),
        ("err", " ".join(f"err@{k}" for k in range(1, 11))), ("ndcg@5,20", "ndcg@5 ndcg@20"),
    ):  # fmt: skip
        assert drawn_measures(asked, summary) == drawn.split()
    for wrong in ("map,err@10", ""):
        with pytest.raises(UsageError, match="expected one to draw"):
            drawn_measures(wrong, summary)


def test_a_figure_says_where_a_convention_lets_lines_fall():
    """Two of three lists have two documents, and one of these no relevant one."""
    values = {"ndcg@1": [0.5, 1.0, 0.0], "ndcg@2": [0.7, 1.0, 0.0], "ndcg@3": [0.0, 0.9, 0.0]}
    queries = PerQuery("a", np.ones(3, int), np.array(["1", "2", "3"]), values)
    frame = DatasetResults("S", (row_of(queries, "letor4"),))
    assert panel(frame, [*values]).note.endswith("at @3 this begins for 1 of 3 queries.")
    assert panel(frame, ["ndcg@1", "ndcg@2"]).note == ""


def test_where_every_row_is_of_other_code_one_title_says_so():
    """Not each of 43 names; one row of other code among others is named."""
    rows = []
    for name, code in (("a", None), ("b", "1"), ("c", "2")):
        facts = {"algo": name, "module": "letorbench.rankers.mart", "code": code}
        row = sample_row(name, {"map": 0.5})
        stored = (replace(fold, fit=fold.fit | {"identity": facts}) for fold in row.stored)
        rows.append(replace(row, stored=tuple(stored)))
    for some, names, title in (
        (rows[1:], ["b", "c"], "S dataset (other code)"),
        (rows[:2], ["a", "b (other code)"], "S dataset"),
    ):
        frame = DatasetResults("S", tuple(some))
        drawn, table = panel(frame, ["map"]), summary_table(frame, ["map"])
        assert [*drawn.curves] == [row[1].text for row in table.rows] == names
        [note] = [note for note in table.notes if note.startswith("other code: ")]
        assert drawn.title == title and ("every row" in note) == ("(" in title)


def test_a_legend_is_less_tall_than_its_plot_and_names_what_is_looked_for():
    [each] = panels(1, 44)
    curves = {**each.curves, "top": np.ones(10), "regression": np.full(10, 0.1)}
    curves |= {"mine": np.full(10, 0.2), "theirs": np.full(10, 0.3)}
    named = {"users": ["mine", "theirs", "top"], "references": ["top"]}
    figure = draw([replace(each, curves=curves, **named)])
    figure.draw_without_rendering()
    (legend,), (axes,) = figure.legends, figure.axes
    assert legend.get_window_extent().height < axes.bbox.height
    shown = [text.get_text() for text in legend.get_texts()]
    best = sorted(each.curves, key=lambda name: -each.curves[name][-1])[:BEST_LINES]
    assert sorted(shown) == sorted([*best, "regression", "mine", "theirs"])
    assert axes.get_ylim()[1] < 1
    top = replace(sample_row("ideal", {"map": 1.0}), algo="top")
    assert panel(DatasetResults("S", (top,)), ["map"]).references == ["top"]


def test_a_name_is_no_formula():
    """Of a data set, a measure or an algorithm, in lines and in points."""
    name = r"$\frac$"
    for values in ([0.1, 0.2], [0.1]):
        draw([Panel(name, name, {name: values})]).draw_without_rendering()


def test_a_point_far_from_all_others_is_a_number():
    """It comes after points whose intervals are drawn."""
    values = {"a": 0.5, "b": 0.4, "random": 0.01}
    curves = {name: [value] for name, value in values.items()}
    bands = {name: ([value - 0.01], [value + 0.01]) for name, value in values.items()}
    axes = draw([Panel("S", "MAP", curves, bands, references=["random"])]).axes[0]
    assert [text.get_text() for text in axes.texts] == ["\u25c2 0.0100"]
    assert len([line for line in axes.lines if len(line.get_xdata()) == 1]) == 2


def test_a_figure_of_differences_has_room_for_its_note_and_a_place_for_any_name(tmp_path):
    """The note is as long as the test that it names; a folder's name has no stroke."""
    write_toy(tmp_path / "data")
    odd, where = "recipe[loss=wpl(weight=1/pi)]", {"out": tmp_path, "data_dir": tmp_path / "data"}
    results = lb.run("TOY", [odd, "regression"], folds=[1, 2], **where)
    figure = results.plot("map", baseline="regression")
    figure.draw_without_rendering()
    assert_apart(figure, *figure.texts)
    (path,) = write_figure(results, "map", ["png"], baseline=odd)
    assert path.parent == tmp_path / "TOY" and path.is_file()


def test_a_dot_is_at_the_round_that_was_kept_which_need_not_be_the_highest(tmp_path):
    facts = {"measure": "map", "curve": [0.1, 0.4, 0.2], "best": 3, "grid": []}
    store_fold(tmp_path, "S", "a", 1, {"map": 0.5}, validation=facts)
    [line] = lb.load_results(tmp_path).plot(validation=True).axes[0].lines
    assert line.get_xydata()[line.get_markevery()].tolist() == [[3, 0.2]]


def of_model(model, queries):
    ranker = lb.Regression().fit_sets(queries)
    ranker.learned = FitResult(model)
    return ranker


def test_only_what_a_model_uses_is_important(rng):
    """Of 24 features the model uses the last four, ever more; of trees the gains are summed."""
    queries, weights = random_queries(rng, [30] * 10, 24), np.maximum(np.arange(24) - 19.0, 0.0)
    with unlocked(queries):
        queries.labels[:] = np.digitize(queries.features @ weights, [0.0, 4.0])
    queries = replace(queries, feature_names=tuple(f"x{k}$" for k in range(24)))
    frame = lb.importance(of_model(Linear(weights), queries), queries)
    assert lb.importance(of_model(Linear(weights), queries), queries, "ndcg@10", 5, 0).equals(frame)
    assert frame["feature"][frame["permutation"] == 0.0].tolist() == [*range(1, 21)]
    losses, deviations = [0.379863, 0.210799, 0.124847], [0.0407267, 0.0183697, 0.0129987]
    assert frame["feature"][:4].tolist() == [24, 23, 22, 21] and frame["gain"].isna().all()
    assert frame["permutation"][:3].tolist() == pytest.approx(losses, rel=1e-5)
    assert frame["sd"][:3].tolist() == pytest.approx(deviations, rel=1e-5)
    assert len(lb.importance_figure(frame).axes[0].patches) == 20
    axes = lb.importance_figure(frame, 4).axes[0]
    assert [bar.get_width() for bar in axes.patches] == frame["permutation"][:4].tolist()
    assert [text.get_text() for text in axes.get_yticklabels()][0] == r"x23\$"
    queries = random_queries(rng, [5] * 8, 5)
    with unlocked(queries):
        queries.features[:, 4] = np.repeat(np.arange(8.0) / 8.0, 5)  # constant in each query
    frame = lb.importance(of_model(SAMPLES["trees"](), queries), queries, "map", draws=2)
    assert (frame["permutation"] == 0.0).all()
    assert frame.set_index("feature")["gain"].tolist() == [0.0, 0.0, 0.0, 0.0, 1.0]


def test_the_dot_of_a_validation_curve_is_at_the_setting_that_was_kept():
    """The first of equal ones, in the order in which they were tried."""
    row = sample_row("a", {"map": 0.5}, folds=1)
    tried = [{"settings": {"l2": l2}, "value": value} for l2, value in
             ((1.0, 0.5), (2.0, None), (0.5, 0.5), (4.0, 0.4))]  # fmt: skip
    facts = {"identity": {"algo": "a", "grid": {"l2": [1.0, 2.0]}}, "validation": {"grid": tried}}
    row = replace(row, stored=(replace(row.stored[0], fit=row.stored[0].fit | facts),))
    names, values, dot = validation_curves(row)[1]
    assert names == ["0.5", "1.0", "2.0", "4.0"] and dot == [1]
    assert values.tolist() == pytest.approx([0.5, 0.5, np.nan, 0.4], nan_ok=True)


def test_stored_models_are_measured_on_their_test_parts(tmp_path):
    """With two documents a query an exchange is a swap or none: half of what the swap loses."""
    df = pd.DataFrame(
        np.random.default_rng(3).normal(size=(48, 3)).round(3), columns=["a", "b", "c"]
    )
    df = df.assign(q=np.repeat(np.arange(24), 2), y=(df["a"] + df["b"] > 0).astype(int))
    bench = lb.from_frame(df, "y", "q", folds=3, convention="standard,empty=drop", name="F")
    results = lb.run(bench, "regression", out=tmp_path)
    row = results.frames[0].rows[0]
    (tmp_path / "g.csv").write_text("a,one\n2,two\n")
    alone = feature_groups(tmp_path / "g.csv", bench.folds[0].test)
    assert alone == {"one": [0], "two": [1], "(no group)": [2]}
    (tmp_path / "g.csv").write_text("variable,kind\na,both\n2,both\n")
    groups = feature_groups(tmp_path / "g.csv", bench.folds[0].test)
    assert groups == {"both": [0, 1], "(no group)": [2]}
    for names in (groups, {"a": [0], "b": [1], "c": [2]}):
        chosen = None if "a" in names else names
        found = stored_importance(row, bench, "ndcg@10", chosen, draws=300).set_index("name")
        for name, columns in names.items():
            losses = []
            for fold, stored in zip(bench.folds, row.stored):
                model, test = lb.load_model(stored.folder / "model.npz"), fold.test
                swapped = test.features.copy()
                swapped[:, columns] = swapped[np.arange(len(swapped)) ^ 1][:, columns]
                whole, less = (
                    lb.evaluate(test, model.predict(each), convention=bench.convention)["ndcg@10"]
                    for each in (test, replace(test, features=swapped))
                )
                losses.append(whole - less)
            assert found["permutation"][name] == pytest.approx(np.mean(losses) / 2, abs=0.01)
            assert found["sd"][name] == pytest.approx(np.std(losses, ddof=1) / 2, abs=0.02)


def test_an_ablation_is_a_run_on_data_that_lack_the_columns(tmp_path):
    df = pd.DataFrame(np.random.default_rng(3).normal(size=(60, 3)), columns=["a", "b", "c"])
    df = df.assign(q=np.repeat(np.arange(12), 5), y=(df["a"] + df["b"] > 0).astype(int))
    bench = lb.from_frame(df, "y", "q", folds=3, name="F")
    results, [pairs] = ablations(
        bench, "regression", {"a": [0], "b and c": [1, 2]}, out=tmp_path / "one"
    )
    assert results.datasets == ["F", "F-without-a", "F-without-b-and-c"]
    for pair, left in zip(pairs, (["b", "c"], ["a"])):
        own = lb.from_frame(df[[*left, "q", "y"]], "y", "q", folds=3, name="own")
        values = [
            lb.run(each, "regression", out=tmp_path / "".join(left)).per_query("ndcg@10")["ndcg@10"]
            for each in (own, bench)
        ]
        assert pair.difference.mean == pytest.approx((values[0] - values[1]).mean())
        assert pair.b == "all features" and pair.difference.mean != 0
    assert [pair.a for pair in pairs] == ["without a", "without b and c"]
    assert without(bench, "b", [1]).folds[0].train.feature_names == ("a", "c")
