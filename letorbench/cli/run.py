"""`letorbench run`: the main job, from data sets and algorithms to tables and plots."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import click

from letorbench.cli import options
from letorbench.cli.group import Failed, echo, print_error, print_table
from letorbench.errors import UsageError

if TYPE_CHECKING:
    from letorbench.api.results import Results
    from letorbench.api.running import RunReport


@click.command(short_help="Train, select and test; write scores, tables and plots.")
@options.several(
    "--dataset", "-d", "data", required=True, shell_complete=options.usable_datasets,
    help="Data sets, also as comma lists; `all`: those in the data folder. DEMO needs no data.",
)  # fmt: skip
@options.several(
    "--algo", "-a", "algos", required=True, shell_complete=options.algorithms,
    help="Algorithms, also as comma lists; `all`; `baselines`: seven, also called `card`. "
    "With settings: listnet[select=map,epochs=[20,50]]. With a name: mine=listnet.",
)  # fmt: skip
@options.folds
@options.fixed("Fix a hyper-parameter of the algorithms that have it (`letorbench algos NAME`).")
@options.data_dir
@options.out
@options.jobs
@options.seed
@options.repeats
@options.several(
    "--share", "shares", metavar="SHARE…", default=["1"],
    help="Fractions of the training queries, as 0.1,0.3,1, for learning curves.  [default: 1]",
)  # fmt: skip
@click.option(
    "--resplit", type=click.IntRange(0), metavar="R", default=0,
    help="Number of new draws of the folds, by query, beside the official folds.  [default: 0]",
)  # fmt: skip
@options.option(
    "--protocol", "name", default="default",
    type=click.Choice(["default", "letor", "published", "tuned"]),
    help="How validation chooses; letor: by MAP, published: as in the papers' experiments, tuned: "
    "among as many settings for each algorithm.",
)  # fmt: skip
@click.option(
    "--budget", type=click.IntRange(1), metavar="N",
    help="Number of settings of each algorithm under --protocol tuned.  [default: 32]",
)  # fmt: skip
@click.option(
    "--select", metavar="MEASURE",
    help="Measure by which validation chooses settings and rounds.  [default: ndcg@10; letor: map]",
)  # fmt: skip
@options.convention_of(
    "auto", "auto", help="Measuring rules; auto: those of the data set's official tool."
)
@options.measures("Measures to store and show in addition to the usual ones, also as comma lists.")
@options.null
@options.time_limit
@options.features
@click.option(
    "--shard", metavar="I/N",
    help="Run only part I of N, as 2/3; afterwards copy the folders of all parts into one.",
)  # fmt: skip
@options.option(
    "--backend", type=click.Choice(["local", "dask"]), default="local",
    help="Run the folds in processes here, or on the workers of a dask cluster.",
)  # fmt: skip
@click.option(
    "--scheduler", metavar="ADDRESS", help="Address of the cluster's scheduler, as tcp://host:8786."
)
@options.flag("--force", "Run stored folds again.")
@options.plugin
def run(
    data: tuple[str, ...],
    algos: tuple[str, ...],
    folds: str | None,
    fixed: tuple[str, ...],
    jobs: int,
    shard: str | None,
    shares: tuple[str, ...],
    resplit: int,
    measures: tuple[str, ...],
    backend: str,
    scheduler: str | None,
    **protocol: Any,
) -> None:
    """Train, select on validation, test: every algorithm on every fold of every data set.

    Stored folds that are still valid are not run again. The run leaves scores, fits, per-query and
    mean measures and the NDCG@n plot in the results folder, and prints the summary table.
    """
    from letorbench.api.results import Results
    from letorbench.api.running import closing_lines, exit_status, failures, run_experiment
    from letorbench.choices import split
    from letorbench.datasets.catalog import parse, without_resplits
    from letorbench.experiment.backends import dask_executor
    from letorbench.experiment.plan import Protocol, left_out
    from letorbench.measures import measure_names

    print_error(left_out(algos), "note")
    given = {key: value for key, value in protocol.items() if value is not None}
    chosen = Protocol(**given, measures=tuple(measure_names(measures)))
    if (backend == "dask") != (scheduler is not None) or scheduler == "":
        found = "" if scheduler is None else f" --scheduler {scheduler!r}"
        raise UsageError(f"--backend {backend}{found}: expected dask and an address together")
    with dask_executor(scheduler) if scheduler else nullcontext() as executor:
        report = run_experiment(
            data, algos, chosen, folds=folds, fixed=fixed, jobs=jobs, shard=shard,
            shares=split(shares), resplit=resplit, executor=executor,
        )  # fmt: skip
    done = [each.fold for each in report.runs if each.fold is not None]
    sampled = any(parse(fold.key.dataset).train_fraction != 1.0 for fold in done)  # by the seed
    of_draws = ["repeats"] if sampled else ["seed", "repeats"]
    seeded = [f"--{each}" for each in of_draws if options.given(each)]
    if done and options.given("budget") and not any(f.identity.get("budget") for f in done):
        none = "nothing to change, no algorithm here has the protocol tuned"
        print_error([f"--budget: {none}"], "note")
    if seeded and done and all(fold.fit.get("repeats") is None for fold in done):
        none = "nothing to change, no algorithm here draws random numbers"
        print_error([f"{' and '.join(seeded)}: {none}"], "note")
    every = Results(chosen.out, report.frames)
    results = every.only(without_resplits(every.datasets))
    write_figures(results)
    _print(report, results, chosen.measures)
    failed = failures(report)
    if failed and click.get_current_context().find_root().params["debug"]:
        echo("\n".join(each.trace for each in report.runs if each.error), err=True)
    print_error([*report.notes, *closing_lines(report.runs)], "warning")
    if failed:
        raise Failed(failed, exit_status(report))


def write_figures(results: Results) -> None:
    """Write the NDCG@n figure of each data set and of them all, as PNG and in the forms there."""
    from letorbench.analysis.figures import FORMATS, write
    from letorbench.files import refuse_links
    from letorbench.results.paths import FIGURE, figure_stem

    drawn = {figure_stem(results.out, name): results.only(name) for name in results.datasets}
    if len(drawn) > 1:
        drawn[figure_stem(results.out)] = results
    for stem, each in drawn.items():
        refuse_links(results.out, stem.parent)
        there = [form for form in FORMATS if stem.with_suffix(f".{form}").exists()]
        write(each.plot(), stem, list(dict.fromkeys([FIGURE, *there])))


def _print(report: RunReport, results: Results, measures: Sequence[str]) -> None:
    """Print the tables, how many folds were reused, and where everything is."""
    from letorbench.analysis.results_table import summary_table, tuning_line, usual
    from letorbench.results.paths import FIGURE, figure_stem, listing

    for frame in results.frames:
        more = [name for name in measures if name in frame.measures]  # none that failed
        names = list(dict.fromkeys([*usual(frame), *more]))
        print_table(summary_table(frame.measured(names), names))
        echo(f"{tuning_line(frame)}\n")
        for table in results.resplit_tables(frame, names):
            print_table(table)
            echo("")
    reused = sum(each.reused for each in report.runs)
    if reused:
        echo(f"{reused} of {len(report.runs)} folds were stored already (--force reruns)")
    places = [each for name in results.datasets for each in listing(results.out, name).items()]
    if len(results.datasets) > 1:
        places.append(("figure", f"{figure_stem(results.out)}.{FIGURE}"))
    for what, place in places:
        echo(f"{what:<7} {place}")
