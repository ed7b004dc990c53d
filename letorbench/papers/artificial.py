"""Rankers on generated sets that need no files: trained, stored and read back like any run."""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import QuerySet
from letorbench.experiment.plan import ranker_identity
from letorbench.experiment.select import select
from letorbench.files import one_writer
from letorbench.measures import parse, query_metrics
from letorbench.papers.runs import Study, Values, Variant
from letorbench.rankers import ranker
from letorbench.results.scores import finite_scores, score_warnings
from letorbench.results.store import (
    FoldResult,
    fold_scores,
    is_done,
    stored_fit,
    write_fold,
)
from letorbench.solvers.stopping import Validation, best

RULES = CONVENTIONS["standard"]


@dataclass(frozen=True, eq=False)
class Generated:
    """A training, a validation and a test set, and `facts` that say how they were made."""

    facts: Mapping[str, object]
    sets: tuple[QuerySet, ...]


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
    folder/<label> are kept where they were made in the same way. The variants are trained in as
    many threads as there are jobs; the results do not depend on it.
    """
    train, validation, test = made.sets
    validated = Validation(validation, parse(choose), RULES, best)

    def one(variant: Variant) -> Values:
        own, facts = folder / variant.label, _identity(made, variant, choose, study.seed)
        with one_writer(own):
            if not is_done(own, facts):
                study.say(f"{folder.name}: {variant.label}")
                fit = _fitted(variant, train, validated, test, study.seed)
                write_fold(own, replace(fit, identity=facts))
            scores = fold_scores(own, test.n_docs)
        asked = [parse(name) for name in measures]
        values = query_metrics(test.labels, scores, test.offsets, asked, RULES)
        return Values(tuple(measures), values[None], np.ones(len(values), dtype=np.int64))

    with ThreadPoolExecutor(study.jobs) as pool:
        return dict(zip([v.label for v in variants], pool.map(one, variants)))


def validated(folder: Path, label: str) -> float:
    """The validation measure that a variant's stored run has reached."""
    return float(stored_fit(folder / label)["validation"]["value"])


def _fitted(
    variant: Variant, train: QuerySet, validation: Validation, test: QuerySet, seed: int
) -> FoldResult:
    """Train and select; the identity is left empty."""
    start = time.perf_counter()
    own = np.random.SeedSequence([seed, zlib.crc32(variant.label.encode())])
    selected = select(ranker(variant.algo), variant.settings, train, validation, own, grows=False)
    scores = selected.ranker.predict(test.features)
    return FoldResult(
        {},
        finite_scores(scores),
        ranker=selected.ranker,
        validation_scores=finite_scores(selected.validation_scores),
        validation=selected.as_json(str(validation.measure)),
        seconds=time.perf_counter() - start,
        warnings=(*selected.warnings, *score_warnings(scores, test)),
    )


def _identity(made: Generated, variant: Variant, choose: str, seed: int) -> dict[str, object]:
    facts = {
        "data": dict(made.facts),
        "algo": variant.algo,
        **ranker_identity(ranker(variant.algo), variant.settings),
        "select": choose,
        "seed": seed,
    }
    return json.loads(json.dumps(facts))
