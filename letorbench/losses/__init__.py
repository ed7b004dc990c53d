"""Losses: from the scores and labels of queries to a value and a gradient.

A loss prints and parses as text with its parameters. A subclass of `Loss` with a ``name`` in this
folder is registered by being there: a new family of losses is a new file. `lambdas` holds forces
between documents that are not the gradient of any loss.

Examples
--------
>>> from letorbench.losses import loss
>>> loss("wpl(weight=1/pi)")
PlackettLuce(weight='1/pi', ties='breslow', gain='exp2')
>>> str(loss("pairwise(weight=1/m, phi=hinge)"))
'pairwise(phi=hinge, weight=1/m)'
"""

from dataclasses import replace
from functools import cache
from typing import Any

from letorbench import parameters, registry
from letorbench.choices import require_choice, split
from letorbench.errors import UsageError
from letorbench.losses.base import CustomLoss, Loss, ValueAndGradient, defaults
from letorbench.losses.custom_losses import loss_of
from letorbench.parameters import kinds, typed
from letorbench.source import users_digest

#: other papers' names of our families
OTHER_NAMES = {"approx-ndcg": "smooth"}


@cache
def families() -> dict[str, type[Loss]]:
    """Return the families of losses by name."""
    return registry.members(__name__, Loss)


def loss(text: str) -> Loss:
    """Return the loss that a text names, such as ``wpl(weight=1/pi)``, or raise UsageError."""
    name, bracket, rest = text.strip().partition("(")
    if bracket and not rest.endswith(")"):
        raise UsageError(f"loss {text!r}: expected a form like wpl(weight=1/pi)")
    name = OTHER_NAMES.get(name.strip(), name.strip())
    custom = None if name in families() else registry.user_defined(name, is_loss)
    if custom is not None and not isinstance(custom, type):
        if bracket:
            raise UsageError(f"loss {text!r}: {name} is a function, expected no parameters")
        return custom if isinstance(custom, Loss) else loss_of(custom, name)
    family: type[Loss] = custom or families()[require_choice(name, sorted(families()), "loss")]
    values: dict[str, Any] = {}
    known = kinds(family)
    for part in split([rest[:-1]]):
        key, _, value = (each.strip() for each in part.partition("="))
        require_choice(key, list(known), f"parameter of {family.name}")
        values[key] = typed(known[key], value, f"{key} of {family.name}")
    return family(**values)


def is_loss(value: object) -> bool:
    """Return whether a value is a loss, a family of losses, or callable as a user's loss."""
    return issubclass(value, Loss) if isinstance(value, type) else callable(value)


def take(value: Any) -> str:
    """Register a loss of a Python program, a function, value or class; return its text."""
    if isinstance(value, type) and issubclass(value, Loss):
        value = value()
    given = value if isinstance(value, Loss) else loss_of(value)
    if families().get(given.name) is not type(given):
        registry.require_new(given.name, {*families(), *OTHER_NAMES}, "loss")
        if not isinstance(given, CustomLoss):
            registry.define(given.name, type(given), type(given))
        else:
            function: Any = given.function
            origin = getattr(function, "function", function)
            source = given.source or users_digest(origin) or "own"
            registry.define(given.name, replace(given, source=source), origin)
    return str(given)


def choices(family: type[Loss]) -> str:
    """Return the parameters of a family and their values as text, the defaults first."""
    texts = []
    lists = parameters.choices(family)
    for key, default in defaults(family).items():
        values = dict.fromkeys([default, *lists.get(key, ())])
        *most, last = (str(value) for value in values)
        texts.append(f"{key}={', '.join(most)} or {last}" if most else f"{key}={last}")
    return "; ".join(texts)


__all__ = [
    "CustomLoss", "Loss", "ValueAndGradient", "choices", "families", "is_loss", "loss", "take",
]  # fmt: skip
