"""How rules for choosing rounds and settings do on queries that they did not choose by.

No test part is used. The validation part of each fold is split by queries into two halves. A rule
chooses on one half, the other half judges the choice; many random splits, each both ways round.
Printed are gains over the plain best, in units of 0.0001: the mean over the rankers, and behind
+- its standard error over the folds.

    python -m benchmarks.selection [--data-dir data] [--dataset NAMES] [--sample FILE]
                                   [--algo NAMES] [--cache FOLDER] [--jobs 1]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.selection_rules import ROUND_RULES, SETTING_RULES, Settings
from letorbench.conventions import Convention, convention
from letorbench.datasets import layout
from letorbench.datasets.load import load
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.reader import read_letor
from letorbench.experiment.select import next_number, settings_tried
from letorbench.features import resolved, transformation
from letorbench.measures import PreparedMetric, parse
from letorbench.rankers import names, ranker
from letorbench.rankers.base import Ranker
from letorbench.solvers.stopping import EarlyStopping, Validation, latest

DATASETS = ("OHSUMED", "MQ2008", "DEMO")
#: the first is what the choosing half is measured by
MEASURES = ("ndcg@10", "ndcg@3", "map")
SPLITS = 20
#: the libraries' trees take long: so many at most, on OHSUMED and MQ2008 alone
MOST_TREES = 400
#: the grid of a prior, l2 or C, is trained with so many more numbers at either end
BEYOND = 2


# What is measured once: every round of every setting of every ranker.


@dataclass(frozen=True, eq=False)
class Case:
    """A training part, a validation part, and the convention that measures it."""

    dataset: str
    fold: int
    train: QuerySet
    validation: QuerySet
    convention: Convention
    normalised: bool | None

    def for_ranker(self, cls: type[Ranker]) -> tuple[QuerySet, QuerySet]:
        """The two parts with the features that the ranker asks for."""
        name = resolved("auto", cls().auto_features, self.train.features, self.normalised)
        fitted = transformation(name).fit(self.train.features)
        return fitted(self.train), fitted(self.validation)


def cases(data_dir: Path, wanted: Sequence[str], sample: Path | None) -> Iterator[Case]:
    """The folds of the data sets wanted, and both halves of a sample of MSLR."""
    for name in wanted:
        if name == "DEMO" or layout.present(name, data_dir):
            found = load(name, data_dir)
            for fold in found.folds:
                yield Case(
                    name, fold.number, fold.train, fold.validation, found.convention,
                    found.provenance.get("normalised"),
                )  # fmt: skip
    if sample is not None:
        queries = read_letor(sample)
        half = queries.n_queries // 2
        parts = queries.queries(0, half), queries.queries(half, queries.n_queries)
        for number in (1, 2):
            train, held_out = parts[number - 1], parts[2 - number]
            yield Case("MSLR sample", number, train, held_out, convention("mslr"), False)


class Recorder(Validation):
    """A validation set that keeps what it measured of every round."""

    measures: Sequence[PreparedMetric]
    rounds: list[np.ndarray]

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        values = np.array([measure(scores) for measure in self.measures])
        self.rounds.append(values.astype(np.float32))
        return values[0]


def recorder(queries: QuerySet, rules: Convention) -> Recorder:
    found = Recorder(queries, parse(MEASURES[0]), rules)
    measures = [
        PreparedMetric.of(queries.labels, queries.offsets, parse(name), rules) for name in MEASURES
    ]
    object.__setattr__(found, "measures", measures)
    object.__setattr__(found, "rounds", [])
    return found


def is_numeric(values: Sequence[object]) -> bool:
    """Whether these are three or more positive numbers; fewer are alternatives, no range."""
    numbers = (isinstance(v, (int, float)) and not isinstance(v, bool) and v > 0 for v in values)
    return len(values) >= 3 and all(numbers)


def extended(cls: type[Ranker]) -> dict[str, list[Any]]:
    """The ranker's grid with `BEYOND` more numbers at either end of what is numeric."""
    wide: dict[str, list[Any]] = {}
    for key, values in cls.grid.items():
        numbers: list[Any] = [*values]
        for end in ("smallest", "largest") if key in ("l2", "C") else ():
            for _ in range(BEYOND):
                further = next_number(numbers, end)
                numbers += [] if further is None else [further]
        wide[key] = sorted(numbers) if is_numeric(values) else numbers
    return wide


