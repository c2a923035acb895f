"""Commands that are imported when they run, and the options that each of them has.

Running a command, or listing them all, imports no other command.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib import import_module
from pkgutil import get_data, iter_modules
from typing import Any

import click

from .exit_status import set_quiet


class QuickCommand(click.Command):
    """A command without two detours of click, each of which takes a percent or two of a query.

    The option --help has a fixed text instead of a translated one. Short options are found at once: click tries them as
    long ones first, and prepares an error with suggestions.
    """

    def make_parser(self, ctx: click.Context) -> Any:
        parser = super().make_parser(ctx)
        parser._long_opt.update(parser._short_opt)
        return parser

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


class LazyCommand(click.Command):
    """Represents a command that is not imported yet, by its name and the module that declares it."""

    def __init__(self, name: str, module: str) -> None:
        """Represent the ``command`` of a module, whose docstring is its help."""
        super().__init__(name)
        self.module = module

    def load(self) -> click.Command:
        """Import and return the command."""
        command: click.Command = resolve(f"{self.module}:command")
        return command

    def get_short_help_str(self, limit: int = 45) -> str:
        """Return the summary of the command, without importing it."""
        self.help = self.help or summary_of(self.module)
        return super().get_short_help_str(limit)

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


def declared_in(package: str, path: Iterable[str]) -> Iterator[LazyCommand]:
    """Yield the commands of a package: each module declares one, of its name, unless this begins with an underscore.

    :param path: the package's ``__path__``.
    """
    for found in iter_modules(path):
        if not found.name.startswith("_"):
            yield LazyCommand(found.name.replace("_", "-"), f"{package}.{found.name}")


def resolve(reference: str) -> Any:
    """Import and return what a reference names: ``kgroups.package.module:name``.

    Tests resolve each reference in the package, and check that it points to a package that its module may import.
    """
    module, _, name = reference.removeprefix("kgroups.").partition(":")
    return getattr(import_module(f"kgroups.{module}"), name)


def summary_of(module: str) -> str:
    """Return the first line of the docstring of a module, which is that of its file, without importing the module."""
    path = module.removeprefix("kgroups.").replace(".", "/")
    for file in (f"{path}.py", f"{path}/__init__.py"):
        with suppress(OSError):
            return (get_data("kgroups", file) or b"").partition(b"\n")[0].decode().strip('"')
    return ""


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
