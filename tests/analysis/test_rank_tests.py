"""Winning numbers by hand and by loops; ranks, Friedman and Nemenyi by Demsar's printed figures."""

from __future__ import annotations

import io
import itertools
import math

import numpy as np
import pytest
from letorbench.analysis.rank_tests import (
    average_ranks,
    critical_difference,
    friedman,
    ideal_winning_numbers,
    normalised_winning_numbers,
    tied_groups,
    winning_numbers,
)
from scipy import stats

from letorbench.analysis.critical_difference import draw
from letorbench.analysis.figures import save
from letorbench.errors import UsageError

NAN = math.nan

#: data sets x algorithms
TABLE = np.array([[0.5, 0.4, 0.4], [0.2, 0.3, 0.1], [0.6, 0.6, 0.6]])
SPARSE = np.array([[0.5, 0.4, NAN], [0.2, NAN, NAN], [0.6, 0.7, NAN], [NAN, 0.1, 0.9]])

#: Demsar (2006), table 6: AUC of C4.5 and its three variants on 14 data sets
DEMSAR = np.array([
    [.763, .768, .771, .798], [.599, .591, .590, .569], [.954, .971, .968, .967],
    [.628, .661, .654, .657], [.882, .888, .886, .898], [.936, .931, .916, .931],
    [.661, .668, .609, .685], [.583, .583, .563, .625], [.775, .838, .866, .875],
    [1.00, 1.00, 1.00, 1.00], [.940, .962, .965, .962], [.619, .666, .614, .669],
    [.972, .981, .9751, .975], [.957, .978, .946, .970],
])  # fmt: skip


def test_winning_numbers_by_hand():
    assert winning_numbers(TABLE).tolist() == [3, 2, 0]
    assert ideal_winning_numbers(TABLE).tolist() == [6, 6, 6]
    assert normalised_winning_numbers(TABLE).tolist() == [0.5, 2 / 6, 0.0]


def test_missing_values_by_hand():
    assert winning_numbers(SPARSE).tolist() == [1, 1, 1]
    assert ideal_winning_numbers(SPARSE).tolist() == [2, 3, 1]
    assert normalised_winning_numbers(SPARSE).tolist() == [1 / 2, 1 / 3, 1.0]
    alone = normalised_winning_numbers(np.array([[0.5, NAN]]))
    assert np.isnan(alone).all()


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


def test_rounding_wins_nothing():
    assert winning_numbers(np.array([[0.1 + 0.2, 0.3]])).tolist() == [0, 0]


def test_average_ranks():
    assert average_ranks(TABLE) == pytest.approx([5 / 3, 5.5 / 3, 7.5 / 3])
    with pytest.raises(UsageError, match="5 missing of 12"):
        average_ranks(SPARSE)


def test_demsars_example():
    """His section 3.2.2: these ranks, chi-squared 9.28, CD 1.25 at .05 and 1.12 at .10."""
    assert average_ranks(DEMSAR) == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)
    n, k = DEMSAR.shape
    ranks = average_ranks(DEMSAR)
    plain = 12 * n / (k * (k + 1)) * ((ranks**2).sum() - k * (k + 1) ** 2 / 4)
    assert plain == pytest.approx(9.28, abs=0.01)
    result = friedman(DEMSAR)
    assert (result.n_datasets, result.n_algorithms) == (n, k)
    ties = (4**3 - 4) + 3 * (2**3 - 2)  # one data set all tied, three with a tied pair
    assert result.statistic == pytest.approx(plain / (1 - ties / (n * (k**3 - k))), rel=1e-12)
    assert result.p == pytest.approx(stats.chi2.sf(result.statistic, k - 1), abs=1e-12)
    assert critical_difference(k, n, 0.10) == pytest.approx(1.12, abs=0.01)
    assert critical_difference(k, n, 0.05) == pytest.approx(1.25, abs=0.01)


def test_friedman_without_ties_is_its_formula(rng):
    values = rng.random((9, 5))
    ranks = average_ranks(values)
    formula = 12 * 9 / 30 * ((ranks**2).sum() - 5 * 36 / 4)
    assert friedman(values).statistic == pytest.approx(formula, rel=1e-12)


@pytest.mark.filterwarnings("error")
def test_friedman_degenerate():
    assert friedman(np.ones((4, 3)) * np.arange(4)[:, None]).p == 1.0
    with pytest.raises(UsageError, match="4 data sets and 2 algorithms"):
        friedman(np.ones((4, 2)))
    with pytest.raises(UsageError):
        friedman(SPARSE)


@pytest.mark.parametrize(
    "k, q05, q10", [(2, 1.960, 1.645), (3, 2.343, 2.052), (5, 2.728, 2.459), (10, 3.164, 2.920)]
)
def test_nemenyi_has_demsars_table(k, q05, q10):
    """His table 5a, which prints three decimals."""
    for alpha, q in ((0.05, q05), (0.10, q10)):
        expected = q * math.sqrt(k * (k + 1) / (6 * 7))
        assert critical_difference(k, 7, alpha) == pytest.approx(expected, rel=5e-4)


@pytest.mark.parametrize("seed", range(20))
def test_alike_by_brute_force(seed):
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


def test_alike_by_hand():
    assert tied_groups(np.array([3.0, 1.0, 2.0]), 1.5) == ((1, 2), (2, 0))
    assert tied_groups(np.array([3.0, 1.0, 2.0]), 1.0) == ()
    assert tied_groups(np.array([1.5, 1.5]), 0.5) == ((0, 1),)


@pytest.mark.parametrize("n", [2, 3, 10, 13])
def test_diagram(rng, n):
    names = [f"algorithm-{i}" for i in range(n)]
    ranks = average_ranks(rng.random((8, n)) + np.linspace(0, 1.5, n))
    difference = critical_difference(n, 8)
    files = []
    for _ in range(2):
        files.append(io.BytesIO())
        figure = draw(names, ranks, difference)
        save(figure, files[-1], "pdf")
    assert files[0].getvalue() == files[1].getvalue()
    (axes,) = figure.axes
    texts = {text.get_text(): text.get_window_extent() for text in axes.texts}
    assert f"CD = {difference:.2f}" in texts
    assert {f"{name}  {rank:.2f}" for name, rank in zip(names, ranks)} <= set(texts)
    page = figure.bbox
    for box in texts.values():
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1
    for one, other in itertools.combinations(texts.values(), 2):
        assert not one.overlaps(other)
    bars = [line for line in axes.lines if line.get_linewidth() == 2.5]
    assert len(bars) == len(tied_groups(ranks, difference))
