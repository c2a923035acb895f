"""The sections and the examples of a command: one source for the help, the man page, and the documentation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from .help_examples import EXAMPLES
from .help_sections import OPTIONS, OTHER, TITLES, section_of
from .known_values import snapshot_view, view_of_line

if TYPE_CHECKING:
    from kgroups.render.views import View

Record = tuple[str, str]
"""The names of an option with its metavar, and its help."""

_DESCRIBE = ("offsets", "members", "state", "topology", "summary", "all_views")
_SNAPSHOT = ("groups", "offsets", "members", "configs")
_LAG = ("group", "topic", "partition", "member")


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
    return OTHER if "--help" in option.opts else section_of(context.command_path, option.opts[-1])


def examples(context: click.Context) -> tuple[Record, ...]:
    """Return the examples of a command: a sentence and a command line each."""
    return EXAMPLES.get(context.command_path, ())


def _columns(context: click.Context) -> str:
    """Return the columns of each view."""
    return "; ".join(prefix + ", ".join(column.key for column in view.columns) for prefix, view in _views(context))


def _views(context: click.Context) -> Iterator[tuple[str, View]]:
    """Yield the views of a command, each with the option that selects it if there are several."""
    command = context.command_path.removeprefix("kgroups ")
    if command == "describe":
        for name in _DESCRIBE:
            yield f"with --{name.replace('_', '-')}: ", _view(context, **{name: True})
    elif command == "snapshot show":
        yield "", snapshot_view("show", {})
        for name in _SNAPSHOT:
            yield f"with --{name}: ", snapshot_view("show", {name: True})
    elif command == "lag":
        for name in _LAG:
            yield f"with --by {name}: ", _view(context, by=name)
    elif view := view_of_line(context):
        yield "", view


def _view(context: click.Context, **params: object) -> View:
    line = click.Context(context.command, context.parent, context.info_name)
    line.params = params
    view = view_of_line(line)
    assert view
    return view
