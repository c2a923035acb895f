"""Generate the man pages from the help of the commands."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib.resources import files

import click

from kgroups.cli.frame.command import EXIT_CODES
from kgroups.cli.frame.help_page import examples, sections
from kgroups.cli.frame.lazy_command import LazyCommand
from kgroups.cli.main import cli
from kgroups.version import __version__

_FILES = (
    ("~/.config/kgroups/config.toml", "Profiles of clusters, see kgroups profile; KGROUPS_CONFIG names another file."),
    ("kgroups-undo-*.json", "Undo files in the current directory, see --undo-file of kgroups reset-offsets."),
)
CHECK_EXITS = "kgroups check uses the exit codes of monitoring plugins: 0 OK, 1 WARNING, 2 CRITICAL, 3 UNKNOWN."
DROP_INS = {
    "kafka-consumer-groups": "consumer groups",
    "kafka-groups": "groups of every type",
    "kafka-share-groups": "share groups",
    "kafka-streams-application-reset": "applications of Kafka Streams",
    "kafka-streams-groups": "streams groups",
}
_CONNECTION = "Connection"
"""The section of options that only the page of kgroups itself has."""

_WIDTH = 100


def manual() -> dict[str, str]:
    """Return the pages in roff with man macros, by file name: of kgroups, of each command, and of the drop-ins."""
    pages = {"kgroups": _overview()}
    pages.update((page_of(context), _command(context)) for context in commands())
    pages.update((name, _drop_in(name, groups)) for name, groups in DROP_INS.items())
    return {f"{name}.1": "\n".join(lines) + "\n" for name, lines in pages.items()}


def _overview() -> Iterator[str]:
    yield from _head("kgroups", "list, describe, check, and change Kafka consumer groups")
    yield r"\fICOMMAND\fR [\fIOPTION\fR]... [\fIGROUP\fR]..."
    yield ".SH DESCRIPTION"
    yield from _text(cli.help or "")
    yield ".SH COMMANDS"
    for context in commands():
        yield f".TP\n.BR {_plain(page_of(context))} (1)\n{_plain(summary_of(context))}"
    yield ".SH CONNECTION OPTIONS"
    context = next(context for context in commands() if context.info_name == "list")
    yield from _records(dict(sections(context.command, context))[_CONNECTION])
    yield ".SH EXIT STATUS"
    yield from _records(EXIT_CODES)
    yield f".PP\n{_plain(CHECK_EXITS)}"
    yield ".SH ENVIRONMENT"
    yield from _records(sorted(_environment().items()))
    yield ".SH FILES"
    yield from _records(_FILES)
    yield from _see_also(*DROP_INS)


def _command(context: click.Context) -> Iterator[str]:
    command, page = context.command, page_of(context)
    yield from _head(page, summary_of(context).rstrip("."), context.command_path)
    yield _plain(" ".join(command.collect_usage_pieces(context)))
    yield ".SH DESCRIPTION"
    yield from _text(command.help or "")
    yield ".SH OPTIONS"
    for title, records in sections(command, context):
        shown = [record for record in records if "--help" not in record[0]]
        if shown:
            yield f".SS {title}"
            yield from ["See\n.BR kgroups (1)."] if title == _CONNECTION else _records(shown)
    yield ".SH EXAMPLES"
    for sentence, line in examples(context):
        yield f".PP\n{_plain(sentence)}:\n.nf\n  {_plain(line)}\n.fi"
    yield from _see_also("kgroups")


def _drop_in(name: str, groups: str) -> Iterator[str]:
    yield from _head(name, f"manage {groups} with the options and the output of Kafka's tool, without Java")
    yield r"[\fIOPTION\fR]..."
    yield ".SH DESCRIPTION"
    yield _plain(f"Replaces {name}.sh of Kafka where it comes first in PATH; it is part of kgroups.")
    yield ".SH OPTIONS\n.nf"
    yield from map(_plain, files("kgroups.dropins").joinpath(f"{name}.usage").read_text().rstrip().splitlines())
    yield ".fi"
    yield from _see_also("kgroups")


def _head(page: str, summary: str, program: str | None = None) -> Iterator[str]:
    yield f'.TH {page.upper()} 1 "" "kgroups {__version__}" "User Commands"'
    yield f".SH NAME\n{_plain(page)} \\- {_plain(summary[0].lower() + summary[1:])}"
    yield f".SH SYNOPSIS\n.B {_plain(program or page)}"


def _see_also(*pages: str) -> Iterator[str]:
    yield ".SH SEE ALSO"
    yield ",\n".join(f".BR {_plain(page)} (1)" for page in pages)


def page_of(context: click.Context) -> str:
    """Return the name of the page of a command, such as ``kgroups-history-lag``."""
    return context.command_path.replace(" ", "-")


def summary_of(context: click.Context) -> str:
    """Return the first paragraph of the help in one line."""
    return " ".join((context.command.help or "").strip().split("\n\n")[0].split())


def _records(records: Iterator[tuple[str, str]] | list[tuple[str, str]] | tuple[tuple[str, str], ...]) -> Iterator[str]:
    for name, text in records:
        yield f".TP\n.B {_plain(name)}\n{_plain(' '.join(text.split()))}"


def commands(parent: click.Context | None = None) -> Iterator[click.Context]:
    """Yield a context of each command, as wide as the help may be."""
    parent = parent or click.Context(
        cli, info_name="kgroups", terminal_width=_WIDTH, max_content_width=_WIDTH, help_option_names=["-h", "--help"]
    )
    assert isinstance(parent.command, click.Group)
    for name, command in sorted(parent.command.commands.items()):
        loaded = command.load() if isinstance(command, LazyCommand) else command
        context = click.Context(loaded, parent, name)
        if isinstance(loaded, click.Group):
            yield from commands(context)
        else:
            yield context


def _text(text: str) -> Iterator[str]:
    """Yield help text in paragraphs; those that click does not wrap are not wrapped here either."""
    for number, paragraph in enumerate(inspect.cleandoc(text).split("\n\n")):
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
    for context in commands():
        for param in context.command.params:
            if isinstance(param, click.Option) and (match := re.search(r"\[env: (\w+)\]", param.help or "")):
                found[match[1]] = f"Instead of {param.opts[-1]}."
    return found
