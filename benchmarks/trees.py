"""LambdaMART beside LightGBM's lambdarank: `python -m benchmarks.trees [--dataset NAME ...]`.

Both have the same leaves, rounds, bins, learning rate, fewest documents a leaf and truncation, and
as many threads as letorbench would take. A row of time is of training on a fold's features in
memory, binning included, after a training of two rounds. Sampled trees have .8 of the documents
and, at each split, .8 of the features, and one seed after the other. Each library trains in
processes of its own, whose largest resident set is the memory; they take turns.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np

import letorbench as lb
from benchmarks.table import Row, show, store
from letorbench.compiled.threads import thread_count
from letorbench.datasets.queryset import QuerySet
from letorbench.rankers.lambdamart import LambdaMART


@dataclass(frozen=True)
class Setting:
    """What both train on a data set, and what share of LightGBM's time we may take."""

    folds: int
    rounds: int
    leaves: int
    most_time: float


SETTINGS = {
    "MQ2008": Setting(5, 150, 10, 0.5),
    "OHSUMED": Setting(5, 150, 10, 0.5),
    "MSLR-WEB10K-twin": Setting(1, 100, 31, 1.0),
}
#: what a training of its own process tells: seconds, GiB, mean NDCG@10 of the folds' test parts
Told = tuple[float, float, float]
Predict = Callable[[np.ndarray], np.ndarray]


def ours(train: QuerySet, setting: Setting, rounds: int, share: float, seed: int) -> Predict:
    ranker = LambdaMART(rounds=rounds, leaves=setting.leaves, patience=0, docs=share, columns=share)
    return ranker.fit_sets(train, None, np.random.default_rng(seed)).predict


def lightgbm(train: QuerySet, setting: Setting, rounds: int, share: float, seed: int) -> Predict:
    import lightgbm

    same = LambdaMART()
    options = {
        "objective": "lambdarank", "num_leaves": setting.leaves, "max_bin": same.bins,
        "learning_rate": same.learning_rate, "min_data_in_leaf": same.min_docs,
        "lambdarank_truncation_level": same.truncation, "num_threads": thread_count(),
        "bagging_fraction": share, "bagging_freq": int(share < 1.0), "seed": seed,
        "feature_fraction_bynode": share, "force_row_wise": True, "verbose": -1,
    }  # fmt: skip
    data = lightgbm.Dataset(
        train.features, train.labels, group=train.lengths, params={**options, "verbose": -1}
    )
    return lightgbm.train(options, data, rounds).predict


def told(dataset: str, data_dir: Path, library: str, share: float, seed: int) -> Told:
    """Train on each fold; run it in a process of its own."""
    setting, fit = SETTINGS[dataset], {"letorbench": ours, "LightGBM": lightgbm}[library]
    folds = lb.load(dataset, data_dir=data_dir).folds[: setting.folds]
    fit(folds[0].train, setting, 2, share, seed)
    elapsed, values, predicts = 0.0, [], []
    for fold in folds:
        start = time.perf_counter()
        predicts.append(fit(fold.train, setting, setting.rounds, share, seed))
        elapsed += time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2.0**20
    for fold, predict in zip(folds, predicts, strict=True):
        test = fold.test
        values.append(lb.evaluate(test.y, predict(test.features), qid=test.qid)["ndcg@10"])
    return elapsed, memory, float(np.mean(values))


def compared(dataset: str, data_dir: Path, share: float, seeds: int) -> list[Row]:
    """The rows of a data set with all documents and features, or with a drawn share of them."""
    told_by: dict[str, list[Told]] = {"letorbench": [], "LightGBM": []}
    for seed in range(seeds):
        for library, each in told_by.items():
            with ProcessPoolExecutor(1, get_context("spawn")) as process:
                each.append(process.submit(told, dataset, data_dir, library, share, seed).result())
    us, them = (np.array(each) for each in told_by.values())
    took, theirs = np.median(us, axis=0), np.median(them, axis=0)
    setting, ratio = SETTINGS[dataset], took / theirs
    what = f"LambdaMART, {dataset}, {setting.rounds} trees of {setting.leaves} leaves"
    what += f", {share:g} of documents and features" if share < 1.0 else ""
    quality, error = us[:, 2] - them[:, 2], 0.0
    if seeds > 1:
        error = float(quality.std(ddof=1)) / seeds**0.5
    return [
        Row(
            what, f"{took[0]:.2f} s", f"{theirs[0]:.2f} s, ratio {ratio[0]:.2f}",
            f"<= {setting.most_time:g} of it", bool(ratio[0] <= setting.most_time),
            {"letorbench": took[0], "LightGBM": theirs[0]} if share == 1.0 else {},
        ),
        Row(
            f"{what}: memory", f"{took[1]:.2f} GiB", f"{theirs[1]:.2f} GiB, ratio {ratio[1]:.2f}",
            "<= 1.5 of it", bool(ratio[1] <= 1.5),
        ),
        Row(
            f"{what}: NDCG@10", f"{us[:, 2].mean():.4f}",
            f"{them[:, 2].mean():.4f}, difference {quality.mean():+.4f} +- {error:.4f}",
            ">= -.002", bool(quality.mean() >= -0.002),
        ),
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.trees", description=__doc__)
    parser.add_argument("--dataset", action="append", choices=SETTINGS, help="only these; repeat")
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--store", action="store_true", help="put the seconds into docs/speed.csv")
    arguments = parser.parse_args()
    for dataset in arguments.dataset or SETTINGS:
        rows = compared(dataset, arguments.data_dir, 1.0, 5)
        rows += compared(dataset, arguments.data_dir, 0.8, arguments.seeds)
        show(rows)
        if arguments.store:
            store(rows)


if __name__ == "__main__":
    main()
