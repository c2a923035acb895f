"""``kgroups config``: what was understood of the settings, and whether a cluster can be reached by them."""

from __future__ import annotations

import click

from ..frame.lazy_command import Later, add_later


@click.group("config")
def config() -> None:
    """Show the settings that were given, and try them.

    Flags, environment, profile and file, as they were understood; and the way to the cluster by them.
    """


add_later(
    config,
    Later("check", "config.check:check", "Try the way to each broker, step by step."),
    Later("show", "config.show:show_settings", "Show each setting, where it was given, and what it does."),
)
