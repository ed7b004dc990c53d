"""The names of all result files and folders. No other module of the package spells one out."""

from __future__ import annotations

import re
from pathlib import Path

#: the files of a fold
SCORES = "scores.txt"
VALIDATION = "validation.txt"
QUERIES = "per_query.csv"
MODEL = "model.npz"
TRIALS = "trials.npz"
FIT = "fit.json"
#: the files of a fold whose digests are in its fit.json
SEALED = (SCORES, VALIDATION, QUERIES, MODEL, TRIALS)
#: the tables of an algorithm; that of its queries has the name of a fold's
FOLDS = "folds.csv"
#: the table of an algorithm's repeats, where it has several
REPEATS = "repeats.csv"
#: the table of a data set
SUMMARY = "summary.csv"
#: the endings of a figure's files
FIGURES = ("png", "svg", "pdf")

_FOLD = re.compile(r"fold([1-9]\d*)")
_REPEAT = re.compile(r"repeat([1-9]\d*)")


def dataset_folder(out: Path, dataset: str) -> Path:
    """Return the folder of a data set's results."""
    return Path(out) / dataset


def algo_folder(out: Path, dataset: str, algo: str) -> Path:
    """Return the folder of an algorithm's results on a data set."""
    return Path(out) / dataset / algo


def fold_folder(out: Path, dataset: str, algo: str, number: int, repeat: int = 1) -> Path:
    """Return the folder of one fold of an algorithm's results.

    The first repeat's folds stand in the algorithm's own folder, those of the second on in a
    folder beside them, `repeat2`.
    """
    folder = algo_folder(out, dataset, algo)
    return (folder if repeat == 1 else folder / f"repeat{repeat}") / f"fold{number}"


def fold_folders(algorithm: Path) -> dict[int, Path]:
    """Return an algorithm's fold folders by number, in the order of the numbers."""
    return _numbered(algorithm, _FOLD)


def repeat_folders(algorithm: Path) -> dict[int, Path]:
    """Return the folders that hold the folds of each repeat, in the order of the numbers."""
    return {1: algorithm, **_numbered(algorithm, _REPEAT)}


def _numbered(folder: Path, form: re.Pattern[str]) -> dict[int, Path]:
    """Return the folders in a folder whose names have that form, by their numbers."""
    if not folder.is_dir():
        return {}
    found = {
        int(match[1]): path
        for path in folder.iterdir()
        if (match := form.fullmatch(path.name)) and path.is_dir()
    }
    return dict(sorted(found.items()))


def algorithms(out: Path, dataset: str) -> list[str]:
    """Return the algorithms that have a finished fold of a data set, sorted by name."""
    first = {fit.parents[1].name for fit in Path(out).glob(f"{dataset}/*/fold*/{FIT}")}
    later = {fit.parents[2].name for fit in Path(out).glob(f"{dataset}/*/repeat*/fold*/{FIT}")}
    return sorted(first | later)


def present(out: Path) -> list[str]:
    """Return the data sets that have a finished fold of an algorithm, sorted by name."""
    first = {fit.parents[2].name for fit in Path(out).glob(f"*/*/fold*/{FIT}")}
    later = {fit.parents[3].name for fit in Path(out).glob(f"*/*/repeat*/fold*/{FIT}")}
    return sorted(first | later)


def models(out: Path, dataset: str, algo: str) -> list[Path]:
    """Return the paths of an algorithm's stored models of the first repeat, one a fold."""
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
