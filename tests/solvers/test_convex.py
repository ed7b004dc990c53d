"""Newton's method and the bundle method on functions whose least value is known otherwise."""

import inspect

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from letorbench.solvers.convex import Expansion, bundle, factored_step, minimum_of_planes, newton
from letorbench.solvers.stopping import Deadline


class Hinges:
    """|w|^2 / 2 + C R(w), R = sum_i c_i max(0, 1 - D_i w)."""

    def __init__(self, rng: np.random.Generator, C: float) -> None:
        self.D, self.c, self.C = rng.normal(size=(40, 5)), rng.random(40), C

    def risk(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        t = np.maximum(0.0, 1.0 - self.D @ w)
        return float(self.c @ t), -self.D.T @ (self.c * (self.D @ w < 1.0))

    def __call__(self, w: np.ndarray) -> float:
        return float(w @ w) / 2.0 + self.C * self.risk(w)[0]

    def dual(self) -> float:
        """The largest value of the dual of the plain hinge, which is the least of f."""
        gram, most = self.D @ self.D.T, self.C * self.c
        found = minimize(
            lambda a: (a @ gram @ a / 2 - a.sum(), gram @ a - 1.0), np.zeros(40), jac=True,
            bounds=[(0.0, m) for m in most], method="L-BFGS-B",
            options={"ftol": 1e-16, "gtol": 1e-12, "maxiter": 50_000, "maxfun": 10**6},
        )  # fmt: skip
        return -found.fun


class Bowl:
    """|w|^2 / 2 + 1, given as if it were `curvature` times as bent."""

    def __init__(self, curvature: float) -> None:
        self.curvature = curvature
        #: the points that were asked for, and at each product how many they were
        self.seen: list[np.ndarray] = []
        self.products: list[int] = []

    def __call__(self, w: np.ndarray) -> Expansion:
        self.seen.append(w)
        return Expansion(float(w @ w) / 2.0 + 1.0, w, self._times)

    def _times(self, v: np.ndarray) -> np.ndarray:
        self.products.append(len(self.seen))
        return self.curvature * v


def test_newton_takes_at_most_200_steps_and_factors_from_the_eleventh_on():
    """Each step goes a thousandth of the way: one product by conjugate gradients, n by columns."""
    bowl = Bowl(1_000.0)
    found = newton(bowl, np.full(3, 100.0), gap=1e-9)
    assert len(found.values) == 201 and not found.converged and not found.late
    np.testing.assert_allclose(found.point, 100.0 * 0.999**200, rtol=1e-9)
    per_step = np.bincount(bowl.products)[1:]
    assert per_step[:12].tolist() == [1] * 10 + [4, 4]
    late = newton(Bowl(1_000.0), np.ones(3), gap=1e-9, deadline=Deadline(0.0))
    assert late.late and len(late.values) == 2


@pytest.mark.parametrize(("curvature", "asked"), [
    (0.5002, 1), (0.50003, 2), (0.3, 2), (2.0**-20, 21), (2.0**-29, 30),
])  # fmt: skip
def test_newton_halves_a_step_that_does_not_keep_a_ten_thousandth_of_its_promise(curvature, asked):
    bowl = Bowl(curvature)
    newton(bowl, np.ones(1), gap=1e-3, iterations=1)
    assert len(bowl.seen) == 1 + asked
    np.testing.assert_allclose(
        bowl.seen[-1], 1.0 - 1.0 / curvature / 2.0 ** (asked - 1), atol=1e-12
    )


def test_newton_ends_where_thirty_halvings_lower_nothing():
    bowl = Bowl(2.0**-33)
    found = newton(bowl, np.ones(1), gap=1e-3)
    assert len(bowl.seen) == 31 and found.values == (1.5,) and not found.converged


def test_directions_that_are_rounding_noise_are_left_alone():
    """Eigenvalues of a ten-trillionth of the largest count, smaller ones do not."""
    for apart, counts in ((1e-12, True), (1e-14, False)):
        matrix = np.array([[1.0, 1.0 - apart], [1.0 - apart, 1.0]])
        target = matrix @ np.array([3.0, 1.0])
        found = factored_step(lambda v: matrix @ v, target)
        np.testing.assert_allclose(matrix @ found, target, atol=1e-9)
        assert (np.abs(found - [3.0, 1.0]) < 0.05).all() == counts
        assert np.abs(found).max() < 4.5


@pytest.mark.parametrize("C", [1e-2, 1.0, 100.0])
def test_the_bundle_ends_at_the_least_value_and_its_bound_is_one(C, rng):
    f = Hinges(rng, C)
    least = f.dual()
    for gap in (1e-6, 0.05):
        found = bundle(f.risk, 5, C, gap)
        assert found.converged and found.value == pytest.approx(f(found.point), rel=1e-12)
        assert found.value <= least * (1.0 + gap * 1.01) + 1e-9
        assert found.value - found.gap <= least * (1.0 + 1e-7)
        assert (np.diff(found.values) <= 0.0).all()


def test_the_bundle_goes_a_tenth_of_the_way_to_the_least_of_the_planes():
    """The first plane of max(0, 1 - w) is itself, with w^2 / 2 least at 1."""
    asked = []

    def hinge(w: np.ndarray) -> tuple[float, np.ndarray]:
        asked.append(float(w[0]))
        return max(0.0, 1.0 - w[0]), np.array([-1.0 if w[0] < 1.0 else 0.0])

    found = bundle(hinge, 1, C=1.0, gap=1e-9, iterations=3)
    assert asked == pytest.approx([0.0, 0.1, 0.19], abs=1e-4) and len(found.values) == 3
    late = bundle(hinge, 1, 1.0, 1e-9, deadline=Deadline(0.0))
    assert late.late and len(late.values) == 2
    assert inspect.signature(bundle).parameters["iterations"].default == 1000


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e9])
def test_the_planes_least_value_is_bounded_as_nearly_as_is_asked(size, rng):
    """By a linear programme where |w|^2 hardly counts, and by the value at the point always."""
    slopes, heights = np.vstack([np.zeros(3), size * rng.normal(size=(9, 3))]), rng.random(10)
    heights[0] = 0.0
    for C in (0.1, 10.0):
        for precision in (1e-8, 0.5):
            bound, w = minimum_of_planes(slopes, heights, C, precision)
            value = w @ w / 2.0 + C * (heights + slopes @ w).max()
            assert bound <= value <= bound / (1.0 - precision) + 1e-12
    if size == 1e9:
        least = linprog([0, 0, 0, 1], np.hstack([slopes / size, -np.ones((10, 1))]), -heights,
                        bounds=[(None, None)] * 3 + [(0, None)])  # fmt: skip
        assert minimum_of_planes(slopes, heights, 1.0, 1e-8)[0] == pytest.approx(
            least.fun, rel=1e-6, abs=1e-9
        )
