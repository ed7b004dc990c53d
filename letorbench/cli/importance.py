"""The commands about features: `importance`, and `ablation`, runs without groups of them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from letorbench.cli import options
from letorbench.cli.group import echo, print_error, print_table
from letorbench.errors import DataError

if TYPE_CHECKING:
    from letorbench.api.results import Results

GROUPS = "CSV file of features, by name or number, and their groups, perhaps below `feature,group`."


@click.command(short_help="Measure which features the stored models need.")
@click.option("--groups", type=options.FILE, help=f"{GROUPS} Each is exchanged as a whole.")
@options.measure("The measure whose loss is shown.")
@options.option(
    "--draws", type=click.IntRange(1), default=5, metavar="N", help="Draws for each feature."
)
@options.seed
@options.table_format
@options.stored
def importance(
    results: Results, groups: Path | None, measure: str, draws: int, seed: int, form: str
) -> None:
    """Permute each feature's values within the test queries, and measure the loss.

    The models are those of the finished folds, each measured on its test part. Redundant features
    divide their importance among them: permute them together with --groups.
    """
    from letorbench.analysis.importance import (
        feature_groups,
        importance_table,
        stored_importance,
        stored_models,
    )
    from letorbench.measures import parse

    tables, name = [], str(parse(measure))
    for frame in results.frames:
        rows = list(filter(stored_models, frame.rows))
        if not rows:
            raise DataError(
                f"{frame.dataset}: found no stored models that can be read, expected those of a run"
            )
        data = frame.data()
        grouped = None if groups is None else feature_groups(groups, data.folds[0].test)
        frames = {
            row.algo: stored_importance(row, data, name, grouped, draws, seed) for row in rows
        }
        tables.append(importance_table(frame.dataset, name, data.convention.name, frames, draws))
    print_table(tables, form)


@click.command(short_help="Run algorithms without each group of features.")
@click.argument("dataset", shell_complete=options.usable_datasets)
@options.several(
    "--algo", "-a", "algos", required=True, shell_complete=options.algorithms,
    help="Algorithms, as in `run`.",
)  # fmt: skip
@click.option("--groups", type=options.FILE, required=True, help=GROUPS)
@options.measure("The measure whose loss is shown.")
@options.folds
@options.features
@options.jobs
@options.seed
@options.table_format
@options.data_dir
@options.option(
    "--out", "-o", type=options.FOLDER, default=Path("ablations"), help="Folder of the results."
)
@options.plugin
def ablation(
    dataset: str, groups: Path, measure: str, form: str, data_dir: Path, out: Path, **given: Any
) -> None:  # fmt: skip
    """Run algorithms with all features and without each group, and compare on the same queries.

    Settings are chosen anew on validation in each run. The results without a group are those of a
    data set of their own in --out, DATASET-without-GROUP.
    """
    from letorbench.analysis.comparison import Procedure, comparison_table
    from letorbench.analysis.figures import differences_panel, draw, write
    from letorbench.analysis.importance import feature_groups
    from letorbench.api.ablation import ablations
    from letorbench.datasets.load import load
    from letorbench.results.paths import FIGURE

    benchmark = load(dataset, data_dir)
    grouped = feature_groups(groups, benchmark.folds[0].test)
    with warnings.catch_warnings():  # its lines are printed below
        warnings.simplefilter("ignore")
        results, comparisons = ablations(
            benchmark, groups=grouped, measure=measure, out=out, data_dir=data_dir, **given
        )
    print_error(results.warnings, "warning")
    rules = benchmark.convention.name
    print_table([comparison_table(pairs, convention=rules) for pairs in comparisons], form)
    panels = [differences_panel(pairs, Procedure()) for pairs in comparisons]
    for path in write(draw(panels), out / f"{benchmark.name}-ablation", [FIGURE]):
        echo(path, err=form != "text")
