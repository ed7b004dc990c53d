"""`letorbench external`: another system's score files as an algorithm."""

from contextlib import suppress
from pathlib import Path

import click

from letorbench.cli import options
from letorbench.cli.group import complain, show
from letorbench.errors import DataError


@click.command(short_help="Take another system's score files in as an algorithm.")
@click.option(
    "--dataset", required=True, metavar="NAME", shell_complete=options.usable_datasets,
    help="The data set.",
)  # fmt: skip
@click.option("--name", required=True, metavar="NAME", help="What tables call the system.")
@click.option(
    "--scores", "pattern", required=True, metavar="PATTERN",
    help="The test parts' score files, {fold} for the fold's number.",
)  # fmt: skip
@options.format_of(
    "auto", "scores", "ranklib", "trec",
    help="scores: one a line; ranklib: qid, index, score; trec: a run file.",
)  # fmt: skip
@options.folds
@options.data_dir
@options.out
@options.convention_of(
    "auto", "auto",
    help="Whose measuring rules; auto: those of the stored results, else the data set's.",
)  # fmt: skip
@options.null
def external(
    dataset: str, name: str, pattern: str, form: str, folds: str | None, data_dir: Path, out: Path,
    convention: str, null: str | float,
) -> None:  # fmt: skip
    """Measure another system's scores of the test parts, and store them as an algorithm's.

    From then on `table`, `plot`, `compare` and `report` show it beside the others. A run file
    names documents by the `#docid` of the data, or by their position in the query from 1.
    """
    from letorbench.analysis.results_table import summary_table, usual
    from letorbench.datasets.load import load
    from letorbench.experiment import plan
    from letorbench.results.external import import_external
    from letorbench.results.frame import Frame

    dataset = options.only(plan.datasets([dataset], data_dir))
    if convention == "auto":
        with suppress(DataError, IndexError):  # there are no sound results yet
            convention = Frame.read(out, dataset).rows[0].convention
    benchmark = load(dataset, data_dir, convention, null)
    numbers = None if folds is None else plan.folds(folds)
    frame, warnings = import_external(name, pattern, benchmark, out, form, numbers)
    show(summary_table(frame, usual(frame)))
    complain(warnings, "warning")
