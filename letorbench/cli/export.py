"""`letorbench export`: stored scores and labels as TREC files, for other tools."""

from __future__ import annotations

from pathlib import Path

import click

from letorbench.cli import options
from letorbench.cli.group import say


@click.command(short_help="Write stored results as TREC run files and qrels.")
@click.argument("dataset", shell_complete=options.datasets_with_results)
@options.algos
@click.option(
    "--to", "folder", type=options.FOLDER, metavar="FOLDER",
    help="Where to.  [default: trec in the data set's results]",
)  # fmt: skip
@options.data_dir
@options.out
def export(
    dataset: str, algos: tuple[str, ...], folder: Path | None, data_dir: Path, out: Path
) -> None:
    """Write <FOLDER>/fold<k>/<algorithm>.run for every stored fold, and its qrels.txt."""
    from letorbench.api.results import load_results
    from letorbench.results.export import export_trec

    [summary] = load_results(out, [dataset], algos).summaries
    names = [row.algo for row in summary.rows]
    for path in export_trec(summary.dataset, names, data_dir, out, folder):
        say(path)
