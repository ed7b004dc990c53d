"""`letorbench study`: is a loss consistent with NDCG, convex, and what is its regret?"""

from __future__ import annotations

from pathlib import Path

import click

from letorbench.cli import options
from letorbench.cli.group import say
from letorbench.registry import load

_losses = options.complete(lambda ctx: load("letorbench.losses:LOSSES"))


@click.command(short_help="Study a loss: NDCG consistency, convexity, regret, learning.")
@click.argument("losses", nargs=-1, required=True, metavar="LOSS…", shell_complete=_losses)
@options.out
@options.option(
    "--trials", type=click.IntRange(1), default=200, metavar="N",
    help="Distributions that a counterexample is looked for among.",
)  # fmt: skip
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
    from letorbench.analysis import surrogate_report
    from letorbench.choices import expanded
    from letorbench.losses import every_loss, loss
    from letorbench.losses.plugin_losses import loss_of_file

    for name in expanded(losses, {"all": [str(each) for each in every_loss()]}):
        chosen = loss_of_file(name) if name.endswith(".py") or ".py:" in name else loss(name)
        result = surrogate_report.study(chosen, seed, trials)
        folder = "".join(c if c.isalnum() or c in "-.@" else "_" for c in str(result.loss))
        files = surrogate_report.write_study(result, out / "study" / folder)
        lines = [*surrogate_report.summary(result), *(f"file         {path}" for path in files)]
        say("\n".join([*lines, ""]))
