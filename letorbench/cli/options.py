"""Options that several commands share."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import click
from click.shell_completion import CompletionItem

FOLDER = click.Path(file_okay=False, path_type=Path)

data_dir = click.option(
    "--data-dir", type=FOLDER, default=Path("data"), show_default=True, help="Where data sets are."
)
out = click.option(
    "--out", type=FOLDER, default=Path("results"), show_default=True, help="Where results are."
)


class Number(click.FloatRange):
    """A finite number in a range; NaN compares with no bound, so that a plain range takes it."""

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"found {value!r}, expected a finite number", param, ctx)
        return number


seconds = Number(0, min_open=True)


jobs = click.option(
    "--jobs", type=click.IntRange(1), default=1, show_default=True, metavar="N",
    help="Processes; the results do not depend on it.",
)  # fmt: skip


def seed_of(what: str) -> Callable:
    """Return the option --seed, which says what its draws are for."""
    return click.option(
        "--seed",
        type=click.IntRange(0, 2**32 - 1),
        default=0,
        show_default=True,
        metavar="N",
        help=what,
    )


seed = seed_of("Where every random draw comes from.")


class LateChoice(click.ParamType):
    """One of several names, which are looked up only where they are needed."""

    def choices(self) -> list[str]:
        """The names that may be given."""
        raise NotImplementedError

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return f"[{'|'.join(self.choices())}]"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return click.Choice(self.choices()).convert(value, param, ctx)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return click.Choice(self.choices()).shell_complete(ctx, param, incomplete)


class ConventionName(LateChoice):
    """A measuring convention's name, or one of the words given beside them."""

    name = "convention"

    def __init__(self, *others: str) -> None:
        self.others = others

    def choices(self) -> list[str]:
        from letorbench.api.completing import convention_names

        return [*self.others, *convention_names()]


class FeaturesName(LateChoice):
    """A transformation of the features, or auto."""

    name = "features"

    def choices(self) -> list[str]:
        from letorbench.api.completing import features_names

        return features_names()


class Null(click.ParamType):
    """What a NULL value reads as: error, min or a number."""

    name = "error|min|NUMBER"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | float:
        if value in ("error", "min"):
            return str(value)
        try:
            return Number().convert(value, param, ctx)
        except click.BadParameter:
            self.fail(f"found {value!r}, expected error, min or a number", param, ctx)


null = click.option(
    "--null", type=Null(), default="error", show_default=True,
    help="What a NULL feature reads as (min: the smallest of its query).",
)  # fmt: skip
features = click.option(
    "--features", type=FeaturesName(), default="auto", show_default=True,
    help="What is done to features; auto: what each ranker needs where they are not normalised.",
)  # fmt: skip
