"""Generate the man page from the help text of the commands."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click

from kgroups.cli.frame.lazy_command import LazyCommand
from kgroups.cli.main import cli
from kgroups.version import __version__

_EXITS = (
    ("0", "Success."),
    ("1", "Partial failure: available results are printed, failures are listed on standard error."),
    ("2", "Invalid usage or configuration."),
    ("129, 130, 143", "Ended by SIGHUP, SIGINT (Ctrl-C), or SIGTERM."),
    ("141", "The reader of the pipe has exited."),
)
_FILES = (
    ("~/.config/kgroups/config.toml", "Profiles of clusters, see kgroups profile; KGROUPS_CONFIG names another file."),
    ("kgroups-undo-*.json", "Undo files in the current directory, see --undo-file of kgroups reset-offsets."),
)
_CHECK_EXITS = "kgroups check uses the exit codes of monitoring plugins: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN."


def manual() -> str:
    """Return the page in roff with man macros."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield f'.TH KGROUPS 1 "" "kgroups {__version__}" "User Commands"'
    yield ".SH NAME"
    yield r"kgroups \- list, describe, check, and change Kafka consumer groups"
    yield ".SH SYNOPSIS"
    yield r".B kgroups"
    yield r"\fICOMMAND\fR [\fIOPTION\fR]... [\fIGROUP\fR]..."
    yield ".SH DESCRIPTION"
    yield from _text(cli.help or "")
    yield ".SH COMMANDS"
    for path, command in _commands(cli, "kgroups"):
        yield from _command(path, command)
    yield ".SH EXIT STATUS"
    for code, meaning in _EXITS:
        yield f".TP\n{code}\n{_plain(meaning)}"
    yield f".PP\n{_plain(_CHECK_EXITS)}"
    yield ".SH ENVIRONMENT"
    for name, meaning in sorted(_environment().items()):
        yield f".TP\n.B {name}\n{_plain(meaning)}"
    yield ".SH FILES"
    for name, meaning in _FILES:
        yield f".TP\n.B {_plain(name)}\n{_plain(meaning)}"
    yield ".SH SEE ALSO"
    yield r"\fBkafka-consumer-groups\fR, \fBkafka-groups\fR: commands of this package with the flags of Kafka's own."


def _commands(group: click.Group, path: str) -> Iterator[tuple[str, click.Command]]:
    for name, command in sorted(group.commands.items()):
        loaded = command.load() if isinstance(command, LazyCommand) else command
        if isinstance(loaded, click.Group):
            yield from _commands(loaded, f"{path} {name}")
        else:
            yield f"{path} {name}", loaded


def _command(path: str, command: click.Command) -> Iterator[str]:
    context = click.Context(command, info_name=path)
    yield f".SS {_plain(' '.join([path, *command.collect_usage_pieces(context)]))}"
    yield from _text(command.help or "")
    for param in command.get_params(context):
        record = param.get_help_record(context)
        if record and record[1] and "--help" not in param.opts:
            names, help_text = record
            yield f".TP\n.B {_plain(names)}\n{_plain(' '.join(help_text.split()))}"


def _text(text: str) -> Iterator[str]:
    """Yield help text in paragraphs; those that click does not wrap are not wrapped here either."""
    for number, paragraph in enumerate(text.strip().split("\n\n")):
        if number:
            yield ".PP"
        if paragraph.startswith("\b"):
            yield ".nf"
            yield from map(_plain, paragraph.splitlines()[1:])
            yield ".fi"
        else:
            yield _plain(" ".join(paragraph.split()))


def _plain(text: str) -> str:
    """Escape text that roff would read as a request or a hyphen."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped


def _environment() -> dict[str, str]:
    """Return the environment variables in the help text of options, with their descriptions."""
    found = {"KGROUPS_CONFIG": "Configuration file with profiles.", "NO_COLOR": "No colors, if it is not empty."}
    for _, command in _commands(cli, "kgroups"):
        for param in command.params:
            if isinstance(param, click.Option) and (match := re.search(r"\[env: (\w+)\]", param.help or "")):
                found[match[1]] = f"Instead of {param.opts[-1]}."
    return found
