"""What `auto` does for stumps and trees: raw features against query-minmax, by validation alone.

Both transformations are tried on OHSUMED's Feature-min (it must have been imported into data/) and
on the sample of real MSLR files, see `benchmarks.raw`. Each fold's validation part is split by
queries into two halves, 50 times at random. The rule of a run chooses the round on one half, the
other half judges it, and then they change places. A query's value is its mean over the splits.
Printed are the means, the paired difference with its standard error over the queries, and the mean
difference of both sets, weighed by their inverse variances.

    python -m benchmarks.stump_features [DATA_DIR]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.raw import sample_fold
from letorbench.conventions import CONVENTIONS, Convention
from letorbench.datasets.load import load
from letorbench.datasets.queryset import Benchmark, Fold
from letorbench.features import transformation
from letorbench.rankers import ranker
from letorbench.solvers.stopping import Validation, latest

NAMES = ("frank", "rankboost", "ndcgboost", "lightgbm", "xgboost")
SPLITS = 50


def held_out(name: str, fold: Fold, features: str, rule: Convention) -> np.ndarray:
    """NDCG@10 (n_queries,) of the fold's validation queries, by rounds that others chose."""
    fitted = transformation(features).fit(fold.train.features)
    train, valid = fitted(fold.train), fitted(fold.validation)
    rounds: list[np.ndarray] = []

    def noted(values: np.ndarray) -> int:
        rounds.append(values)
        return latest(values)

    validation = Validation(valid, convention=rule, rule=noted)
    ranker(name)().fit_sets(train, validation, np.random.default_rng(0))
    values = rounds[-1]
    total, count = np.zeros(valid.n_queries), np.zeros(valid.n_queries)
    for half, other in halves(valid.n_queries):
        total[other] += values[latest(values[:, half])][other]
        count[other] += 1
    return total / count


def halves(n: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Random halves of n queries, both ways round."""
    rng = np.random.default_rng(1)
    for _ in range(SPLITS):
        order = rng.permutation(n)
        yield order[: n // 2], order[n // 2 :]
        yield order[n // 2 :], order[: n // 2]


def compared(name: str, bench: Benchmark, rule: Convention) -> tuple[float, float]:
    """The mean of query-minmax minus raw, and its standard error; prints both."""
    raw, minmax = (
        np.concatenate([held_out(name, fold, features, rule) for fold in bench.folds])
        for features in ("raw", "query-minmax")
    )
    change = minmax - raw
    mean, error = float(change.mean()), float(change.std(ddof=1) / np.sqrt(len(change)))
    print(
        f"{bench.name:20} {name:10} raw {raw.mean():.4f}  query-minmax {minmax.mean():.4f}  "
        f"{mean:+.4f} +- {error:.4f}  ({len(change)} queries)",
        flush=True,
    )
    return mean, error


def main(data_dir: Path) -> None:
    sets = [
        (load("OHSUMED/Feature-min", data_dir), CONVENTIONS["letor3"]),
        (sample_fold(), CONVENTIONS["mslr"]),
    ]
    for name in NAMES:
        means, errors = np.array([compared(name, *each) for each in sets]).T
        weight = errors**-2.0
        mean, error = weight @ means / weight.sum(), weight.sum() ** -0.5
        print(f"{'both':20} {name:10} {mean:+.4f} +- {error:.4f}, t = {mean / error:.2f}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "data"))
