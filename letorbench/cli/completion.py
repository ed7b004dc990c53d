"""`letorbench completion`: what a shell needs to complete commands, options and names."""

import click
from click.shell_completion import get_completion_class

from letorbench.cli.group import echo


@click.command(short_help="Print a script that completes names in a shell.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(context: click.Context, shell: str) -> None:
    """Print the script with which a shell completes commands, options and names.

    For bash: letorbench completion bash >> ~/.bashrc
    """
    made = get_completion_class(shell)
    assert made is not None
    root = context.find_root().command
    echo(made(root, {}, "letorbench", "_LETORBENCH_COMPLETE").source(), nl=False)
