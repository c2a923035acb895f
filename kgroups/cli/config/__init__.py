"""``kgroups config``: the effective settings, and a test of the connection."""

from __future__ import annotations

import click

from ..frame.lazy_command import LazyCommand, add_lazy_commands


@click.group("config")
def config() -> None:
    """Show and test the connection settings.

    Settings come from flags, environment variables, the profile, and the configuration file.
    """


add_lazy_commands(
    config,
    LazyCommand("check", "config.check:check", "Test the connection to each broker, step by step."),
    LazyCommand("show", "config.show:show_settings", "Show each setting, its source, and its effect."),
)
