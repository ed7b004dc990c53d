"""`letorbench datasets`: what there is, how to get it, whether it is whole."""

from __future__ import annotations

from pathlib import Path

import click

from letorbench.cli import completion, options
from letorbench.errors import DataError


@click.group(invoke_without_command=True)
@click.pass_context
def datasets(ctx: click.Context) -> None:
    """The data sets: list, show, import, fetch, verify, make."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_)


@datasets.command("list")
@options.data_dir
def list_(data_dir: Path = Path("data")) -> None:
    """Every known data set, its size, and whether it is in the data folder."""
    from letorbench.datasets.catalog import CATALOG, parse
    from letorbench.datasets.layout import installed

    present = installed(data_dir)
    of_entry = {name: parse(name).entry for name in present}
    rows = [("name", "queries", "documents", "features", "labels", "convention", "here")]
    for name, entry in CATALOG.items():
        here = [p for p in present if of_entry[p] is not None and of_entry[p].name == name]
        sizes = [f"{n:,}" if n is not None else "?" for n in (entry.queries, entry.documents)]
        labels = f"0-{entry.max_label}"
        where = ", ".join(here) if here else "-"
        rows.append((name, *sizes, str(entry.n_features), labels, entry.convention, where))
    own = [p for p in present if of_entry[p] is None or of_entry[p].name not in CATALOG]
    for name in own:
        entry = of_entry[name]
        rules = entry.convention if entry else "standard"
        rows.append((name, "", "", "", "", rules, name))
    _columns(rows)


@datasets.command()
@click.argument("name", shell_complete=completion.catalog)
def show(name: str) -> None:
    """What is published of a data set, its folder, its terms and where it comes from."""
    from letorbench.choices import require_choice
    from letorbench.datasets.catalog import CATALOG, describe, parse

    entry = parse(name).entry
    if entry is None:
        require_choice(name, list(CATALOG), "data set")
    rows = describe(entry)
    width = max(len(what) for what, _ in rows)
    for what, text in rows:
        click.echo(f"{what.ljust(width)}  {text}")


@datasets.command("import")
@click.argument("path", type=click.Path(exists=True, path_type=Path))
@options.data_dir
def import_(path: Path, data_dir: Path) -> None:
    """Bring a folder or a .zip/.tar archive into the data folder."""
    from letorbench.datasets.acquire.archive import import_archive

    _places(import_archive(path, data_dir), data_dir)


@datasets.command()
@click.argument("name", shell_complete=completion.catalog)
@options.data_dir
def fetch(name: str, data_dir: Path) -> None:
    """Download a data set, check it against the published hash, unpack it."""
    from letorbench.datasets.acquire.fetch import fetch as fetch_data

    _places(fetch_data(name, data_dir), data_dir)


@datasets.command()
@click.argument("name", shell_complete=completion.catalog)
@options.data_dir
@options.null
def verify(name: str, data_dir: Path, null: str | float) -> None:
    """Compare a data set's files with what is published of it; status 1 where they differ."""
    from letorbench.datasets.acquire.verify import verify as verify_data

    found = verify_data(name, data_dir, null)
    rows = [("what", "published", "found", "status")]
    rows += [(check.path, "", "", check.status) for check in found.files]
    for fact in found.facts:
        published = "" if fact.published is None else f"{fact.published:,}"
        rows.append((fact.fact, published, f"{fact.loaded:,}", fact.status))
    _columns(rows)
    if not found.ok:
        raise DataError(f"{found.name}: is not the data set that is published")


@datasets.command()
@click.argument("name", shell_complete=completion.catalog)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, metavar="N")
@click.option(
    "--questions", type=click.IntRange(4), metavar="N",
    help="Training questions of QA; a quarter each validate and test.  [default: 600]",
)
@options.data_dir
def make(name: str, seed: int, questions: int | None, data_dir: Path) -> None:
    """Generate DEMO, QA, or NAME-twin: made-up data in the published shape of NAME.

    QA has questions with their answers as bags of words, one answer the best.
    """
    from letorbench.datasets.synthetic import make as make_data

    make_data(name, data_dir, seed, questions=questions)
    _places((name,), data_dir)


def _places(names: tuple[str, ...], data_dir: Path) -> None:
    """Where each data set now is."""
    from letorbench.datasets.layout import find

    for name in names:
        found = find(name, data_dir)
        click.echo(f"{found.name.label}  {found.folder}")


def _columns(rows: list[tuple[str, ...]]) -> None:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        cells = [row[0].ljust(widths[0])]
        cells += [cell.rjust(w) for cell, w in zip(row[1:4], widths[1:4])]
        cells += [cell.ljust(w) for cell, w in zip(row[4:], widths[4:])]
        click.echo("  ".join(cells).rstrip())
