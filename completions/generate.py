"""Writes the completion scripts and the man page: ``python completions/generate.py``.

The scripts are click's, made for the command tree; the page has the words of the commands' help.
"""

from __future__ import annotations

import sys
from pathlib import Path

from click.shell_completion import get_completion_class

from kgroups.cli.main import COMPLETE, cli

sys.path.insert(0, str(Path(__file__).parent))

from manual import manual  # beside this file

NAMES = {"bash": "kgroups.bash", "zsh": "_kgroups", "fish": "kgroups.fish"}


def generated() -> dict[str, str]:
    """File name -> text."""
    found = {}
    for shell, name in NAMES.items():
        kind = get_completion_class(shell)
        assert kind
        script = kind(cli, {}, "kgroups", COMPLETE)
        # Not script.source(): for bash that looks which bash is installed here.
        words = script.source_vars()
        if shell == "zsh":
            # Named as its file: else zsh, which takes an autoloaded file for the function's body, would at the second
            # TAB run that body again, and it would define and offer nothing.
            words["complete_func"] = name
        found[name] = kind.source_template % words
    return found | {"kgroups.1": manual()}


if __name__ == "__main__":
    for name, text in generated().items():
        Path(__file__).with_name(name).write_text(text, encoding="utf-8")
