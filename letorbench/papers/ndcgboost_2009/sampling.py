"""How NDCG Boost draws the documents of a weak classifier: each way and size, on two data sets.

The paper draws documents by abs(w) and says neither how many nor whether with replacement. Here
each fold is trained with each seed. What the default's grid and its size were chosen by are the
validation columns alone; the test columns stand beside them.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from letorbench.analysis.tables import Value
from letorbench.datasets.queryset import Fold, QuerySet
from letorbench.measures import parse, query_metrics
from letorbench.papers import paper
from letorbench.papers.paper import Found
from letorbench.papers.records import write_section
from letorbench.papers.runs import Study, kept, sampled
from letorbench.rankers.ndcgboost import HALF, NDCGBoost

OWN = "ndcgboost_2009/sampling.py"
EXACT, AVERAGE = "exact", f"average, {HALF:g}"
#: the paper's, as far as it tells
PAPERS = "sample, as many as there are"
#: what both parts are measured by; what validation chooses by is the last
MEASURES = ("ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10")


def sampling(study: Study) -> Found:
    """Train every setting of the part; write the table, and what it comes to."""
    part = paper("ndcgboost-2009").parts["sampling"]
    stem, first = study.folder("ndcgboost-2009") / part.name, part.upper["first_seed"]
    rows: list[list[Value]] = []
    told: list[str] = []
    for dataset in filter(study.has, part.data):
        asked = {
            "settings": part.axes["stumps"], "seeds": [first, first + part.repeats],
            "seed": study.seed, "data": study.benchmark(dataset).provenance["digest"],
        }  # fmt: skip
        path = stem.with_name(f"{part.name}-{dataset}.json")
        made = kept(path, asked, partial(_numbers, study, dataset, asked), OWN)
        found = {name: np.array(each) for name, each in made.items()}
        for name, each in found.items():
            spread = float(each[:, :, 5].mean(axis=1).std(ddof=1)) if len(each) > 1 else 0.0
            rows.append([dataset, name, *each.mean(axis=(0, 1)).tolist(), spread])
        if dataset == part.upper["on"]:
            told.append(_gap(dataset, found, part.upper["printed"]))
        told.append(_sentence(dataset, found))
    if not rows:
        return Found()
    header = ["data", "stumps, sample", *(f"validation {m.upper()}" for m in MEASURES)]
    header += [*(f"test {m.upper()}" for m in MEASURES), "validation NDCG@10 over ties"]
    header += ["test NDCG@3, relevant first in ties", "tied", "deviation of test NDCG@3"]
    return Found(files=tuple(write_section(stem, part.title, " ".join(told), header, rows)))


def _numbers(study: Study, dataset: str, asked: Mapping[str, Any]) -> dict[str, list]:
    """(n_seeds, n_folds, 11) of each setting: `MEASURES` of both parts, and three of the ties."""
    benchmark = study.benchmark(dataset)
    rules = {way: replace(benchmark.convention, ties=way) for way in ("file", "mean", "best")}
    rules["file"] = benchmark.convention

    def one(fold: Fold, settings: Mapping[str, Any], seed: int) -> list[float]:
        ranker, rng = NDCGBoost(**settings), np.random.default_rng([study.seed, seed, fold.number])
        ranker.fit_sets(fold.train, None, rng)
        validation, test = ((p, ranker.predict(p)) for p in (fold.validation, fold.test))
        found = [
            float(np.nanmean(query_metrics(p.labels, s, p.offsets, [parse(m)], rules[ties])))
            for (p, s), ties, measures in (
                (validation, "file", MEASURES), (test, "file", MEASURES),
                (validation, "mean", MEASURES[-1:]), (test, "best", MEASURES[1:2]),
            )
            for m in measures
        ]  # fmt: skip
        return [*found, tied(*validation)]

    made = {}
    for name, settings in asked["settings"].items():
        study.say(f"{dataset}: stumps {name}")
        first, last = asked["seeds"]
        seeds = range(first, last if NDCGBoost(**settings).draws else first + 1)
        cells = list(product(seeds, benchmark.folds))
        with ThreadPoolExecutor(study.jobs) as pool:
            every = pool.map(lambda cell: one(cell[1], settings, cell[0]), cells)  # noqa: B023
        made[name] = np.reshape(list(every), (len(seeds), len(benchmark.folds), 11)).tolist()
    return made


def tied(queries: QuerySet, scores: np.ndarray) -> float:
    """The share of documents whose score another document of their query has."""
    query = np.repeat(np.arange(queries.n_queries), queries.lengths)
    _, each, count = np.unique(
        np.column_stack([query, scores]), axis=0, return_inverse=True, return_counts=True
    )
    return float((count[each.ravel()] > 1).mean())


def _gap(dataset: str, found: Mapping[str, np.ndarray], printed: float) -> str:
    """How far the paper's own sample is from the printed NDCG@3, and the best way of drawing."""
    of = {name: each[:, :, 5].mean(axis=1) for name, each in found.items() if len(each) > 1}
    base, best = of[PAPERS], max(of, key=lambda name: of[name].mean())
    most, gained = sampled(of[best]), sampled(of[best] - base)
    share = 100.0 * gained.value / (printed - base.mean())
    return (
        f"Drawn as the paper may have meant it, as many documents as there are and with "
        f"replacement, NDCG Boost has {base.mean():.3f} at NDCG@3 on {dataset}'s test parts; drawn "
        f"{best} times the effective number it has {most.value:.3f} [{most.low:.3f}, "
        f"{most.high:.3f}], {gained.value:+.3f} [{gained.low:+.3f}, {gained.high:+.3f}], which is "
        f"{share:.0f} % of the way to the printed {printed:.2f}; with the relevant first in every "
        f"tie {found[best][:, :, 9].mean():.3f}."
    )


def _sentence(dataset: str, found: Mapping[str, np.ndarray]) -> str:
    """What the default chooses on each fold, and what that gives on the test parts."""
    exact, average = found[EXACT][0], found[AVERAGE][0]
    better = average[:, 3] >= exact[:, 3]
    chosen = np.where(better[:, None], average, exact).mean(axis=0)
    before = exact.mean(axis=0)
    return (
        f"On {dataset} the default takes the average of samples on {better.sum()} of "
        f"{len(better)} folds, by validation: test NDCG@3 {chosen[5]:.4f} and NDCG@10 "
        f"{chosen[7]:.4f}, where exact stumps have {before[5]:.4f} and {before[7]:.4f}."
    )
