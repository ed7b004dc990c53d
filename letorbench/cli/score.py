"""`letorbench score`: a score file against a test file, as the official tools do it."""

from __future__ import annotations

from pathlib import Path

import click
from click.core import ParameterSource

from letorbench.cli import options
from letorbench.cli.group import complain, say

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.option("--data", type=FILE, help="A test file of LETOR text.")
@click.option("--qrels", type=FILE, help="A TREC qrels file instead.")
@click.option(
    "--scores",
    required=True,
    type=FILE,
    help="One score a line, in the file's order; or RankLib's three columns; or a TREC run.",
)
@click.option(
    "--convention",
    default="standard",
    show_default=True,
    type=options.ConventionName(),
    help="Whose measuring rules.",
)
@click.option(
    "--format",
    "form",
    default="official",
    show_default=True,
    type=click.Choice(["official", "csv"]),
    help="The official tool's own output, or CSV.",
)
@click.option("--per-query", is_flag=True, help="Every query's values, not only their means.")
@options.null
def score(
    data: Path | None,
    qrels: Path | None,
    scores: Path,
    convention: str,
    form: str,
    per_query: bool,
    null: str | float,
) -> None:  # fmt: skip
    """Measure a score file against a test file, or a TREC run against qrels."""
    from letorbench.api.score_files import (
        convention_doubt,
        csv_text,
        official_text,
        read_judged,
    )

    source = click.get_current_context().get_parameter_source("convention")
    queries = read_judged(data, qrels, null)
    doubt = convention_doubt(queries, convention, source is not ParameterSource.DEFAULT)
    if doubt:
        complain([f"{data or qrels}: {doubt}"], "warning")
    text = official_text if form == "official" else csv_text
    say(text(queries, scores, convention, per_query), nl=False)
