"""The command line: parse, call, print. A click command in a file here is one of letorbench."""

import gc
import os
import signal
import sys
from contextlib import redirect_stderr, suppress

import click

from letorbench import registry
from letorbench.cli.group import INTERRUPTED, TERMINATED, Commands, echo, end_like_interruption
from letorbench.version import __version__, bibtex

#: commands in the order of a first use; others follow them in the order of the alphabet
FIRST = ("run", "datasets", "algos", "score", "table", "plot", "compare", "report",
         "external", "fit", "export", "rank", "verify", "doctor", "reproduce")  # fmt: skip

#: new objects between two searches for unused ones: more than the imports make, which are all used.
#: With fewer a small run takes up to a tenth longer
OBJECTS = 500_000


def _cite(context: click.Context, option: click.Parameter, given: bool) -> None:
    if given:
        echo(bibtex())
        context.exit()


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    no_args_is_help=True,
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.option(
    "--cite", is_flag=True, is_eager=True, expose_value=False, callback=_cite,
    help="Show the BibTeX entry and exit.",
)  # fmt: skip
@click.option("--quiet", "-q", is_flag=True, help="Write nothing but errors on stderr.")
@click.option("--debug", is_flag=True, help="Show a traceback with an error.")
@click.pass_context
def cli(context: click.Context, quiet: bool, debug: bool) -> None:
    """Benchmark learning-to-rank algorithms under the LETOR protocol.

    Try it with nothing at hand: letorbench run --dataset DEMO --algo regression,ndcgboost
    """
    if quiet and not debug:  # errors are printed when this is undone
        nowhere = context.with_resource(open(os.devnull, "w", encoding="utf-8"))
        context.with_resource(redirect_stderr(nowhere))


def _commands() -> list[click.Command]:
    modules = registry.modules(__name__).values()
    values = (each for module in modules for each in vars(module).values())
    every = {each for each in values if isinstance(each, click.Command)}
    groups = (each for each in every if isinstance(each, click.Group))
    parts = {part for group in groups for part in group.commands.values()}
    order = {name: place for place, name in enumerate(FIRST)}
    return sorted(
        every - parts, key=lambda each: (order.get(str(each.name), len(FIRST)), str(each.name))
    )


for _command in _commands():
    cli.add_command(_command)


def main() -> None:
    """The `letorbench` command."""
    gc.set_threshold(OBJECTS)
    signal.signal(signal.SIGTERM, end_like_interruption)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed: output is discarded, the work is done
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.set_inheritable(nowhere, True)
            setattr(sys, name, open(nowhere, "w", encoding="utf-8"))
    try:
        cli()
    except SystemExit as end:
        if end.code in (INTERRUPTED, TERMINATED):
            # Ctrl-C may have ended this thread while it held a lock that another one waits for,
            # so the process ends without its other threads
            for stream in (sys.stdout, sys.stderr):
                with suppress(OSError):
                    stream.flush()
            os._exit(end.code)
        raise
    finally:
        gc.freeze()  # the end of the process looks through no object that is left
