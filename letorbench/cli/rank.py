"""`letorbench rank`: a saved model applied to a file of documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from letorbench.cli import options
from letorbench.cli.group import complain, say

if TYPE_CHECKING:
    from letorbench.datasets.user_data.tables import Columns


@click.command(short_help="Score a file of documents with a saved model.")
@click.option(
    "--model", required=True, type=options.FILE,
    help="A model that a run left, or a model file of LightGBM or XGBoost.",
)  # fmt: skip
@click.option("--input", "data", required=True, type=options.FILE, help="LETOR text, a table, …")
@click.option("--output", required=True, type=options.NEW_FILE, help="Where the scores go.")
@options.format_of(
    "scores", "trec", help="One score a line in the file's order, or a TREC run file."
)
@click.option("--tag", metavar="NAME", help="The run file's last column.  [default: the algorithm]")
@click.option("--sparse", is_flag=True, help="The last features may be missing in every line.")
@options.table_columns
@options.null
@options.plugin
def rank(
    model: Path, data: Path, output: Path, form: str, tag: str | None, sparse: bool,
    columns: Columns, null: str | float,
) -> None:  # fmt: skip
    """Score every document of a file with a model of any algorithm; ignore labels.

    A model file is LightGBM's text or XGBoost's JSON; the library is not needed. Feature k of LETOR
    text is column k - 1 of the matrix that it was trained on, whatever its name.
    """
    from letorbench.datasets.arrays import missing_features
    from letorbench.named_files import is_stream, open_output
    from letorbench.rankers import load_model, plugins
    from letorbench.results.export import write_run
    from letorbench.results.scores import finite_scores, write_scores
    from letorbench.results.user_files import check_output, read_for
    from letorbench.solvers.fit_result import score_warnings

    check_output(output, [model, data, *plugins.files()])
    ranker = load_model(model)
    queries = read_for(ranker, data, null, sparse, columns)
    with plugins.blamed(type(ranker)):
        scores = ranker.predict(queries)
    warnings = [f"{data}: {each.text}" for each in score_warnings(scores, queries)]
    missing = len(missing_features(queries.features))
    if missing and not getattr(ranker.learned.model, "has_missing", False):
        warnings.append(f"{data}: {missing} features lack values, which the model reads as 0")
    scores = finite_scores(scores)
    if form == "trec":
        write_run(output, queries, scores, tag or ranker.name, to=open_output)
    else:
        write_scores(output, queries.in_caller_order(scores), to=open_output)
    complain(warnings, "warning")
    count = f"{queries.n_docs} scores of {queries.n_queries} queries"
    say(f"{output}: {count} ({ranker.name})", err=is_stream(output))