def tried(cls: type[Ranker]) -> list[dict[str, Any]]:
    """The points of the grid, and of its lines beyond its ends."""
    points, own = settings_tried(cls, {}), dict(cls.grid)
    for key, values in extended(cls).items():
        for number in values:
            if number not in own[key]:
                points += [
                    {**point, key: number} for point in settings_tried(cls, {key: own[key][0]})
                ]
    return points


def course(cls: type[Ranker], settings: Mapping[str, Any], case: Case) -> np.ndarray:
    """The measures (n_rounds, n_measures, n_queries) of the validation part; one round if none."""
    train, held_out = case.for_ranker(cls)
    watched = recorder(held_out, case.convention)
    free: dict[str, Any] = {"patience": 0} if hasattr(cls, "patience") else {}
    if cls.needs:
        free["rounds"] = MOST_TREES
    fitted = cls(**{**settings, **free}).fit_sets(train, watched, np.random.default_rng(0))
    if not watched.rounds:
        watched(fitted.predict(held_out))
    return np.array(watched.rounds)


def stored(cls: type[Ranker], case: Case, cache: Path | None) -> list[np.ndarray]:
    """The courses of all settings of a ranker, from the cache where they are there."""
    file = None if cache is None else cache / f"{case.dataset} {case.fold} {cls.name}.npz"
    if file is not None and file.exists():
        with np.load(file) as arrays:
            return [arrays[f"arr_{number}"] for number in range(len(arrays))]
    found = [course(cls, settings, case) for settings in tried(cls)]
    if cache is not None and file is not None:
        cache.mkdir(parents=True, exist_ok=True)
        np.savez(file, *found)
    return found


# The judgement.


def halves(case: Case) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Random halves of the validation queries: the one that chooses, the one that judges."""
    rng = np.random.default_rng(case.fold)
    n_queries = case.validation.n_queries
    for _ in range(SPLITS):
        mixed = rng.permutation(n_queries)
        parts = mixed[: n_queries // 2], mixed[n_queries // 2 :]
        yield parts
        yield parts[::-1]


def seen(course: np.ndarray, patience: int) -> np.ndarray:
    """The rounds (n_rounds, n_queries) until patience ends the training."""
    rounds = EarlyStopping(patience)
    for values in course:
        rounds.record(values)
        if rounds.over:
            break
    return course[: len(rounds.curve)]


def judged_rounds(cls: type[Ranker], courses: Sequence[np.ndarray], case: Case) -> np.ndarray:
    """(n_rules, n_measures): each rule's mean over splits and the settings of the own grid."""
    patience = getattr(cls, "patience", 0)
    own = courses[: len(settings_tried(cls, {}))]
    total = np.zeros((len(ROUND_RULES), len(MEASURES)))
    for choosing, judging in halves(case):
        for each in own:
            known = seen(each[:, 0, choosing], patience)
            for row, rule in enumerate(ROUND_RULES.values()):
                total[row] += each[rule(known)][:, judging].mean(axis=1)
    return total / (2 * SPLITS * len(own))


def judged_settings(cls: type[Ranker], courses: Sequence[np.ndarray], case: Case) -> np.ndarray:
    """(n_rules, n_measures): each rule's mean over splits, the rounds chosen by `latest`."""
    patience, settings = getattr(cls, "patience", 0), described(cls)
    total = np.zeros((len(SETTING_RULES), len(MEASURES)))
    for choosing, judging in halves(case):
        kept = []
        for each in courses:
            known = seen(each[:, 0, choosing], patience)
            kept.append(each[latest(known)])
        values = np.array(kept)
        for row, rule in enumerate(SETTING_RULES.values()):
            chosen = values[rule(values[:, 0, choosing], settings)]
            total[row] += chosen[:, judging].mean(axis=1)
    return total / (2 * SPLITS)


