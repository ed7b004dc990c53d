"""The figure: its lines, its legend, its readability in grey, its bytes."""

from __future__ import annotations

import io
import itertools

import numpy as np
import pytest

from letorbench.analysis.plots import (
    COLOURS,
    FORMATS,
    Panel,
    draw,
    line_style,
    save,
    write,
)
from letorbench.analysis.plotter import panel, plotter
from letorbench.errors import LetorError
from letorbench.results.summary import Row, Summary


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


@pytest.mark.parametrize("name", ["{}", "algorithm-{}", "NDCG_BOOST {} (ndcgboost-2009)"])
@pytest.mark.parametrize("n_panels, n_lines", [(1, 1), (1, 2), (1, 13), (2, 7), (4, 2), (6, 13)])
def test_layout(n_panels, n_lines, name):
    shown = panels(n_panels, n_lines, name)
    figure = draw(shown)
    save(figure, io.BytesIO(), "png")  # positions are known once it is drawn
    assert [axes.get_title() for axes in figure.axes] == [each.title for each in shown]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == list(shown[0].curves)
    boxes = [axes.get_tightbbox() for axes in figure.axes]
    boxes.append(legend.get_window_extent())
    for one, other in itertools.combinations(boxes, 2):
        assert not one.overlaps(other)
    for box in boxes:
        assert box.x0 >= 0 and box.y0 >= 0
        assert box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1
    for axes, each in zip(figure.axes, shown):
        assert axes.get_xlabel() == "@n" and axes.get_ylabel() == "NDCG (letor3)"
        for line, values in zip(axes.lines, each.curves.values()):
            assert np.array_equal(line.get_xdata(), np.arange(1, 11))
            assert np.array_equal(line.get_ydata(), values)
    sizes = [text.get_fontsize() for axes in figure.axes for text in axes.get_xticklabels()]
    assert min([*sizes, *(text.get_fontsize() for text in legend.get_texts())]) >= 7


def test_lines_differ_without_colour():
    looks = {
        (s["marker"], str(s["linestyle"]), s["markerfacecolor"] == "white")
        for s in map(line_style, range(26))
    }
    assert len(looks) == 26


def test_neighbours_differ_in_lightness():
    def lightness(colour):
        return sum(
            w * int(colour[i : i + 2], 16) for w, i in ((0.299, 1), (0.587, 3), (0.114, 5))
        )

    steps = [abs(lightness(a) - lightness(b)) for a, b in itertools.pairwise(COLOURS)]
    assert min(steps) > 30 and max(map(lightness, COLOURS)) < 180


def test_the_same_values_give_the_same_bytes(tmp_path):
    files = []
    for name in ("a", "b"):
        files.append(write(draw(panels(2, 3)), tmp_path / name / "ndcg"))
    assert [path.name for path in files[0]] == [f"ndcg.{form}" for form in FORMATS]
    for one, other in zip(*files):
        assert one.read_bytes() == other.read_bytes()
    for start, path in zip((b"\x89PNG", b"<?xml", b"%PDF"), files[0]):
        assert path.read_bytes().startswith(start)
    assert b"SET1 dataset" in files[0][1].read_bytes()
    assert b"<dc:date>" not in files[0][1].read_bytes()


def test_the_drawing_process_draws_the_same(tmp_path):
    values = {f"ndcg@{k}": 1 / (k + 2) for k in range(1, 11)}
    shown = panel(Summary("SET", (Row("a", "letor3", 5, values),)))
    assert shown.title == "SET dataset" and shown.measure == "NDCG (letor3)"
    with plotter() as draw_later:
        draw_later([shown], tmp_path / "there" / "ndcg")
    write(draw([shown]), tmp_path / "here" / "ndcg")
    for form in FORMATS:
        there, here = (tmp_path / place / f"ndcg.{form}" for place in ("there", "here"))
        assert there.read_bytes() == here.read_bytes()


def test_nothing_is_drawn_after_an_error(tmp_path):
    with pytest.raises(LetorError), plotter() as draw_later:
        draw_later(panels(1, 1), tmp_path / "ndcg")
        raise LetorError("stop")
    assert list(tmp_path.iterdir()) == []


def test_lines_of_several_conventions_say_which():
    values = {f"ndcg@{k}": 1 / (k + 2) for k in range(1, 11)}
    rows = (Row("a", "letor3", 5, values), Row("b", "standard", 5, values))
    assert list(panel(Summary("SET", rows)).curves) == ["a [letor3]", "b [standard]"]
