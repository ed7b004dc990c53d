"""Losses from elsewhere: the `Loss` objects and families of a Python file."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from letorbench.choices import require_choice
from letorbench.errors import FAILURES, UsageError
from letorbench.losses.base import Loss


def loss_of_file(text: str) -> Loss:
    """Return the loss that FILE.py, or FILE.py:NAME, names.

    NAME is a loss's name. It may be left out where the file has one loss.

    Raises
    ------
    UsageError
        If there is no such file, it cannot be imported, or it has no such loss.
    """
    stem, _, name = text.partition(".py:") if ".py:" in text else (text[:-3], "", "")
    path = Path(f"{stem}.py")
    if not path.is_file():
        raise UsageError(f"{path}: found no such file, expected a Python file with a Loss")
    spec = importlib.util.spec_from_file_location(f"letorbench_loss_{path.stem}", path)
    assert spec is not None and spec.loader is not None  # it is a Python file
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except FAILURES as error:
        raise UsageError(f"{path}: {type(error).__name__}: {error}") from error
    losses: dict[str, Loss] = {}
    for each in vars(module).values():
        if isinstance(each, type) and issubclass(each, Loss) and each.__module__ == spec.name:
            each = each()
        if isinstance(each, Loss):
            losses[each.name] = each
    if not losses:
        raise UsageError(f"{path}: found no Loss, expected one or more")
    if not name and len(losses) > 1:
        raise UsageError(
            f"{path}: found {len(losses)} losses, expected {path}:NAME with one of "
            f"{', '.join(losses)}"
        )
    return losses[require_choice(name or next(iter(losses)), list(losses), "loss")]
