"""`letorbench study`: is a loss consistent with NDCG, convex, and what is its regret?"""

from __future__ import annotations

from pathlib import Path

import click
from click.shell_completion import CompletionItem

from letorbench.cli import options
from letorbench.cli.group import say


def _losses(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from letorbench.api.studying import loss_names

    return [CompletionItem(name) for name in loss_names() if name.startswith(incomplete)]


@click.command(short_help="Study a loss: NDCG consistency, convexity, regret, learning.")
@click.argument("losses", nargs=-1, required=True, metavar="LOSS…", shell_complete=_losses)
@options.out
@click.option(
    "--trials",
    type=click.IntRange(1),
    default=200,
    show_default=True,
    metavar="N",
    help="Distributions that a counterexample is looked for among.",
)
@options.seed
def study(losses: tuple[str, ...], out: Path, trials: int, seed: int) -> None:
    """Study losses as surrogates of NDCG.

    LOSS is the name of a loss (`letorbench algos --parts` lists them), `all`, or a Python file
    with losses of your own, as FILE.py or FILE.py:NAME. Four tests, after Ravikumar, Tewari and
    Yang (AISTATS 2011): a search for a distribution whose minimiser orders documents wrongly;
    convexity; the NDCG lost against the excess of the loss, with the bound where one is known;
    and learning curves on data with known conditional gains. Leaves a figure and a CSV for each
    in results/study/LOSS.
    """
    from letorbench.api.studying import study_losses

    for text in study_losses(losses, out, seed, trials):
        say(text)
