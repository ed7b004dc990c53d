"""The names of all result files and folders. No other module of the package spells one out."""

from __future__ import annotations

import re
from pathlib import Path

#: the files of a fold
SCORES = "scores.txt"
VALIDATION = "validation.txt"
QUERIES = "per_query.csv"
MODEL = "model.npz"
FIT = "fit.json"
#: the tables of an algorithm; that of its queries has the name of a fold's
FOLDS = "folds.csv"
#: the table of a data set
SUMMARY = "summary.csv"
#: the endings of a figure's files
FIGURES = ("png", "svg", "pdf")

_FOLD = re.compile(r"fold([1-9]\d*)")


def dataset_folder(out: Path, dataset: str) -> Path:
    """Return the folder of a data set's results."""
    return Path(out) / dataset


def algo_folder(out: Path, dataset: str, algo: str) -> Path:
    """Return the folder of an algorithm's results on a data set."""
    return Path(out) / dataset / algo


def fold_folder(out: Path, dataset: str, algo: str, number: int) -> Path:
    """Return the folder of one fold of an algorithm's results."""
    return algo_folder(out, dataset, algo) / f"fold{number}"


def fold_folders(algorithm: Path) -> dict[int, Path]:
    """Return an algorithm's fold folders by number, in the order of the numbers."""
    if not algorithm.is_dir():
        return {}
    found = {
        int(match[1]): path
        for path in algorithm.iterdir()
        if (match := _FOLD.fullmatch(path.name)) and path.is_dir()
    }
    return dict(sorted(found.items()))


def algorithms(out: Path, dataset: str) -> list[str]:
    """Return the algorithms that have a finished fold of a data set, sorted by name."""
    return sorted({fit.parent.parent.name for fit in Path(out).glob(f"{dataset}/*/fold*/{FIT}")})


def present(out: Path) -> list[str]:
    """Return the data sets that have a finished fold of an algorithm, sorted by name."""
    return sorted({fit.parents[2].name for fit in Path(out).glob(f"*/*/fold*/{FIT}")})


def models(out: Path, dataset: str, algo: str) -> list[Path]:
    """Return the paths of an algorithm's stored models, one a fold."""
    folders = fold_folders(algo_folder(out, dataset, algo)).values()
    return [path for folder in folders if (path := folder / MODEL).is_file()]


def figure_stem(out: Path, dataset: str | None = None, measure: str = "ndcg") -> Path:
    """Return the path, without its ending, of a measure's figure.

    Parameters
    ----------
    out : Path
        The results folder.
    dataset : str, optional
        The data set drawn. By default the figure has a panel for each of several data sets.
    measure : str
        The name of the measure drawn at n = 1..10.
    """
    return (Path(out) if dataset is None else dataset_folder(out, dataset)) / measure


def figure(out: Path, dataset: str | None = None) -> str:
    """Return the names of a figure's files in one line: `ndcg.png (.svg, .pdf)`."""
    first, *others = FIGURES
    endings = ", ".join(f".{ending}" for ending in others)
    return f"{figure_stem(out, dataset)}.{first} ({endings})"


def listing(out: Path, dataset: str) -> dict[str, str]:
    """Return what a run leaves for a data set: a word for each kind of file, and its place."""
    folder = dataset_folder(out, dataset)
    return {
        "table": str(folder / SUMMARY),
        "plot": figure(out, dataset),
        "scores": f"{folder}/<algorithm>/fold<k>/{SCORES}, {VALIDATION}, {FIT}, {MODEL}",
        "values": f"{folder}/<algorithm>/{QUERIES}, {FOLDS}",
    }
