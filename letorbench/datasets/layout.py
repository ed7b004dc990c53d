"""Where a data set's files lie on disk, in every spelling the releases use."""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from letorbench.datasets.catalog import CATALOG, TWIN, Entry, Name, normalized, parse, same
from letorbench.errors import DataError, UsageError

#: the file names of each part, in lower case and without a prefix
PARTS: dict[str, tuple[str, ...]] = {
    "train": ("train.txt", "trainingset.txt"),
    "validation": ("vali.txt", "valid.txt", "validationset.txt"),
    "test": ("test.txt", "testset.txt"),
}
#: a fold's folder: Fold1, split_0, cv-1, S1, f1 or 1, but no year and no number of features
_FOLD = re.compile(r"(?:(?:fold|split|cv)[ _-]?|[fs]?(?=[0-9]{1,2}$))0*([0-9]+)", re.IGNORECASE)
#: the names that a user's own data set may have
OWN_NAME = re.compile(r"\w([\w. -]*[\w.-])?")
#: the names of an own data set's features, one a line
FEATURE_NAMES = "features.txt"
CATEGORIES = "categories.csv"
#: the number of each of its queries, a tab, and the user's name of the query
QUERY_NAMES = "queries.txt"
#: how a generated data set was made
RECIPE = "synthetic.json"
#: the ending of a file with the weights of another file's queries: LightGBM's and XGBoost's
WEIGHTS = ".weight"
#: a higher number of a fold is taken for a mistake
MOST_FOLDS = 1_000


@dataclass(frozen=True)
class FoldFiles:
    """The files of one fold; `validation` is None where a release has no such part."""

    number: int
    train: Path
    validation: Path | None
    test: Path

    @property
    def files(self) -> tuple[Path, ...]:
        return tuple(path for path in (self.train, self.validation, self.test) if path)


@dataclass(frozen=True)
class Layout:
    """A data set on disk: the folder with its folds or files, and the folds in order."""

    name: Name
    folder: Path
    folds: tuple[FoldFiles, ...]

    @property
    def files(self) -> tuple[Path, ...]:
        return tuple(path for files in self.folds for path in files.files)


def weights_of(file: Path) -> list[Path]:
    """Return the file of weights beside one, if it is there."""
    weights = file.with_name(file.name + WEIGHTS)
    check_link(weights)
    return [weights] if weights.is_file() else []


def find(name: str | Name, data_dir: Path) -> Layout:
    """Find the files of a data set under the data folder; DataError says how to get them."""
    named = parse(name)
    looked_in = places(named)
    for place in looked_in:
        check_link(Path(data_dir) / place)
        folder = resolve(Path(data_dir), place)
        if folder is not None:
            folds = _folds(folder, named.entry)
            if folds is not None:
                return Layout(named, folder, folds)
    looked = ", ".join(str(Path(data_dir) / place) for place in looked_in)
    raise DataError(
        f"{named.label}: no such data set on disk; looked in {looked}; {_advice(named)}"
    )


def present(name: str | Name, data_dir: Path) -> bool:
    """Return whether the whole data set is on disk."""
    try:
        find(name, data_dir)
    except DataError:
        return False
    return True


def installed(data_dir: Path) -> tuple[str, ...]:
    """Return the data sets on disk: the catalog's with variants, then twins and own folders."""
    known = [
        parse(f"{entry.name}/{variant}" if variant else entry.name).label
        for entry in CATALOG.values()
        for variant in entry.variants or ("",)
    ]
    # folders such as Gov, which hold files of the catalog's data sets
    taken = {place.split("/")[0] for entry in CATALOG.values() for place in entry.places}
    taken = {normalized(name) for name in (*CATALOG, *taken)}
    folders = sorted(path.name for path in _subfolders(Path(data_dir)))
    folders = [name for name in folders if name.isprintable() and "\\" not in name]
    folders = [name for name in folders if normalized(name) not in taken]
    return tuple(name for name in (*known, *folders) if present(name, data_dir))


def resolve(root: Path, place: str) -> Path | None:
    """Return the folder `place` under root, whose steps may be in any case and with - or _."""
    folder = root
    for step in place.split("/"):
        if step == ".":
            continue
        alike = (path for path in _subfolders(folder) if same(path.name, step))
        subfolder = folder / step if (folder / step).is_dir() else next(alike, None)
        if subfolder is None:
            return None
        folder = subfolder
    return folder if folder.is_dir() else None


def check_link(path: Path) -> None:
    """Raise DataError for a link whose target does not exist."""
    if path.is_symlink() and not path.exists():
        raise DataError(f"{path}: found a link to {os.readlink(path)}, which is not there")


def fold_number(folder_name: str) -> int | None:
    """Return the number of a fold's folder, at most one above `MOST_FOLDS`; None for another."""
    match = _FOLD.fullmatch(folder_name)
    if match is None:
        return None
    return min(int(match[1][: len(str(MOST_FOLDS))]), MOST_FOLDS + 1)


