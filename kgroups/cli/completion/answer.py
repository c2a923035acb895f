"""Print the completions of a command line, for the scripts of this package.

One line for each: a type (plain, file, or dir), the whole word that replaces the last one, and a description, separated
by tabs. ``file`` and ``dir`` ask the shell for its own completion of paths.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from contextlib import redirect_stderr
from pathlib import Path

import click
from click.shell_completion import CompletionItem, ShellComplete, split_arg_string

from .drop_ins import tool_items


def complete(command: click.Command, line: str) -> int:
    """Print the completions of a command line, and return the exit code.

    Any error leads to no completions and no message.

    :param line: the command line up to the cursor.
    """
    with Path(os.devnull).open("w", encoding="utf-8") as devnull, redirect_stderr(devnull):
        try:
            for item in _items(command, line):
                about = " ".join((item.help or "").split())
                print(f"{item.type}\t{item.value}\t{about}")
        except Exception:
            return 1
    return 0


def _items(command: click.Command, line: str) -> Iterable[CompletionItem[str]]:
    words = [os.path.expandvars(word) for word in split_arg_string(line)]  # as in -b $SERVERS
    last = words.pop() if words and not line[-1].isspace() else ""
    if not words:
        return ()
    program, *arguments = words
    name = Path(program).name
    if name.startswith("kafka-"):
        return tool_items(name, arguments, last)
    return _command_items(command, arguments, last)


def _command_items(command: click.Command, arguments: Sequence[str], last: str) -> list[CompletionItem[str]]:
    shell = ShellComplete(command, {}, "kgroups", "")
    option, equals, _ = last.partition("=")
    if equals and option.startswith("--"):  # click completes the value alone
        items = shell.get_completions(list(arguments), last)
        return [CompletionItem(f"{option}={item.value}", item.type, item.help) for item in items]
    if arguments[-1:] == ["--sort"] and last.startswith("-"):  # not an option
        items = shell.get_completions(list(arguments), last[1:])
        return [CompletionItem(f"-{item.value}", item.type, item.help) for item in items]
    return shell.get_completions(list(arguments), last)
