"""How differences are tested: the options that `compare`, `table` and `report` share."""

from __future__ import annotations

import click

from letorbench.cli import completion
from letorbench.cli.options import Number, seed_of

test = click.option(
    "--test", "test", type=click.Choice(["randomization", "t", "wilcoxon"]),
    default="randomization", show_default=True, help="The paired test of the per-query values.",
)  # fmt: skip
correction = click.option(
    "--correction", type=click.Choice(["holm", "bh", "none"]), default="holm", show_default=True,
    help="For several comparisons of one measure.",
)  # fmt: skip
alpha = click.option(
    "--alpha", type=Number(0, 1, min_open=True, max_open=True), default=0.05,
    show_default=True, help="The level of significance.",
)  # fmt: skip
seed = seed_of("Where the tests' and intervals' random draws come from.")
baseline = click.option(
    "--baseline", metavar="NAME", shell_complete=completion.run_algorithms,
    help="The algorithm that the others are compared with.",
)  # fmt: skip
