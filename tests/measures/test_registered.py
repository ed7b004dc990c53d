"""What holds for any measure, whatever it measures; a new one is tested unasked."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_queries, unlocked

from letorbench.conventions import CONVENTIONS
from letorbench.errors import DataError, UsageError
from letorbench.measures import MEASURES, Measure, parse, query_metrics

FORMS = {
    "none": ["{}"],
    "optional": ["{}", "{}@1", "{}@3", "{}@10"],
    "required": ["{}@1", "{}@3", "{}@10"],
}
TEXTS = [form.format(name) for name, d in MEASURES.items() for form in FORMS[d.cutoff_rule]]

LENGTHS = [1, 1, 2, 3, 7, 10, 11, 40, 300]


@pytest.fixture(params=TEXTS)
def measure(request: pytest.FixtureRequest) -> Measure:
    return parse(request.param)


@pytest.fixture(params=CONVENTIONS)
def convention(request: pytest.FixtureRequest):
    return CONVENTIONS[request.param]


def value(labels, scores, measure, convention) -> float:
    labels, scores = np.array(labels), np.array(scores, dtype=np.float64)
    return query_metrics(labels, scores, np.array([0, len(labels)]), [measure], convention)[0, 0]


def test_prints_as_it_parses(measure: Measure) -> None:
    assert parse(str(measure)) == measure
    assert parse(f" {str(measure).upper()} ") == measure
    assert hash(parse(str(measure))) == hash(measure)
    entry = MEASURES[measure.name]
    assert entry.description and entry.function.__doc__
    assert "Ties:" in entry.function.__doc__ and "relevant document" in entry.function.__doc__


def test_stays_in_its_range_and_best_is_highest(rng, measure, convention) -> None:
    queries = random_queries(rng, LENGTHS, levels=5)
    entry = MEASURES[measure.name]

    def measured(scores: np.ndarray) -> np.ndarray:
        return query_metrics(queries.labels, scores, queries.offsets, [measure], convention)[:, 0]

    best = measured(queries.labels.astype(np.float64))
    for _ in range(5):
        values = measured(rng.normal(size=queries.n_docs))
        assert (values >= entry.lowest).all() and (values <= entry.highest).all()
        assert (values <= best + 1e-12).all()


def test_the_order_of_a_querys_documents_does_not_matter(rng, measure, convention) -> None:
    queries = random_queries(rng, LENGTHS, levels=5)
    scores = rng.permutation(queries.n_docs).astype(np.float64)
    shuffled = np.concatenate(
        [a + rng.permutation(b - a) for a, b in zip(queries.offsets, queries.offsets[1:])]
    )
    np.testing.assert_array_equal(
        query_metrics(queries.labels, scores, queries.offsets, [measure], convention),
        query_metrics(
            queries.labels[shuffled], scores[shuffled], queries.offsets, [measure], convention
        ),
    )


@pytest.mark.parametrize("threads", ["1", "3"])
def test_many_queries_at_once_as_one_at_a_time(
    rng, measure, convention, threads, monkeypatch
) -> None:
    monkeypatch.setenv("LETORBENCH_THREADS", threads)
    monkeypatch.setattr("letorbench.measures.evaluation.BLOCK", 10)
    queries = random_queries(rng, LENGTHS, levels=3)
    with unlocked(queries):
        queries.labels[queries.offsets[:-1]] = 2  # ERR's r_max is the largest label of them all
    scores = np.round(rng.normal(size=queries.n_docs), 1)
    together = query_metrics(queries.labels, scores, queries.offsets, [measure], convention)[:, 0]
    alone = [
        value(queries.labels[a:b], scores[a:b], measure, convention)
        for a, b in zip(queries.offsets, queries.offsets[1:])
    ]
    np.testing.assert_array_equal(together, alone)


def test_queries_without_a_relevant_document_count_0(measure, convention) -> None:
    for n in (1, 2, 12):
        assert value([0] * n, np.arange(n), measure, convention) == 0.0


def test_ties_rank_in_file_order(measure, convention) -> None:
    labels = [0, 2, 1, 0, 2, 0, 0, 0, 1, 0, 2]
    tied = value(labels, [0.5] * len(labels), measure, convention)
    assert tied == value(labels, -np.arange(len(labels)), measure, convention)


def test_one_document_and_no_document(measure, convention) -> None:
    one = value([2], [0.0], measure, convention)
    assert MEASURES[measure.name].lowest <= one <= MEASURES[measure.name].highest
    labels, offsets = np.array([2], dtype=np.int32), np.array([0, 0, 1, 1])
    values = query_metrics(labels, np.zeros(1), offsets, [measure], convention)[:, 0]
    np.testing.assert_array_equal(values, [0.0, one, 0.0])
    empty = query_metrics(labels[:0], np.zeros(0), np.zeros(1, int), [measure], convention)
    assert empty.shape == (0, 1)


def test_only_the_order_of_the_scores_matters(rng, measure, convention) -> None:
    labels, scores = rng.integers(0, 3, 30), np.round(rng.normal(size=30), 1)
    same = value(labels, np.exp(scores) * 1e-300, measure, convention)
    assert same == value(labels, scores, measure, convention)


def test_takes_mapped_read_only_and_strided_arrays(rng, measure, convention) -> None:
    queries = random_queries(rng, LENGTHS)
    scores = rng.normal(size=(queries.n_docs, 2))[:, 0]
    expected = query_metrics(queries.labels, scores.copy(), queries.offsets, [measure], convention)
    for array in (queries.labels, scores, queries.offsets):
        array.flags.writeable = False
    got = query_metrics(queries.labels, scores, queries.offsets, [measure], convention)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("text", ["", "ndgc@10", "p", "p@", "p@0", "p@-1", "map@10", "ndcg@x"])
def test_text_that_names_no_measure_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="expected"):
        parse(text)


def test_scores_that_cannot_rank_are_refused(convention) -> None:
    labels, offsets = np.array([0, 1, 1]), np.array([0, 3])
    with pytest.raises(DataError, match="NaN for document 2"):
        query_metrics(labels, np.array([0.0, np.nan, 1.0]), offsets, [parse("map")], convention)
    with pytest.raises(DataError, match="2 scores"):
        query_metrics(labels, np.zeros(2), offsets, [parse("map")], convention)
