"""The models, losses and solvers that a recipe combines, as text."""

from __future__ import annotations

from letorbench.losses import LOSSES, choices
from letorbench.models.parametric import families, family
from letorbench.rankers.recipe import SOLVERS, misfit


def parts() -> str:
    """Return a line for each part: its name, the parts that it fits, and what it is."""
    formulas = {
        name: "; ".join(filter(None, (each.formula, choices(each))))
        for name, each in LOSSES.items()
    }
    models = {name: family(name).formula for name in families()}
    kinds = {"model": models, "loss": formulas, "solver": SOLVERS}
    fits = [
        {"model": model, "loss": loss, "solver": solver}
        for model in models
        for loss in LOSSES
        for solver in SOLVERS
        if misfit(model, loss, solver) is None
    ]
    lines = []
    for kind, texts in kinds.items():
        rows = []
        for name, text in texts.items():
            fitting = [each for each in fits if each[kind] == name]
            words = [
                _summary(other, [each[other] for each in fitting], list(kinds[other]))
                for other in kinds
                if other != kind
            ]
            rows.append((name, "; ".join(words), text))
        widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
        lines.append(f"{kind} (--set {kind}=NAME), what it fits")
        for name, partners, text in rows:
            lines.append(f"  {name.ljust(widths[0])}  {partners.ljust(widths[1])}  {text}")
    return "\n".join(lines)


def _summary(kind: str, fitting: list[str], every: list[str]) -> str:
    """Say which of all parts of a kind fit: every one, every one but some, or the names."""
    names = list(dict.fromkeys(fitting))
    others = [name for name in every if name not in names]
    if len(others) < len(names):
        return f"every {kind}" + (f" but {', '.join(others)}" if others else "")
    return f"{kind} {', '.join(names)}"
