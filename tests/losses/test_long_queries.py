"""A query of very many documents is refused by what compares its pairs, and quick for the rest."""

from __future__ import annotations

import time

import numpy as np
import pytest
from conftest import random_queries

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError, UsageError
from letorbench.losses import LOSSES, Loss
from letorbench.losses.base import LONGEST_COMPARED
from letorbench.losses.lambdas import LAMBDAS, Lambda

REFUSED = f"query 2: found {LONGEST_COMPARED + 1} documents, expected at most {LONGEST_COMPARED}"


def of_lengths(*lengths: int) -> QuerySet:
    return random_queries(np.random.default_rng(0), [*lengths], n_features=1)


@pytest.fixture(scope="module")
def too_long() -> QuerySet:
    return of_lengths(3, LONGEST_COMPARED + 1)


@pytest.mark.parametrize("loss", LOSSES.values(), ids=lambda loss: loss.name)
def test_a_loss_refuses_it_or_is_quick(loss: Loss, too_long: QuerySet) -> None:
    loss(np.zeros(3), of_lengths(3))  # so that it is compiled
    scores = np.random.default_rng(1).normal(size=too_long.n_docs)
    start = time.process_time()
    try:
        loss(scores, too_long)
    except DataError as error:
        assert str(error).startswith(REFUSED)
    except UsageError as error:  # what depends on k as well
        assert f"found a query of {LONGEST_COMPARED + 1} documents" in str(error)
    assert time.process_time() - start < 0.5  # all pairs take over a second


@pytest.mark.parametrize("name", [name for name in LAMBDAS if name != "ranknet"])
def test_lambdas_refuse_it(name: str, too_long: QuerySet) -> None:
    Lambda(name, margin=1.0).rule(of_lengths(LONGEST_COMPARED))
    with pytest.raises(DataError, match=REFUSED):
        Lambda(name, margin=1.0)(np.zeros(too_long.n_docs), too_long)
