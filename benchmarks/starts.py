"""What a start decides: `python -m benchmarks.starts --data-dir data` prints the table.

Every method that descends along a gradient, and coordinate ascent, is fitted with its start moved a
little, ten times by 1e-9 and ten times by 1e-3 times standard normal numbers. The settings are
chosen on the validation part as in a run. A row holds the spread, largest less smallest, of NDCG@10
on the validation part. Test parts are not read.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

import letorbench as lb
from letorbench.datasets.queryset import QuerySet
from letorbench.experiment.select import select
from letorbench.rankers import coordinate_ascent, names, ranker
from letorbench.solvers import descent, sgd
from letorbench.solvers.stopping import Validation

SIZES = (1e-9, 1e-3)


@contextmanager
def moved_starts(size: float, seed: int) -> Iterator[None]:
    """Let every start be moved by standard normal numbers times a size."""

    def moved(theta: np.ndarray) -> np.ndarray:
        return theta + size * np.random.default_rng(seed).standard_normal(theta.shape)

    def moving(solver: type[descent.Solver]) -> Any:
        minimise = solver.minimise

        def from_moved(self: Any, objective: Any, theta: np.ndarray, *rest: Any) -> Any:
            return minimise(self, objective, moved(theta), *rest)

        return patch.object(solver, "minimise", from_moved)

    draw = sgd.NetState.draw

    def draw_moved(*arguments: Any) -> sgd.NetState:
        state = draw(*arguments)
        weights = moved(state.weights)
        return state._replace(weights=weights, weights_f32=weights.astype(np.float32))

    class MovedArrays:
        """NumPy for coordinate ascent, whose first weights are `full`."""

        def __getattr__(self, name: str) -> Any:
            return (lambda *own: moved(np.full(*own))) if name == "full" else getattr(np, name)

    with ExitStack() as patches:
        for solver in (descent.GradientDescent, descent.LineSearch, descent.LBFGS):
            patches.enter_context(moving(solver))
        patches.enter_context(patch.object(sgd.NetState, "draw", staticmethod(draw_moved)))
        patches.enter_context(patch.object(coordinate_ascent, "np", MovedArrays()))
        yield


def spread(name: str, train: QuerySet, validation: Validation, size: float, times: int) -> float:
    """Return the largest less the smallest NDCG@10 on validation over the moved starts."""
    found = []
    for seed in range(times):
        with moved_starts(size, seed):
            seeds = np.random.SeedSequence(0)
            chosen = select(ranker(name), {}, train, validation, seeds, grows=False).chosen
        found.append(chosen.value)
    return max(found) - min(found)


def main() -> None:
    descends = [
        name
        for name in names()
        if ranker(name).__module__.rpartition(".")[2]
        in ("tran2012", "ravikumar2011", "listnet", "classification", "ranknet", "lambdarank",
            "coordinate_ascent")
    ]  # fmt: skip
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default="OHSUMED")
    parser.add_argument("--fold", type=int, default=1)
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    parser.add_argument("--algo", default=",".join(descends))
    parser.add_argument("--times", type=int, default=10)
    given = parser.parse_args()
    fold = lb.load(given.dataset, data_dir=given.data_dir).folds[given.fold - 1]
    validation = Validation(fold.validation)
    print("algorithm".ljust(22), *(f"{size:7.0e}" for size in SIZES))
    for name in given.algo.split(","):
        spreads = [spread(name, fold.train, validation, size, given.times) for size in SIZES]
        print(name.ljust(22), *(f"{each:7.4f}" for each in spreads), flush=True)


if __name__ == "__main__":
    main()
