"""Options that may also be given before the command, as in ``kgroups -b HOST:PORT list``."""

from __future__ import annotations

import click

from .lazy_command import LazyCommand, options_of_all_commands
from .options import CONNECTION, OUTPUT_FORMAT


def behind_command(root: click.Group, ctx: click.Context, args: list[str]) -> list[str]:
    """Return the arguments with the options before the command as its first options: those after it take precedence.

    :raises click.UsageError: if an option is invalid. Options that the command lacks are rejected by the command.
    """
    _, rest, _ = root.make_parser(ctx).parse_args(list(args))
    if not rest:
        return args
    before = len(args) - len(rest)
    words = _words_of_command(root, rest)
    first = [option for option in args[:before] if option != "--"]
    if any(each == "--profile" or each.startswith("--profile=") for each in rest[words:]):
        first = _without_profiles(first)
    return [*rest[:words], *first, *rest[words:]]


def _without_profiles(args: list[str]) -> list[str]:
    """Remove --profile: it is repeatable, so that profiles behind the command would not replace those before it."""
    kept: list[str] = []
    words = iter(args)
    for word in words:
        if word == "--profile":
            next(words, None)
        elif not word.startswith("--profile="):
            kept.append(word)
    return kept


def _words_of_command(root: click.Group, args: list[str]) -> int:
    """Return the number of words that name a command: two for one of a group."""
    found = root.commands.get(args[0])
    loaded = found.load() if isinstance(found, LazyCommand) else found
    return 2 if isinstance(loaded, click.Group) and args[1:] and args[1] in loaded.commands else 1


def movable_options() -> tuple[click.Option, ...]:
    """Return the options that may be given before the command."""

    @click.command()
    def holder() -> None: ...

    for decorate in (OUTPUT_FORMAT, *reversed(CONNECTION)):
        decorate(holder)
    moved = [param for param in holder.params if isinstance(param, click.Option)]
    for option in moved:
        option.expose_value, option.default = False, None
    return (*moved, *options_of_all_commands())
