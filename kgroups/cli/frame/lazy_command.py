"""Commands that are imported when they run, and the options that each of them has.

Running a command, or listing them all, imports no other command. The texts of the help that are not in the options are
imported for the help only.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import click

from .exit_status import set_quiet


class QuickHelp(click.Command):
    """A command whose option --help has a fixed text: looking for a translation takes a percent of a query."""

    def get_help_option(self, ctx: click.Context) -> click.Option | None:
        if self._help_option is None and (names := self.get_help_option_names(ctx)):
            self._help_option = click.Option(
                [*names, "_help"],
                is_flag=True,
                expose_value=False,
                is_eager=True,
                callback=_show_help,
                help="Show this message and exit.",
            )
        return self._help_option


class Command(QuickHelp):
    """A command with sections of options, and examples."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        resolve("kgroups.cli.frame.help_page:write_options")(self, ctx, formatter)


class CommandGroup(QuickHelp, click.Group):
    """A group of such commands."""

    command_class = Command


class LazyCommand(click.Command):
    """Represents a command that is not imported yet, by its name and the first line of its help.

    :param location: ``module:attribute``; the module is absolute (an application: nothing imports it), or relative to
        :mod:`kgroups.cli`.
    """

    def __init__(self, name: str, location: str, help: str) -> None:
        super().__init__(name, help=help)
        self._location = location

    def load(self) -> click.Command:
        """Import and return the command."""
        module = self._location if self._location.startswith("kgroups.") else f"kgroups.cli.{self._location}"
        command: click.Command = resolve(module)
        add_options_of_all_commands(command)
        return command

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Return the context of the imported command, which click then invokes."""
        command = self.load()
        try:
            return command.make_context(info_name, args, parent, **extra)
        except click.UsageError as error:
            # click sets no context if an option lacks its argument; the error line names the command.
            error.ctx = error.ctx or click.Context(command, parent, info_name)
            raise


def resolve(reference: str) -> Any:
    """Import and return what a reference names: ``kgroups.package.module:name``.

    Tests resolve each reference in the package, and check that it points to a package that its module may import.
    """
    module, _, name = reference.removeprefix("kgroups.").partition(":")
    return getattr(import_module(f"kgroups.{module}"), name)


def add_lazy_commands(group: click.Group, *commands: LazyCommand) -> None:
    for command in commands:
        group.add_command(command)


def options_of_all_commands() -> tuple[click.Option, ...]:
    """Return --quiet and --color."""
    return (
        click.Option(
            ["-q", "--quiet"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_set_quiet,
            help="Print no notes and no progress. Failures and errors are still printed.",
        ),
        click.Option(
            ["--color/--no-color"],
            default=None,
            expose_value=False,
            is_eager=True,
            callback=_set_color,
            help="Use colors in tables, or none.  [default: on a terminal, unless NO_COLOR is set]",
        ),
    )


def add_options_of_all_commands(command: click.Command) -> None:
    """Add --quiet and --color to a command, or to the commands of a group; once. Lazy commands are not loaded yet."""
    if isinstance(command, click.Group):
        for inner in command.commands.values():
            add_options_of_all_commands(inner)
    elif command.callback is not None and not any(param.name == "quiet" for param in command.params):
        command.params.extend(options_of_all_commands())


def _show_help(context: click.Context, _: click.Parameter, shown: Any) -> None:
    if shown and not context.resilient_parsing:
        click.echo(context.get_help(), color=context.color)
        context.exit()


def _set_quiet(context: click.Context, _: click.Parameter, quiet: Any) -> None:
    if not context.resilient_parsing:
        set_quiet(bool(quiet))


def _set_color(context: click.Context, _: click.Parameter, color: bool | None) -> None:
    # A module that is not loaded has no choice of an earlier command to reset.
    if not context.resilient_parsing and (color is not None or "kgroups.render.color" in sys.modules):
        from kgroups.render.color import choose_color

        choose_color(color)
