"""`--config FILE`: a TOML file that holds a command's options; the command line wins."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from letorbench.errors import DataError, UsageError


def option(command: click.Command) -> click.Command:
    """Give a finished command the option `--config`."""
    command.params.append(
        click.Option(
            ["--config"], type=click.Path(exists=True, dir_okay=False, path_type=Path),
            callback=_apply, is_eager=True, expose_value=False, metavar="FILE",
            help="A TOML file of these options, by their names; the command line wins.",
        )
    )  # fmt: skip
    return command


def _apply(ctx: click.Context, param: click.Parameter, path: Path | None) -> None:
    if path is not None:
        ctx.default_map = {**(ctx.default_map or {}), **defaults(read(path), ctx, path)}


def read(path: Path) -> dict[str, Any]:
    """The file's keys and values; DataError if it is no TOML."""
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:  # no TOML, no UTF-8, too many brackets
        raise DataError(f"{path}: found no TOML ({error})") from None


def defaults(
    values: Mapping[str, Any], ctx: click.Context, path: Path
) -> dict[str, str | list[str]]:
    """The file's values by parameter name, each checked as the command line would be.

    UsageError names the file and the key that is no option, or the value that does not fit.
    """
    from letorbench.choices import require_choice

    options = {
        param.opts[0].lstrip("-"): param
        for param in ctx.command.params
        if isinstance(param, click.Option) and param.name not in ("config", "help")
    }
    result: dict[str, str | list[str]] = {}
    for key, value in values.items():
        try:
            param = options[require_choice(key.replace("_", "-"), list(options), "option")]
            if isinstance(value, dict):
                value = [f"{name}={_word(each)}" for name, each in value.items()]
            several = value if isinstance(value, list) else [value]
            result[param.name] = [*map(_word, several)] if param.multiple else _word(value)
            param.type_cast_value(ctx, result[param.name])
        except UsageError as error:
            raise UsageError(f"{path}: {error}") from None
        except click.BadParameter as error:
            raise UsageError(f"{path}: {key}: {error.message}") from None
    return result


def _word(value: Any) -> str:
    """The value as a word of a command line."""
    if isinstance(value, list):
        return ",".join(map(_word, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
