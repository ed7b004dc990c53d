"""What curves are of: the folds that all have, and the round or setting that was kept."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from toy_data import store_fold

import letorbench as lb
from letorbench.analysis.curves import draw_curves, learning_curves


@pytest.mark.parametrize("grid, best, curve, x", [
    ({}, {1: 1, 2: 3}, [0.1, 0.4, 0.2], {1: 1, 2: 3}),  # the kept round need not be the highest
    ({"c": [1, 2, 3]}, {1: None, 2: None}, [], {1: 2, 2: 3}),
])  # fmt: skip
def test_a_dot_is_at_what_each_fold_kept(tmp_path, grid, best, curve, x) -> None:
    values = {1: [0.1, 0.5, 0.3], 2: [0.2, 0.1, 0.4]}
    for fold in (1, 2):
        trials = [{"settings": {"c": c}, "value": v} for c, v in zip((1, 2, 3), values[fold])]
        facts = {"measure": "map", "curve": curve, "best": best[fold], "grid": trials * bool(grid)}
        store_fold(tmp_path, "S", "a", fold, {"map": 0.5}, validation=facts, grid=grid)
    axes = Figure().subplots()
    draw_curves(axes, lb.load_results(tmp_path).frames[0].rows[0])
    for fold, line in enumerate(axes.lines, 1):
        assert line.get_ydata().tolist() == (curve or values[fold])
        assert line.get_xdata()[line.get_markevery()].tolist() == [x[fold]]
    assert len(axes.lines) == 2


def test_learning_curves_are_over_the_folds_that_all_shares_have(tmp_path) -> None:
    folds = {"S@0.5": (1, 2), "S": (2, 3)}
    for name, numbers in folds.items():
        for number in numbers:
            store_fold(tmp_path, name, "a", number, {"map": [number / 4, number / 8]})
    [found] = learning_curves(lb.load_results(tmp_path).frames, "map")
    assert [row[3].value for row in found.table.rows] == [0.375, 0.375]
    assert np.ravel(list(found.panel.curves.values())).tolist() == [0.375, 0.375]
