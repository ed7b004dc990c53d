"""Burges, Ragno, Le, "Learning to Rank with Nonsmooth Cost Functions", NIPS 2006.

Section 4, equation 5, here: a cost exists where the Jacobian J_jk = d lambda_j / d s_k is symmetric
everywhere, and it is convex where -J (lambda being minus the cost's gradient) is positive
semidefinite. Between two orders of the scores the lambdas of an NDCG-weighted function jump, which
no derivative at a point shows: the work done along a closed path through several orders does, since
a cost's gradient does none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from letorbench.losses.lambdas import Lambda
from letorbench.papers import paper
from letorbench.papers.lambdarank_2006 import artificial_data, timing
from letorbench.papers.lambdarank_2006.timing import NAME
from letorbench.papers.paper import PartResult
from letorbench.papers.problems import labelled
from letorbench.papers.records import write_section
from letorbench.papers.runs import Context, Method, exactly

#: documents of section 3's example, of which two are relevant
N = 100
STEP = 1e-5
#: the most asymmetry, or work, that rounding and the step cause; the paper's function
ROUNDING, EQUATION_9 = 1e-4, "ranknet-ndcg, all"


class Diagnosis(NamedTuple):
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


def _trial(function: Lambda, rng: np.random.Generator, n: int) -> Diagnosis:
    labels = rng.permutation(np.arange(n) % 5)
    queries = labelled(labels[None])
    # far enough apart that no step of a difference changes the order
    scores = rng.permutation(np.cumsum(rng.uniform(0.05, 0.5, n)))
    # d lambda_j / d s_k by central differences, within one order of the scores
    moves = STEP * np.eye(n)
    moved = [function(scores + m, queries) - function(scores - m, queries) for m in moves]
    matrix = np.array(moved).T / (2.0 * STEP)
    size = float(np.abs(matrix).max())
    eigenvalues = np.linalg.eigvalsh(-0.5 * (matrix + matrix.T))
    largest = float(np.abs(eigenvalues).max())
    force = function(scores, queries)
    return Diagnosis(
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


def pairwise_errors(ranks: tuple[int, ...]) -> int:
    """Irrelevant documents above relevant ones, whose ranks are given."""
    return sum(rank - 1 - sum(other < rank for other in ranks) for rank in ranks)


def functions() -> list[Method]:
    """Every lambda function, of all pairs and of those of neighbours."""
    return [each for each in paper(NAME).methods.values() if each.table == "lambdas"]


def forces(context: Context) -> PartResult:
    """Section 4: of which lambda functions is there a cost? Section 3: its example."""
    found = {}
    for each in functions():
        settings = {key: value for key, value in each.settings.items() if key != "layers"}
        rng = np.random.default_rng(context.seed)
        found[each.label] = diagnose(Lambda(**settings), rng)  # type: ignore[arg-type]
    rows = [[*label.split(", "), *of] for label, of in found.items()]
    header = ["lambda", "pairs", "asymmetry", "lowest eigenvalue", "circulation", "sum"]
    costs = [each for each, of in found.items() if max(of.asymmetry, of.circulation) < ROUNDING]
    paper_own = found[EQUATION_9]
    text = (
        "A lambda function has a cost if its Jacobian is symmetric and no closed path does work. "
        f"Of the {len(rows)} functions these have one: {', '.join(costs) or 'none'} (of all pairs, "
        "or of neighbours). Equation (9) has none: within one order of the scores its Jacobian is "
        f"symmetric to {paper_own.asymmetry:.0e}, but on a closed path through several orders "
        f"{paper_own.circulation:.2g} of the work along it is left."
    )
    title = "Which lambda functions have a cost"
    files = write_section(context.folder(NAME) / "jacobian", title, text, header, rows)
    fall = float(pairwise_errors((1, N)) - pairwise_errors((2, 3)))
    return PartResult(numbers={"pairwise-errors-fall": exactly(fall)}, files=tuple(files))


def lambdas(context: Context) -> PartResult:
    """Section 6.2: ten lambda functions of ours on one draw of the artificial data, for view."""
    found = artificial_data.runs(context, context.folder(NAME) / "lambdas", 1, functions())
    shown = ("validation", "ndcg@1", "ndcg@10")
    rows = [[*label.split(", "), *(of[each] for each in shown)] for label, of in found.items()]
    header = ["lambda", "pairs", "validation NDCG@10", "test NDCG@1", "test NDCG@10"]
    title = "Section 6.2: ten lambda functions of ours, generated data"
    text = "Each trains a linear net on one draw; the paper does not print its own ten functions."
    stem = context.folder(NAME) / "lambdas"
    return PartResult(files=tuple(write_section(stem, title, text, header, rows)))


PARTS = {
    "figure-1": timing.timing,
    "figure-2": artificial_data.figure,
    "jacobian": forces,
    "lambdas": lambdas,
}
