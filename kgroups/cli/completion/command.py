"""``kgroups completion``: the scripts for shells."""

from __future__ import annotations

import click

from ..frame.lazy_command import Command

_SCRIPTS = {"bash": "kgroups.bash", "zsh": "_kgroups", "fish": "kgroups.fish"}


@click.command("completion", cls=Command)
@click.argument("shell", type=click.Choice(list(_SCRIPTS)))
def completion(shell: str) -> int:
    """Print the completion script for bash, zsh, or fish.

    It also completes kafka-consumer-groups, kafka-groups, kafka-share-groups, and kafka-streams-groups. To load it:

    \b
    bash  eval "$(kgroups completion bash)"       in ~/.bashrc
    zsh   eval "$(kgroups completion zsh)"        in ~/.zshrc, after compinit
    fish  kgroups completion fish | source        in ~/.config/fish/config.fish
    """
    from importlib.resources import files

    click.echo(files("kgroups.cli.completion").joinpath(_SCRIPTS[shell]).read_text(encoding="utf-8"), nl=False)
    return 0
