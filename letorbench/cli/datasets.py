"""`letorbench datasets`: what there is, how to get it, whether it is whole."""

from __future__ import annotations

from pathlib import Path

import click

from letorbench.cli import completion, options
from letorbench.cli.group import say
from letorbench.errors import DataError

grades = click.option(
    "--grades",
    metavar="A,B,…|auto",
    help="Make grades of other labels: 0 below A, 1 from A (A too) to below B, …; auto: by "
    "distinct values, at most 32.",
)


@click.group(invoke_without_command=True)
@click.pass_context
def datasets(ctx: click.Context) -> None:
    """The data sets: list, show, import, split, fetch, verify, make, doctor."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_)


@datasets.command("list")
@options.data_dir
def list_(data_dir: Path = Path("data")) -> None:
    """Every known data set, its size, and whether it is in the data folder."""
    from letorbench.api.data_sets import listing

    _columns(listing(data_dir))


@datasets.command()
@click.argument("name", shell_complete=completion.catalog)
@options.data_dir
def show(name: str, data_dir: Path) -> None:
    """What is published of a data set, its folder, its terms and where it comes from."""
    from letorbench.api.data_sets import description

    rows = description(name, data_dir)
    width = max(len(what) for what, _ in rows)
    for what, text in rows:
        say(f"{what.ljust(width)}  {text}")


@datasets.command("import")
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@grades
@options.data_dir
def import_(path: Path, grades: str | None, data_dir: Path) -> None:
    """Bring a folder or a .zip/.tar archive into the data folder.

    Training and test files of one's own may be LightGBM's, XGBoost's, RankLib's or CatBoost's.
    """
    from letorbench.api.data_sets import import_path

    _places(import_path(path, data_dir, grades, say))


@datasets.command()
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--name", metavar="NAME", help="The data set's name.  [default: the file's]")
@click.option(
    "--folds",
    type=click.IntRange(3, 1000),
    default=5,
    show_default=True,
    metavar="N",
    help="Parts, each the test part of one fold.",
)
@options.seed_of("Shuffles the queries.")
@click.option(
    "--label",
    default="label",
    show_default=True,
    metavar="COLUMN",
    help="A table's column of relevance labels.",
)
@click.option(
    "--qid", default="qid", show_default=True, metavar="COLUMN", help="A table's column of queries."
)
@click.option("--docid", metavar="COLUMN", help="A table's column of documents' names.")
@click.option(
    "--columns", metavar="A,B,…", help="A table's columns of features.  [default: all others]"
)
@grades
@options.data_dir
def split(
    path: Path, name: str | None, folds: int, seed: int, label: str, qid: str,
    docid: str | None, columns: str | None, grades: str | None, data_dir: Path,
) -> None:  # fmt: skip
    """Make a data set of one file: LETOR text, a table, or LightGBM's, XGBoost's or CatBoost's.

    The queries are shuffled and cut into folds; all documents of a query stay together. A missing
    value in a table becomes NULL. Files with the sizes of the queries (.query, .group) and with a
    description of the columns (.cd) are looked for beside it.
    """
    from letorbench.api.data_sets import Columns
    from letorbench.api.data_sets import split as split_file

    chosen = Columns(label, qid, docid, columns.split(",") if columns else None)
    _places(split_file(path, data_dir, name, folds, seed, chosen, grades, say))


@datasets.command()
@click.argument("name", shell_complete=completion.catalog)
@click.option(
    "--time-limit",
    type=options.seconds,
    metavar="SECONDS",
    help="The time that each address has.  [default: six hours]",
)
@options.data_dir
def fetch(name: str, time_limit: float | None, data_dir: Path) -> None:
    """Download a data set, check it against the published hash, unpack it.

    A download that stops is continued by the same command.
    """
    from letorbench.api.data_sets import fetch as fetch_data

    _places(fetch_data(name, data_dir, time_limit))


@datasets.command()
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=completion.catalog)
@options.data_dir
def doctor(names: tuple[str, ...], data_dir: Path) -> None:
    """Look at the files of data sets and ask their addresses; all where none is named.

    The status is 1 where a data set on disk is not complete.
    """
    from letorbench.api.data_sets import examination

    rows, damaged = examination(names, data_dir)
    widths = [max(len(row[i]) for row in rows) for i in range(2)]
    for name, where, found in rows:
        say(f"{name.ljust(widths[0])}  {where.ljust(widths[1])}  {found}")
    if damaged:
        raise DataError(f"not complete on disk: {', '.join(damaged)}")


@datasets.command()
@click.argument("name", shell_complete=completion.catalog)
@options.data_dir
@options.null
def verify(name: str, data_dir: Path, null: str | float) -> None:
    """Compare a data set's files with what is published of it; status 1 where they differ."""
    from letorbench.api.data_sets import verification

    rows, ok, found = verification(name, data_dir, null)
    _columns(rows)
    if not ok:
        raise DataError(f"{found}: is not the data set that is published")


@datasets.command()
@click.argument("name", shell_complete=completion.catalog)
@options.seed
@click.option(
    "--questions",
    type=click.IntRange(4, 1_000_000),
    metavar="N",
    help="Training questions of QA; a quarter each validate and test.  [default: 600]",
)
@options.data_dir
def make(name: str, seed: int, questions: int | None, data_dir: Path) -> None:
    """Generate DEMO, QA, or NAME-twin: made-up data in the published shape of NAME.

    QA has questions with their answers as bags of words, one answer the best.
    """
    from letorbench.api.data_sets import make as make_data

    _places(make_data(name, data_dir, seed, questions))


def _places(rows: list[tuple[str, ...]]) -> None:
    """Print where each data set now is."""
    for name, folder in rows:
        say(f"{name}  {folder}")


def _columns(rows: list[tuple[str, ...]]) -> None:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(w) for cell, w in zip(row[1:4], widths[1:4])]
        cells += [cell.ljust(w) for cell, w in zip(row[4:], widths[4:])]
        say("  ".join(cells).rstrip())
