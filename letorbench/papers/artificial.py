"""Rankers on generated sets that need no files: trained, stored and read back like any run."""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import QuerySet
from letorbench.experiment.identity import ranker_identity
from letorbench.experiment.select import select
from letorbench.files import one_writer
from letorbench.measures import parse, query_metrics
from letorbench.papers.runs import Study, Values, Variant
from letorbench.rankers import ranker
from letorbench.results import FoldResult, fold_scores, is_done, write_fold
from letorbench.results.scores import finite_scores, score_warnings
from letorbench.solvers.rules import best
from letorbench.solvers.validation import Validation


@dataclass(frozen=True, eq=False)
class Generated:
    """A training, a validation and a test set, and `facts` that say how they were made."""

    facts: Mapping[str, object]
    train: QuerySet
    validation: QuerySet
    test: QuerySet


def runs(
    study: Study,
    folder: Path,
    made: Generated,
    variants: Sequence[Variant],
    measures: Sequence[str],
    choose: str = "ndcg@10",
) -> dict[str, Values]:
    """Every variant's per-query values on the test set, by label, measured by `standard`.

    choose: the validation measure that settings and epochs are chosen by. Stored results in
    folder/<label> are kept where they were made in the same way. The variants are trained in
    as many threads as there are jobs; the results do not depend on it.
    """
    rules = CONVENTIONS["standard"]
    validation = Validation(made.validation, parse(choose), rules, best)

    def one(variant: Variant) -> Values:
        facts = _identity(made, variant, choose, study.seed)
        own = folder / variant.label
        with one_writer(own):
            make_unless_done(variant, own, facts)
        test = made.test
        scores = fold_scores(own, test.n_docs)
        asked = [parse(name) for name in measures]
        values = query_metrics(test.labels, scores, test.offsets, asked, rules)
        return Values(tuple(measures), values, np.ones(test.n_queries, dtype=np.int64))

    def make_unless_done(variant: Variant, own: Path, facts: dict[str, object]) -> None:
        if not is_done(own, facts):
            study.say(f"{folder.name}: {variant.label}")
            start = time.perf_counter()
            seed = np.random.SeedSequence([study.seed, zlib.crc32(variant.label.encode())])
            fixed = variant.settings
            cls = ranker(variant.algo)
            selected = select(cls, fixed, made.train, validation, seed, grows=False)
            scores = selected.ranker.predict(made.test.features)
            result = FoldResult(
                facts,
                finite_scores(scores),
                ranker=selected.ranker,
                validation_scores=finite_scores(selected.validation_scores),
                validation=selected.as_json(choose),
                seconds=time.perf_counter() - start,
                warnings=(*selected.warnings, *score_warnings(scores, made.test)),
            )
            write_fold(own, result)

    with ThreadPoolExecutor(study.jobs) as pool:
        return dict(zip([v.label for v in variants], pool.map(one, variants)))


def _identity(made: Generated, variant: Variant, choose: str, seed: int) -> dict[str, object]:
    facts = {
        "data": dict(made.facts),
        "algo": variant.algo,
        **ranker_identity(ranker(variant.algo), variant.settings),
        "select": choose,
        "seed": seed,
    }
    return json.loads(json.dumps(facts))
