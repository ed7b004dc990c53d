"""What the shell completes: data sets, algorithms and papers, also within comma lists."""

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
    from letorbench.rankers import names as ranker_names

    return [*ranker_names(), "all", "baselines"]


def _catalog(ctx: click.Context) -> list[str]:
    from letorbench.datasets.catalog import CATALOG

    return list(CATALOG)


def _installed(ctx: click.Context) -> list[str]:
    from letorbench.datasets.layout import installed

    folder = ctx.params.get("data_dir") or Path("data")
    return list(dict.fromkeys([*installed(Path(folder)), "DEMO", "all"]))


def _with_results(ctx: click.Context) -> list[str]:
    from letorbench.results.paths import present

    return [*present(Path(ctx.params.get("out") or "results")), "all"]


def _run_algorithms(ctx: click.Context) -> list[str]:
    from letorbench.results.paths import algorithms as with_folds
    from letorbench.results.paths import present

    out = Path(ctx.params.get("out") or "results")
    asked = ctx.params.get("datasets") or present(out)
    return sorted({algo for name in asked for algo in with_folds(out, name)})


def _papers(ctx: click.Context) -> list[str]:
    from letorbench.papers import PAPERS

    return [*PAPERS, "all"]


def _paper_parts(ctx: click.Context) -> list[str]:
    from letorbench.papers import PAPERS, paper

    asked = [name for name in ctx.params.get("papers") or () if name in PAPERS]
    return list(dict.fromkeys(part for name in asked or PAPERS for part in paper(name).parts))


#: every algorithm; every known data set; those on disk; those with results; theirs; the papers
algorithms = names(_algorithms)
catalog = names(_catalog)
installed = names(_installed)
with_results = names(_with_results)
run_algorithms = names(_run_algorithms)
papers = names(_papers)
paper_parts = names(_paper_parts)
