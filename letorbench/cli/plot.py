"""`letorbench plot`: stored results as figures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from letorbench.cli import options
from letorbench.cli.group import say

if TYPE_CHECKING:
    from letorbench.api.results import Results


@click.command(short_help="Draw stored results, a panel a data set.")
@options.option(
    "--measure", default="ndcg", metavar="MEASURE",
    help="A name with cut-offs is drawn at n = 1..10, another measure by itself.",
)  # fmt: skip
@click.option(
    "--shares", is_flag=True,
    help="Draw a measure, by default ndcg@10, against the share of the training queries.",
)  # fmt: skip
@options.baseline
@click.option(
    "--validation", is_flag=True, help="Draw what validation chose by, with a dot at what was kept."
)
@options.several(
    "--format", "forms", metavar=None, type=click.Choice(["png", "svg", "pdf"]),
    help="Repeat for several.  [default: all three]",
)  # fmt: skip
@click.option("--published", is_flag=True, help="Draw published figures in.")
@click.option(
    "--to", "stem", type=click.Path(path_type=Path), metavar="PATH",
    help="Where, without the ending.  [default: in the data set's results, or beside several]",
)  # fmt: skip
@options.stored
def plot(
    results: Results, measure: str, shares: bool, baseline: str | None, validation: bool,
    forms: tuple[str, ...], published: bool, stem: Path | None,
) -> None:  # fmt: skip
    """Draw the stored results of data sets, one panel each, and print the files' paths.

    With --shares these are learning curves of data sets that ran with several --share.
    With --baseline these are differences from it with 95 % intervals, by default of ndcg@10.
    With --validation these are validation curves: a panel an algorithm, a line a fold.
    """
    from letorbench.files import write_atomically
    from letorbench.named_files import is_stream, open_output
    from letorbench.results.user_files import check_output

    to = write_atomically if stem is None else open_output
    if stem is not None:
        check_output(stem, data_dir=results.data_dir)
    if shares:
        options.refuse("--shares", "published")
        measure = measure if options.given("measure") else "ndcg@10"
        stem = stem or results.out / f"shares-{measure.replace('@', '-at-')}"
    if validation:
        options.refuse("--validation", "measure", "published", "shares", "baseline")
    if baseline is not None:
        options.refuse("--baseline", "published", "shares")
    kinds = (published, shares, baseline, validation)
    for path in write_figure(results, measure, forms, stem, *kinds, to=to):
        say(path, err=is_stream(path))


def write_figure(
    results: Results,
    measure: str = "ndcg",
    forms: Sequence[str] = (),
    stem: Path | None = None,
    published: bool = False,
    shares: bool = False,
    baseline: str | None = None,
    validation: bool = False,
    **where: Any,
) -> list[Path]:
    """Write the figure of `Results.plot`, in its usual place if none is given; see `write`."""
    from letorbench.analysis.figures import FORMATS, write

    name = re.sub("[, ]+", "-", measure.replace("@", "-at-"))
    if baseline is not None:  # a label may hold what a file's name may not
        row = results.row(baseline)
        rows = (each for frame in results.frames for each in frame.rows if each.algo == row)
        name += f"-from-{next(rows).label.folders[0]}"
    name = "validation" if validation else name
    drawn = results.plot(measure, published, shares, baseline, validation)
    return write(drawn, stem or _usual_stem(results, name), forms or FORMATS, **where)


def write_figures(results: Results) -> None:
    """Write the NDCG@n figure of each data set, and one of them all if there are several.

    They are PNG alone, as the other formats take as long as a short run. Those that are there
    already, by `letorbench plot`, are drawn anew, so that none shows older results.
    """
    from letorbench.analysis.figures import FORMATS
    from letorbench.results.paths import FIGURE

    several = [results] if len(results.datasets) > 1 else []
    for each in (*map(results.only, results.datasets), *several):
        stem = _usual_stem(each)
        there = [form for form in FORMATS if stem.with_suffix(f".{form}").exists()]
        write_figure(each, forms=list(dict.fromkeys([FIGURE, *there])))


def _usual_stem(results: Results, name: str = "ndcg") -> Path:
    """Return the path, without its ending, of a figure of the data sets."""
    from letorbench.files import refuse_links
    from letorbench.results.paths import figure_stem

    only = results.datasets[0] if len(results.datasets) == 1 else None
    stem = figure_stem(results.out, only, name)
    refuse_links(results.out, stem.parent)
    return stem
