"""Burges, Ragno, Le, "Learning to Rank with Nonsmooth Cost Functions", NIPS 2006.

Section 4: a cost exists where the Jacobian J_jk = d lambda_j / d s_k is symmetric everywhere
(equation 5), and it is convex where -J is positive semidefinite. Between two orders of the scores
NDCG-weighted lambdas jump, which no derivative at a point shows: the work along a closed path
through several orders does, since a cost's gradient does none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from letorbench.losses.lambdas import Lambda
from letorbench.papers import paper
from letorbench.papers.lambdarank_2006 import artificial_data, figure_1
from letorbench.papers.lambdarank_2006.figure_1 import NAME
from letorbench.papers.paper import PartResult
from letorbench.papers.problems import labelled
from letorbench.papers.records import write_section
from letorbench.papers.runs import Context, Method, exactly

#: documents of section 4's example, of which two are relevant
N = 100
#: of differences; and what a quotient of zeros is divided by
STEP, TINY = 1e-5, 1e-300
#: the most asymmetry, or work, that rounding and the step cause; the paper's function
ROUNDING, EQUATION_9 = 1e-4, "ranknet-ndcg, all"


class Diagnosis(NamedTuple):
    """Of one lambda function on random scores, the worst found."""

    #: the largest |J - J^T| over the largest |J|
    asymmetry: float
    #: the smallest eigenvalue of -(J + J^T)/2 over the largest |eigenvalue|
    lowest: float
    #: |work around a closed path| over the work's absolute sum along it
    circulation: float
    #: the largest |sum of the lambdas| over their largest size
    net: float


def diagnose(
    function: Lambda, rng: np.random.Generator, documents: int = 8, trials: int = 20
) -> Diagnosis:
    """Test the function on random queries with labels 0..4 at random scores."""
    diagnoses = []
    for _ in range(trials):
        labels = rng.permutation(np.arange(documents) % 5)
        queries = labelled(labels[None])
        # far enough apart that no step of a difference changes the order
        scores = rng.permutation(np.cumsum(rng.uniform(0.05, 0.5, documents)))
        # d lambda_j / d s_k by central differences, within one order of the scores
        moves = STEP * np.eye(documents)
        moved = [function(scores + m, queries) - function(scores - m, queries) for m in moves]
        J = np.array(moved).T / (2.0 * STEP)
        eigenvalues = np.linalg.eigvalsh(-0.5 * (J + J.T))
        # around an ellipse in a random plane, the midpoint rule in 4,000 steps
        across, along = rng.normal(size=(2, documents))
        turn = np.linspace(0.0, 2.0 * np.pi, 4_001)
        path = scores + np.outer(np.cos(turn), across) + np.outer(np.sin(turn), along)
        points = (path[:-1] + path[1:]) / 2.0
        forces = function(points.ravel(), labelled(np.tile(labels, (len(points), 1))))
        work = np.einsum("ij,ij->i", forces.reshape(points.shape), np.diff(path, axis=0))
        force = function(scores, queries)
        diagnoses.append(
            (
                np.abs(J - J.T).max() / max(np.abs(J).max(), TINY),
                eigenvalues.min() / max(np.abs(eigenvalues).max(), TINY),
                abs(work.sum()) / max(np.abs(work).sum(), TINY),
                abs(force.sum()) / max(np.abs(force).max(), TINY),
            )
        )
    asymmetry, lowest, circulation, net = np.transpose(diagnoses) + 0.0  # no -0.0
    return Diagnosis(*map(float, (max(asymmetry), min(lowest), max(circulation), max(net))))


def pairwise_errors(ranks: tuple[int, ...]) -> int:
    """Irrelevant documents above relevant ones, whose ranks are given."""
    return sum(rank - 1 - sum(other < rank for other in ranks) for rank in ranks)


def functions() -> list[Method]:
    """Every lambda function, of all pairs and of those of neighbours."""
    return [each for each in paper(NAME).methods.values() if each.table == "lambdas"]


def forces(context: Context) -> PartResult:
    """Section 4: its example, and which lambda functions have a cost."""
    diagnoses = {}
    for each in functions():
        settings = {key: value for key, value in each.settings.items() if key != "layers"}
        rng = np.random.default_rng(context.seed)
        diagnoses[each.label] = diagnose(Lambda(**settings), rng)  # type: ignore[arg-type]
    rows = [[*label.split(", "), *diagnosis] for label, diagnosis in diagnoses.items()]
    header = ["lambda", "pairs", "asymmetry", "lowest eigenvalue", "circulation", "sum"]
    costs = [
        label for label, diagnosis in diagnoses.items()
        if max(diagnosis.asymmetry, diagnosis.circulation) < ROUNDING
    ]  # fmt: skip
    paper_own = diagnoses[EQUATION_9]
    text = (
        "A lambda function has a cost if its Jacobian is symmetric and no closed path does work. "
        f"The {len(rows)} functions are five forces, each between all pairs and between "
        f"neighbours. These have a cost: {'; '.join(costs) or 'none'}. Equation (9), {EQUATION_9}, "
        f"has none: within one order of the scores its Jacobian is symmetric to "
        f"{paper_own.asymmetry:.0e}, but on a closed path through several orders "
        f"{paper_own.circulation:.2g} of the work along it is left."
    )
    title = "Which lambda functions have a cost"
    files = write_section(context.folder(NAME) / "jacobian", title, text, header, rows)
    fall = float(pairwise_errors((1, N)) - pairwise_errors((2, 3)))
    return PartResult(numbers={"pairwise-errors-fall": exactly(fall)}, files=tuple(files))


def lambdas(context: Context) -> PartResult:
    """Section 6.2: ten lambda functions of ours on one draw of the artificial data, for view."""
    runs = artificial_data.runs(context, context.folder(NAME) / "lambdas", 1, functions())
    shown = ("validation", "ndcg@1", "ndcg@10")
    rows = [
        [*label.split(", "), *(values[each] for each in shown)] for label, values in runs.items()
    ]
    header = ["lambda", "pairs", "validation NDCG@10", "test NDCG@1", "test NDCG@10"]
    title = "Section 6.2: ten lambda functions of ours, generated data"
    text = "Each trains a linear net on one draw; the paper does not print its own ten functions."
    stem = context.folder(NAME) / "lambdas"
    return PartResult(files=tuple(write_section(stem, title, text, header, rows)))


PARTS = {
    "figure-1": figure_1.figure,
    "figure-2": artificial_data.figure,
    "jacobian": forces,
    "lambdas": lambdas,
}
