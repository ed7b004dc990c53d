"""The algorithms for the command line: their names, what each is, plug-ins."""

from __future__ import annotations

from inspect import cleandoc, getdoc
from pathlib import Path

from letorbench.choices import require_choice
from letorbench.experiment.grids import draws
from letorbench.experiment.settings import describe, parameters
from letorbench.rankers import names, ranker
from letorbench.rankers.base import Ranker
from letorbench.rankers.plugins import use


def use_plugin(path: Path) -> None:
    """Make the rankers of a Python file known, also to worker processes."""
    use(path)


def titles() -> list[tuple[str, str]]:
    """Return every algorithm's name and title."""
    return [(name, ranker(name).title) for name in names()]


def description(name: str) -> str:
    """Return what an algorithm is: paper, formula, parameters, grid, documentation."""
    cls = ranker(require_choice(name, names(), "algorithm"))
    lines = [f"{name}: {cls.title}\n\npaper    {cls.paper}\nformula  {cls.formula}\n"]
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
        spelled = cls.spelled.get(key, key)
        line = f"--set {spelled}={defaults[key]}".ljust(32) + f"  {describe(kind)}"
        if key in cls.grid:
            line += f"; validation chooses from {', '.join(map(str, cls.grid[key]))}"
        lines.append(line)
    if not parameters(cls):
        lines.append("no parameters")
    lines.append(f"\n{getdoc(cls)}")
    shared = cls.__mro__[1 : cls.__mro__.index(Ranker)]  # as by the algorithms of one paper
    lines += [f"\n{cleandoc(base.__doc__)}" for base in shared if base.__doc__]
    return "\n".join(lines)
