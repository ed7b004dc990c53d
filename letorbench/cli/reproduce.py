"""`letorbench reproduce`: rerun papers' experiments, and say what came of every claim."""

from __future__ import annotations

from pathlib import Path

import click

from letorbench.cli import completion, options
from letorbench.cli.group import say


class _Papers(click.Command):
    """A command whose help ends with the papers and their parts."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from letorbench.api.reproducing import paper_parts

        with formatter.section("Papers and their parts"):
            found = paper_parts(()).items()
            formatter.write_dl([(name, ", ".join(parts)) for name, parts in found])


@click.command(cls=_Papers, short_help="Rerun a paper's experiments; a verdict on every claim.")
@click.argument(
    "papers", nargs=-1, required=True, metavar="PAPER…", shell_complete=completion.papers
)
@click.option(
    "--part",
    "parts",
    multiple=True,
    metavar="NAME…",
    shell_complete=completion.paper_parts,
    help="Only these figures or tables: repeat, comma lists.  [default: all]",
)
@click.option("--full", is_flag=True, help="The papers' own sizes, which may take hours.")
@click.option(
    "--setting",
    type=click.Choice(["default", "published"]),
    default="default",
    show_default=True,
    help="Our setting, or the papers' own as far as they tell it.",
)
@click.option(
    "--set",
    "pairs",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting of every ranker that has the key; repeatable.",
)
@click.option(
    "--select",
    default="",
    metavar="MEASURE",
    help="Let validation choose by this measure.  [default: the experiment's]",
)
@click.option(
    "--pages",
    type=options.FOLDER,
    metavar="DIRECTORY",
    help="Also write a page a paper there, with its figures.",
)
@options.data_dir
@options.out
@options.jobs
@options.seed
def reproduce(
    papers: tuple[str, ...],
    parts: tuple[str, ...],
    full: bool,
    setting: str,
    pairs: tuple[str, ...],
    select: str,
    pages: Path | None,
    data_dir: Path,
    out: Path,
    jobs: int,
    seed: int,
) -> None:  # fmt: skip
    """Rerun the experiments of PAPER (or of `all`) on the data at hand.

    Prints, claim by claim, the paper's value, ours with a 95 % interval, a p-value where two
    methods are compared, and four answers: is the number met, is the direction right, is the
    difference significant, could the queries have decided it. The verdict follows from them:
    reproduced, not reproduced, undecided, or no data. Claims tried on other data than theirs
    have a table of their own. Leaves the figures and tables, claims.csv, elsewhere.csv, and
    what differs from the paper's setting in results/papers/PAPER. What is stored is not run
    again. With --setting published the files are in the folder published there, and the
    values of the other setting, where it was run before, stand in a last column. Experiments
    changed by --set or --select have a folder of their own, too.
    """
    from letorbench.api.reproducing import Where
    from letorbench.api.reproducing import reproduce as rerun

    where = Where(data_dir, out, jobs, seed, full, setting, pages, select, pairs)
    for text in rerun(papers, parts, where, lambda line: say(f"... {line}", err=True)):
        say(text)
