"""Data sets for the command line: what there is, how to get it, whether it is whole."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from letorbench.choices import require_choice
from letorbench.datasets.acquire.archive import import_archive
from letorbench.datasets.acquire.fetch import SIX_HOURS
from letorbench.datasets.acquire.fetch import fetch as fetch_data
from letorbench.datasets.acquire.verify import examine
from letorbench.datasets.acquire.verify import verify as verify_data
from letorbench.datasets.catalog import CATALOG, describe, parse
from letorbench.datasets.layout import find, installed, present
from letorbench.datasets.load import load
from letorbench.datasets.queryset import Benchmark
from letorbench.datasets.synthetic import make as make_data
from letorbench.datasets.user_data.folds import split as split_file
from letorbench.datasets.user_data.rows import parse_grades
from letorbench.datasets.user_data.tables import Columns

Row = tuple[str, ...]


def listing(data_dir: Path) -> list[Row]:
    """Return a table with its heads: every known data set, its size, and where it is."""
    here_now = installed(data_dir)
    of_entry = {name: parse(name).entry for name in here_now}
    rows: list[Row] = [("name", "queries", "documents", "features", "labels", "convention", "here")]
    for name, entry in CATALOG.items():
        here = [p for p, found in of_entry.items() if found is not None and found.name == name]
        sizes = [f"{n:,}" if n is not None else "?" for n in (entry.queries, entry.documents)]
        labels = f"0-{entry.max_label}"
        where = ", ".join(here) if here else "-"
        rows.append((name, *sizes, str(entry.n_features), labels, entry.convention, where))
    for name, found in of_entry.items():
        if found is None or found.name not in CATALOG:
            rules = found.convention if found else "standard"
            rows.append((name, "", "", "", "", rules, name))
    return rows


def description(name: str, data_dir: Path) -> Sequence[Row]:
    """Return what is published of a data set, or found in one's own: a word for each fact."""
    entry = parse(name).entry
    if entry is not None:
        return describe(entry)
    if not present(name, data_dir):
        require_choice(name, [*CATALOG, *installed(data_dir)], "data set")
    return _described(load(name, data_dir, null="min"))


def _described(benchmark: Benchmark) -> list[Row]:
    """Return the facts of a user's own data set."""
    whole, facts = benchmark.folds[0], benchmark.provenance
    names = whole.train.feature_names
    return [
        ("name", benchmark.name),
        ("folder", facts["folder"]),
        ("folds", str(len(benchmark.folds))),
        ("queries", f"{sum(len(part) for part in whole.parts.values()):,}"),
        ("documents", f"{sum(part.n_docs for part in whole.parts.values()):,}"),
        ("features", str(whole.train.n_features)),
        *([("named", ", ".join(names))] if names else []),
        ("labels", f"0-{benchmark.convention.max_label}"),
        ("convention", benchmark.convention.name),
        ("validation", facts["validation"]),
    ]


def import_path(
    path: Path,
    data_dir: Path,
    grades: str | None = None,
    tell: Callable[[str], None] = print,
) -> list[Row]:
    """Bring a folder or an archive into the data folder; return the names and folders."""
    made = None if grades is None else parse_grades(grades)
    return _places(import_archive(path, data_dir, grades=made, tell=tell), data_dir)


def split(
    path: Path,
    data_dir: Path,
    name: str | None = None,
    folds: int = 5,
    seed: int = 0,
    columns: Columns = Columns(),
    grades: str | None = None,
    tell: Callable[[str], None] = print,
) -> list[Row]:
    """Make a data set of one file; see `letorbench.datasets.user_data.folds.split`."""
    made = None if grades is None else parse_grades(grades)
    return _places([split_file(path, data_dir, name, folds, seed, columns, made, tell)], data_dir)


def fetch(name: str, data_dir: Path, time_limit: float | None = None) -> list[Row]:
    """Download a data set, check and unpack it; return its names and folders.

    Parameters
    ----------
    name : str
    data_dir : Path
    time_limit : float, optional
        The seconds that each address has; by default six hours.
    """
    return _places(fetch_data(name, data_dir, seconds=time_limit or SIX_HOURS), data_dir)


def examination(names: Sequence[str], data_dir: Path) -> tuple[list[Row], list[str]]:
    """Look at data sets on disk, and ask their addresses.

    Parameters
    ----------
    names : sequence of str
        The data sets; all that are known or here where there are none.
    data_dir : Path

    Returns
    -------
    rows : list of tuple of str
        A table with its heads.
    damaged : list of str
        The names of the data sets that are on disk and not complete.
    """
    chosen = names or [*CATALOG, *(p for p in installed(data_dir) if p not in CATALOG)]
    found = examine(chosen, data_dir)
    rows: list[Row] = [("name", "where", "found")]
    rows += [(each.name, each.place, each.status) for each in found]
    on_disk = [f for f in found if f.ok is False and "://" not in f.place]
    return rows, list(dict.fromkeys(f.name for f in on_disk))


def make(name: str, data_dir: Path, seed: int = 0, questions: int | None = None) -> list[Row]:
    """Generate a made-up data set; return its name and folder."""
    make_data(name, data_dir, seed, questions=questions)
    return _places((name,), data_dir)


def verification(name: str, data_dir: Path, null: str | float) -> tuple[list[Row], bool, str]:
    """Compare a data set's files with what is published of it.

    Returns
    -------
    rows : list of tuple of str
        A table with its heads.
    ok : bool
        Whether the files are those that are published.
    name : str
        The data set's name.
    """
    checks = verify_data(name, data_dir, null)
    rows: list[Row] = [("what", "published", "found", "status")]
    for check in checks:
        numbers = ("" if n is None else f"{n:,}" for n in (check.published, check.loaded))
        rows.append((check.what, *numbers, check.status))
    return rows, all(check.status != "differs" for check in checks), parse(name).label


def _places(names: Sequence[str], data_dir: Path) -> list[Row]:
    found = (find(name, data_dir) for name in names)
    return [(each.name.label, str(each.folder)) for each in found]
