"""What the consistency paper leaves open, as a specification curve, and the optima beside.

"We used the MATLAB implementation of gradient descent without any parameter tuning": neither its
steps nor their number is told, and whether it reached the minimum; nor which tool measured NDCG.
The curve shows what dividing by Z changes in NDCG@10, for every surrogate and Z.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import Fold
from letorbench.experiment.plan import ranker_identity
from letorbench.measures import parse, query_metrics
from letorbench.models.linear import LinearFamily
from letorbench.papers import checks, judge
from letorbench.papers.claims import Claim
from letorbench.papers.paper import Findings
from letorbench.papers.records import write_table
from letorbench.papers.runs import Study
from letorbench.papers.specification import (
    Specification,
    measured_once,
    share_above,
    specification_figure,
    specification_tables,
)
from letorbench.rankers import ranker
from letorbench.solvers.descent import LBFGS, LineSearch, Solver

NAME = "consistency-2011"
PART = "specification"
PLACES = ("OHSUMED", "MQ2008")
SURROGATES = ("cosine", "least-squares", "cross-entropy")
IDEALS = {"Z@1": "-ndcg@1", "Z@10": "-ndcg@10", "Z": "-ndcg"}
METHODS = tuple(f"{name}{ending}" for name in SURROGATES for ending in ("", *IDEALS.values()))
#: gradient descent with so many steps, and the minimum
STEPS = {"50": 50, "200": 200, "500": 500}
OPTIMUM, MOST = "optimum", 2_000
#: whose NDCG: the textbook's, or the data set's own tool's
TOOLS = ("standard", "own tool")
OURS = {"data": "OHSUMED", "surrogate": "cross-entropy", "norm": "Z", "steps": "500",
        "NDCG": "standard"}  # fmt: skip

CLAIMS = (
    Claim(
        NAME, "largely-improves", PART, "making surrogates NDCG consistent largely improves them, "
        "whatever is left open", " and ".join(PLACES), "value", "share of the specifications "
        "(surrogate, Z, steps, NDCG's tool, data) in which NDCG@10 rises", 0.5, 0.0, "at least",
        check=checks.number("improves"),
    ),
)  # fmt: skip


def specification(study: Study) -> Findings:
    """The change of NDCG@10 over all that is left open, and every method's optimum."""
    here = [place for place in PLACES if study.has(place)]
    if not here:
        return Findings(tuple(judge.no_data(c, study.missing(PLACES[0])) for c in CLAIMS))
    levels = _measured(study, here)
    found = list(changes(levels))
    stem = study.folder(NAME) / PART
    title = "relative change of NDCG@10"
    files = specification_tables(found, title, stem)
    ours = {**OURS, "data": here[0]}
    files += specification_figure(found, title, 0.0, ours, stem, "no change")
    files += write_table(
        stem.with_name("optimum"), "NDCG@10 after 500 steps and at the optimum",
        ["data", "method", "500 steps", "optimum", "difference"], optima(levels),
    )  # fmt: skip
    apart = max(abs(float(row[-1])) for row in optima(levels))
    differs = (f"500 steps and the optimum are at most {apart:.4f} of NDCG@10 apart",)
    numbers = {"improves": share_above(found)}
    return Findings(tuple(claim.judge(numbers) for claim in CLAIMS), tuple(files), differs)


def changes(levels: Sequence[Specification]) -> list[Specification]:
    """What a consistent version changes against its original, all else being equal."""
    by = {tuple(each.settings.values()): each.value for each in levels}
    found = []
    for each in levels:
        data, method, steps, tool = each.settings.values()
        for surrogate in SURROGATES:
            for ideal, ending in IDEALS.items():
                if method == surrogate + ending:
                    before = by[data, surrogate, steps, tool]
                    settings = {"data": data, "surrogate": surrogate, "norm": ideal,
                                "steps": steps, "NDCG": tool}  # fmt: skip
                    found.append(Specification(settings, each.value / before - 1.0))
    return found


def optima(levels: Sequence[Specification]) -> list[list[object]]:
    """A row for each data set and method: NDCG@10 after 500 steps, at the optimum, difference."""
    by = {tuple(each.settings.values()): each.value for each in levels}
    rows: list[list[object]] = []
    for data, method, steps, tool in by:
        if (steps, tool) == (OPTIMUM, TOOLS[0]):
            at, best = by[data, method, "500", tool], by[data, method, steps, tool]
            rows.append([data, method, at, best, best - at])
    return rows


def _measured(study: Study, here: Sequence[str]) -> list[Specification]:
    """NDCG@10 of every method, number of steps and tool, measured once and kept."""
    asked = {
        "data": list(here), "methods": METHODS, "steps": STEPS, "most": MOST, "tools": TOOLS,
        "ranker": ranker_identity(ranker("cosine"), {}),
    }  # fmt: skip

    def measure() -> list[Specification]:
        study.say(f"{NAME}: {len(METHODS)} methods by steps")

        def one(each: tuple[str, str]) -> list[Specification]:
            data, method = each
            benchmark = study.benchmark(data)
            folds = [_levels(fold, method, benchmark.convention.name) for fold in benchmark.folds]
            named = [(steps, tool) for steps in (*STEPS, OPTIMUM) for tool in TOOLS]
            return [
                Specification({"data": data, "method": method, "steps": s, "NDCG": t}, float(mean))
                for (s, t), mean in zip(named, np.mean(folds, axis=0))
            ]

        with ThreadPoolExecutor(study.jobs) as pool:
            asked_for = [(data, method) for data in here for method in METHODS]
            return [found for several in pool.map(one, asked_for) for found in several]

    return measured_once(study.folder(NAME) / f"{PART}.json", asked, measure)


def _levels(fold: Fold, method: str, own: str) -> list[float]:
    """The test NDCG@10 by steps, then at the optimum, and of each by both tools."""
    family = LinearFamily.conditioned(fold.train.features, intercept=True)
    solvers: list[Solver] = [LineSearch(steps) for steps in STEPS.values()]
    solvers.append(LBFGS(0.0, MOST))
    rules = [CONVENTIONS[TOOLS[0]], CONVENTIONS[own]]
    found = []
    cls: Any = ranker(method)
    surrogate = cls.surrogate
    for solver in solvers:
        rng = np.random.default_rng(0)  # nothing is drawn: the weights start at zero
        model = solver.fit(family, surrogate, fold.train, None, rng).model
        scores, test = model.predict(fold.test.features), fold.test
        for rule in rules:
            rule = replace(rule, max_label=int(test.labels.max(initial=0)))
            values = query_metrics(test.labels, scores, test.offsets, [parse("ndcg@10")], rule)
            found.append(float(values.mean()))
    return found
