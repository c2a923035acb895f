"""The sections and the examples of a command: one source for the help, the man page, and the documentation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import click

from kgroups.render.views import View

from .command import Command
from .exit_codes import EXIT_CODES
from .help_sections import OPTIONS, OTHER, TITLES, section_of

Record = tuple[str, str]
"""The names of an option with its metavar, and its help."""


def write_options(command: click.Command, context: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the options of a command in sections, and its examples."""
    for title, records in sections(command, context):
        with formatter.section(title):
            formatter.write_dl(records)
    if shown := examples(context):
        with formatter.section("Examples"):
            for number, (sentence, line) in enumerate(shown):
                if number:
                    formatter.write_paragraph()
                formatter.write_text(f"{sentence}:")
                formatter.write(f"{'':{formatter.current_indent}}$ {line}\n")


def sections(command: click.Command, context: click.Context) -> list[tuple[str, Sequence[Record]]]:
    """Return the sections of a command in their order; ``Options`` alone if it has no other."""
    found: dict[str, list[Record]] = {}
    for param in command.get_params(context):
        record = param.get_help_record(context)
        if record is None or not isinstance(param, click.Option):
            continue
        if "--columns" in param.opts and (columns := _columns(context)):
            record = record[0], f"{record[1].rstrip('.')}: {columns}."
        found.setdefault(section_of_option(param, context), []).append(record)
    if set(found) <= {OPTIONS, OTHER}:
        return [(OPTIONS, [*found.get(OPTIONS, ()), *found.get(OTHER, ())])]
    return [(title, found[title]) for title in TITLES if title in found]


def section_of_option(option: click.Option, context: click.Context) -> str:
    """Return the section of an option of a command."""
    own = context.command.sections if isinstance(context.command, Command) else {}
    return OTHER if "--help" in option.opts else section_of(option.opts[-1], own)


def examples(context: click.Context) -> tuple[Record, ...]:
    """Return the examples of a command: a sentence and a command line each."""
    return context.command.examples if isinstance(context.command, Command) else ()


def exit_codes(context: click.Context) -> tuple[Record, ...]:
    """Return the exit codes of a command, and their meanings."""
    return context.command.exits if isinstance(context.command, Command) else EXIT_CODES


def _columns(context: click.Context) -> str:
    """Return the columns of each view."""
    return "; ".join(prefix + ", ".join(column.key for column in view.columns) for prefix, view in _views(context))


def _views(context: click.Context) -> Iterator[tuple[str, View]]:
    """Yield the views of a command, each with the option that selects it if there are several."""
    shown = [each for each in context.command.views if each.in_help] if isinstance(context.command, Command) else []
    for each in shown:
        if view := each.resolve(context):
            yield f"with {each.option}: " if each.option and len(shown) > 1 else "", view
