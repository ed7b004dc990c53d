"""`best` beside its rivals at equal processor seconds: `python -m benchmarks.best`.

On every fold each member of `best` is trained with some settings, on one core. Of these trainings
come `best`, the single one that validation likes best, and the plain mean of the members. LightGBM,
tuned on the same validation measure by Optuna's TPE in the same ranges, has as many processor
seconds, and may end its last training. The table has means over the test queries, and `best`'s
lead over each rival with its 95 % interval, which counts queries and seeds.

OHSUMED and MQ2008 are LETOR's. The others are made so, with the files that docs/data.md names:

    letorbench datasets import table-search.csv
    letorbench datasets import algolia.csv
    letorbench datasets split MSLR-sample.test.txt --name MSLR-sample
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import letorbench as lb
from letorbench.analysis.paired import MeanDifference
from letorbench.analysis.tables import Column, columns, render, table
from letorbench.compiled.threads import limited_threads, one_blas_thread
from letorbench.datasets.queryset import Benchmark, Fold
from letorbench.measures import parse
from letorbench.rankers import ranker
from letorbench.rankers.best import Best, average, taken
from letorbench.rankers.tuning import Between, best_of, trial
from letorbench.solvers.stopping import Validation

DATASETS = "OHSUMED,MQ2008,MSLR-sample,TABLE-SEARCH,ALGOLIA"
MEASURE = parse("ndcg@10")
#: the rivals, the one that is compared with the others first
RIVALS = ("best", "LightGBM by TPE", "best single", "plain mean")
#: rounds until TPE's time is over
ENDLESS = 1_000_000


def by_tpe(
    fold: Fold, validation: Validation, seed: int, seconds: float
) -> tuple[np.ndarray, float]:
    """Return test scores of LightGBM after so many processor seconds of TPE, and its seconds."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    cls, start, found = ranker("lightgbm"), time.process_time(), []

    def suggested(of: Any) -> Iterator[tuple[str, object]]:
        for key, each in cls.ranges.items():
            assert isinstance(each, Between)  # all of LightGBM's are
            kind = of.suggest_int if isinstance(each.low, int) else of.suggest_float
            yield key, kind(key, each.low, each.high, log=each.log)

    def objective(of: Any) -> float:
        state, settings = np.random.SeedSequence(seed), dict(suggested(of))
        found.append(trial(cls, fold.train, validation, state, None, settings))
        return found[-1].value

    def stop(study: Any, _: Any) -> None:
        if time.process_time() - start >= seconds:
            study.stop()

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(objective, ENDLESS, callbacks=[stop])
    return best_of(found).ranker.predict(fold.test), time.process_time() - start


def one_fold(
    dataset: str, data_dir: Path, count: int, number: int, seed: int
) -> tuple[dict[str, np.ndarray], dict[str, float], str]:
    """Return each rival's values of the test queries and its processor seconds, and why."""
    benchmark = loaded(dataset, data_dir)
    [fold] = [each for each in benchmark.folds if each.number == number]
    validation = Validation(fold.validation, MEASURE, benchmark.convention)
    on_test = Validation(fold.test, MEASURE, benchmark.convention)
    with limited_threads(1), one_blas_thread():
        start, rng = time.process_time(), np.random.default_rng([seed, number])
        made = Best(trials=count).search(fold.train, validation, rng)
        chosen, weights, why = taken(made, validation)
        spent = time.process_time() - start
        entries = [best_of(each) for each in made]
        rankers = [each.ranker for each in entries]
        weighed = average([each.ranker for each in chosen], weights)
        equal = average(rankers, np.full(len(rankers), 1.0 / len(rankers)))
        queries = fold.test.features, fold.test.offsets
        of_tpe, theirs = by_tpe(fold, validation, seed, spent)
        scores = {
            "best": weighed.predict_queries(*queries),
            "LightGBM by TPE": of_tpe,
            "best single": best_of(entries).ranker.predict(fold.test),
            "plain mean": equal.predict_queries(*queries),
        }
    took = {name: theirs if name == "LightGBM by TPE" else spent for name in RIVALS}
    return {name: on_test(each) for name, each in scores.items()}, took, why


def loaded(dataset: str, data_dir: Path) -> Benchmark:
    return lb.load(dataset, data_dir=data_dir, null="min")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default=DATASETS)
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    parser.add_argument("--trials", type=int, default=Best.trials)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    rows: list[tuple] = []
    for dataset in asked.dataset.split(","):
        numbers = [each.number for each in loaded(dataset, asked.data_dir).folds]
        work = [(number, seed) for seed in range(asked.seeds) for number in numbers]
        run = partial(one_fold, dataset, asked.data_dir, asked.trials)
        with ProcessPoolExecutor(asked.jobs) as pool:
            done = list(pool.map(run, *zip(*work)))
        rows += rows_of(dataset, len(numbers), done)
        alone = sum(" alone " in why for *_, why in done)
        print(f"{dataset}: took one member alone in {alone} of {len(done)} fits", flush=True)
    heads = columns(["data set", "rival"], {"NDCG@10": ".4f", "seconds": ".0f"})
    lead = (Column("best's lead", form="+.4f"), Column("low", form="+.4f"))
    shown = (*heads, *lead, Column("high", form="+.4f"))
    print(render(table("", shown, rows), "text"), end="")


def rows_of(dataset: str, n_folds: int, done: list[Any]) -> list[tuple]:
    """Return a row a rival: its mean, its seconds of a fold, and how far `best` is ahead of it."""
    values = {
        name: np.array([
            np.concatenate([each[0][name] for each in done[first : first + n_folds]])
            for first in range(0, len(done), n_folds)
        ])
        for name in RIVALS
    }  # fmt: skip
    lengths = [len(each[0][RIVALS[0]]) for each in done[:n_folds]]
    folds = np.repeat(np.arange(n_folds), lengths)
    rows: list[tuple] = []
    for name in RIVALS:
        seconds = float(np.mean([each[1][name] for each in done]))
        difference = MeanDifference.of(values[RIVALS[0]], values[name], folds)
        ends = difference.interval() if name != RIVALS[0] else (None, None)
        lead = difference.mean if name != RIVALS[0] else None
        rows.append((dataset, name, float(values[name].mean()), seconds, lead, *ends))
    return rows


if __name__ == "__main__":
    main()
