"""The help as JSON, ``kgroups --help-json``: from the commands themselves, as ``--help`` and the man pages."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Sequence
from typing import Any

import click

from kgroups.version import __version__

from .deprecated_options import DeprecatedOption
from .help_page import examples, exit_codes, section_of_option
from .lazy_command import LazyCommand

SCHEMA = "kgroups/help/v1"

_ENVIRONMENT = re.compile(r"\s*\[env: (\w+)\]")


def help_json(root: click.Group, context: click.Context, words: Sequence[str]) -> str:
    """Return the help of a command, and of all commands in it.

    :param context: that of the root.
    :param words: the names of the command; none for the root.
    :raises click.UsageError: if there is no such command.
    """
    command: click.Command = root
    for word in words:
        found = command.commands.get(word) if isinstance(command, click.Group) else None
        if found is None:
            raise click.NoSuchCommand(word, ctx=context)
        command = _loaded(found)
        context = click.Context(command, context, word)
    return json.dumps({"schema": SCHEMA, "version": __version__, "command": command_object(context)}, indent=1)


def command_object(context: click.Context) -> dict[str, Any]:
    """Return a command with its options, and with the commands in it."""
    command = context.command
    inner = command.commands if isinstance(command, click.Group) else {}
    text = inspect.cleandoc(command.help or "").replace("\b\n", "")
    return {
        "name": context.command_path,
        "summary": " ".join(text.split("\n\n")[0].split()),
        "help": text,
        "usage": " ".join([context.command_path, *command.collect_usage_pieces(context)]),
        "arguments": [_argument(param) for param in command.params if isinstance(param, click.Argument)],
        "options": [
            _option(param, context) for param in command.get_params(context) if isinstance(param, click.Option)
        ],
        "examples": [{"text": text, "command": line} for text, line in examples(context)],
        "exit_codes": [{"code": code, "meaning": meaning} for code, meaning in exit_codes(context)],
        "commands": [
            command_object(click.Context(_loaded(each), context, name)) for name, each in sorted(inner.items())
        ],
    }


def _loaded(command: click.Command) -> click.Command:
    return command.load() if isinstance(command, LazyCommand) else command


def _argument(param: click.Argument) -> dict[str, Any]:
    return {
        "name": param.human_readable_name.strip("[]."),
        "required": param.required,
        "repeatable": param.nargs == -1,
        "type": param.type.name,
        "choices": _choices(param),
    }


def _option(param: click.Option, context: click.Context) -> dict[str, Any]:
    text = param.help or ""
    environment = _ENVIRONMENT.search(text)
    return {
        "names": list(param.opts),
        "off_names": list(param.secondary_opts),
        "required": param.required,
        "repeatable": param.multiple,
        "flag": param.is_flag,
        "type": param.type.name,
        "metavar": None if param.is_flag else param.make_metavar(context),
        "choices": _choices(param),
        "default": _default(param, context),
        "environment": environment[1] if environment else None,
        "section": section_of_option(param, context),
        "help": _ENVIRONMENT.sub("", text),
        "deprecated": param.replacement if isinstance(param, DeprecatedOption) else None,
    }


def _choices(param: click.Parameter) -> list[str] | None:
    return [str(choice) for choice in param.type.choices] if isinstance(param.type, click.Choice) else None


def _default(param: click.Option, context: click.Context) -> str | float | bool | None:
    found = param.get_default(context, call=False)
    return found if isinstance(found, str | int | float | bool) else None  # click has a mark for none
