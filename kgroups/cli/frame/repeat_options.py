"""Repeat the connection options in commands that kgroups suggests."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator

import click

from kgroups.config.effective import shown
from kgroups.config.flags import Flags
from kgroups.config.secret import MASK
from kgroups.config.settings_reader import is_secret
from kgroups.render.cells import escape


def repeated(flags: Flags) -> tuple[str, ...]:
    """Return the options of the command line as arguments, with secrets masked."""
    return tuple(_arguments(flags))


def _arguments(flags: Flags) -> Iterator[str]:
    for option, value in (
        ("-b", flags.bootstrap),
        ("--profile", flags.profile),
        ("--command-config", flags.command_config),
    ):
        if value is not None:
            yield from (option, value)
    for override in flags.overrides:
        yield from ("-X", _without_secret(override))
    for option, seconds in (("--timeout", flags.timeout), ("--broker-timeout", flags.broker_timeout)):
        if seconds is not None:
            yield from (option, f"{seconds:.15g}")
    if flags.transport is not None:
        yield from ("--transport", flags.transport)
    if flags.max_requests_per_second is not None:
        yield from ("--max-requests-per-second", f"{flags.max_requests_per_second:.15g}")


def _without_secret(override: str) -> str:
    key, equals, value = override.partition("=")
    if not equals:
        return override
    is_reference = value.startswith("${") or (value.startswith("@") and not value.startswith("@@"))
    if is_reference or shown(value, secret=is_secret(key)) == value:
        return override
    return f"{key}{equals}{MASK}"


def this_command() -> str | None:
    """Return the running command, quoted for a shell, with secrets masked; ``None`` outside of a command."""
    context = click.get_current_context(silent=True)
    arguments = context.find_root().obj if context else None
    if not isinstance(arguments, tuple):
        return None
    shown: list[str] = []
    for argument in arguments:
        if shown and shown[-1] == "-X":
            shown.append(_without_secret(argument))
        elif argument.startswith("-X"):
            shown.append("-X" + _without_secret(argument[2:]) if len(argument) > 2 else argument)
        else:
            shown.append(argument)
    return command_line(("kgroups", *shown))


def command_line(arguments: Iterable[str]) -> str:
    """Return arguments quoted for a shell, with control characters escaped."""
    return escape(shlex.join(arguments))
