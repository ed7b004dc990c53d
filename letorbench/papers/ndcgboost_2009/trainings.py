"""OHSUMED's .50 at NDCG@3: the effects of changes that the paper leaves open, one at a time.

claims.toml lists the changes, as they were fixed before the runs. The ways of drawing documents
have their own table, with other seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from letorbench.analysis.tables import Value
from letorbench.conventions import Convention
from letorbench.datasets.queryset import Fold, QuerySet
from letorbench.measures import parse, query_metrics
from letorbench.papers import paper
from letorbench.papers.paper import PartResult
from letorbench.papers.records import write_section
from letorbench.papers.runs import Context, kept, sampled
from letorbench.rankers.ndcgboost import HALF, NDCGBoost

NAME, OWN = "ndcgboost-2009", "papers/ndcgboost_2009/trainings.py"
BASE = "the paper's setting"
#: ways of drawing: ours, the other one that validation may choose, and the paper's, as far as known
EXACT, AVERAGE, PAPERS = "exact", f"average, {HALF:g}", "with replacement, as many as there are"
EQUAL = "equal votes"
#: the measures of both parts; validation chooses by the last
MEASURES = ("ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10")
#: the numbers of a way of drawing
COLUMNS = (
    *(f"{part} {m.upper()}" for part in ("validation", "test") for m in MEASURES),
    "validation NDCG@10 over ties", "test NDCG@3, relevant first in ties", "tied",
)  # fmt: skip
#: of each column of a way of drawing: (n_seeds, n_folds)
Columns = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Change:
    """One way to train and to score: data, settings of the ranker, and what differs in scoring."""

    settings: Mapping[str, Any] = field(default_factory=lambda: {"stumps": "sample"})
    data: str = "OHSUMED"
    both_parts: bool = False
    half: bool = True
    convention: str = "auto"
    best_round: bool = False

    @classmethod
    def of(cls, facts: Mapping[str, Any], **base: Any) -> Change:
        """From keys of claims.toml, which are fields of this class or settings of the ranker."""
        change = {key: facts[key] for key in facts if key in cls.__dataclass_fields__}
        settings = {key: facts[key] for key in facts if key not in change}
        return cls({**base, **settings}, **change)

    @property
    def trained(self) -> Change:
        """The change with default scoring; changes that differ in scoring share a training."""
        return replace(self, convention=Change.convention, best_round=Change.best_round)


#: the numbers of a change by its convention, a fold, and the scores of its two other parts
Numbers = Callable[[Change, Convention, Fold, list[np.ndarray]], list[float]]


def scores(fold: Fold, change: Change, rng: np.random.Generator) -> list[np.ndarray]:
    """(rounds, n_docs) scores of the validation and of the test part after each round."""
    train = joined(fold.train, fold.validation) if change.both_parts else fold.train
    made = NDCGBoost(**change.settings)
    boosted = made.booster(train, rng)
    parts = fold.validation, fold.test
    F, sums = np.zeros(train.n_docs), [np.zeros(part.n_docs) for part in parts]
    by_round: list[list[np.ndarray]] = [[], []]
    for _ in range(NDCGBoost.rounds):
        term = boosted.choose(F, boosted.weigh(F)[0])
        if term is not None:
            alpha = term.alpha * (1.0 if change.half else 2.0)
            F = F + alpha * term.values
            sums = [s + alpha * term.learner.predict(p.features) for s, p in zip(sums, parts)]
        for rounds, s in zip(by_round, sums):
            rounds.append(s)
    return [np.array(rounds) for rounds in by_round]


def joined(a: QuerySet, b: QuerySet) -> QuerySet:
    """The queries of both."""
    X, y, qid = (np.concatenate(each) for each in ((a.X, b.X), (a.y, b.y), (a.qid, b.qid)))
    return QuerySet.from_arrays(X, y, qid)


def mean(part: QuerySet, scores: np.ndarray, measure: str, rules: Convention) -> float:
    """A measure's mean over the queries that the convention counts."""
    values = query_metrics(part.labels, scores, part.offsets, [parse(measure)], rules)
    return float(np.nanmean(values))


