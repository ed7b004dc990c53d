"""`letorbench datasets`: what there is, how to get it, whether it is whole."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from letorbench.analysis.tables import text_table
from letorbench.cli import options
from letorbench.cli.group import Commands, echo, print_table
from letorbench.errors import DataError

if TYPE_CHECKING:
    from letorbench.datasets.queryset import Benchmark
    from letorbench.datasets.user_data import Grades
    from letorbench.datasets.user_data.tables import Columns

NAME = click.argument("name", shell_complete=options.known_datasets)


@click.group(
    cls=Commands,
    invoke_without_command=True,
    short_help="List, show, import, split, make data sets.",
)
@click.pass_context
def datasets(ctx: click.Context) -> None:
    """The data sets: list, show, import, split, fetch, verify, make."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_)


@datasets.command("list", short_help="List the data sets, and which are here.")
@options.data_dir
def list_(data_dir: Path = Path("data")) -> None:
    """List the known data sets, their sizes, and which are in the data folder."""
    from letorbench.datasets.catalog import CATALOG, parse
    from letorbench.datasets.layout import installed

    entries = {name: parse(name).entry for name in installed(data_dir)}
    rows = []
    for name, entry in CATALOG.items():
        here = [place for place, each in entries.items() if each and each.name == name]
        sizes = [f"{n:,}" if n is not None else "?" for n in (entry.queries, entry.documents)]
        facts = (str(entry.n_features), entry.labels, entry.convention)
        rows.append((name, *sizes, *facts, ", ".join(here) or "-"))
    for name, known in entries.items():
        if known is None or known.name not in CATALOG:
            rows.append((name, *[""] * 4, known.convention if known else "standard", name))
    heads = ["name", "queries", "documents", "features", "labels", "convention", "here"]
    print_table(text_table(heads, rows, right=(1, 2, 3)))


@datasets.command("show", short_help="Show facts, terms and sources of one.")
@NAME
@options.data_dir
def show_(name: str, data_dir: Path) -> None:
    """Show a data set's published facts, its folder, its terms and its sources."""
    from letorbench.choices import require_choice
    from letorbench.datasets.catalog import CATALOG, describe, parse
    from letorbench.datasets.layout import installed, present
    from letorbench.datasets.load import load

    entry = parse(name).entry
    if entry is None and not present(name, data_dir):
        require_choice(name, [*CATALOG, *installed(data_dir)], "data set")
    rows = list(describe(entry)) if entry else _facts(load(name, data_dir))
    if entry and entry.min_label < 0 and present(name, data_dir):
        rows.append(("here", _labels(load(name, data_dir))))
    print_table(text_table(["", ""], rows))


def _facts(benchmark: Benchmark) -> list[tuple[str, str]]:
    """The facts of a user's own data set."""
    fold, provenance = benchmark.folds[0], benchmark.provenance
    names = fold.train.feature_names
    return [
        ("name", benchmark.name),
        ("folder", provenance["folder"]),
        ("folds", str(len(benchmark.folds))),
        ("queries", f"{sum(len(part) for part in fold.parts.values()):,}"),
        ("documents", f"{sum(part.n_docs for part in fold.parts.values()):,}"),
        ("features", str(fold.train.n_features)),
        *([("named", ", ".join(names))] if names else []),
        ("labels", _labels(benchmark)),
        ("convention", benchmark.convention.name),
        ("validation", provenance["validation"]),
    ]


def _labels(benchmark: Benchmark) -> str:
    """The labels of the first fold: their range, and shares where some documents are not judged."""
    import numpy as np

    from letorbench.datasets import LARGEST_GRADE, UNJUDGED

    labels = np.concatenate([part.labels for part in benchmark.folds[0].parts.values()])
    judged = labels[labels != UNJUDGED]
    values, counts = np.unique(judged, return_counts=True)
    text, unjudged = f"0-{benchmark.convention.max_label}", len(labels) - len(judged)
    if len(values) > LARGEST_GRADE + 1:
        text = f"{values[0]}-{values[-1]}, {len(values):,} different"
    elif unjudged:
        text = ", ".join(f"{r}: {n / len(judged):.2%}" for r, n in zip(values, counts))
    return text + f"; {unjudged:,} of {len(labels):,} not judged" * bool(unjudged)


