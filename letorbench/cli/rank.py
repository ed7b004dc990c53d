"""`letorbench rank`: a saved model applied to a file of documents."""

from __future__ import annotations

from pathlib import Path

import click

from letorbench.cli import options, plugin_option
from letorbench.cli.group import complain, say

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command(short_help="Score a file of documents with a saved model.")
@click.option("--model", required=True, type=FILE, help="A model that a run left.")
@click.option("--input", "data", required=True, type=FILE, help="A file of LETOR text.")
@click.option(
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where the scores go.",
)
@click.option(
    "--format",
    "form",
    default="scores",
    show_default=True,
    type=click.Choice(["scores", "trec"]),
    help="One score a line in the file's order, or a TREC run file.",
)
@click.option("--tag", metavar="NAME", help="The run file's last column.  [default: the algorithm]")
@click.option("--sparse", is_flag=True, help="The last features may be missing in every line.")
@options.null
@plugin_option.option
def rank(
    model: Path,
    data: Path,
    output: Path,
    form: str,
    tag: str | None,
    sparse: bool,
    null: str | float,
) -> None:  # fmt: skip
    """Score every document of a file with a model of any algorithm; labels are not looked at."""
    from letorbench.api.exchange import rank_file

    text, notes = rank_file(model, data, output, form, tag, null, sparse)
    complain(notes, "warning")
    say(text)
