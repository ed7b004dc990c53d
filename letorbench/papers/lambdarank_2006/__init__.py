"""Burges, Ragno, Le, "Learning to Rank with Nonsmooth Cost Functions", NIPS 2006."""

from __future__ import annotations

from dataclasses import astuple
from itertools import product

import numpy as np

from letorbench.analysis.tables import write_table
from letorbench.losses.lambdas import LAMBDAS, Lambda
from letorbench.papers.lambdarank_2006 import artificial_data, poincare, timing
from letorbench.papers.lambdarank_2006.timing import NAME
from letorbench.papers.paper import Found
from letorbench.papers.runs import Study, Variant, exactly

#: documents of section 3's example, of which two are relevant
N = 100
#: the margin of the functions that have one
MARGINS = {"ndcg-difference": 0.1, "step": 0.1, "spring": 0.1}


def pairwise_errors(ranks: tuple[int, ...]) -> int:
    """Irrelevant documents above relevant ones, whose ranks are given."""
    return sum(rank - 1 - sum(other < rank for other in ranks) for rank in ranks)


def forces(study: Study) -> Found:
    """Section 4: of which lambda functions is there a cost? Section 3: its example."""
    rows: list[list[object]] = []
    for name, neighbours in product(LAMBDAS, (False, True)):
        chosen = Lambda(name, neighbours, MARGINS.get(name, 0.0))
        found = poincare.diagnose(chosen, np.random.default_rng(study.seed))
        rows.append([name, "neighbours" if neighbours else "all", *astuple(found)])
    header = ["lambda", "pairs", "asymmetry", "lowest eigenvalue", "circulation", "sum"]
    title = "Section 4: a cost exists where the Jacobian is symmetric and no closed path does work"
    files = write_table(study.folder(NAME) / "jacobian", title, header, rows)
    before, after = (1, N), (2, 3)
    fall = float(pairwise_errors(before) - pairwise_errors(after))
    return Found(numbers={"pairwise-errors-fall": exactly(fall)}, files=files)


def lambdas(study: Study) -> Found:
    """Section 6.2: ten lambda functions of ours on one draw of the artificial data, for view."""
    variants = [
        Variant(
            f"{name}, {'neighbours' if neighbours else 'all'}", "lambdarank",
            {"layers": 1, "function": name, "neighbours": neighbours,
             "margin": MARGINS.get(name, 0.0)},
        )
        for name, neighbours in product(LAMBDAS, (False, True))
    ]  # fmt: skip
    folder = study.folder(NAME) / "lambdas"
    measures = ("ndcg@1", "ndcg@10")
    found = artificial_data.runs(study, folder, artificial_data.made(study, 1), variants, measures)
    rows = [
        [*label.split(", "), artificial_data.validated(folder, label), *map(values.mean, measures)]
        for label, values in found.items()
    ]
    header = ["lambda", "pairs", "validation NDCG@10", "test NDCG@1", "test NDCG@10"]
    title = "Section 6.2: ten lambda functions of ours, generated data"
    return Found(files=write_table(study.folder(NAME) / "lambdas", title, header, rows))


PARTS = {
    "figure-1": timing.timing,
    "figure-2": artificial_data.figure,
    "jacobian": forces,
    "lambdas": lambdas,
}
