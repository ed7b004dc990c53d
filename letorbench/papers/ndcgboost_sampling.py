"""What NDCG Boost's paper leaves open, as a specification curve.

The paper draws documents and fits the weak classifier to them, but says neither how many nor how
often the whole was repeated, nor which classifiers were tried; it does not say at which rank its
normaliser Z ends, whether validation chose a number of rounds, and what equal scores count. Every
combination of these is run; the printed number is drawn into the distribution.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from letorbench.conventions import Convention
from letorbench.datasets.queryset import QuerySet
from letorbench.experiment.plan import ranker_identity
from letorbench.measures import parse
from letorbench.models.stumps import StumpEnsemble
from letorbench.papers import checks
from letorbench.papers.claims import Claim, Measured
from letorbench.papers.paper import Findings
from letorbench.papers.records import write_table
from letorbench.papers.runs import Study
from letorbench.papers.specification import (
    Specification,
    by_level,
    measured_once,
    span,
    specification_figure,
)
from letorbench.rankers.ndcgboost import NDCGBoost
from letorbench.solvers.stopping import Validation

NAME = "ndcgboost-2009"
PART = "sampling"
DATASET, MEASURE, PRINTED = "OHSUMED", "ndcg@3", 0.50
SEEDS = 20
#: seeds of settings that are not the ones of the whole list's Z
FEWER_SEEDS = 5
#: the weak learner: the stump of the largest eta over all thresholds or a few of them, or the
#: stump that classifies a sample of so many documents best, "all" for as many as there are
EXACT = {"every threshold": {}, "50 thresholds": {"bins": 50}, "10 thresholds": {"bins": 10}}
SAMPLED = {
    f"sample of {size}": {"stumps": "sample", "sample": None if size == "all" else int(size)}
    for size in ("50", "200", "1000", "3000", "all")
}
#: where Z ends
IDEALS = {"whole list": 0, "first 10": 10}
#: how many rounds are kept: the paper's 100, or what validation chooses
SELECTIONS = {"100": "", "by NDCG@10": "ndcg@10", "by MAP": "map"}
TIES = ("file order", "mean of orders")
OURS = {"weak learner": "every threshold", "Z": "whole list", "rounds": "100",
        "ties": "file order", "seed": "0"}  # fmt: skip

CLAIMS = (
    Claim(
        NAME, "ohsumed-value-anywhere", PART, "ndcgboost reaches an NDCG@3 of 0.5 on OHSUMED, "
        "with some setting of what the paper leaves open", DATASET, "value",
        "the range of NDCG@3 over weak learners, seeds, Z, rounds and ties", PRINTED, 0.005,
        check=checks.number("range"),
    ),
    Claim(
        NAME, "ohsumed-value-sampled", PART, "ndcgboost reaches an NDCG@3 of 0.5 on OHSUMED, with "
        "samples as large as the training set", DATASET, "value",
        "the 95 % interval of NDCG@3 over seeds", PRINTED, 0.005, check=checks.number("whole"),
    ),
)  # fmt: skip


def sampling(study: Study) -> Findings:
    """NDCG@3 over all that is left open, with the printed number marked."""
    if not study.has(DATASET):
        return Findings(checks.on_datasets(CLAIMS, {}, study))
    found = _measured(study)
    stem = study.folder(NAME) / PART
    choices = list(OURS)
    rows = [[*(each.settings[choice] for choice in choices), each.value] for each in found]
    files = [
        *write_table(stem, f"NDCG@3 on {DATASET}", [*choices, "NDCG@3"], rows),
        *write_table(
            stem.with_name("specification"), f"NDCG@3 on {DATASET} by what is left open",
            ["choice", "setting", "specifications", "mean", "least", "most"],
            [row for row in by_level(found) if row[0] != "seed"],
        ),
    ]  # fmt: skip
    shown = [_without_seed(each) for each in found]
    ours = {choice: setting for choice, setting in OURS.items() if choice != "seed"}
    files += specification_figure(shown, f"NDCG@3 on {DATASET}", PRINTED, ours, stem)
    papers = {**OURS, "weak learner": "sample of all"}
    whole = np.array([
        each.value for each in found if _without_seed(each).settings == _without(papers)
    ])  # fmt: skip
    half = 1.96 * whole.std(ddof=1)
    numbers = {
        "range": span(found, PRINTED),
        "whole": Measured(
            float(whole.mean()), float(whole.mean() - half), float(whole.mean() + half)
        ),
    }
    return Findings(tuple(claim.judge(numbers) for claim in CLAIMS), tuple(files))


def _without(settings: dict[str, str]) -> dict[str, str]:
    return {choice: setting for choice, setting in settings.items() if choice != "seed"}


def _without_seed(each: Specification) -> Specification:
    return replace(each, settings=_without(dict(each.settings)))


def trainings() -> list[tuple[str, str, int]]:
    """Every weak learner, Z and seed that is trained."""
    return [
        (learner, ideal, seed)
        for ideal, truncation in IDEALS.items()
        for learner in (*EXACT, *SAMPLED)
        for seed in range(1 if learner in EXACT else FEWER_SEEDS if truncation else SEEDS)
    ]


def _measured(study: Study) -> list[Specification]:
    """NDCG@3 of every specification, measured once and kept in sampling.json."""
    asked = {
        "trainings": trainings(), "rounds": list(SELECTIONS), "ties": list(TIES),
        "seed": study.seed, "ranker": ranker_identity(NDCGBoost, {}),
    }  # fmt: skip
    return measured_once(study.folder(NAME) / f"{PART}.json", asked, lambda: _trained(study))


def _trained(study: Study) -> list[Specification]:
    benchmark = study.benchmark(DATASET)
    study.say(f"{NAME}: {len(trainings())} trainings for what is left open")

    def one(training: tuple[str, str, int]) -> list[Specification]:
        learner, ideal, seed = training
        fixed = {**EXACT, **SAMPLED}[learner] | {"truncation": IDEALS[ideal]}
        folds = []
        for fold in benchmark.folds:
            rng = np.random.default_rng([study.seed, seed, fold.number])
            model = NDCGBoost(**fixed).learn(fold.train, None, rng).model
            folds.append(list(_tried(model, fold.validation, fold.test, benchmark.convention)))
        means = np.mean(folds, axis=0)
        named = [(rounds, ties) for rounds in SELECTIONS for ties in TIES]
        return [
            Specification(
                {"weak learner": learner, "Z": ideal, "rounds": rounds, "ties": ties,
                 "seed": str(seed)}, float(mean),
            )
            for (rounds, ties), mean in zip(named, means)
        ]  # fmt: skip

    with ThreadPoolExecutor(study.jobs) as pool:
        return [each for several in pool.map(one, trainings()) for each in several]


def _tried(
    model: StumpEnsemble, validation: QuerySet, test: QuerySet, rules: Convention
) -> Iterator[float]:
    """The test NDCG@3 of one training by SELECTIONS, and for each by TIES."""
    held_out, shown = _staged(model, validation), _staged(model, test)
    judge = Validation(test, parse(MEASURE), rules)
    for measure in SELECTIONS.values():
        kept = len(shown) - 1
        if measure:
            judged = Validation(validation, parse(measure), rules)
            kept = int(np.argmax([judged(scores).mean() for scores in held_out]))
        yield float(judge(shown[kept]).mean())
        yield judge.mean_of_orders(shown[kept])


def _staged(model: StumpEnsemble, part: QuerySet) -> np.ndarray:
    """(rounds, n_docs) the scores after each round."""
    x = part.features[:, model.feature]
    on = (x > model.threshold) == model.above
    return np.ascontiguousarray(np.cumsum(on * model.alpha, axis=1).T)
