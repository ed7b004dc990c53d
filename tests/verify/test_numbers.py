"""Which conventions give a number: the one that it was made by is always among the readings."""

import numpy as np
import pytest
from conftest import random_queries

from letorbench.conventions import convention
from letorbench.errors import UsageError
from letorbench.measures import parse, query_metrics
from letorbench.verify.numbers import Part, Printed, readings

MADE_BY = [
    ("ndcg@10", "letor3"),
    ("ndcg@10", "catboost"),
    ("map", "mslr,empty=drop"),
    ("ndcg@10", "standard,gain=linear,ideal=list"),
    ("p@5", "mslr,ties=worst"),
]


def parts(rng: np.random.Generator, n: int = 2) -> list[Part]:
    """Files of short and long lists, some without a relevant document, with tied scores."""
    made = []
    for _ in range(n):
        queries = random_queries(rng, [1, 4, 12, 15, 30, 3, 8], levels=3)
        scores = np.round(rng.normal(size=queries.n_docs), 1)
        made.append(Part(queries.labels.copy(), queries.offsets, scores))
        made[-1].labels[5:17] = 0
    return made


def number(data: list[Part], name: str, rules: str, pooled: bool = False) -> float:
    tables = [
        query_metrics(p.labels, p.scores, p.offsets, [parse(name)], convention(rules)) for p in data
    ]
    return float(
        np.nanmean(np.concatenate(tables)) if pooled else np.mean([*map(np.nanmean, tables)])
    )


@pytest.mark.parametrize(("name", "rules"), MADE_BY)
def test_the_convention_that_made_a_number_explains_it(rng, rules, name) -> None:
    data = parts(rng)
    for pooled in (False, True):
        value = number(data, name, rules, pooled)
        found = readings(data, parse(name), Printed.of(f"{value:.8f}"))
        explained = [each for each in found if each.rounding]
        same = [number(data, name, each.convention.name) for each in explained]
        assert explained and explained[0].length <= rules.count(",") + pooled
        assert all(abs(each.value - value) < 1e-8 for each in explained), same


def test_a_number_that_nothing_gives_has_its_nearest_readings_first(rng) -> None:
    found = readings(parts(rng, 1), parse("ndcg@10"), Printed.of("0.99999"))
    assert not any(each.rounding for each in found)
    distances = [abs(each.value - 0.99999) for each in found]
    assert distances == sorted(distances)


@pytest.mark.parametrize(
    ("text", "value", "how"),
    [(".503", 0.50349, "rounded"), ("0.503", 0.50351, "cut off"), ("50.3%", 0.50349, "rounded"),
     ("0.503", 0.5041, None), ("0.503", 0.5024, None), ("1", 0.9, "rounded")],
)  # fmt: skip
def test_numbers_are_rounded_or_cut_off(text, value, how) -> None:
    assert Printed.of(text).rounding(value) == how


@pytest.mark.parametrize("text", ["", "nan", "inf", "0,5", "half"])
def test_what_is_no_number_is_refused(text) -> None:
    with pytest.raises(UsageError, match="expected a number"):
        Printed.of(text)
