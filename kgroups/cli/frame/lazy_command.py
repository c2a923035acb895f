"""Commands that are imported when they are used: to run one, or to show what there are, takes none of the others."""

from __future__ import annotations

from typing import Any

import click


class LazyCommand(click.Command):
    """Stands in a group for a command that is not imported yet; knows its name and the first line of its help.

    ``where`` is ``module:attribute``, the module's name as under :mod:`kgroups.cli`.
    """

    def __init__(self, name: str, location: str, help: str) -> None:
        super().__init__(name, help=help)
        self._location = location

    def load(self) -> click.Command:
        """The command itself."""
        from importlib import import_module

        module, _, attribute = self._location.partition(":")
        command: click.Command = getattr(import_module(f"kgroups.cli.{module}"), attribute)
        return command

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """With this, click goes on with the command itself."""
        command = self.load()
        try:
            return command.make_context(info_name, args, parent, **extra)
        except click.UsageError as error:
            # Of an option without its argument click does not say whose it is.
            error.ctx = error.ctx or click.Context(command, parent, info_name)
            raise


def add_lazy_commands(group: click.Group, *commands: LazyCommand) -> None:
    for command in commands:
        group.add_command(command)
