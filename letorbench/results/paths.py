"""The names of all result files and folders. No other module of the package spells one out.

The results of an algorithm are in the folder <out>/<data set>/<name>.
"""

import glob
import os
import re
from pathlib import Path
from typing import NamedTuple

#: the files of a fold
SCORES = "scores.txt"
VALIDATION = "validation.txt"
QUERIES = "per_query.csv"
MODEL = "model.npz"
FIT = "fit.json"
#: the files of a fold whose digests are in its fit.json
CHECKED = (SCORES, VALIDATION, QUERIES, MODEL)
#: the tables of an algorithm; that of its queries has the name of a fold's
FOLDS = "folds.csv"
#: the table of an algorithm's repeats, where it has several
REPEATS = "repeats.csv"
#: the table of a data set
SUMMARY = "summary.csv"
#: the folder, in a data set's, of what other programs read; an algorithm of that name has no
#: folder in it but those of its folds
EXPORTS = "exports"
#: the ending of the figure that a run draws; `letorbench plot` draws others as well
FIGURE = "png"

_FOLD = re.compile(
    r"([^/]+)/([^/]+)/(?:repeat([2-9]|[1-9][0-9]{1,8})/)?fold([1-9][0-9]{0,8})", re.ASCII
)


class FoldKey(NamedTuple):
    """What the results of one fold are of; `algo` is a label, or the user's name for it."""

    dataset: str
    algo: str
    repeat: int
    fold: int

    @property
    def fold_text(self) -> str:
        """The fold and, from the second on, the repeat: "3", "3 of repeat 2"."""
        return str(self.fold) if self.repeat == 1 else f"{self.fold} of repeat {self.repeat}"

    def __str__(self) -> str:
        return f"{self.dataset}, {self.algo}, fold {self.fold_text}"


def fold_folder(folder: Path, number: int, repeat: int = 1) -> Path:
    """Return the folder of one fold of an algorithm's; the second repeat's are in `repeat2`."""
    return (folder if repeat == 1 else folder / f"repeat{repeat}") / f"fold{number}"


def folder_of_fold(folder: Path, repeat: int) -> Path:
    """Return the folder of the algorithm that a fold's folder is in."""
    # a user may call an algorithm repeat2
    return folder.parent if repeat == 1 else folder.parent.parent


def finished(out: Path, dataset: str | None = None) -> dict[FoldKey, Path]:
    """Return the folders of the finished folds, sorted; a key's `algo` is the folder's name."""
    folders: dict[FoldKey, Path] = {}
    name = "*" if dataset is None else glob.escape(dataset)
    for pattern in (f"{name}/*/fold*", f"{name}/*/repeat*/fold*"):
        for folder in Path(out).glob(pattern):
            match = _FOLD.fullmatch("/".join(folder.parts[len(Path(out).parts) :]))
            # a link that leads nowhere is there, too: its fold is damaged, not unfinished
            if match is not None and (os.path.lexists(f"{folder}/{FIT}") or not folder.exists()):
                key = FoldKey(match[1], match[2], int(match[3] or 1), int(match[4]))
                folders[key] = folder
    return dict(sorted(folders.items()))


def algorithms(out: Path, dataset: str) -> list[str]:
    """Return the algorithms that have a finished fold of a data set, sorted by name."""
    return list(dict.fromkeys(key.algo for key in finished(out, dataset)))


def present(out: Path) -> list[str]:
    """Return the data sets that have a finished fold of an algorithm, sorted by name."""
    return list(dict.fromkeys(key.dataset for key in finished(out)))


def figure_stem(out: Path, dataset: str | None = None, measure: str = "ndcg") -> Path:
    """Return a measure's figure without its ending; without a data set that of several."""
    return out / (dataset or "") / measure


def listing(out: Path, dataset: str) -> dict[str, str]:
    """Return the kinds of files that a run writes for a data set, and their places."""
    folder = out / dataset
    return {
        "table": str(folder / SUMMARY),
        "plot": f"{figure_stem(out, dataset)}.{FIGURE}",
        "scores": f"{folder}/<algorithm>/fold<k>/{SCORES}, {VALIDATION}, {FIT}, {MODEL}",
        "values": f"{folder}/<algorithm>/{QUERIES}, {FOLDS}",
    }
