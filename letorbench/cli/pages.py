"""The commands that write HTML pages: `report` and `leaderboard`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from letorbench.cli import options
from letorbench.cli.group import echo, print_error, print_table
from letorbench.named_files import is_stream, open_output

if TYPE_CHECKING:
    from letorbench.analysis.comparison import Procedure
    from letorbench.api.results import Results


@click.command(short_help="Write stored results as one self-contained HTML file.")
@options.baseline
@options.measure("Measure to compare by.")
@options.by
@options.flag(
    "--importance",
    "Also show which features the best algorithm needs, as `letorbench importance` does.",
)
@options.procedure
@options.page("report.html", "The file to write.")
@options.stored
def report(
    results: Results, baseline: str | None, measure: str, by: str | None, importance: bool,
    procedure: Procedure, out_file: Path,
) -> None:  # fmt: skip
    """Write a report of data sets (all that have results by default) that any browser opens.

    It has results, curves with 95 % bands, per-query differences from the baseline (by default the
    best algorithm of each data set) with their reasons, validation curves, settings, timings,
    warnings and sources. It needs no network and no server.
    """
    words = click.get_current_context().find_root().obj or ()
    written = results.report(out_file, baseline, measure, procedure, words, by, importance)
    echo(written, err=is_stream(written))


@click.command(short_help="Show which method is best, and your own results beside all others.")
@click.argument("folder", required=False, type=options.FOLDER, metavar="[RESULTS]")
@options.several(
    "--dataset", "-d", "datasets", metavar="NAME…",
    help="Data sets.  [default: all that are shipped, or that RESULTS has of them]",
)  # fmt: skip
@options.measure("Measure to rank by.")
@options.table_format
@options.page("leaderboard.html", "The page to write.")
@click.option(
    "--unpack", type=options.FOLDER, metavar="FOLDER",
    help="Write the shipped results as a results folder instead, for every other command.",
)  # fmt: skip
@options.data_dir
def leaderboard(
    folder: Path | None, datasets: tuple[str, ...], measure: str, form: str, out_file: Path,
    unpack: Path | None, data_dir: Path,
) -> None:  # fmt: skip
    """Rank every algorithm on LETOR's OHSUMED and MQ2008, under one protocol, with five seeds.

    The numbers come with letorbench: nothing is trained, and no data are needed. RESULTS is your
    results folder: its rows are ranked among the others and compared query by query, and a sentence
    says whether they are better. Printed numbers of papers are rows without a place.
    The page has intervals, mean ranks and costs, and needs no network.
    """
    from letorbench.analysis.leaderboard import board_table, files, page, tuning_table
    from letorbench.api.leaderboard import boards
    from letorbench.choices import resolve_name, split
    from letorbench.results.packed import unpack as unpacked
    from letorbench.results.scores import parse
    from letorbench.results.user_files import check_output

    if unpack is not None:
        options.refuse("--unpack", "measure", "form", "out_file")
        for name in split(datasets) or files():
            chosen = resolve_name(name, list(files()), "shipped data set")
            echo(unpacked(files()[chosen], unpack))
        return
    check_output(out_file, data_dir=data_dir)
    measure = str(parse(measure))
    all_boards = boards(folder, datasets, measure, data_dir)
    words = click.get_current_context().find_root().obj or ("leaderboard",)
    text = page(all_boards, measure, " ".join(["letorbench", *words]))
    if not is_stream(out_file):
        print_table([board_table(each, measure) for each in all_boards], form)
        tuning = [tuning_table(each, measure) for each in all_boards]
        if form != "csv" and any(tuning):  # CSV is one table
            print_table([each for each in tuning if each], form)
    print_error([line for each in all_boards for line in each.frame.damaged], "warning")
    with open_output(out_file) as file:
        file.write(text)
    echo(f"\npage  {out_file}", err=form != "text" or is_stream(out_file))
