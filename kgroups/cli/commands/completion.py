"""Print the completion script for bash, zsh, or fish.

It also completes kafka-consumer-groups, kafka-groups, kafka-share-groups, kafka-streams-groups, and
kafka-streams-application-reset. To load it:

\b
bash  eval "$(kgroups completion bash)"       in ~/.bashrc
zsh   eval "$(kgroups completion zsh)"        in ~/.zshrc, after compinit
fish  kgroups completion fish | source        in ~/.config/fish/config.fish
"""

from __future__ import annotations

from pkgutil import get_data

import click

from ..frame.command import Command

_SCRIPTS = {"bash": "kgroups.bash", "zsh": "_kgroups", "fish": "kgroups.fish"}


def completion(shell: str) -> int:
    """Run ``kgroups completion``; return the exit code."""
    click.echo((get_data("kgroups.cli.completion", _SCRIPTS[shell]) or b"").decode(), nl=False)
    return 0


command = Command(
    "completion",
    __doc__,
    body="kgroups.cli.commands.completion:completion",
    options=(click.argument("shell", type=click.Choice(list(_SCRIPTS))),),
    examples=(
        ("Complete commands in this bash", 'eval "$(kgroups completion bash)"'),
        ("Print the script for fish", "kgroups completion fish"),
    ),
    page="install.md#shell-completion",
)
