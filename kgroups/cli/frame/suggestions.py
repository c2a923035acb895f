"""What to type instead of a command or an option that does not exist; loaded only after such an error."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches

import click

from .lazy_command import LazyCommand

_ALIKE = 0.75
"""The similarity from which a name is a typing error of another: --json is 0.67 from --sort."""

_COMMANDS = {
    "consumers": "list",
    "get": "describe",
    "group": "describe",
    "groups": "list",
    "help": "--help",
    "ls": "list",
    "metrics": "exporter",
    "monitor": "watch",
    "reset": "reset-offsets",
    "rm": "delete",
    "seek": "reset-offsets",
    "show": "describe",
    "top": "watch",
    "version": "--version",
}
"""Names in other tools."""

_OPTIONS: Mapping[str, str] = {
    "--all": "--all-groups",
    "--broker-list": "--bootstrap-server",
    "--brokers": "--bootstrap-server",
    "--config": "--command-config",
    "--consumer-group": "--group",
    "--csv": "--output csv",
    "--format": "--output",
    "--json": "--output json",
    "--pattern": "--regex",
    "--port": "--listen",
    "--properties": "--command-config",
    "--property": "-X",
    "--servers": "--bootstrap-server",
}
"""Names in other tools; the first word is an option, which the command may lack."""


def with_suggestion(error: click.ClickException) -> str:
    """Return the message of an error, with what to type instead if that is known."""
    if isinstance(error, click.NoSuchOption) and error.ctx:
        known = [name for param in error.ctx.command.get_params(error.ctx) for name in param.opts]
        meant = _OPTIONS.get(error.option_name, "")
        commands = error.ctx.command.commands if isinstance(error.ctx.command, click.Group) else {}
        if error.option_name.removeprefix("--") in commands:  # as in Kafka's tools
            return f"{_sentence(error.message)}; use {error.ctx.command_path} {error.option_name.removeprefix('--')}"
        if meant.partition(" ")[0] in known:
            return f"{_sentence(error.message)}; use {meant}"
        return _with_alike(error.message, error.option_name, [] if meant else known)
    if isinstance(error, click.exceptions.NoSuchCommand) and error.ctx and isinstance(error.ctx.command, click.Group):
        names = error.ctx.command.commands
        meant = _COMMANDS.get(error.command_name, "")
        if meant in names or meant.startswith("--"):
            return f"{_sentence(error.message)}; use {error.ctx.command_path} {meant}"
        longer = [name for name in names if name.startswith(error.command_name)]
        return _with_alike(error.message, error.command_name, names, longer)
    return _sentence(error.format_message())


def _with_alike(message: str, name: str, known: Iterable[str], longer: Iterable[str] = ()) -> str:
    found = [*longer] or get_close_matches(name, sorted(known), cutoff=_ALIKE)
    return f"{_sentence(message)} (did you mean {' or '.join(found)}?)" if found else _sentence(message)


def _sentence(message: str) -> str:
    return message.rstrip(".")


def command_path(root: click.Group, arguments: Iterable[str], error: click.ClickException) -> str:
    """Return the command that an error is about: errors of subcommands may name only their group, or none."""
    path, command = "kgroups", root
    for name in arguments:
        found = command.commands.get(name)
        if found is None:
            break
        path = f"{path} {name}"
        found = found.load() if isinstance(found, LazyCommand) else found
        if not isinstance(found, click.Group):
            break
        command = found
    named = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else ""
    return max(path, named, key=len)
