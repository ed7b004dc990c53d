"""How every command ends: results on stdout, one line an error, an exit status."""

import errno
import os
import sys
import traceback
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

import click

from letorbench.analysis.tables import Table, render
from letorbench.errors import LetorError
from letorbench.escaping import visible

#: the options of `letorbench` that may also stand behind a command
ANYWHERE = ("--debug", "--quiet", "-q")
#: the exit statuses after Ctrl-C and SIGTERM, as shells have them
INTERRUPTED, TERMINATED = 130, 143
#: the errors without a file's name that are of standard output
OUTPUT_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EBADF, errno.EPIPE}


class Failed(Exception):
    """The end of a command that did what it could: its errors, a line each, and its status."""


class Terminated(KeyboardInterrupt):
    """SIGTERM, which ends a command as Ctrl-C does: files that are being written go."""


def end_like_interruption(*signal: object) -> None:
    """Handle SIGTERM."""
    raise Terminated


class Commands(click.Group):
    """A group whose errors are one line on stderr: status 2 for usage, 1 for data."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.commands)  # in the order of a first use, not of the alphabet

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        from difflib import get_close_matches

        if args[0] not in self.commands:
            near = get_close_matches(args[0], self.commands, 1)
            hint = f"did you mean {near[0]}?" if near else f"expected {', '.join(self.commands)}"
            ctx.fail(f"no such command {args[0]!r}; {hint}")
        return super().resolve_command(ctx, args)

    def main(self, args: Sequence[str] | None = None, *_: Any, **__: Any) -> None:
        """Run a command line and exit with its status."""
        words = list(sys.argv[1:] if args is None else args)
        first = [word for word in words if word in ANYWHERE]
        debug, words = "--debug" in first, [word for word in words if word not in ANYWHERE]
        try:
            if "LETORBENCH_THREADS" in os.environ:  # it is refused before any work, and once
                from letorbench.compiled.threads import thread_count

                thread_count()
            given = [*first, *words] if words else words
            status = super().main(given, "letorbench", standalone_mode=False, obj=tuple(words))
        except click.exceptions.NoArgsIsHelpError as error:
            echo(error.format_message())
            status = 0
        except click.ClickException as error:
            status = _fail(error.format_message(), error.exit_code, debug)
        except LetorError as error:
            status = _fail(str(error), error.exit_status, debug)
        except Failed as error:
            lines, status = error.args
            print_error(lines)
        except (KeyboardInterrupt, click.Abort) as error:
            terminated = isinstance(error.__cause__ or error, Terminated)
            status = TERMINATED if terminated else INTERRUPTED
            _fail("interrupted; what is written is complete: run it again to go on", status, debug)
        except MemoryError as error:
            status = _fail(f"the memory is not enough: {error}".removesuffix(": "), 1, debug)
        except OSError as error:
            lost = error.filename is None and error.errno in OUTPUT_ERRORS
            where = "the output cannot be written" if lost else error.filename
            status = _fail(": ".join(filter(None, (where, error.strerror or str(error)))), 1, debug)
            if lost:  # standard output: Python would complain again at its end
                with suppress(OSError), open(os.devnull, "wb") as nowhere:
                    os.dup2(nowhere.fileno(), sys.stdout.fileno())
        sys.exit(status or 0)


def print_table(tables: Table | Iterable[Table], form: str = "text") -> None:
    """Print tables on stdout in a form of `letorbench.analysis.tables.FORMATS`."""
    echo(render(tables, form), nl=False)


def echo(text: object, nl: bool = True, err: bool = False) -> None:
    """Print on stdout; control characters are written out, so that no terminal obeys them."""
    click.echo(visible(str(text), keep="\n\t"), nl=nl, err=err)


def print_error(lines: Iterable[str], kind: str = "error") -> None:
    """Print one line each on stderr: `letorbench: error: ...`."""
    for line in lines:
        echo(f"letorbench: {kind}: {' '.join(line.split())}", err=True)


def _fail(message: str, status: int, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    print_error([message])
    return status
