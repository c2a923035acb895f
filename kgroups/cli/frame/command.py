"""Declare commands: options, help, examples, exit codes, and completions; the body is imported when the command runs.

A declaration imports only what its options need. :mod:`kgroups.cli.commands` contains the declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from .lazy_command import QuickCommand, options_of_all_commands, resolve

if TYPE_CHECKING:
    from kgroups.render.views import View


Lines = tuple[tuple[str, str], ...]
"""Pairs: a sentence and a command line, or an exit code and its meaning."""

EXIT_CODES: Lines = (
    ("0", "Success."),
    ("1", "Partial failure: available results are printed, failures are listed on standard error."),
    ("2", "Invalid usage or configuration."),
    ("129, 130, 143", "Ended by SIGHUP, SIGINT (Ctrl-C), or SIGTERM."),
    ("141", "The reader of the pipe has exited."),
)
"""Codes, and their meanings."""

ENDED = EXIT_CODES[3:]
"""The exit codes of a command that was ended."""

Decorator = Callable[[Any], Any]
"""What :func:`click.option` and :func:`click.argument` return."""


class OptionGroup:
    """Options whose values the body gets as one argument."""

    def __init__(self, name: str, options: tuple[Decorator, ...], collect: Callable[..., Any] | str) -> None:
        """Declare a group.

        :param name: the name of the argument.
        :param collect: returns the argument for the values of the options; or a reference to such a function.
        """
        self.name, self.options, self.collect = name, options, collect

    def add_to(self, command: click.Command) -> tuple[str, ...]:
        """Add the options to a command; return the names of their values."""
        before = len(command.params)
        for option in self.options:
            option(command)
        return tuple(param.name or "" for param in command.params[before:])

    def collected(self, values: Mapping[str, Any]) -> Any:
        """Return the argument."""
        collect = resolve(self.collect) if isinstance(self.collect, str) else self.collect
        return collect(**values)


class Shown(NamedTuple):
    """A view that a command shows."""

    view: str
    """A reference to the view, or to a function that returns it, or ``None``, from the context of a command line."""
    option: str = ""
    """The options that select the view, such as ``--by topic``."""
    in_help: bool = True
    """Whether the help of ``--columns`` lists the columns."""

    def is_selected(self, context: click.Context) -> bool:
        """Return whether a command line, which may be incomplete, has the options that select the view."""
        words = self.option.split()
        if not words:
            return False
        names = {name: param.name or "" for param in context.command.params for name in param.opts}
        values = [context.params.get(names[word]) for word in words if word in names]
        wanted = [word for word in words if word not in names]
        return values == wanted if wanted else all(values)

    def resolve(self, context: click.Context) -> View | None:
        """Return the view; ``None`` if the columns are known only from the result."""
        found = resolve(self.view)
        view: View | None = found(context) if callable(found) else found
        return view


class Command(QuickCommand):
    """A command, and what the help and completions show of it."""

    def __init__(
        self,
        name: str,
        help: str | None,
        *,
        body: str,
        check: Callable[[], None] | None = None,
        options: Iterable[Decorator | OptionGroup] = (),
        examples: Lines = (),
        sections: Mapping[str, str] | None = None,
        exits: Lines = EXIT_CODES,
        views: tuple[Shown, ...] = (),
        page: str = "",
    ) -> None:
        """Declare a command.

        :param help: the first line is the summary that lists of commands show.
        :param body: a reference to the function that gets the values of the options, and returns the exit code.
        :param check: checks, before the body is imported, that the packages of an extra are installed.
        :param examples: two or three sentences, each with a command line.
        :param sections: title -> the options that only this command has in this section of the help.
        :param exits: the exit codes, if they have other meanings than those of most commands.
        :param views: what ``--columns`` and ``--sort`` select from; the first one is the default.
        :param page: the page of the documentation about the task, in ``docs/``; commands in a group have that of the
            group.
        """
        super().__init__(name, help=help, callback=self._run)
        self._check = check
        self.body, self.examples, self.sections, self.exits = body, examples, sections or {}, exits
        self.views, self.page = views, page
        self._groups: list[tuple[OptionGroup, tuple[str, ...]]] = []
        for option in options:
            if isinstance(option, OptionGroup):
                self._groups.append((option, option.add_to(self)))
            else:
                option(self)
        self.params.extend(options_of_all_commands())

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in sections, and the examples."""
        resolve("kgroups.cli.frame.help_page:write_options")(self, ctx, formatter)

    @property
    def arguments(self) -> tuple[str, ...]:
        """The names of the arguments that the body gets."""
        grouped = {name for _, names in self._groups for name in names}
        single = (param.name or "" for param in self.params if param.expose_value)
        return (*(group.name for group, _ in self._groups), *(name for name in single if name not in grouped))

    def view_of(self, context: click.Context) -> View | None:
        """Return the view that a command line, which may be incomplete, selects; ``None`` if it is unknown."""
        views = [*(view for view in self.views if view.is_selected(context)), *self.views[:1]]
        return views[0].resolve(context) if views else None

    def _run(self, **values: Any) -> Any:
        arguments = {
            group.name: group.collected({name: values.pop(name) for name in names}) for group, names in self._groups
        }
        if self._check:
            self._check()
        return resolve(self.body)(**arguments, **values)


class CommandGroup(QuickCommand, click.Group):
    """A group of commands."""

    def __init__(self, name: str, help: str | None, commands: Iterable[click.Command], *, page: str = "") -> None:
        """Declare a group.

        :param page: the page of the documentation about the task.
        """
        super().__init__(name, help=help, commands=list(commands))
        self.page = page
