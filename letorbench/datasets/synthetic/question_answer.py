"""Made-up questions with answers as bags of words, of which one answer is the best.

They stand in for the data of the functionals paper, from a question-answering site, which were
never published. Each topic has a distribution over the words of questions and one over the words
of answers. A question mixes a few topics, and its best answer has the same mixture. Each other
answer mixes the question's topics, in a random share, with topics drawn anew.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from letorbench.datasets.queryset import QuerySet

TOPICS = 12
#: the concentrations of the Dirichlet distributions of a topic's words and a question's topics
WORDS, MIX = 0.05, 0.2
#: the numbers of words of a question and of an answer: from, to
QUESTION_WORDS, ANSWER_WORDS = (8, 16), (15, 40)
#: the mean number of answers beyond two, which brings them to the paper's 6
MORE_ANSWERS = 4.0
#: the largest share of the question's own topics in an answer that is not the best
OWN = 0.7


def question_answer(
    rng: np.random.Generator, sizes: Sequence[int], vocabulary: int
) -> tuple[QuerySet, ...]:
    """Draw query sets of so many questions each, on the same topics.

    The features are the counts of the question's words, then of the answer's. The label is 1 for
    the best answer and 0 for others. Its place is random.
    """
    of_questions = rng.dirichlet(np.full(vocabulary, WORDS), TOPICS)
    of_answers = rng.dirichlet(np.full(vocabulary, WORDS), TOPICS)
    sets, first = [], 1
    for n in sizes:
        lengths = 2 + rng.poisson(MORE_ANSWERS, n)
        offsets = np.append(0, np.cumsum(lengths)).astype(np.int64)
        features = np.zeros((offsets[-1], 2 * vocabulary), dtype=np.float32)
        labels = np.zeros(offsets[-1], dtype=np.int32)
        for q in range(n):
            rows = slice(offsets[q], offsets[q + 1])
            topics = rng.dirichlet(np.full(TOPICS, MIX))
            features[rows, :vocabulary] = _bag(rng, topics @ of_questions, QUESTION_WORDS)
            best = int(rng.integers(lengths[q]))
            labels[offsets[q] + best] = 1
            for k in range(lengths[q]):
                own = 1.0 if k == best else OWN * rng.random()
                mixture = own * topics + (1.0 - own) * rng.dirichlet(np.full(TOPICS, MIX))
                bag = _bag(rng, mixture @ of_answers, ANSWER_WORDS)
                features[offsets[q] + k, vocabulary:] = bag
        sets.append(QuerySet(features, labels, offsets, np.arange(first, first + n)))
        first += n
    return tuple(sets)


def _bag(rng: np.random.Generator, words: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Draw the counts of words with the given probabilities, of shape (vocabulary,)."""
    return rng.multinomial(rng.integers(*size), words / words.sum())
