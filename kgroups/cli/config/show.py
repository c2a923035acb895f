"""``kgroups config show``."""

from __future__ import annotations

import click

from ..frame.lazy_command import Command
from ..frame.options import ConnectionOptions, explained_connection_options, output_options
from ..frame.run_query import Shape, show


@click.command("show", cls=Command)
@output_options
@explained_connection_options
def show_settings(connection: ConnectionOptions, shape: Shape) -> int:
    """Show each setting, its source, and its effect.

    Secrets are masked. No broker is contacted.
    """
    from kgroups.model.outcome import Outcome
    from kgroups.render.check_view import SETTINGS

    shape.check(SETTINGS)
    return show(Outcome(connection.effective_settings), None, shape, SETTINGS)
