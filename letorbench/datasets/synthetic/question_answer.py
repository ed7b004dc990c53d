"""Questions with their answers as bags of words, one answer the best: made up, of any size.

Stands in for the functionals paper's data from a question-answering site, which were never
published. Topics have words in two vocabularies, the questions' and the answers'. A question
mixes a few topics; the words of its best answer come from the same mixture; those of each
other answer from a mixture of it and of one drawn anew, the share of its own drawn too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from letorbench.datasets.queryset import QuerySet

TOPICS = 12
#: how concentrated a topic's words and a question's topics are (of a Dirichlet distribution)
WORDS, MIX = 0.05, 0.2
#: words of a question, of an answer: from, to
QUESTION_WORDS, ANSWER_WORDS = (8, 16), (15, 40)
#: answers of a question: two and as many more, on average, as bring them to the paper's 6
MORE_ANSWERS = 4.0
#: the largest share of the question's own topics in an answer that is not the best
OWN = 0.7


def question_answer(
    rng: np.random.Generator, sizes: Sequence[int], vocabulary: int
) -> tuple[QuerySet, ...]:
    """A QuerySet for each number of questions in `sizes`, all of the same topics.

    features: (n_docs, 2 vocabulary) counts of words: the question's, then the answer's;
    labels: 1 for the best answer, else 0. The best answer's place is random.
    """
    asked = rng.dirichlet(np.full(vocabulary, WORDS), TOPICS)
    answered = rng.dirichlet(np.full(vocabulary, WORDS), TOPICS)
    sets, first = [], 1
    for n in sizes:
        lengths = 2 + rng.poisson(MORE_ANSWERS, n)
        offsets = np.append(0, np.cumsum(lengths)).astype(np.int64)
        features = np.zeros((offsets[-1], 2 * vocabulary), dtype=np.float32)
        labels = np.zeros(offsets[-1], dtype=np.int32)
        for q in range(n):
            rows = slice(offsets[q], offsets[q + 1])
            topics = rng.dirichlet(np.full(TOPICS, MIX))
            features[rows, :vocabulary] = _bag(rng, topics @ asked, QUESTION_WORDS)
            best = int(rng.integers(lengths[q]))
            labels[offsets[q] + best] = 1
            for k in range(lengths[q]):
                own = 1.0 if k == best else OWN * rng.random()
                mixture = own * topics + (1.0 - own) * rng.dirichlet(np.full(TOPICS, MIX))
                bag = _bag(rng, mixture @ answered, ANSWER_WORDS)
                features[offsets[q] + k, vocabulary:] = bag
        sets.append(QuerySet(features, labels, offsets, np.arange(first, first + n)))
        first += n
    return tuple(sets)


def _bag(rng: np.random.Generator, words: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """(vocabulary,) counts of words drawn with the given probabilities."""
    return rng.multinomial(rng.integers(*size), words / words.sum())
