"""`letorbench algos`: the list of algorithms, all about one, or the parts of recipes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from inspect import cleandoc, getdoc
from typing import TYPE_CHECKING

import click

from letorbench.analysis.tables import Table, text_table
from letorbench.cli import options
from letorbench.cli.group import say, show

if TYPE_CHECKING:
    from letorbench.rankers.base import Ranker

#: the families by loss, and what a list of algorithms calls each
FAMILIES = {
    "pointwise": "Pointwise: each document's label",
    "pairwise": "Pairwise: which of two documents is better",
    "listwise": "Listwise: a query's whole list",
    "": "Parts of your own choice, and the rankers of plug-ins",
    "reference": "Reference points, which learn nothing",
}


@click.command(short_help="List the algorithms, or describe one.")
@click.argument("name", required=False, shell_complete=options.algorithms)
@click.option(
    "--parts", is_flag=True, help="List the models, losses and solvers that a recipe combines."
)
@options.plugin
def algos(name: str | None, parts: bool) -> None:
    """List the algorithms, or describe one: paper, formula, parameters, grid."""
    from letorbench.rankers import names, ranker

    if parts and name is not None:
        raise click.UsageError(f"--parts lists the parts of recipes: found {name} beside it")
    if name is not None:
        say(description(name))
    elif parts:
        for table in part_tables():
            show(table)
    else:
        from letorbench.analysis.leaderboard import recommended

        for table in family_tables([ranker(each) for each in names()], recommended()):
            show(table)
        say("* = recommended: on no data set of the leaderboard significantly worse than the best")


def description(name: str) -> str:
    """Return what an algorithm is: paper, formula, parameters, grid, documentation."""
    from letorbench.choices import meant
    from letorbench.experiment.entrants import parameters
    from letorbench.experiment.select import draws
    from letorbench.parameters import describe
    from letorbench.rankers import names, ranker
    from letorbench.rankers.base import Ranker

    cls = ranker(meant(name, names(), "algorithm"))
    lines = [f"{cls.name}: {cls.title}\n\npaper    {cls.paper}\nformula  {cls.formula}\n"]
    if cls.order_matters:
        lines.append(f"order    of a query's documents matters: {cls.order_matters}\n")
    if cls.feature_order_matters:
        lines.append(f"order    of the features matters: {cls.feature_order_matters}\n")
    if not cls.available():
        lines.append(f"needs    the package {cls.needs}: python -m pip install '{cls.extra}'\n")
    if draws(cls, {}):
        lines.append("draws    random numbers: a run repeats it with several seeds (--repeats)\n")
    defaults = cls().get_params()
    for key, kind in parameters(cls).items():
        line = (
            f"--set {cls.spelled.get(key, key)}={defaults[key]}".ljust(32) + f"  {describe(kind)}"
        )
        if key in cls.grid:
            line += f"; validation chooses from {', '.join(map(str, cls.grid[key]))}"
        lines.append(line)
    if not parameters(cls):
        lines.append("no parameters")
    lines.append(f"\n{getdoc(cls)}")
    shared = cls.__mro__[1 : cls.__mro__.index(Ranker)]  # as by the algorithms of one paper
    lines += [f"\n{cleandoc(base.__doc__)}" for base in shared if base.__doc__]
    return "\n".join(lines)


def family_tables(rankers: Sequence[type[Ranker]], best: Sequence[str]) -> Iterator[Table]:
    """Yield a table of the rankers of each family by their losses: names, kinds, titles.

    best: the names that have a star.
    """
    for family, title in FAMILIES.items():
        own = [cls for cls in rankers if (cls.families or ("",))[0] == family]
        rows = [
            (f"  {cls.name}{' *' * (cls.name in best)}", ", ".join(cls.families[1:]), cls.title)
            for cls in own
        ]
        if rows:
            yield text_table(["", "", ""], rows, title)


def part_tables() -> Iterator[Table]:
    """Yield a table for the models, losses and solvers: their names, and what they are."""
    from letorbench.losses import choices
    from letorbench.losses import families as loss_families
    from letorbench.models.parametric import families, family
    from letorbench.rankers.recipe import SOLVERS, TREES

    formulas = {
        name: "; ".join(filter(None, (each.formula, choices(each))))
        for name, each in loss_families().items()
    }
    models = {name: family(name).formula for name in families()}
    models[TREES] = "the sum over trees of the value of x's leaf"
    kinds = {"model": models, "loss": formulas, "solver": SOLVERS}
    for kind, texts in kinds.items():
        rows = [(f"  {name}", text) for name, text in texts.items()]
        title = f"{kind} (--set {kind}=NAME); all fit together, but trees are only boosted"
        yield text_table(["", ""], rows, title)
