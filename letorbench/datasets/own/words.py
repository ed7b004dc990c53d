"""Questions and answers as bags of words, with a vocabulary for each.

T. Tran, D. Phung, S. Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012, section 4:
"We construct the vocabularies for questions and answers separately [...] by selecting the top 3,000
frequent non-stop words in the training questions, and training answers, respectively." Their texts
were never published. This makes the same of one's own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError

WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
#: words that say little about a topic; the paper does not list its own
STOP_WORDS = frozenset(
    """a about after all also am an and any are as at be because been before being but by can could
    did do does for from get had has have he her him his how i if in into is it its just like me
    more most my no not of on one only or other our out over s she so some such t than that the
    their them then there these they this those to too up was we were what when where which who
    why will with would you your""".split()
)


def words(text: str) -> list[str]:
    """Return the words of a text in lower case, in their order."""
    return WORD.findall(text.lower())


def vocabulary(
    texts: Sequence[str], most: int = 3_000, stop: Collection[str] = STOP_WORDS
) -> tuple[str, ...]:
    """Return the most frequent words that are no stop words, the most frequent first.

    Words of one frequency come in the order of the alphabet.
    """
    counts = Counter(word for text in texts for word in words(text) if word not in stop)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(word for word, _ in ordered[:most])


def bags(texts: Sequence[str], known: Sequence[str]) -> np.ndarray:
    """Return how often each known word is in each text, (n_texts, n_words) float32."""
    column = {word: k for k, word in enumerate(known)}
    found = np.zeros((len(texts), len(known)), dtype=np.float32)
    for row, text in enumerate(texts):
        for word in words(text):
            if word in column:
                found[row, column[word]] += 1.0
    return found


@dataclass(frozen=True)
class Vocabularies:
    """The words of questions and of answers.

    Examples
    --------
    >>> train = [("What is wool?", ["Hair of sheep.", "No idea!"], 0)]
    >>> both = Vocabularies.of(train)
    >>> both.questions, both.answers
    (('wool',), ('hair', 'idea', 'sheep'))
    >>> both.query_set(train).labels.tolist()
    [1, 0]
    """

    questions: tuple[str, ...]
    answers: tuple[str, ...]

    @staticmethod
    def of(train: Sequence[tuple[str, Sequence[str], int]], most: int = 3_000) -> Vocabularies:
        """Return the vocabularies of training questions.

        train: (question, its answers, the number of the best one) of each.
        """
        asked = [question for question, _, _ in train]
        answered = [answer for _, answers, _ in train for answer in answers]
        return Vocabularies(vocabulary(asked, most), vocabulary(answered, most))

    def query_set(self, asked: Sequence[tuple[str, Sequence[str], int]]) -> QuerySet:
        """Return questions as queries and their answers as documents, the best with label 1.

        The first `len(questions)` features are the question's, which `query_features` of the
        functionals `bilinear` and `distance` is to be. They are kept densely, 4 bytes a word and
        answer.

        Raises
        ------
        DataError
            If a question has no answer of the number of its best one.
        """
        for number, (_, answers, best) in enumerate(asked, 1):
            if not 0 <= best < len(answers):
                raise DataError(
                    f"question {number}: found {len(answers)} answers and {best} as the best one, "
                    f"expected a number from 0 to {len(answers) - 1}"
                )
        lengths = [len(answers) for _, answers, _ in asked]
        offsets = np.append(0, np.cumsum(lengths, dtype=np.int64)).astype(np.int64)
        of_questions = np.repeat(bags([q for q, _, _ in asked], self.questions), lengths, axis=0)
        of_answers = bags([a for _, answers, _ in asked for a in answers], self.answers)
        labels = np.zeros(offsets[-1], dtype=np.int32)
        labels[offsets[:-1] + np.array([best for _, _, best in asked], dtype=np.int64)] = 1
        features = np.ascontiguousarray(np.hstack([of_questions, of_answers]))
        return QuerySet(features, labels, offsets, np.arange(1, len(asked) + 1))
