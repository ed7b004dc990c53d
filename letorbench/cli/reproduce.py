"""`letorbench reproduce`: rerun papers' experiments, with an answer to every claim."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click

from letorbench.cli import options
from letorbench.cli.group import echo
from letorbench.registry import load


def parts_of(papers: Iterable[str] = ()) -> dict[str, list[str]]:
    """Return the figures and tables of each paper, of all papers if none is named."""
    from letorbench.papers import PAPERS, paper

    names = [name for name in papers if name in PAPERS] or list(PAPERS)
    return {name: list(paper(name).parts) for name in names}


_papers = options.complete(lambda ctx: [*load("letorbench.papers:PAPERS"), "all"])


@options.complete
def _parts(ctx: click.Context) -> list[str]:
    parts = parts_of(ctx.args).values()
    return list(dict.fromkeys(part for each in parts for part in each))


class _Papers(click.Command):
    """A command whose help ends with the papers and their parts."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Papers and their parts"):
            formatter.write_dl([(name, ", ".join(parts)) for name, parts in parts_of().items()])


@click.command(cls=_Papers, short_help="Rerun a paper's experiments and answer each of its claims.")
@click.argument("papers", nargs=-1, required=True, metavar="PAPER…", shell_complete=_papers)
@options.several(
    "--part", "parts", shell_complete=_parts,
    help="Figures or tables, also as comma lists.  [default: all]",
)  # fmt: skip
@options.flag("--full", "Use the papers' own sizes, which may take hours.")
@options.option(
    "--setting", type=click.Choice(["default", "published"]), default="default",
    help="Our settings, or the papers' own where the papers state them.",
)  # fmt: skip
@click.option(
    "--pages", type=options.FOLDER, metavar="DIRECTORY",
    help="Also write a page for each paper there, with its figures.",
)  # fmt: skip
@options.data_dir
@options.out
@options.jobs
@options.seed
def reproduce(
    papers: tuple[str, ...], parts: tuple[str, ...], pages: Path | None,
    **protocol: Any,
) -> None:  # fmt: skip
    """Rerun the experiments of PAPER (or of `all`) on the data at hand.

    Prints for each part of a claim the answer, the paper's number, and our number with a 95 %
    interval. Answers are: agrees; same direction, smaller or larger; no difference; opposite; does
    not hold; depends on a choice; cannot tell; not tried (the paper's data are not at hand). A
    theorem is checked, or has a slip. Claims tried on other data than the paper's have a separate
    table; made-up data are no evidence. Writes figures, tables, claims.csv, comparisons.csv and the
    differences from the paper's setting to results/papers/PAPER (--setting published: to its folder
    published). Stored results are not run again. --pages with all papers also puts the answers into
    the page above the folder, as docs/papers.md is above docs/papers.
    """
    from letorbench.choices import expanded, resolve_name, split
    from letorbench.papers import PAPERS, paper
    from letorbench.papers.paper_page import write_front, write_page
    from letorbench.papers.records import closing, lines, notes
    from letorbench.papers.reproduction import reproduce as rerun
    from letorbench.papers.runs import Context
    from letorbench.results.user_files import check_output

    every = list(PAPERS)
    chosen = [resolve_name(name, every, "paper") for name in expanded(papers, {"all": every})]
    context = Context(**protocol, say=lambda line: echo(f"... {line}", err=True))
    if pages is not None:
        for name in chosen:
            check_output(pages / f"{name}.md", data_dir=context.data_dir)
    done, names, judged = [], split(parts), {}
    for name in chosen:
        result = rerun(paper(name), context, names)
        echo(f"{name}: {result.paper.reference}\n")
        shown, elsewhere = (
            [o for o in outcomes if not names or o.claim.part in names]
            for outcomes in (result.outcomes, result.elsewhere)
        )
        if shown:
            _print(lines(shown), notes(shown))
            judged[name] = shown
        if elsewhere:
            echo("\non other data than the claims':\n")
            _print(lines(elsewhere), notes(elsewhere))
        if result.differs:
            echo("\ndiffers from the paper's setting:")
            echo("".join(f"- {line}\n" for line in result.differs))
        echo("".join(f"file  {path}\n" for path in result.files))
        if pages is not None:
            echo(f"page  {write_page(result, context, pages)}\n")
        done.append(result)
    if pages is not None and set(chosen) == set(every):
        echo(f"page  {write_front(done, pages)}\n")
    echo("\n".join(closing(judged, [context.folder(name) for name in chosen])))


def _print(lines: Iterable[str], notes: Iterable[str]) -> None:
    echo("\n".join([*lines, *(f"\n{note}" for note in notes)]))
