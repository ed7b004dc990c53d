"""Winning numbers by loops; ranks, Friedman and Nemenyi by Demsar's printed figures."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from letorbench.analysis.ranks import (
    critical_difference,
    draw_ranks,
    friedman,
    ideal_winning_numbers,
    ranks_of,
    tied_groups,
    winning_numbers,
)

NAN = math.nan

#: Demsar (2006), table 6: AUC of C4.5 and its three variants on 14 data sets
DEMSAR = np.array([
    [.763, .768, .771, .798], [.599, .591, .590, .569], [.954, .971, .968, .967],
    [.628, .661, .654, .657], [.882, .888, .886, .898], [.936, .931, .916, .931],
    [.661, .668, .609, .685], [.583, .583, .563, .625], [.775, .838, .866, .875],
    [1.00, 1.00, 1.00, 1.00], [.940, .962, .965, .962], [.619, .666, .614, .669],
    [.972, .981, .9751, .975], [.957, .978, .946, .970],
])  # fmt: skip


@pytest.mark.parametrize("seed", range(5))
def test_winning_numbers_by_loops(seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, (7, 6)) / 3.0
    values[rng.random((7, 6)) < 0.25] = NAN
    won, ideal = np.zeros(6, dtype=int), np.zeros(6, dtype=int)
    for dataset, i, k in itertools.product(range(7), range(6), range(6)):
        mine, other = values[dataset, i], values[dataset, k]
        if i != k and not math.isnan(mine) and not math.isnan(other):
            ideal[i] += 1
            won[i] += mine > other
    np.testing.assert_array_equal(winning_numbers(values), won)
    np.testing.assert_array_equal(ideal_winning_numbers(values), ideal)
    assert winning_numbers(np.array([[0.1 + 0.2, 0.3]])).tolist() == [0, 0]  # rounding


def test_demsars_example():
    """His section 3.2.2: these ranks, chi-squared 9.28, CD 1.25 at .05 and 1.12 at .10."""
    ranks = ranks_of(DEMSAR).mean(axis=0)
    assert ranks == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)
    n, k = DEMSAR.shape
    plain = 12 * n / (k * (k + 1)) * ((ranks**2).sum() - k * (k + 1) ** 2 / 4)
    assert plain == pytest.approx(9.28, abs=0.01)
    statistic, p = friedman(DEMSAR)
    ties = (4**3 - 4) + 3 * (2**3 - 2)  # one data set all tied, three with a tied pair
    assert statistic == pytest.approx(plain / (1 - ties / (n * (k**3 - k))), rel=1e-12)
    assert p == pytest.approx(stats.chi2.sf(statistic, k - 1), abs=1e-12)
    assert friedman(np.ones((4, 3)) * np.arange(4)[:, None]) == (0.0, 1.0)
    assert critical_difference(k, n, 0.10) == pytest.approx(1.12, abs=0.01)
    assert critical_difference(k, n, 0.05) == pytest.approx(1.25, abs=0.01)


@pytest.mark.parametrize("seed", range(10))
def test_tied_groups_by_brute_force(seed):
    rng = np.random.default_rng(seed)
    ranks, difference = 1 + rng.integers(0, 16, 7) / 4.0, 1.25
    close = [
        set(group)
        for size in range(2, 8)
        for group in itertools.combinations(range(7), size)
        if max(ranks[list(group)]) - min(ranks[list(group)]) < difference
    ]
    largest = [group for group in close if not any(group < other for other in close)]
    groups = tied_groups(ranks, difference)
    assert sorted(map(sorted, groups)) == sorted(map(sorted, largest))
    assert all((np.diff(ranks[list(group)]) >= 0).all() for group in groups)


@pytest.mark.parametrize("n", [2, 3, 13])
def test_diagram(rng, n):
    names = [f"algorithm-{i}" for i in range(n)]
    ranks = ranks_of(rng.random((8, n)) + np.linspace(0, 1.5, n)).mean(axis=0)
    difference = critical_difference(n, 8)
    figure = draw_ranks(names, ranks, difference)
    figure.draw_without_rendering()  # positions are known once it is drawn
    (axes,) = figure.axes
    shown = (*axes.texts, *axes.get_xticklabels())
    texts = {text.get_text(): text.get_window_extent() for text in shown}
    labels = {f"{name}  {rank:.2f}" for name, rank in zip(names, ranks)}
    first, last = (1, n) if n < 13 else (math.floor(ranks.min()), math.ceil(ranks.max()))
    ends = {text for text in texts if text.isdigit()}
    assert {*texts} - ends == {*labels, f"CD = {difference:.2f}"}
    assert min(map(int, ends)) == first and max(map(int, ends)) <= last and len(ends) <= 13
    assert texts[str(first)].y0 > max(texts[label].y1 for label in labels)
    page = figure.bbox
    for box in texts.values():
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1
    for one, other in itertools.combinations(texts.values(), 2):
        assert not one.overlaps(other)
    bars = [line for line in axes.lines if line.get_linewidth() == 2.5]
    assert len(bars) == len(tied_groups(ranks, difference))