def described(cls: type[Ranker]) -> Settings:
    """The settings that `tried` lists, as rules see them."""
    points, wide, own = tried(cls), extended(cls), settings_tried(cls, {})
    places = np.array([[wide[key].index(point[key]) for key in wide] for point in points])
    default = [_nearest(values, getattr(cls, key)) for key, values in wide.items()]
    prior = [point.get("l2", 1.0 / point["C"] if "C" in point else 0.0) for point in points]
    return Settings(
        places,
        tuple(is_numeric(values) for values in cls.grid.values()),
        np.arange(len(points)) < len(own),
        np.array(default),
        np.array(prior),
    )


def _nearest(values: Sequence[Any], default: Any) -> int:
    """The place of the default among the values of a key, or of the number nearest to it."""
    if default in values:
        return values.index(default)
    return int(np.argmin(np.abs(np.log(np.array(values) / default))))


def table(
    what: str, rules: Sequence[str], judged: Mapping[tuple[str, int, str], np.ndarray]
) -> None:
    """Print the gains over the first rule: a row a rule, a column a data set and measure."""
    sets = list(dict.fromkeys(dataset for dataset, _, _ in judged))
    print(f"{what:<36}" + "".join(f"{name + ' ' + MEASURES[0]:>22}" for name in sets)
          + "".join(f"{'all ' + measure:>14}" for measure in MEASURES))  # fmt: skip
    for row, rule in enumerate(rules):
        line, of_sets = f"{rule:<36}", []
        for name in sets:
            folds: dict[int, list[np.ndarray]] = {}
            for (dataset, fold, _), values in judged.items():
                if dataset == name:
                    folds.setdefault(fold, []).append(1e4 * (values[row] - values[0]))
            gains = np.array([np.mean(each, axis=0) for each in folds.values()])
            error = gains[:, 0].std(ddof=1) / np.sqrt(len(gains))
            line += f"{gains[:, 0].mean():+13.1f} +- {error:5.1f}"
            of_sets.append(gains.mean(axis=0))
        print(line + "".join(f"{gain:+14.1f}" for gain in np.mean(of_sets, axis=0)))
    print()


def judged(cls: type[Ranker], case: Case, cache: Path | None) -> tuple[np.ndarray | None, ...]:
    """A ranker's tables on one case: of its rounds and of its grid, None where it has none."""
    courses = stored(cls, case, cache)
    rounds = judged_rounds(cls, courses, case) if max(map(len, courses)) > 1 else None
    return rounds, judged_settings(cls, courses, case) if cls.grid else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    parser.add_argument("--sample", type=Path, help="a file of MSLR's form, of a few queries")
    parser.add_argument("--dataset", default=",".join(DATASETS), help="only these, a comma list")
    parser.add_argument("--algo", default="all", help="only these rankers, a comma list")
    parser.add_argument("--cache", type=Path, help="where trainings are kept")
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    asked = names() if options.algo == "all" else options.algo.split(",")
    usable = [ranker(name) for name in asked if ranker(name).published]
    usable = [cls for cls in usable if cls.available() and (cls.grid or hasattr(cls, "rounds"))]
    found = cases(options.data_dir, options.dataset.split(","), options.sample)
    tasks = [
        (cls, case) for case in found for cls in usable
        if not cls.needs or case.dataset in ("OHSUMED", "MQ2008")
    ]  # fmt: skip
    with ProcessPoolExecutor(options.jobs) as pool:
        gains = list(pool.map(judged, *zip(*tasks), repeat(options.cache)))
    kinds = (("rounds and epochs", [*ROUND_RULES]), ("settings of a grid", [*SETTING_RULES]))
    for column, (what, rules) in enumerate(kinds):
        rows = {
            (case.dataset, case.fold, cls.name): gain
            for (cls, case), each in zip(tasks, gains)
            if (gain := each[column]) is not None
        }
        if rows:
            table(what, rules, rows)


if __name__ == "__main__":
    main()
