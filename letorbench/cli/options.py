"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path

import click

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
