"""Print the completion script for bash, zsh, or fish.

It also completes kafka-consumer-groups, kafka-groups, kafka-share-groups, and kafka-streams-groups. To load it:

\b
bash  eval "$(kgroups completion bash)"       in ~/.bashrc
zsh   eval "$(kgroups completion zsh)"        in ~/.zshrc, after compinit
fish  kgroups completion fish | source        in ~/.config/fish/config.fish
"""

from __future__ import annotations

import click

from ..frame.command import Command

command = Command(
    "completion",
    __doc__,
    body="kgroups.cli.completion.command:completion",
    options=(click.argument("shell", type=click.Choice(["bash", "zsh", "fish"])),),
    examples=(
        ("Complete commands in this bash", 'eval "$(kgroups completion bash)"'),
        ("Print the script for fish", "kgroups completion fish"),
    ),
    page="install.md#shell-completion",
)
