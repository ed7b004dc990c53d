"""Finished folds as a run stores them, without a run; and all that a results folder holds."""

import json
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from conftest import places, printed
from toy_data import write_toy

from letorbench.results.paths import fold_folder
from letorbench.results.per_query import PerQuery
from letorbench.results.store import FoldResult, write_fold


def store_fold(
    out: Path,
    dataset: str,
    algo: str,
    number: int,
    values: Mapping[str, float | list[float]],
    convention: str = "letor3",
    n_folds: int = 5,
    cut_off: Mapping[str, float] | None = None,
    repeat: int = 1,
    repeats: int | None = None,
    **identity: object,
) -> Path:
    """Store a fold with these values of its queries; return its folder."""
    columns = {name: np.atleast_1d(np.array(v, dtype=float)) for name, v in values.items()}
    n_queries = len(next(iter(columns.values())))
    numbers = np.full(n_queries, number)
    qids = (100 * number + np.arange(n_queries)).astype(str)
    queries = PerQuery(algo, numbers, qids, columns)
    facts = {"dataset": dataset, "algo": algo, "fold": number, **identity}
    if repeat > 1:
        facts["repeat"] = repeat
    folder = fold_folder(out, dataset, algo, number, repeat)
    result = FoldResult(
        facts, np.zeros(3), queries, convention, n_folds, repeats=repeats, cut_off=cut_off
    )
    write_fold(folder, result)
    return folder


def without_clock(value: object) -> object:
    """JSON without what the clock says."""
    if isinstance(value, dict):
        clock = ("seconds", "seal")
        return {k: without_clock(v) for k, v in value.items() if k not in clock}
    return [without_clock(item) for item in value] if isinstance(value, list) else value


def content(out: Path) -> dict[str, object]:
    """Every file of a results folder, but for the seconds that its runs took."""
    found: dict[str, object] = {}
    for path in sorted(out.rglob("*")):
        if path.name == "fit.json":
            found[str(path.relative_to(out))] = without_clock(json.loads(path.read_text()))
        elif path.is_file():
            found[str(path.relative_to(out))] = path.read_bytes()
    return found


def stored_run(folder: Path, algos: str = "regression,adarank-ndcg") -> Path:
    """Run algorithms on a toy set in the folder; return the results folder."""
    write_toy(folder / "data")
    words = ["run", "--dataset", "TOY", "--algo", algos, "--set", "rounds=3"]
    printed(*words[: 5 + 2 * ("adarank" in algos)], *places(folder))
    return folder / "results"
