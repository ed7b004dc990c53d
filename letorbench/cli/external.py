"""`letorbench external`: another system's score files as an algorithm."""

from __future__ import annotations

from pathlib import Path

import click

from letorbench.cli import completion, options
from letorbench.cli.group import complain, say

FORMS = click.Choice(["auto", "scores", "ranklib", "trec"])


@click.command(short_help="Take another system's score files in as an algorithm.")
@click.option(
    "--dataset",
    required=True,
    metavar="NAME",
    help="The data set.",
    shell_complete=completion.installed,
)
@click.option("--name", required=True, metavar="NAME", help="What tables call the system.")
@click.option(
    "--scores",
    "pattern",
    required=True,
    metavar="PATTERN",
    help="The test parts' score files, {fold} for the fold's number.",
)
@click.option(
    "--format",
    "form",
    default="auto",
    show_default=True,
    type=FORMS,
    help="scores: one a line; ranklib: qid, index, score; trec: a run file.",
)
@click.option("--folds", metavar="1-5", help="Folds, as 1-5 or 1,3.  [default: all]")
@options.data_dir
@options.out
@click.option(
    "--convention",
    default="auto",
    show_default=True,
    type=options.ConventionName("auto"),
    help="Whose measuring rules; auto: those of the stored results, else the data set's.",
)
@options.null
def external(
    dataset: str,
    name: str,
    pattern: str,
    form: str,
    folds: str | None,
    data_dir: Path,
    out: Path,
    convention: str,
    null: str | float,
) -> None:  # fmt: skip
    """Measure another system's scores of the test parts, and store them as an algorithm's.

    From then on `table`, `plot`, `compare` and `report` have it beside the others. A run file
    names documents by the `#docid` of the data, or by their position in the query from 1.
    """
    from letorbench.api.exchange import import_scores

    text, notes = import_scores(
        dataset, name, pattern, (data_dir, out), form, folds, convention, null
    )
    say(text, nl=False)
    complain(notes, "warning")
