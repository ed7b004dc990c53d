"""Options that several commands share."""

from __future__ import annotations

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


class Null(click.ParamType):
    """What a NULL value reads as: error, min or a number."""

    name = "error|min|NUMBER"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> str | float:
        if value in ("error", "min"):
            return str(value)
        try:
            return float(value)
        except (TypeError, ValueError):
            self.fail(f"found {value!r}, expected error, min or a number", param, ctx)


null = click.option(
    "--null", type=Null(), default="error", show_default=True,
    help="What a NULL feature reads as (min: the smallest of its query).",
)  # fmt: skip


class ConventionName(click.ParamType):
    """The name of a measuring convention, or `auto` where that is allowed.

    The table of conventions is read when a name is needed, not when the commands are listed.
    """

    name = "convention"

    def __init__(self, auto: bool = False) -> None:
        self.extra = ("auto",) if auto else ()

    def choices(self) -> list[str]:
        """Return the names that are allowed."""
        from letorbench.conventions import CONVENTIONS

        return [*self.extra, *CONVENTIONS]

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return f"[{'|'.join(self.choices())}]"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> str:
        if value not in self.choices():
            self.fail(f"{value!r} is not one of {', '.join(self.choices())}", param, ctx)
        return value

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [CompletionItem(name) for name in self.choices() if name.startswith(incomplete)]
