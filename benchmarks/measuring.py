"""Measuring: 20 measures of 10,000 queries x 100 documents, beside pytrec_eval and ranx.

Only measuring is timed: building the other libraries' dictionaries and Qrels is not, and
ranx is warm (its functions compiled by a call before). All give every query's values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.table import Row, seconds, show
from letorbench.conventions import CONVENTIONS
from letorbench.measures import Measure, parse, query_metrics

CUTOFFS = (1, 2, 3, 4, 5, 10, 20, 50)
#: 20 measures that all three libraries have, but for the gain: theirs is r, ours 2^r - 1
COMMON = [f"ndcg@{k}" for k in CUTOFFS] + [f"p@{k}" for k in CUTOFFS]
COMMON += ["ndcg", "map", "mrr", "bpref"]
#: 20 measures of every kind that there is here
EVERY = [f"ndcg@{k}" for k in (1, 2, 3, 4, 5, 10)] + [f"p@{k}" for k in (1, 2, 3, 4, 5, 10)]
EVERY += ["map", "mrr", "err@10", "err", "mean-ndcg", "wta", "pairwise", "bpref"]


@dataclass(frozen=True, eq=False)
class Sample:
    """Random judged lists: labels 0..4 (n_docs,), scores (n_docs,), offsets."""

    labels: np.ndarray
    scores: np.ndarray
    offsets: np.ndarray

    @staticmethod
    def of(n_queries: int, docs: int) -> Sample:
        rng = np.random.default_rng(1)
        labels = rng.choice(5, n_queries * docs, p=[0.52, 0.32, 0.13, 0.02, 0.01])
        scores = rng.normal(size=len(labels)) + 0.5 * labels
        return Sample(labels.astype(np.int32), scores, np.arange(n_queries + 1) * docs)

    def measured(self, measures: list[Measure]) -> np.ndarray:
        return query_metrics(
            self.labels, self.scores, self.offsets, measures, CONVENTIONS["standard"]
        )

    def by_name(self, values: np.ndarray) -> dict[str, dict[str, int | float]]:
        """{query: {document: value}}, as the other libraries want it."""
        bounds = zip(self.offsets, self.offsets[1:])
        return {
            f"q{q}": {f"d{i}": value for i, value in enumerate(values[a:b].tolist())}
            for q, (a, b) in enumerate(bounds)
        }


def ours(sample: Sample, texts: list[str]) -> float:
    measures = [parse(text) for text in texts]
    return seconds(lambda: sample.measured(measures))


def pytrec_eval(sample: Sample) -> Callable[[], object]:
    import pytrec_eval

    cuts = ",".join(map(str, CUTOFFS))
    names = {f"ndcg_cut.{cuts}", f"P.{cuts}", "ndcg", "map", "recip_rank", "bpref"}
    evaluator = pytrec_eval.RelevanceEvaluator(sample.by_name(sample.labels), names)
    run = sample.by_name(sample.scores)
    return lambda: evaluator.evaluate(run)


def ranx(sample: Sample) -> Callable[[], object]:
    import ranx

    qrels = ranx.Qrels(sample.by_name(sample.labels))
    run = ranx.Run(sample.by_name(sample.scores))
    names = [f"ndcg@{k}" for k in CUTOFFS] + [f"precision@{k}" for k in CUTOFFS]
    names += ["ndcg", "map", "mrr", "bpref"]
    return lambda: ranx.evaluate(qrels, run, names, return_mean=False)


def beside(library: Callable[[Sample], Callable[[], object]], sample: Sample, least: float) -> Row:
    """The 20 common measures beside another library's, in this run."""
    name = library.__name__
    what = f"20 measures, 10,000 queries x 100 documents, beside {name}"
    us = ours(sample, COMMON)
    target = f"at least {least:g} times as fast"
    try:
        theirs = seconds(library(sample))
    except ImportError:
        return Row(what, f"{us * 1e3:.1f} ms", f"{name} is not installed", target, None)
    return Row(
        what,
        f"{us * 1e3:.1f} ms",
        f"{name}: {theirs * 1e3:.0f} ms, {theirs / us:.1f} times as long",
        target,
        theirs >= least * us,
        {"letorbench": us, name: theirs},
    )


def rows() -> list[Row]:
    sample = Sample.of(10_000, 100)
    every = ours(sample, EVERY)
    calls = 100  # a boosting run's, so that one call's jitter does not decide
    few = Sample.of(160, 20)
    small = seconds(lambda: [few.measured([parse("ndcg@10")]) for _ in range(calls)]) / calls
    return [
        Row(
            "20 measures of every kind, 10,000 queries x 100 documents",
            f"{every * 1e3:.1f} ms",
            "-",
            "<= 45 ms",
            every <= 0.045,
        ),
        beside(pytrec_eval, sample, 6.0),
        beside(ranx, sample, 12.0),
        Row(
            "NDCG@10, 160 queries x 20 documents",
            f"{small * 1e6:.0f} us",
            "-",
            "<= 200 us",
            small <= 200e-6,
        ),
    ]


if __name__ == "__main__":
    show(rows())
