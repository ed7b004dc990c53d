"""What the shell completes: data sets, algorithms and papers, in comma lists too."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem

Complete = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def names(choices: Callable[[click.Context], Iterable[str]]) -> Complete:
    """Complete the last name of a comma list from the choices, in any case."""

    def complete(
        ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        before, comma, start = incomplete.rpartition(",")
        taken = {name.lower() for name in before.split(",")}
        return [
            CompletionItem(before + comma + name)
            for name in choices(ctx)
            if name.lower().startswith(start.lower()) and name.lower() not in taken
        ]

    return complete


def _algorithms(ctx: click.Context) -> list[str]:
    from letorbench.api.completing import algorithm_names

    return algorithm_names()


def _catalog(ctx: click.Context) -> list[str]:
    from letorbench.api.completing import catalog_names

    return catalog_names()


def _installed(ctx: click.Context) -> list[str]:
    from letorbench.api.completing import installed_names

    return installed_names(Path(ctx.params.get("data_dir") or "data"))


def _with_results(ctx: click.Context) -> list[str]:
    from letorbench.api.completing import result_names

    return result_names(Path(ctx.params.get("out") or "results"))


def _run_algorithms(ctx: click.Context) -> list[str]:
    from letorbench.api.completing import run_names

    out = Path(ctx.params.get("out") or "results")
    return run_names(out, ctx.params.get("datasets") or ())


def _papers(ctx: click.Context) -> list[str]:
    from letorbench.api.reproducing import paper_names

    return paper_names()


def _paper_parts(ctx: click.Context) -> list[str]:
    from letorbench.api.reproducing import paper_parts

    parts = paper_parts(ctx.params.get("papers") or ()).values()
    return list(dict.fromkeys(part for each in parts for part in each))


#: every algorithm; every known data set; those on disk; those with results; the algorithms that
#: have results; the papers; their figures and tables
algorithms = names(_algorithms)
catalog = names(_catalog)
installed = names(_installed)
with_results = names(_with_results)
run_algorithms = names(_run_algorithms)
papers = names(_papers)
paper_parts = names(_paper_parts)
