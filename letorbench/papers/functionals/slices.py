"""Size-matched slices of Yahoo!'s C14: the functionals paper's source, other queries.

The paper takes 1,568 of the 19,944 training queries of set 1 to train (47,314 documents, a tenth)
and another 1,520 to test, and names none of them. Where set 1 is at hand, slices of these sizes
are drawn from its training part, and the claims are judged on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.papers import artificial
from letorbench.papers.runs import Study, Values, Variant

NAME = "functionals"
DATASET = "YAHOO-SET1"
#: queries of the paper's training and test subsets, and of the part that they are of
TRAIN, TEST, WHOLE = 1_568, 1_520, 19_944
#: slices that are trained on; and with --full, all that are disjoint
SLICES, FULL_SLICES = 1, WHOLE // (TRAIN + TEST)


def slices(study: Study) -> list[artificial.Generated]:
    """The slices of the training part, each with a validation slice of the validation part."""
    fold = study.benchmark(DATASET).folds[0]
    n = fold.train.n_queries
    train, test = (max(1, round(size * n / WHOLE)) for size in (TRAIN, TEST))
    held = min(test, fold.validation.n_queries)
    order = np.random.default_rng(study.seed).permutation(n)

    def made(number: int) -> artificial.Generated:
        begin = number * (train + test)
        middle = begin + train
        rows = fold.train.take(order[begin:middle]), fold.train.take(order[middle : middle + test])
        sets = _varying((rows[0], fold.validation.queries(0, held), rows[1]))
        facts = {"recipe": f"slice of {DATASET}", "digest": fold.train.digest, "slice": number + 1,
                 "queries": [train, held, test], "seed": study.seed}  # fmt: skip
        return artificial.Generated(facts, sets)

    return [made(number) for number in range(FULL_SLICES if study.full else SLICES)]


def _varying(sets: Sequence[QuerySet]) -> tuple[QuerySet, ...]:
    """The sets without the features that are constant in the first: set 1 has 519 of 700."""
    kept = np.flatnonzero(np.ptp(sets[0].features, axis=0) > 0.0)
    return tuple(
        replace(each, features=np.ascontiguousarray(each.features[:, kept]), feature_names=None)
        for each in sets
    )


def runs(
    study: Study, table: str, variants: Sequence[Variant], measures: Sequence[str]
) -> dict[str, Values]:
    """Every variant's values on the test queries of all slices; none where set 1 is not at hand.

    Table 4 is of other data. A slice is a fold.
    """
    if table == "table-4" or not study.has(DATASET):
        return {}
    per_slice = [
        artificial.runs(
            study, study.folder(NAME) / "slices" / f"{table}-{number}", each, variants, measures
        )
        for number, each in enumerate(slices(study), 1)
    ]
    labels = [variant.label for variant in variants]
    joined = {name: Values.of_draws([values[name] for values in per_slice]) for name in labels}
    return {name: replace(values, draws=False) for name, values in joined.items()}
