"""The figure: its lines, its legend, its readability in grey, its bytes."""

import itertools
import re
import struct

import numpy as np
import pytest
from conftest import drawing

from letorbench.analysis.figures import BEST_LINES, MOST_LINES, Panel, draw, drawn_first, write


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
def test_layout(n_panels, n_lines, name):
    figure = draw(panels(n_panels, n_lines, name))
    figure.draw_without_rendering()  # positions are known once it is drawn
    assert_apart(figure)
    (legend,) = figure.legends
    assert all(legend.get_window_extent().y1 < each.bbox.y0 for each in figure.axes)
    sizes = [text.get_fontsize() for axes in figure.axes for text in axes.get_xticklabels()]
    assert min([*sizes, *(text.get_fontsize() for text in legend.get_texts())]) >= 7


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
    assert [path.name for path in paths] == ["a.png", "a.svg", "a.pdf"]
    for path in paths:
        found = path.read_bytes()
        assert not re.search(rb"Software|Date|Creator|Producer|matplotlib v\d", found, re.I), path
    size = struct.unpack(">II", paths[0].read_bytes()[16:24])
    assert size == (770, round(220 * float(draw(panels(1, 2)).get_figheight())))
