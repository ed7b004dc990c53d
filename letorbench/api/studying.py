"""The surrogate laboratory: what a loss is worth as a stand-in for NDCG."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from letorbench.choices import expanded
from letorbench.losses import every_loss, loss
from letorbench.losses.base import Loss
from letorbench.losses.plugin_losses import loss_of_file
from letorbench.papers.laboratory_report import study, summary, write_study


def study_losses(names: Sequence[str], out: Path, seed: int, trials: int) -> Iterator[str]:
    """Study losses; yield a text for each.

    Parameters
    ----------
    names : sequence of str
        Names of losses, comma lists, "all", and Python files with losses (FILE.py, FILE.py:NAME).
    out : Path
        The results folder; figures and tables go to its folder study/LOSS.
    seed : int
        Where every random draw comes from.
    trials : int
        The distributions that a counterexample is looked for among.
    """
    for name in expanded(names, {"all": loss_names()}):
        found = study(_loss(name), seed, trials)
        safe = "".join(c if c.isalnum() or c in "-.@" else "_" for c in str(found.loss))
        files = write_study(found, out / "study" / safe)
        yield "\n".join([*summary(found), *(f"file         {path}" for path in files), ""])


def loss_names() -> list[str]:
    """Return the names of all losses."""
    return [str(each) for each in every_loss()]


def _loss(name: str) -> Loss:
    return loss_of_file(name) if name.endswith(".py") or ".py:" in name else loss(name)
