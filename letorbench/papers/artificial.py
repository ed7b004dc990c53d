"""Rankers on generated sets that need no files: trained, stored and read back like any run."""

from __future__ import annotations

import io
import json
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import QuerySet
from letorbench.experiment.plan import ranker_identity
from letorbench.experiment.select import select
from letorbench.files import one_writer, write_atomically
from letorbench.measures import parse, query_metrics
from letorbench.papers.runs import Study, Values, Variant
from letorbench.rankers import ranker
from letorbench.results.scores import finite_scores, score_warnings
from letorbench.results.store import FoldResult, fold_scores, is_done, stored_fit, write_fold
from letorbench.solvers.stopping import Validation, best

#: the per-query values of a run, so that a set need not be drawn again to measure it
KEPT = "values.npz"
RULES = CONVENTIONS["standard"]


@dataclass(frozen=True, eq=False)
class Generated:
    """A training, a validation and a test set, and `facts` that say how they were made.

    make: draws the three. It is called where something has to be trained or measured.
    """

    facts: Mapping[str, object]
    make: Callable[[], tuple[QuerySet, ...]]

    @cached_property
    def sets(self) -> tuple[QuerySet, ...]:
        """The training, the validation and the test set."""
        return self.make()


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
    folder/<label> are kept where they were made in the same way, and nothing is drawn then. The
    variants are trained in as many threads as there are jobs; the results do not depend on it.
    """
    variants, choose = [study.changed(v) for v in variants], study.select or choose
    facts = {v.label: _identity(made, v, choose, study.seed) for v in variants}
    found = {v.label: _stored_values(folder / v.label, facts[v.label], measures) for v in variants}
    left = [v for v in variants if found[v.label] is None]
    if left:
        train, validation, test = made.sets
        validated = Validation(validation, parse(choose), RULES, best)

        def one(variant: Variant) -> Values:
            own = folder / variant.label
            with one_writer(own):
                if not is_done(own, facts[variant.label]):
                    study.say(f"{folder.name}: {variant.label}")
                    fit = _fitted(variant, train, validated, test, study.seed)
                    write_fold(own, replace(fit, identity=facts[variant.label]))
                scores = fold_scores(own, test.n_docs)
                asked = [parse(name) for name in measures]
                values = query_metrics(test.labels, scores, test.offsets, asked, RULES)
                _store_values(own, facts[variant.label], measures, values)
            return _values(measures, values)

        with ThreadPoolExecutor(study.jobs) as pool:
            found.update(zip([v.label for v in left], pool.map(one, left)))
    return {label: values for label, values in found.items() if values is not None}


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


def _values(measures: Sequence[str], values: np.ndarray) -> Values:
    return Values(tuple(measures), values[None], np.ones(len(values), dtype=np.int64))


def _store_values(
    own: Path, facts: Mapping[str, object], measures: Sequence[str], values: np.ndarray
) -> None:
    text = json.dumps({"identity": facts, "measures": list(measures)}, sort_keys=True)
    with write_atomically(own / KEPT, binary=True) as file:
        np.savez(file, asked=np.array(text), values=values)


def _stored_values(
    own: Path, facts: Mapping[str, object], measures: Sequence[str]
) -> Values | None:
    """The values that were measured before by the same run; None where there are none."""
    path = own / KEPT
    text = json.dumps({"identity": facts, "measures": list(measures)}, sort_keys=True)
    if not path.is_file() or not is_done(own, facts):
        return None
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as kept:
            return _values(measures, kept["values"]) if str(kept["asked"]) == text else None
    except Exception:
        return None  # they are measured again


def _identity(made: Generated, variant: Variant, choose: str, seed: int) -> dict[str, object]:
    facts = {
        "data": dict(made.facts),
        "algo": variant.algo,
        **ranker_identity(ranker(variant.algo), variant.settings),
        "select": choose,
        "seed": seed,
    }
    return json.loads(json.dumps(facts))
