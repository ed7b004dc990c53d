"""f1 = sigma(A y)' B z and f2 = -|A y - B z|^2 / tau (the functionals paper, equations 2, 3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.kernels import bags
from letorbench.models import Separate
from letorbench.models.functional import Functional
from letorbench.models.separate import embedded, sigmoid
from letorbench.threads import in_threads


@dataclass(frozen=True, eq=False)
class SeparateFunctional(Functional):
    """theta = A (n1, d), then B (n2, d), both row by row.

    tau: 0 for f1, above 0 for f2.
    """

    n1: int
    n2: int
    d: int
    tau: float

    @property
    def n_parameters(self) -> int:
        return (self.n1 + self.n2) * self.d

    def start(self, rng: np.random.Generator) -> np.ndarray:
        """Uniform within 1 / sqrt(inputs): at zero no parameter has a gradient."""
        bound = np.repeat([self.n1**-0.5, self.n2**-0.5], [self.n1 * self.d, self.n2 * self.d])
        return bound * rng.uniform(-1.0, 1.0, self.n_parameters)

    def model(self, theta: np.ndarray) -> Separate:
        A, B = np.split(theta, [self.n1 * self.d])
        return Separate(A.reshape(self.n1, self.d), B.reshape(self.n2, self.d), self.tau)

    def pull_back(
        self, theta: np.ndarray, features: np.ndarray, gradient: np.ndarray
    ) -> np.ndarray:
        at = self.model(theta)
        a, b = embedded(features, 0, at.A), embedded(features, self.n1, at.B)
        g = gradient[:, None]
        if self.tau == 0.0:
            share = sigmoid(a)
            pull_a, pull_b = g * b * share * (1.0 - share), g * share
        else:
            pull_b = 2.0 / self.tau * g * (a - b)
            pull_a = -pull_b
        A = _collected(features, 0, self.n1, np.ascontiguousarray(pull_a))
        B = _collected(features, self.n1, self.n2, np.ascontiguousarray(pull_b))
        return np.concatenate([A.ravel(), B.ravel()])


def _collected(features: np.ndarray, column: int, n: int, pulls: np.ndarray) -> np.ndarray:
    """(n, d) sum over documents of their columns from `column` on times their pulls (d,)."""
    sums = np.empty((n, pulls.shape[1]))

    def part(first: int, last: int) -> None:
        bags.collect(features, column, pulls, first, last, sums)

    in_threads(part, n, least=16)
    return sums