def numbered_folds(numbers: Mapping[str, int], count: int | None, where: str) -> dict[int, str]:
    """Return the name of each fold's folder by its number, from 1 to `count` or to the last."""
    if 0 in numbers.values():  # other programs count from 0
        numbers = {name: number + 1 for name, number in numbers.items()}
    last = min(max(numbers.values()), MOST_FOLDS) if count is None else count
    if sorted(numbers.values()) != list(range(1, last + 1)):
        found = ", ".join(sorted(numbers, key=lambda name: (numbers[name], name))[:9])
        raise DataError(
            f"{where}: found {found[:80]}; expected Fold1 to Fold{max(1, last)}, one folder a fold"
        )
    return {number: name for name, number in numbers.items()}


def feature_names(layout: Layout) -> tuple[str, ...] | None:
    """Return the names of the features, where the folder has them."""
    lines = _lines_beside(layout, FEATURE_NAMES)
    return None if lines is None else tuple(lines)


def query_names(layout: Layout) -> dict[str, str]:
    """Return the names of the queries by their ids in the files, where the folder has them."""
    lines = _lines_beside(layout, QUERY_NAMES) or []
    return {qid: name for qid, tab, name in (line.partition("\t") for line in lines) if tab}


def _lines_beside(layout: Layout, name: str) -> list[str] | None:
    path, known = layout.folder / name, layout.name.entry
    if (known is not None and known.unsplit is None) or not path.is_file():
        return None
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error}") from None


def recipe(folder: Path) -> dict[str, object] | None:
    """Return the arguments of `make` for a folder; None if it was not generated."""
    path = folder / RECIPE
    if not path.is_file():
        return None
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError):
        raise DataError(f"{path}: damaged; expected the JSON that `make` wrote") from None


def part_of(file_name: str, prefix: str = "") -> str | None:
    """Return the part in a file name: train, validation or test; None for another file."""
    lower = file_name.lower()
    if not lower.startswith(prefix):
        return None
    return next((part for part, names in PARTS.items() if lower[len(prefix) :] in names), None)


def places(named: Name) -> tuple[str, ...]:
    """Return the folders under the data folder that may hold a data set, the official one first."""
    if named.entry is not None:
        return tuple(place.format(variant=named.variant) for place in named.entry.places)
    steps = named.text.split("/")
    if not named.text or "\\" in named.text or any(s in ("", ".", "..") for s in steps):
        raise UsageError(f"{named.text!r} is no data set's name: expected the name of a folder")
    if not named.text.isprintable():
        raise UsageError(f"{named.text!r} is no data set's name: expected characters that are seen")
    return (named.text,)


def _folds(folder: Path, entry: Entry | None) -> tuple[FoldFiles, ...] | None:
    """Return the folds of a folder; None if it holds no data set."""
    numbers = {
        path.name: number
        for path in _subfolders(folder)
        if (number := fold_number(path.name)) is not None
    }
    if entry is not None and entry.n_folds == 1:
        names, prefix = {1: "."}, entry.prefix
    elif numbers:
        names, prefix = numbered_folds(numbers, entry.n_folds if entry else None, str(folder)), ""
    elif entry is None:
        names, prefix = {1: "."}, ""
    else:
        return None
    parts = {number: _parts(folder / name, prefix) for number, name in sorted(names.items())}
    if names == {1: "."} and not parts[1]:
        return None
    # a user's own data may have no validation part: training queries then validate
    validation = entry.validation if entry else any("validation" in each for each in parts.values())
    for number, files in parts.items():
        for part in ("train", "validation", "test") if validation else ("train", "test"):
            if part not in files:
                raise DataError(
                    f"{folder / names[number]}: no {part} file; expected one of "
                    f"{', '.join(PARTS[part])} in any case"
                )
    return tuple(
        FoldFiles(number, files["train"], files.get("validation"), files["test"])
        for number, files in parts.items()
    )


def _parts(folder: Path, prefix: str) -> dict[str, Path]:
    files: dict[str, Path] = {}
    for path in _listed(folder):
        part = part_of(path.name, prefix)
        if part is not None and path.is_file():
            if part in files:
                raise DataError(
                    f"{folder}: two {part} files, {files[part].name} and {path.name}; expected one"
                )
            files[part] = path
    return files


def _subfolders(folder: Path) -> list[Path]:
    return [path for path in _listed(folder) if path.is_dir() and path.name[0] != "."]


def _listed(folder: Path) -> list[Path]:
    """Return the paths in a folder, in order; none if it does not exist."""
    try:
        paths = sorted(folder.iterdir()) if folder.is_dir() else []
    except OSError as error:
        raise DataError(f"{folder}: cannot be read: {error.strerror}") from None
    for path in paths:
        if part_of(path.name) or fold_number(path.name) is not None:
            check_link(path)
    return paths


def _advice(named: Name) -> str:
    if named.entry is None:
        return f"expected Fold1, Fold2, ... there; known names: {', '.join(CATALOG)}"
    if named.entry.synthetic:
        return f"`letorbench datasets make {named.entry.name}` generates it"
    name = named.entry.name
    return (
        f"`letorbench datasets show {name}` says how to get it, "
        f"`letorbench datasets make {name}{TWIN}` makes a synthetic one of its shape"
    )
