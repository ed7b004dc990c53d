"""`letorbench run`: the main job, from data sets and algorithms to tables and plots."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from letorbench.cli import completion, config, options, plugins
from letorbench.cli.group import complain

if TYPE_CHECKING:
    from letorbench.experiment.plan import Protocol, Task
    from letorbench.experiment.run import Report
    from letorbench.results.summary import Summary


@config.option
@click.command(short_help="Train, select, test; leave scores, tables and plots.")
@click.option(
    "--dataset", "datasets", multiple=True, required=True, metavar="NAME…",
    shell_complete=completion.installed,
    help="Data sets: repeat, comma lists, `all` in the data folder; DEMO needs no data.",
)
@click.option(
    "--algo", "algos", multiple=True, required=True, metavar="NAME…",
    shell_complete=completion.algorithms,
    help="Algorithms: repeat, comma lists, `all`, or `baselines` (seven, also called `card`).",
)
@click.option("--folds", metavar="1-5", help="Folds, as 1-5 or 1,3.  [default: all]")
@click.option(
    "--set", "pairs", multiple=True, metavar="KEY=VALUE",
    help="Fix a hyper-parameter of the algorithms that have it (`letorbench algos NAME`).",
)
@options.data_dir
@options.out
@click.option(
    "--jobs", type=click.IntRange(1), default=1, show_default=True, metavar="N",
    help="Processes; the results do not depend on it.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, metavar="N",
    help="Where every random draw comes from.",
)
@click.option(
    "--select", default="ndcg@10", show_default=True, metavar="MEASURE",
    help="What the validation part chooses settings and rounds by.",
)
@click.option(
    "--convention", default="auto", show_default=True,
    type=options.ConventionName(auto=True),
    help="Whose measuring rules; auto: those of the data set's official tool.",
)
@options.null
@click.option("--force", is_flag=True, help="Run again what is stored already.")
@plugins.option
def run(
    datasets: tuple[str, ...],
    algos: tuple[str, ...],
    folds: str | None,
    pairs: tuple[str, ...],
    data_dir: Path,
    out: Path,
    jobs: int,
    seed: int,
    select: str,
    convention: str,
    null: str | float,
    force: bool,
) -> None:  # fmt: skip
    """Train, select on validation, test: every algorithm on every fold of every data set.

    Stored folds that still hold are not run again. Leaves scores, fits, per-query and mean
    measures and the NDCG@n plot under the results folder, and prints the summary table.
    """
    import signal

    from letorbench.experiment import plan
    from letorbench.experiment.run import run as run_all
    from letorbench.experiment.settings import settings
    from letorbench.measures import parse

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends like Ctrl-C: cleanly
    protocol = plan.Protocol(data_dir, out, convention, str(parse(select)), seed, force, null)
    chosen = plan.algorithms(algos)
    complain(map(_left_out, plan.missing(algos)), "note")
    report = run_all(
        plan.datasets(datasets, data_dir),
        settings(chosen, pairs),
        None if folds is None else plan.folds(folds),
        protocol,
        jobs,
    )
    shown = [summary for summary in report.summaries if summary.rows]
    _draw(shown, out)
    _print(report, shown, protocol)
    _end(report)


def _draw(shown: list[Summary], out: Path) -> None:
    """The NDCG@n figure of each data set, and one of them all where there are several."""
    from letorbench.analysis.figures import draw, panel, write
    from letorbench.results.paths import figure_stem

    for summary in shown:
        write(draw([panel(summary)]), figure_stem(out, summary.dataset))
    if len(shown) > 1:
        write(draw([panel(summary) for summary in shown]), figure_stem(out))


def _left_out(algo: str) -> str:
    from letorbench.rankers import ranker

    cls = ranker(algo)
    return f"all leaves {algo} out: `python -m pip install '{cls.extra}'` brings {cls.needs}"


def _print(report: Report, shown: list[Summary], protocol: Protocol) -> None:
    from letorbench.analysis.results_table import USUAL, render
    from letorbench.results.paths import figure, listing

    for summary in shown:
        click.echo(render(summary, USUAL, "text"))
    kept = sum(outcome.kept for outcome in report.outcomes)
    if kept:
        click.echo(f"{kept} of {len(report.outcomes)} folds were stored already (--force reruns)")
    for summary in shown:
        for what, place in listing(protocol.out, summary.dataset).items():
            click.echo(f"{what:<7} {place}")
    if len(shown) > 1:
        click.echo(f"figure  {figure(protocol.out)}")


def _end(report: Report) -> None:
    """Warnings and failures on stderr; the exit status where a task failed."""
    outcomes = report.outcomes
    complain(report.notes, "warning")
    complain(_by_fold([(o.task, text) for o in outcomes for text in o.warnings]), "warning")
    complain(_by_fold([(outcome.task, outcome.error) for outcome in outcomes if outcome.error]))
    failed = [outcome for outcome in outcomes if outcome.error]
    if failed:
        if click.get_current_context().find_root().params["debug"]:
            click.echo("\n".join(outcome.trace for outcome in failed), err=True)
        # a value that no fold accepts is a usage error, anything else one of the data
        raise SystemExit(min(outcome.exit_status for outcome in failed))


def _by_fold(messages: list[tuple[Task, str]]) -> list[str]:
    """One line for a message that several folds of an algorithm share."""
    folds: dict[tuple[str, str, str], list[str]] = {}
    for task, text in messages:
        folds.setdefault((task.dataset, task.algo, text), []).append(str(task.fold))
    return [
        f"{dataset}, {algo}, fold {', '.join(numbers)}: {text}"
        for (dataset, algo, text), numbers in folds.items()
    ]
