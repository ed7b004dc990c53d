"""Vocabularies by hand, and a ranker that matches answers to questions by their words."""

from __future__ import annotations

import numpy as np
import pytest

import letorbench as lb
from letorbench.datasets.own.words import Vocabularies, bags, vocabulary, words

THINGS = ("wool", "bread", "steel", "paper", "glass", "honey")
MAKERS = ("sheep", "baker", "furnace", "mill", "sand", "bees")


def asked(rng: np.random.Generator, n: int) -> list[tuple[str, list[str], int]]:
    """Questions whose best answer names the maker that goes with the thing."""
    found = []
    for _ in range(n):
        things = rng.permutation(len(THINGS))[:4]
        best = int(rng.integers(4))
        answers = [f"It comes from the {MAKERS[k]}, I think." for k in things]
        found.append((f"Where does {THINGS[things[best]]} come from?", answers, best))
    return found


def test_words_are_letters_in_lower_case():
    assert words("It's 3 Sheep's wool_yarn, été!") == ["it's", "sheep's", "wool", "yarn", "été"]


def test_the_most_frequent_words_without_stop_words():
    texts = ["the cat and the dog", "a dog", "zebra cat dog"]
    assert vocabulary(texts) == ("dog", "cat", "zebra")
    assert vocabulary(texts, 1) == ("dog",)
    assert vocabulary(texts, 2, stop=()) == ("dog", "cat")
    np.testing.assert_array_equal(bags(["dog dog elk", ""], ("cat", "dog")), [[0, 2], [0, 0]])


def test_answers_are_ranked_by_their_questions_words(rng):
    train, test = asked(rng, 150), asked(rng, 60)
    both = Vocabularies.of(train)
    assert set(THINGS) <= set(both.questions) and set(MAKERS) <= set(both.answers)
    queries = both.query_set(train)
    assert queries.n_features == len(both.questions) + len(both.answers)
    settings = {"query_features": len(both.questions), "l2": 1e-4}
    for functional in ("bilinear", "bilinear-tanh", "distance"):
        model = lb.ranker("mcl")(functional=functional, **settings).fit_sets(queries, rng=rng)
        held = both.query_set(test)
        scores = model.predict(held.features).reshape(-1, 4)
        right = scores.argmax(axis=1) == held.labels.reshape(-1, 4).argmax(axis=1)
        assert right.mean() > 0.9


def test_a_best_answer_that_is_not_there_is_refused():
    with pytest.raises(lb.DataError, match="question 2: found 1 answers and 1 as the best"):
        Vocabularies((), ()).query_set([("a", ["b"], 0), ("c", ["d"], 1)])
