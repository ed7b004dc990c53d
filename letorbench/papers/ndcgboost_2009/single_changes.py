"""OHSUMED's .50 at NDCG@3: what each single change of what the paper leaves open does to ours.

The changes stand in claims.toml, where they were written down before they were run. They change
the paper's own setting: a stump fitted to as many documents as there are, drawn with probability
proportional to abs(w), 100 rounds, the training part alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import product

import numpy as np

from letorbench.analysis.tables import Value
from letorbench.datasets.queryset import Fold, QuerySet
from letorbench.measures import parse, query_metrics
from letorbench.papers import paper
from letorbench.papers.paper import Found
from letorbench.papers.records import write_section
from letorbench.papers.runs import Study, kept, sampled
from letorbench.rankers.ndcgboost import NDCGBoost

NAME = "ndcgboost-2009"
BASE = "the paper's setting"


@dataclass(frozen=True)
class Change:
    """What is trained and how it is scored; `weak` to `sample` are the ranker's settings."""

    data: str = "OHSUMED"
    both_parts: bool = False
    weak: str = "stump"
    depth: int = 1
    criterion: str = "misclassification"
    stumps: str = "sample"
    sample: float | None = None
    half: bool = True
    convention: str = "auto"
    best_round: bool = False

    @property
    def trained(self) -> Change:
        """The change without what only scoring needs: scores are trained once for all of those."""
        return replace(self, convention=Change.convention, best_round=Change.best_round)


def scores(fold: Fold, change: Change, rng: np.random.Generator) -> np.ndarray:
    """(rounds, n_docs) scores of the test part after each round."""
    train = joined(fold.train, fold.validation) if change.both_parts else fold.train
    made = NDCGBoost(
        stumps=change.stumps, sample=change.sample, weak=change.weak, depth=change.depth,
        criterion=change.criterion,
    )  # fmt: skip
    boosted = made.booster(train, made.search(train, rng))
    F, test, found = np.zeros(train.n_docs), np.zeros(fold.test.n_docs), []
    for _ in range(NDCGBoost.rounds):
        term = boosted.choose(F, boosted.weigh(F)[0])
        if term is not None:
            alpha = term.alpha * (1.0 if change.half else 2.0)
            F = F + alpha * term.values
            test = test + alpha * term.learner.predict(fold.test.features)
        found.append(test)
    return np.array(found)


def joined(a: QuerySet, b: QuerySet) -> QuerySet:
    """The queries of both."""
    return QuerySet(
        np.concatenate([a.features, b.features]), np.concatenate([a.labels, b.labels]),
        np.concatenate([a.offsets, a.offsets[-1] + b.offsets[1:]]),
        np.concatenate([a.qids, b.qids]),
    )  # fmt: skip


def single_changes(study: Study) -> Found:
    """Train each change with each seed; write the table, and the sentence that it comes to."""
    part = paper(NAME).parts["single-changes"]
    changes = {BASE: Change()}
    for axis in part.axes.values():
        changes |= {name: Change(**each) for name, each in axis.items()}
    absent = [name for name, each in changes.items() if not study.has(each.data)]
    if BASE in absent:
        return Found()
    here = {name: each for name, each in changes.items() if name not in absent}
    stem, seeds = study.folder(NAME) / part.name, range(part.repeats)
    asked = {
        "changes": {name: asdict(each) for name, each in here.items()}, "seed": study.seed,
        "seeds": list(seeds),
        "data": [fold.test.digest for fold in study.benchmark(Change.data).folds],
    }  # fmt: skip
    make = partial(_means, study, here, part.measures[0], seeds)
    means = kept(stem.with_suffix(".json"), asked, make, "ndcgboost_2009/single_changes.py")
    found = {name: np.array([means[f"{name}, {seed}"] for seed in seeds]) for name in here}
    rows: list[list[Value]] = []
    for name, own in found.items():
        moved = sampled(own - found[BASE])
        shown = [float(each) for each in (own.mean(), own.std(ddof=1), own.max())]
        rows.append([name, *shown, moved.value, moved.low, moved.high])
    header = ["change", "mean", "deviation", "most", "difference", "low", "high"]
    told = sentence(found, **part.upper)
    files = write_section(stem, part.title, told, header, rows, folded=True)
    differs = (f"{part.title}: without {', '.join(absent)}, not at hand",) if absent else ()
    return Found(files=tuple(files), differs=differs)


def _means(
    study: Study, changes: Mapping[str, Change], measure: str, seeds: Sequence[int]
) -> dict[str, float]:
    """The mean over the folds of each change and seed, by `change, seed`."""
    asked = [parse(measure)]

    def one(training: tuple[Change, int]) -> dict[str, float]:
        trained, seed = training
        study.say(f"{trained.data}, seed {seed + 1}: {trained}")
        own = {name: each for name, each in changes.items() if each.trained == trained}
        found: dict[str, list[float]] = {f"{name}, {seed}": [] for name in own}
        for fold in study.benchmark(trained.data).folds:
            rng, test = np.random.default_rng([study.seed, seed, fold.number]), fold.test
            by_round = scores(fold, trained, rng)
            for means, each in zip(found.values(), own.values()):
                rules = study.benchmark(trained.data, each.convention).convention
                rounds = by_round if each.best_round else by_round[-1:]
                values = (query_metrics(test.labels, s, test.offsets, asked, rules) for s in rounds)
                means.append(max(float(each[~np.isnan(each)].mean()) for each in values))
        return {name: float(np.mean(means)) for name, means in found.items()}

    trainings = product(dict.fromkeys(each.trained for each in changes.values()), seeds)
    with ThreadPoolExecutor(study.jobs) as pool:
        return {name: mean for each in pool.map(one, trainings) for name, mean in each.items()}


def sentence(found: Mapping[str, np.ndarray], printed: float, half: float, moves: float) -> str:
    """What the table comes to: which changes move the mean, and which reach the printed number."""
    base = found[BASE].mean()
    moved = {name: each.mean() - base for name, each in found.items() if name != BASE}
    far = [f"{name} ({move:+.3f})" for name, move in moved.items() if abs(move) >= moves]
    reach = [name for name, each in found.items() if sampled(each).high >= printed - half]
    return (
        f"Of {len(moved)} single changes {len(far) or 'none'} move{'s' * (len(far) == 1)} the mean "
        f"of {base:.3f} by {moves:g} or more{': ' * bool(far)}{', '.join(far)}; the printed "
        f"{printed:.2f} is within reach of {', '.join(reach) or 'none'}."
    )
