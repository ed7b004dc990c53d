"""What the papers' figures draw: every point, bar, mark, scale and legend."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.papers import paper_figures, specification
from letorbench.papers.paper_figures import Axis, Line
from letorbench.papers.specification import Specification, by_level, levels


@pytest.fixture
def drawn(monkeypatch):
    """The figures that are written."""
    figures = []

    def keep(figure, stem):
        figure.canvas.draw()
        figures.append(figure)
        return [stem]

    for module in (paper_figures, specification):
        monkeypatch.setattr(module, "write", keep)
    return figures


def legend(axis):
    return [text.get_text() for text in axis.get_legend().get_texts()]


def test_lines_are_drawn_as_given_each_with_its_scale(drawn, tmp_path):
    bars = Line([1, 2, 4], [0.5, 0.6, 0.8], [0.4, 0.55, 0.7], [0.7, 0.65, 0.85])
    panels = [
        Axis("one", "x", "y", {"a": bars, "b": Line([1, 2], [3.0, 4.0])}),
        Axis("two", "x2", "y2", {"c": Line([1, 10], [2.0, 3.0])}, log_x=True),
        Axis("three", "x3", "y3", {"d": Line([1, 10], [2.0, 3.0])}, log=True, note="said",
             span=(2.2, 2.4, "printed")),
    ]  # fmt: skip
    assert paper_figures.lines_figure(panels, tmp_path / "f") == [tmp_path / "f"]
    (figure,) = drawn
    one, two, three = figure.axes
    assert [axis.get_title() for axis in figure.axes] == ["one", "two", "three"]
    first, second = (line for line in one.get_lines() if line.get_label() in "ab")
    assert first.get_xdata().tolist() == [1, 2, 4] and second.get_ydata().tolist() == [3.0, 4.0]
    (segments,) = (each.lines[2][0].get_segments() for each in one.containers)
    assert [s[:, 1].tolist() for s in segments] == [
        pytest.approx(ends) for ends in ([0.4, 0.7], [0.55, 0.65], [0.7, 0.85])
    ]
    scales = [(axis.get_xscale(), axis.get_yscale()) for axis in figure.axes]
    assert scales == [("linear", "linear"), ("log", "linear"), ("log", "log")]
    assert [axis.get_xlabel() for axis in figure.axes] == ["x", "x2", "x3\nsaid"]
    assert legend(one) == ["a", "b"] and legend(three) == ["d", "printed"]
    shaded = three.patches[0]
    assert (shaded.get_y(), shaded.get_height()) == pytest.approx((2.2, 0.2))
    # whole numbers of rounds or ranks, no fractions of them
    assert all(float(tick).is_integer() for tick in one.get_xticks())
    assert figure.get_figwidth() == pytest.approx(paper_figures.PAGE)


@pytest.mark.parametrize("count", [5, 6])
def test_a_legend_of_many_lines_stands_below_its_panel(count, drawn, tmp_path):
    lines = {f"l{i}": Line([1, 2], [i, i]) for i in range(count)}
    paper_figures.lines_figure([Axis("t", "x", "y", lines)], tmp_path / "f")
    (figure,) = drawn
    (axis,) = figure.axes
    top = axis.get_legend().get_window_extent().y1
    assert (top < axis.get_window_extent().y0) == (count == 6)
    assert figure.get_figwidth() == pytest.approx(paper_figures.COLUMN)


def test_bars_stand_side_by_side_around_their_group(drawn, tmp_path):
    groups = {"A": {"m": 0.2, "n": 0.4, "o": 0.1}, "B": {"m": 0.3, "o": 0.5}}
    paper_figures.bars_figure("title", "NDCG", groups, tmp_path / "f")
    (axis,) = drawn[0].axes
    assert legend(axis) == ["m", "n", "o"]
    bars = {c.get_label(): list(c) for c in axis.containers}
    for i, (name, both) in enumerate(bars.items()):
        for g, bar in enumerate(both):
            height = list(groups.values())[g].get(name, np.nan)
            assert bar.get_height() == pytest.approx(height, nan_ok=True)
            assert bar.get_x() + bar.get_width() / 2 == pytest.approx(g + (i - 1) * 0.8 / 3)
            assert bar.get_width() == pytest.approx(0.8 / 3)
    assert [tick.get_text() for tick in axis.get_xticklabels()] == ["A", "B"]
    # the legend has room above the highest bar
    assert axis.get_ylim() == pytest.approx((0.0, 1.35 * 0.5))
    fills = [tuple(both[0].get_facecolor()) for both in bars.values()]
    hatches = [both[0].get_hatch() for both in bars.values()]
    assert len({*zip(fills, hatches)}) == 3


def specifications():
    values = {("a", "p"): 0.30, ("a", "q"): 0.10, ("b", "p"): 0.20, ("b", "q"): 0.40}
    return [Specification({"X": x, "Y": y}, value) for (x, y), value in values.items()]


def test_levels_of_choices_and_their_means():
    assert levels(specifications()) == {"X": ["a", "b"], "Y": ["p", "q"]}
    rows = by_level(specifications())
    assert [row[:3] for row in rows] == [["X", "a", 2], ["X", "b", 2], ["Y", "p", 2], ["Y", "q", 2]]
    assert [row[3:] for row in rows] == [
        pytest.approx(each)
        for each in ([0.2, 0.1, 0.3], [0.3, 0.2, 0.4], [0.25, 0.2, 0.3], [0.25, 0.1, 0.4])
    ]


def test_a_specification_curve_marks_each_setting_under_its_value(drawn, tmp_path):
    specification.specification_figure(
        specifications(), "NDCG@3", 0.5, {"X": "b", "Y": "p"}, tmp_path / "f"
    )
    top, bottom = drawn[0].axes
    curve, default, printed = top.get_lines()
    assert list(curve.get_ydata()) == [0.10, 0.20, 0.30, 0.40]
    assert (list(default.get_xdata()), list(default.get_ydata())) == ([1], [0.20])
    assert list(printed.get_ydata()) == [0.5, 0.5]
    assert legend(top) == ["our default, 0.200", "printed, 0.50"]
    assert [tick.get_text() for tick in bottom.get_yticklabels()] == [
        "X: a", "X: b", "Y: p", "Y: q"
    ]  # fmt: skip
    marks = [(list(line.get_xdata()), set(line.get_ydata())) for line in bottom.get_lines()]
    assert marks == [([0, 2], {0}), ([1, 3], {1}), ([1, 2], {2}), ([0, 3], {3})]
    colours = [line.get_color() for line in bottom.get_lines()]
    assert colours[0] == colours[1] != colours[2] == colours[3]
    assert bottom.get_ylim() == (3.5, -0.5)  # the first row on top, none cut
    assert bottom.get_xlabel() == "4 specifications, the lowest first"
