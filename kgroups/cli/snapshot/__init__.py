"""``kgroups snapshot``: save the state of groups, show it, compare it, and restore it."""

from __future__ import annotations

import click

from ..frame.lazy_command import LazyCommand, add_lazy_commands


@click.group("snapshot")
def snapshot() -> None:
    """Save the state of groups, compare it, and restore it.

    A snapshot is one file: groups, members, dynamic configuration, committed offsets with leader epochs and metadata,
    log offsets, and topic IDs.
    """


add_lazy_commands(
    snapshot,
    LazyCommand("save", "snapshot.save:save", "Save the state of groups in a file."),
    LazyCommand("show", "snapshot.show:show_snapshot", "Show what a snapshot contains."),
    LazyCommand("diff", "snapshot.diff:diff", "Compare a snapshot with the cluster, or with another one."),
    LazyCommand("restore", "snapshot.restore:restore", "Restore committed offsets, or settings, from a snapshot."),
)
