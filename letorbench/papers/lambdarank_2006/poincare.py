"""Is a lambda function the gradient of a cost? The Poincaré lemma as a numerical test.

Burges, Ragno, Le, NIPS 2006, section 4, equation 5: a cost exists where the Jacobian
J_jk = d lambda_j / d s_k is symmetric everywhere, and it is convex where -J (lambda being minus
the cost's gradient) is positive semidefinite. Between two orders of the scores the lambdas of
an NDCG-weighted function jump, which no derivative at a point shows: the work done along a
closed path through several orders does, since a cost's gradient does none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.losses.lambdas import Lambda
from letorbench.papers.surrogates import labelled

STEP = 1e-5


@dataclass(frozen=True)
class Diagnosis:
    """Of one lambda function on random scores, the worst found.

    asymmetry:   largest |J - J^T| over the largest |J|; 0 where J is zero.
    lowest:      smallest eigenvalue of -(J + J^T)/2 over the largest |eigenvalue|.
    circulation: |work around a closed path| over the work's absolute sum along it.
    net:         largest |sum of the lambdas| over their largest size.
    """

    asymmetry: float
    lowest: float
    circulation: float
    net: float


def diagnose(
    function: Lambda, rng: np.random.Generator, documents: int = 8, trials: int = 20
) -> Diagnosis:
    """Test the function on random queries with labels 0..4 at random scores."""
    found = [_trial(function, rng, documents) for _ in range(trials)]
    asymmetry, lowest, circulation, net = zip(*found)
    return Diagnosis(max(asymmetry), min(lowest), max(circulation), max(net))


def jacobian(function: Lambda, scores: np.ndarray, queries: QuerySet) -> np.ndarray:
    """(n, n) d lambda_j / d s_k by central differences, within one order of the scores."""
    columns = []
    for k in range(len(scores)):
        shift = np.zeros(len(scores))
        shift[k] = STEP
        moved = function(scores + shift, queries) - function(scores - shift, queries)
        columns.append(moved / (2.0 * STEP))
    return np.array(columns).T


def _trial(function: Lambda, rng: np.random.Generator, n: int) -> tuple[float, float, float, float]:
    labels = rng.permutation(np.arange(n) % 5)
    queries = labelled(labels[None])
    # far enough apart that no step of a difference changes the order
    scores = rng.permutation(np.cumsum(rng.uniform(0.05, 0.5, n)))
    matrix = jacobian(function, scores, queries)
    size = float(np.abs(matrix).max())
    eigenvalues = np.linalg.eigvalsh(-0.5 * (matrix + matrix.T))
    largest = float(np.abs(eigenvalues).max())
    force = function(scores, queries)
    return (
        float(np.abs(matrix - matrix.T).max()) / size if size > 0.0 else 0.0,
        float(eigenvalues.min()) / largest if largest > 0.0 else 0.0,
        _circulation(function, scores, labels, rng),
        float(abs(force.sum()) / max(np.abs(force).max(), 1e-300)),
    )


def _circulation(
    function: Lambda, center: np.ndarray, labels: np.ndarray, rng: np.random.Generator
) -> float:
    """Around an ellipse in a random plane, the midpoint rule in 4,000 steps."""
    across, along = rng.normal(size=(2, len(center)))
    turn = np.linspace(0.0, 2.0 * np.pi, 4_001)
    path = center + np.outer(np.cos(turn), across) + np.outer(np.sin(turn), along)
    steps = np.diff(path, axis=0)
    points = (path[:-1] + path[1:]) / 2.0
    queries = labelled(np.tile(labels, (len(points), 1)))
    forces = function(points.ravel(), queries).reshape(points.shape)
    work = np.einsum("ij,ij->i", forces, steps)
    return float(abs(work.sum()) / max(np.abs(work).sum(), 1e-300))
