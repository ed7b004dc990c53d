"""Two small data sets as LETOR text in five folds, and results of them with or without a run."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from conftest import places, printed

from letorbench.files import one_writer
from letorbench.results.dataset_results import SystemResults
from letorbench.results.labels import Label
from letorbench.results.paths import FoldKey, fold_folder
from letorbench.results.per_query import PerQuery
from letorbench.results.store import StoredFold, write_fold


def write_toy(data_dir: Path, name: str = "TOY", seed: int = 1) -> Path:
    """Five parts of 8 queries x 7 documents, 4 features, rotated into five folds."""
    rng = np.random.default_rng(seed)
    parts = [
        "".join(document(rng, 100 * part + query, 6) for query in range(1, 9) for _ in range(7))
        for part in range(5)
    ]
    return write_folds(data_dir / name, parts)


def document(rng: np.random.Generator, qid: int, decimals: int, relevant: bool = True) -> str:
    """A line of four features, of which the label depends on two."""
    x = np.round(rng.normal(size=4), decimals)
    noise = 0.5 * rng.normal()
    label = int(np.clip(round(x[0] - x[1] + noise), 0, 2)) if relevant else 0
    return (
        f"{label} qid:{qid} " + " ".join(f"{i}:{v:.{decimals}f}" for i, v in enumerate(x, 1)) + "\n"
    )


def write_folds(folder: Path, parts: list[str]) -> Path:
    """Write parts, rotated, as so many folds."""
    for k in range(len(parts)):
        fold, turned = folder / f"Fold{k + 1}", parts[k:] + parts[:k]
        fold.mkdir(parents=True)
        (fold / "train.txt").write_text("".join(turned[:-2]))
        (fold / "vali.txt").write_text(turned[-2])
        (fold / "test.txt").write_text(turned[-1])
    return folder


#: queries of each part
SIZES = (3, 6, 4, 7, 2)


def write_uneven(data_dir: Path, name: str = "UNEVEN", seed: int = 3) -> Path:
    """Five parts of 2 to 7 queries with 1 to 14 documents, in five folds: none like another.

    The qids fall. Some queries have no relevant document, some features are equal.
    """
    rng = np.random.default_rng(seed)
    parts = [
        "".join(
            document(rng, 100 * part + 50 - query, 1, query != 1)
            for query in range(size)
            for _ in range(rng.integers(1, 15))
        )
        for part, size in enumerate(SIZES)
    ]
    return write_folds(data_dir / name, parts)


#: what a fold's result may be given beside its identity
RESULT = (
    "cut_off", "ranker", "repeats", "seconds", "validation", "validation_scores", "warnings",
)  # fmt: skip


def store_fold(
    out: Path,
    dataset: str,
    algo: str,
    number: int,
    values: Mapping[str, float | list[float]],
    convention: str = "letor3",
    n_folds: int = 5,
    repeat: int = 1,
    **facts: Any,
) -> Path:
    """Store a fold with these values of its queries; return its folder.

    facts: what its result has by the names of `RESULT`, its `qids`, and what its identity has.
    """
    columns = {name: np.atleast_1d(np.array(v, dtype=float)) for name, v in values.items()}
    n_queries = len(next(iter(columns.values())))
    qids = np.array(facts.pop("qids", 100 * number + np.arange(n_queries))).astype(str)
    queries = PerQuery(algo, np.full(n_queries, number), qids, columns)
    own = {name: facts.pop(name) for name in RESULT if name in facts}
    if "validation_scores" in own:
        own["validation_scores"] = np.array(own["validation_scores"])
    identity = {"dataset": dataset, "algo": algo, "fold": number, **facts}
    if repeat > 1:
        identity["repeat"] = repeat
    folder = fold_folder(Path(out) / dataset / algo, number, repeat)
    made = identity, Label(algo), np.zeros(3), queries, convention, n_folds
    with one_writer(folder, out):
        write_fold(folder, *made, **own)
    return folder


def sample_row(
    algo: str, values: Mapping[str, float], folds: int = 5, convention: str = "letor3"
) -> SystemResults:
    """A row in memory whose folds have all these values."""
    tables = {name: np.full(folds, value) for name, value in values.items()}
    numbers = np.arange(1, folds + 1)
    return row_of(PerQuery(algo, numbers, numbers.astype(str), tables), convention)


def row_of(queries: PerQuery, convention: str = "letor3") -> SystemResults:
    """A row in memory with these values of its queries, of one repeat."""
    stored = []
    for k in np.unique(queries.folds).tolist():
        own = queries.only(np.array([k]))
        means = {name: queries.fold_means(name)[k] for name in queries.values}
        test = {"means": means, "convention": convention, "n_folds": len(np.unique(queries.folds))}
        fit = {"identity": {"algo": queries.algo}, "test": test, "warnings": []}
        key = FoldKey("S", queries.algo, 1, k)
        stored.append(StoredFold(key, Path("S", queries.algo, "1"), fit, 0, own))
    return SystemResults(queries.algo, tuple(stored))


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


def refused(function: Callable, *arguments: object, **options: object) -> None:
    """Print the error of a call, or what it returns."""
    try:
        print(function(*arguments, **options))
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
