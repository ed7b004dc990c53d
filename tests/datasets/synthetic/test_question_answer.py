"""The made-up questions and answers: one best answer each, of a size asked for, learnable."""

from __future__ import annotations

import numpy as np
import pytest
from click.testing import CliRunner

from letorbench.cli import cli
from letorbench.datasets.load import load
from letorbench.datasets.synthetic import make
from letorbench.datasets.synthetic.question_answer import question_answer
from letorbench.errors import DataError, UsageError


def test_one_answer_is_the_best_and_stands_anywhere(rng):
    (queries,) = question_answer(rng, [400], 50)
    a, b = queries.offsets[:-1], queries.offsets[1:]
    assert (np.add.reduceat(queries.labels, a) == 1).all()
    assert queries.lengths.min() == 2 and 5.5 < queries.lengths.mean() < 6.5
    place = np.array([queries.labels[i:j].argmax() / (j - i) for i, j in zip(a, b)])
    assert 0.3 < place.mean() < 0.45  # the mean of uniform places from 0, below one half
    for i, j in zip(a[:20], b[:20]):
        assert (queries.features[i:j, :50] == queries.features[i, :50]).all()
    counts = queries.features[:, :50].sum(axis=1)
    assert counts.min() >= 8 and counts.max() <= 15


def test_the_best_answer_is_nearer_to_the_question_than_others(rng):
    """Learnable: words that best answers to like questions use tell it from the others."""
    train, test = question_answer(rng, [600, 200], 40)
    y, z = train.features[:, :40], train.features[:, 40:]
    signs = np.where(train.labels == 1, 1.0, -1.0 / 5.0)
    association = (y * signs[:, None]).T @ z
    scores = np.einsum("ij,jk,ik->i", test.features[:, :40], association, test.features[:, 40:])
    hit = [
        test.labels[i + scores[i:j].argmax()] == 1
        for i, j in zip(test.offsets[:-1], test.offsets[1:])
    ]
    assert np.mean(hit) > 0.3  # one in six by chance


def test_size_and_seed_are_choices(tmp_path):
    folder = make("QA", tmp_path, questions=40)
    again = make("QA", tmp_path, questions=40)
    assert folder == again
    fold = load("QA", tmp_path).folds[0]
    sizes = [part.n_queries for part in (fold.train, fold.validation, fold.test)]
    assert sizes == [40, 10, 10]
    assert fold.train.n_features == fold.test.n_features == 600
    with pytest.raises(DataError, match="found a folder that was made in another way"):
        make("QA", tmp_path, questions=50)
    other = make("QA", tmp_path / "b", seed=1, questions=40)
    assert (other / "train.txt").read_bytes() != (folder / "train.txt").read_bytes()


def test_only_qa_has_questions(tmp_path):
    with pytest.raises(UsageError, match="MQ2008-twin has no questions"):
        make("MQ2008", tmp_path, questions=10)
    asked = ["datasets", "make", "QA", "--questions", "8", "--data-dir", str(tmp_path)]
    assert CliRunner().invoke(cli, asked).exit_code == 0
