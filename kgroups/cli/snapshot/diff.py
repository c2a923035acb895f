"""``kgroups snapshot diff``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from ..frame.group_options import GroupOptions, complete_group
from ..frame.lazy_command import Command
from ..frame.options import ConnectionOptions, deferred_connection_options, output_options
from ..frame.run_query import Shape
from ..query.comparison import Side, file_side, only_option, show_differences


@click.command("diff", cls=Command)
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("other", type=click.Path(path_type=Path), metavar="[FILE2]", required=False)
@click.option(
    "--group",
    "groups",
    multiple=True,
    metavar="GROUP",
    help="Compare only this group. Repeatable.",
    shell_complete=complete_group,
)
@click.option("--regex", metavar="RE", help="Compare only groups whose whole name matches (RE2).")
@only_option
@output_options
@deferred_connection_options
def diff(
    connection: Callable[[], ConnectionOptions],
    shape: Shape,
    only: tuple[str, ...],
    groups: tuple[str, ...],
    regex: str | None,
    file: Path,
    other: Path | None,
) -> int:
    """Compare a snapshot with the cluster, or with another one.

    A is FILE. B is FILE2, or else the cluster as it is now. Exits with 0 if they are equal, and with 1 if anything
    differs or is unknown.
    """
    first = file_side(file)
    debug = False
    if other is None:
        options = connection()
        debug = options.debug
        second = Side(options.settings.bootstrap_servers, settings=options.settings)
    else:
        second = file_side(other)
    return show_differences((first, second), shape, only, GroupOptions((), groups, regex, False), debug=debug)
