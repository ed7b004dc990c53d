"""What holds for any measure, whatever it measures; a new one is tested unasked."""

from dataclasses import replace

import numpy as np
import pytest
from conftest import random_queries, unlocked

from letorbench.conventions import CONVENTIONS
from letorbench.errors import DataError
from letorbench.measures import MEASURES, parse, query_metrics, sign

FORMS = {"none": ["{}"], "optional": ["{}", "{}@1", "{}@10"], "required": ["{}@1", "{}@10"]}
TEXTS = [form.format(name) for name, d in MEASURES.items() for form in FORMS[d.cutoff_rule]]
ALL = [parse(text) for text in TEXTS]
LENGTHS = [1, 1, 2, 3, 7, 10, 11, 40, 300, 0]


@pytest.fixture(params=CONVENTIONS)
def convention(request: pytest.FixtureRequest):
    return replace(CONVENTIONS[request.param], measures="")  # its rules for every measure


def value(labels, scores, convention) -> np.ndarray:
    """All measures of one query."""
    labels, scores = np.array(labels, np.int32), np.array(scores, dtype=np.float64)
    return query_metrics(labels, scores, np.array([0, len(labels)]), ALL, convention)[0]


@pytest.mark.parametrize("text", TEXTS)
def test_prints_as_it_parses(text: str) -> None:
    measure = parse(text)
    assert str(measure) == text
    assert parse(f" {text.upper()} ") == measure and hash(parse(text)) == hash(measure)
    entry = MEASURES[measure.name]
    assert entry.description and "Ties:" in entry.function.__doc__


def test_a_measure_that_is_best_where_scores_rank_best_has_sign_1_and_an_error_minus_1() -> None:
    """By scores that are the labels, and by those turned round."""
    r = np.array([3, 0, 2, 1, 0, 0, 1, 0, 2, *[0] * 20])
    for measure, best, worst in zip(
        ALL, value(r, r, CONVENTIONS["standard"]), value(r, -r, CONVENTIONS["standard"])
    ):
        assert np.sign(best - worst) == sign(str(measure)), measure
    assert [text for text in TEXTS if sign(text) < 0] == ["rmse"]


def test_many_queries_at_once_as_one_at_a_time(rng, convention) -> None:
    queries = random_queries(rng, LENGTHS, levels=3)
    with unlocked(queries):
        queries.labels[queries.offsets[:-2]] = 2  # ERR's r_max is the largest label of them all
    scores = np.round(rng.normal(size=queries.n_docs), 1)
    bounds = zip(queries.offsets[:-1], queries.offsets[1:-1])
    alone = [value(queries.labels[a:b], scores[a:b], convention) for a, b in bounds]
    together = query_metrics(queries.labels, scores, queries.offsets, ALL, convention)
    np.testing.assert_array_equal(together[:-1], alone)
    assert not together[-1, TEXTS.index("p@1")] > 0.0  # the query without documents


def test_no_queries_have_no_values(convention) -> None:
    nothing = query_metrics(np.zeros(0, int), np.zeros(0), np.zeros(1, int), ALL, convention)
    assert nothing.shape == (0, len(ALL))


def test_scores_that_cannot_rank_are_refused(convention) -> None:
    labels, offsets = np.array([0, 1, 1]), np.array([0, 3])
    with pytest.raises(DataError, match="^scores: found NaN for document 2, expected numbers$"):
        query_metrics(labels, np.array([0.0, np.nan, 1.0]), offsets, ALL, convention)
    message = "^found 2 scores and 3 labels, expected one of each for the 3 documents$"
    with pytest.raises(DataError, match=message):
        query_metrics(labels, np.zeros(2), offsets, ALL, convention)
