"""``kgroups settings``: show the dynamic configuration of groups, compare it with a file, and change it."""

from __future__ import annotations

import click

from ..frame.lazy_command import LazyCommand, add_lazy_commands


@click.group("settings")
def settings() -> None:
    """Show and change the settings of groups.

    These are the configurations that brokers apply to one group, such as consumer.session.timeout.ms,
    share.record.lock.duration.ms, and streams.num.standby.replicas. Requires Kafka 4.0.
    """


add_lazy_commands(
    settings,
    LazyCommand("show", "settings.show:show_settings", "Show the settings of groups, and where they come from."),
    LazyCommand("diff", "settings.diff:diff", "Compare the settings of groups with a file."),
    LazyCommand("set", "settings.set:set_settings", "Set settings of groups, from a file or an undo file too."),
    LazyCommand("unset", "settings.unset:unset", "Remove values that are set for groups."),
)
