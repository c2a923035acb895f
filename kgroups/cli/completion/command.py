"""``kgroups completion``: the scripts for shells."""

from __future__ import annotations

from importlib.resources import files

import click

_SCRIPTS = {"bash": "kgroups.bash", "zsh": "_kgroups", "fish": "kgroups.fish"}


def completion(shell: str) -> int:
    """Run ``kgroups completion``; return the exit code."""
    click.echo(files("kgroups.cli.completion").joinpath(_SCRIPTS[shell]).read_text(encoding="utf-8"), nl=False)
    return 0
