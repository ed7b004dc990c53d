"""Losses: from the scores and labels of queries to a value and a gradient.

Each module defines losses and lists them in its LOSSES; the table here joins those lists. To
add a loss, add it to a module's list, or add a module to MODULES. `lambdas` holds the forces
between documents that are not the gradient of any loss.

Examples
--------
>>> from letorbench.losses import loss
>>> loss("wpl-1/pi").formula
'-sum_i 1/pi log(e^(s_i) / sum over r_j <= r_i of e^(s_j))'
"""

from __future__ import annotations

from letorbench.choices import require_choice
from letorbench.losses import (
    consistent,
    markov_field,
    multiclass,
    pairwise_logistic,
    plackett_luce,
    pointwise,
    smoothed,
    top_k_cross_entropy,
    weighted_pairs,
)
from letorbench.losses.base import Loss, ValueAndGradient

#: the modules that define losses
MODULES = (
    pointwise,
    multiclass,
    pairwise_logistic,
    weighted_pairs,
    top_k_cross_entropy,
    plackett_luce,
    consistent,
    smoothed,
    markov_field,
)
#: name -> loss
LOSSES: dict[str, Loss] = {loss.name: loss for module in MODULES for loss in module.LOSSES}


def loss(name: str) -> Loss:
    """Return the loss of that name.

    Raises
    ------
    UsageError
        If there is none; the message lists the names.
    """
    return LOSSES[require_choice(name, sorted(LOSSES), "loss")]


__all__ = ["LOSSES", "Loss", "ValueAndGradient", "loss"]