def trained(
    context: Context, stem: str, changes: Mapping[str, Change], seeds: Sequence[int],
    numbers: Numbers,
) -> dict[str, np.ndarray]:  # fmt: skip
    """The numbers of each change, (n_seeds, n_folds, n); one seed if nothing is drawn."""

    def one(cell: tuple[Change, int]) -> dict[str, list[list[float]]]:
        way, seed = cell
        of_way = {name: each for name, each in changes.items() if each.trained == way}
        context.say(f"{way.data}, seed {seed + 1}: {', '.join(of_way)}")
        scored = [
            (fold, scores(fold, way, np.random.default_rng([context.seed, seed, fold.number])))
            for fold in context.benchmark(way.data).folds
        ]
        numbers_of = {}
        for name, each in of_way.items():
            rules = context.benchmark(way.data, each.convention).convention
            numbers_of[name] = [numbers(each, rules, *of) for of in scored]
        return numbers_of

    def make() -> dict[str, list]:
        ways = [each.trained for each in changes.values()]
        ways = [way for i, way in enumerate(ways) if way not in ways[:i]]
        cells = [(way, seed) for way in ways
                 for seed in (seeds if NDCGBoost(**way.settings).draws else seeds[:1])]  # fmt: skip
        with ThreadPoolExecutor(context.jobs) as pool:
            made = list(pool.map(one, cells))
        return {name: [each[name] for each in made if name in each] for name in changes}

    settings = {
        "changes": {name: asdict(each) for name, each in changes.items()}, "seed": context.seed,
        "seeds": list(seeds),
        "data": [context.benchmark(each.data).provenance["digest"] for each in changes.values()],
    }  # fmt: skip
    made = kept(context.folder(NAME) / f"{stem}.json", settings, make, OWN)
    return {name: np.array(each) for name, each in made.items()}


def single_changes(context: Context) -> PartResult:
    """Train each change with each seed; write the table, and a sentence on its result."""
    part = paper(NAME).parts["single-changes"]
    changes = {BASE: Change()}
    for axis in part.axes.values():
        changes |= {name: Change.of(each, stumps="sample") for name, each in axis.items()}
    absent = [name for name, each in changes.items() if not context.has(each.data)]
    if BASE in absent:
        return PartResult()
    here = {name: each for name, each in changes.items() if name not in absent}

    def number(change: Change, rules: Convention, fold: Fold, rounds: list[np.ndarray]) -> list:
        of_test = rounds[1] if change.best_round else rounds[1][-1:]
        return [max(mean(fold.test, each, part.measures[0], rules) for each in of_test)]

    made = trained(context, part.name, here, range(part.repeats), number)
    means = {name: each.mean(axis=(1, 2)) for name, each in made.items()}
    rows: list[list[Value]] = []
    for name, values in means.items():
        moved = sampled(values - means[BASE])
        shown = [float(each) for each in (values.mean(), values.std(ddof=1), values.max())]
        rows.append([name, *shown, moved.value, moved.low, moved.high])
    header = ["change", "mean", "deviation", "most", "difference", "low", "high"]
    text, stem = sentence(means, **part.facts), context.folder(NAME) / part.name
    files = write_section(stem, part.title, text, header, rows)
    differs = (f"{part.title}: without {', '.join(absent)}, not at hand",) if absent else ()
    return PartResult(files=tuple(files), differs=differs)


def sentence(means: Mapping[str, np.ndarray], printed: float, half: float, moves: float) -> str:
    """Which changes move the mean, and which reach the printed number."""
    base = means[BASE].mean()
    moved = {name: each.mean() - base for name, each in means.items() if name != BASE}
    far = [f"{name} ({move:+.3f})" for name, move in moved.items() if abs(move) >= moves]
    reach = [name for name, each in means.items() if sampled(each).high >= printed - half]
    return (
        f"Of {len(moved)} single changes {len(far) or 'none'} move{'s' * (len(far) == 1)} the mean "
        f"of {base:.3f} by {moves:g} or more{': ' * bool(far)}{', '.join(far)}; the printed "
        f"{printed:.2f} is within reach of {', '.join(reach) or 'none'}."
    )


