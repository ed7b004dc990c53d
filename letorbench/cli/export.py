"""`letorbench export`: stored scores and labels as TREC files, for other tools."""

from __future__ import annotations

from pathlib import Path

import click

from letorbench.cli import completion, options, stored
from letorbench.cli.group import say


@click.command(short_help="Write stored results as TREC run files and qrels.")
@click.argument("dataset", shell_complete=completion.with_results)
@stored.algos
@click.option(
    "--to",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Where to.  [default: trec in the data set's results]",
)
@options.data_dir
@options.out
def export(
    dataset: str, algos: tuple[str, ...], folder: Path | None, data_dir: Path, out: Path
) -> None:
    """Write <FOLDER>/fold<k>/<algorithm>.run for every stored fold, and its qrels.txt."""
    from letorbench.api.exchange import export as export_results

    for path in export_results(dataset, algos, data_dir, out, folder):
        say(path)
