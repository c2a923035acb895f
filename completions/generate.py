"""Write the completion scripts and the man page: ``python completions/generate.py``.

click generates the scripts for the command tree; the man page contains the help text of the commands.
"""

from __future__ import annotations

import sys
from pathlib import Path

from click.shell_completion import get_completion_class

from kgroups.cli.main import COMPLETE, cli

sys.path.insert(0, str(Path(__file__).parent))

from manual import manual  # in this directory

NAMES = {"bash": "kgroups.bash", "zsh": "_kgroups", "fish": "kgroups.fish"}


def generated() -> dict[str, str]:
    """Return file names and their contents."""
    found = {}
    for shell, name in NAMES.items():
        completion_class = get_completion_class(shell)
        assert completion_class
        script = completion_class(cli, {}, "kgroups", COMPLETE)
        # not script.source(), which checks the version of the installed bash
        variables = script.source_vars()
        if shell == "zsh":
            # zsh uses an autoloaded file as the body of the function of the same name: with another name, the second
            # TAB would run that body again, without completions
            variables["complete_func"] = name
        found[name] = completion_class.source_template % variables
    return found | {"kgroups.1": manual()}


if __name__ == "__main__":
    for name, text in generated().items():
        Path(__file__).with_name(name).write_text(text, encoding="utf-8")