def sampling(context: Context) -> PartResult:
    """Train every way of drawing documents; write the table, and sentences on its result."""
    part = paper(NAME).parts["sampling"]
    seeds = range(part.facts["first_seed"], part.facts["first_seed"] + part.repeats)
    rows, sentences, votes = list[list[Value]](), list[str](), list[str]()

    def numbers(change: Change, rules: Convention, fold: Fold, rounds: list[np.ndarray]) -> list:
        validation, test = ((p, s[-1]) for p, s in zip((fold.validation, fold.test), rounds))
        over, best = (replace(rules, ties=ties) for ties in ("mean", "best"))
        ndcg = [mean(*of, measure, rules) for of in (validation, test) for measure in MEASURES]
        ties = [mean(*validation, MEASURES[-1], over), mean(*test, MEASURES[1], best)]
        return [*ndcg, *ties, tied(*validation)]

    for data in filter(context.has, part.data):
        ways = {name: Change(each, data) for name, each in part.axes["stumps"].items()}
        made = trained(context, f"{part.name}-{data}", ways, seeds, numbers)
        columns = {name: dict(zip(COLUMNS, np.moveaxis(each, 2, 0))) for name, each in made.items()}
        for name, each in made.items():
            by_seed = columns[name]["test NDCG@3"].mean(axis=1)
            spread = float(by_seed.std(ddof=1)) if len(each) > 1 else 0.0
            rows.append([data, name, *each.mean(axis=(0, 1)).tolist(), spread])
        if data == part.facts["on"]:
            sentences.insert(0, _gap(data, columns, part.facts["printed"]))
        sentences.append(_chosen(data, columns))
        exact, equal = (columns[name]["test NDCG@3"].mean() for name in (EXACT, EQUAL))
        votes.append(f"by {equal - exact:+.3f} on {data}")
    if not rows:
        return PartResult()
    sentences.append(
        "A sample that is larger than the effective number holds nearly all documents that have a "
        "weight, so that it ignores the weights. That alone, equal votes, moves NDCG@3 "
        f"{' and '.join(votes)}."
    )
    header = ["data", "documents", *COLUMNS, "deviation of test NDCG@3"]
    stem = context.folder(NAME) / part.name
    return PartResult(
        files=tuple(write_section(stem, part.title, " ".join(sentences), header, rows))
    )


def tied(queries: QuerySet, scores: np.ndarray) -> float:
    """The fraction of documents whose score another document of their query has."""
    query = np.repeat(np.arange(queries.n_queries), queries.lengths)
    _, each, count = np.unique(
        np.column_stack([query, scores]), axis=0, return_inverse=True, return_counts=True
    )
    return float((count[each.ravel()] > 1).mean())


def _gap(dataset: str, columns: Mapping[str, Columns], printed: float) -> str:
    """How far the paper's sample is from the printed NDCG@3, and the best way of drawing."""
    every = {name: each["test NDCG@3"] for name, each in columns.items()}
    of = {name: each.mean(axis=1) for name, each in every.items() if len(each) > 1}
    base, best = of[PAPERS], max(of, key=lambda name: of[name].mean())
    most, gained = sampled(of[best]), sampled(of[best] - base)
    per_cent = 100.0 * gained.value / (printed - base.mean())
    return (
        "The paper draws documents by their weights and does not say how many. Their effective "
        "number is (sum |w|)^2 / sum w^2. Where as many are drawn as there are, with replacement, "
        f"{dataset}'s test parts have NDCG@3 {base.mean():.3f}. The best way on these test parts, "
        f"{best}, has {most.value:.3f} [{most.low:.3f}, {most.high:.3f}], {per_cent:.0f} % of the "
        f"way to the printed {printed:.2f} ({gained.value:+.3f} [{gained.low:+.3f}, "
        f"{gained.high:+.3f}]). Its scores tie: with the relevant first in every tie it has "
        f"{columns[best]['test NDCG@3, relevant first in ties'].mean():.3f}."
    )


def _chosen(dataset: str, columns: Mapping[str, Columns]) -> str:
    """The default's choices on the folds, and their result on the test parts."""
    exact, average = columns[EXACT], columns[AVERAGE]
    better = average["validation NDCG@10"][0] >= exact["validation NDCG@10"][0]
    chosen, before = (
        [np.where(taken, average[column][0], exact[column][0]).mean()
         for column in ("test NDCG@3", "test NDCG@10")]
        for taken in (better, False)
    )  # fmt: skip
    return (
        f"On {dataset} the default takes the average of samples on {better.sum()} of "
        f"{len(better)} folds, by validation: test NDCG@3 {chosen[0]:.4f} and NDCG@10 "
        f"{chosen[1]:.4f}, where exact stumps have {before[0]:.4f} and {before[1]:.4f}."
    )