@datasets.command("import")
@click.argument("path", type=options.FILE_OR_FOLDER)
@options.grades
@options.data_dir
def import_(path: Path, grades: Grades, data_dir: Path) -> None:
    """Import a folder or a .zip/.tar archive into the data folder.

    Your own training and test files may be LightGBM's, XGBoost's, RankLib's, CatBoost's or tables.
    """
    from letorbench.datasets.archive import import_archive

    _places(import_archive(path, data_dir, grades=grades, note=echo), data_dir)


@datasets.command(short_help="Make a data set of one file, such as a CSV table.")
@click.argument("path", type=options.FILE)
@click.option("--name", metavar="NAME", help="The data set's name.  [default: the file's]")
@options.option(
    "--folds", type=click.IntRange(3, 1000), default=5, metavar="N",
    help="Number of folds.",
)  # fmt: skip
@options.seed_of("Seed of the shuffling of the queries.")
@options.table_columns
@options.grades
@options.data_dir
def split(
    path: Path, name: str | None, folds: int, seed: int, columns: Columns, grades: Grades,
    data_dir: Path,
) -> None:  # fmt: skip
    """Make a data set of one file: LETOR text, a table, or LightGBM's, XGBoost's or CatBoost's.

    It shuffles the queries and cuts them into folds; all documents of a query stay together. A
    missing value in a table becomes NULL. Files beside it may have the sizes of the queries
    (.query, .group), their weights (.weight) and a description of the columns (.cd).
    """
    from letorbench.datasets.user_data.folds import split as split_file

    _places([split_file(path, data_dir, name, folds, seed, columns, grades, echo)], data_dir)


@datasets.command(short_help="Download a data set, check it, unpack it.")
@NAME
@options.data_dir
def fetch(name: str, data_dir: Path) -> None:
    """Download a data set, check it against the published hash, unpack it.

    If a download stops, run the same command again.
    """
    from letorbench.datasets.fetch import fetch as download

    _places(download(name, data_dir), data_dir)


@datasets.command(short_help="Compare a data set with its published facts.")
@NAME
@options.data_dir
@options.null
def verify(name: str, data_dir: Path, null: str | float) -> None:
    """Compare a data set's files with the published facts; status 1 if they differ."""
    from letorbench.datasets.catalog import parse
    from letorbench.datasets.releases import verify as compare

    rows = []
    checks = compare(name, data_dir, null)
    for check in checks:
        numbers = ["" if n is None else f"{n:,}" for n in (check.published, check.loaded)]
        rows.append((check.what, *numbers, check.status))
    print_table(text_table(["what", "published", "found", "status"], rows, right=(1, 2, 3)))
    if any(check.status == "differs" for check in checks):
        files = {check.status for check in checks if check.loaded is None}
        if files == {"ok"}:  # a hash leaves no doubt
            raise DataError(
                f"{parse(name).label}: its files are the published ones, the counts not"
            )
        raise DataError(f"{parse(name).label}: is not the data set that is published")


@datasets.command(short_help="Generate made-up data: DEMO, or NAME-twin.")
@NAME
@options.seed
@options.data_dir
def make(name: str, seed: int, data_dir: Path) -> None:
    """Generate DEMO, or NAME-twin: made-up data in the published shape of NAME."""
    from letorbench.datasets import synthetic

    synthetic.make(name, data_dir, seed)
    _places([name], data_dir)


def _places(names: Iterable[str], data_dir: Path) -> None:
    """Print where each data set now is."""
    from letorbench.datasets.layout import find

    for name in names:
        place = find(name, data_dir)
        echo(f"{place.name.label}  {place.folder}")
