"""Save the state of groups, compare it, and restore it.

A snapshot is one file: groups, members, dynamic configuration, committed offsets with leader epochs and metadata,
log offsets, and topic IDs.
"""

from __future__ import annotations

from pathlib import Path

import click

from ..frame.command import Command, CommandGroup, Shown
from ..frame.group_options import complete_group, complete_topic, plain_group_options, saved_group_options
from ..frame.options import connection_options, deferred_connection_options, file_option, only_option, output_options
from ._change_options import confirmation_options, safety_options, undo_option

_save = Command(
    "save",
    """Save the state of groups in a file.

    Saves the selected groups; by default all groups. They are saved as they are at that moment, with or without
    members. Failures are named and recorded in the file, and the exit code is then 1. FILE appears only when it is
    complete, and only its owner can read it.
    """,
    body="kgroups.cli.snapshot:save",
    options=(
        click.argument("file", type=click.Path(path_type=Path)),
        saved_group_options,
        click.option(
            "--with-records",
            is_flag=True,
            help="Also save the timestamp and the checksum of the first record at each committed offset; this reads "
            "from the topics.",
        ),
        file_option("--systemd-unit", "kgroups-snapshot.service", "Print a service for systemd, and exit."),
        file_option(
            "--systemd-timer", "kgroups-snapshot.timer", "Print a timer that starts the service every hour, and exit."
        ),
        click.option("--overwrite", is_flag=True, help="Replace FILE if it exists."),
        output_options,
        connection_options,
    ),
    examples=(
        ("Save the state of all groups", "kgroups snapshot save monday.snapshot"),
        (
            "Save some groups, with the records at their offsets",
            "kgroups snapshot save a.snapshot 'a-*' --with-records",
        ),
    ),
    sections={"Selection": "--with-records", "Output": "--overwrite --systemd-unit --systemd-timer"},
    views=(Shown("kgroups.render.snapshot_views:SNAPSHOT"),),
)

_show = Command(
    "show",
    """Show what a snapshot contains.

    No broker is contacted. What could not be read when the snapshot was saved is named, and the exit code is 1.
    """,
    body="kgroups.cli.snapshot:show_snapshot",
    options=(
        click.argument("file", type=click.Path(path_type=Path)),
        click.option("--groups", is_flag=True, help="Show one line for each group: state, type, members, total lag."),
        click.option("--offsets", is_flag=True, help="Show committed offsets, log end offsets, and lag."),
        click.option("--members", is_flag=True, help="Show members and their assignments."),
        click.option("--configs", is_flag=True, help="Show the dynamic configuration of groups."),
        output_options,
    ),
    examples=(
        ("Show what a file contains", "kgroups snapshot show monday.snapshot"),
        ("Show the saved offsets, as CSV", "kgroups snapshot show monday.snapshot --offsets -o csv"),
    ),
    views=(
        Shown("kgroups.render.snapshot_views:SNAPSHOT"),
        Shown("kgroups.render.summary_view:SUMMARY", "--groups"),
        Shown("kgroups.render.offset_view:OFFSETS", "--offsets"),
        Shown("kgroups.render.member_views:MEMBERS", "--members"),
        Shown("kgroups.render.snapshot_views:CONFIGS", "--configs"),
    ),
)

_diff = Command(
    "diff",
    """Compare a snapshot with the cluster, or with another one.

    A is FILE. B is FILE2, or else the cluster as it is now. Exits with 0 if they are equal, and with 1 if anything
    differs or is unknown.
    """,
    body="kgroups.cli.snapshot:diff",
    options=(
        click.argument("file", type=click.Path(path_type=Path)),
        click.argument("other", type=click.Path(path_type=Path), metavar="[FILE2]", required=False),
        click.option(
            "--group",
            "groups",
            multiple=True,
            metavar="GROUP",
            help="Compare only this group. Repeatable.",
            shell_complete=complete_group,
        ),
        click.option("--regex", metavar="RE", help="Compare only groups whose whole name matches (RE2)."),
        only_option,
        output_options,
        deferred_connection_options,
    ),
    examples=(
        ("Compare the cluster with a file", "kgroups snapshot diff monday.snapshot"),
        ("Compare the offsets in two files", "kgroups snapshot diff monday.snapshot friday.snapshot --only offsets"),
    ),
    sections={"View": "--only"},
    exits=(
        ("0", "A and B are equal."),
        ("1", "Something differs or is unknown."),
        ("2", "Invalid usage or configuration."),
        ("129, 130, 143", "Ended by SIGHUP, SIGINT (Ctrl-C), or SIGTERM."),
        ("141", "The reader of the pipe has exited."),
    ),
    views=(Shown("kgroups.render.snapshot_views:DIFF"),),
)

_restore = Command(
    "restore",
    """Restore committed offsets, or settings, from a snapshot.

    Shows the plan; --execute applies it. Restores offsets, leader epochs, and metadata exactly, by default of all
    groups in the file. Groups with members are rejected, and the others are restored. The old offsets are first saved
    to an undo file. Members are not restored; the plan names settings that differ.

    With --settings, the settings that were set for the groups are restored instead, also of groups with members, and
    the old settings are saved to an undo file, from which kgroups undo restores them.
    """,
    body="kgroups.cli.snapshot:restore",
    options=(
        click.argument("file", type=click.Path(path_type=Path)),
        plain_group_options,
        click.option(
            "--topic",
            "topics",
            multiple=True,
            metavar="TOPIC[:PARTITIONS]",
            help="Restore all partitions of a topic, or some. Repeatable.",
            shell_complete=complete_topic,
        ),
        click.option("--create-group", is_flag=True, help="Create the groups that do not exist any more."),
        click.option(
            "--exact",
            is_flag=True,
            help="Also delete committed offsets of these groups that are not in the file.",
        ),
        click.option(
            "--settings",
            "with_settings",
            is_flag=True,
            help="Restore the settings of the groups, their dynamic configuration, instead of their offsets. With "
            "--exact, also remove values that are not in the file.",
        ),
        safety_options,
        confirmation_options,
        undo_option,
        click.option(
            "--accept-mismatch",
            "accepted",
            multiple=True,
            type=click.Choice(["cluster", "topic"]),
            help="Restore in spite of a mismatch. cluster: the file belongs to another cluster; topic: a topic was "
            "recreated, or an offset is beyond the log end. Repeatable.",
        ),
        output_options,
        connection_options,
    ),
    examples=(
        ("Show what would be restored", "kgroups snapshot restore monday.snapshot"),
        ("Restore a deleted group", "kgroups snapshot restore monday.snapshot orders --create-group --execute"),
        ("Restore settings of all groups in the file", "kgroups snapshot restore monday.snapshot --settings --execute"),
    ),
    sections={"Change": "--settings"},
    views=(Shown("kgroups.render.act_views:RESET_OFFSETS"),),
)

command = CommandGroup(
    "snapshot",
    __doc__,
    (
        _save,
        _show,
        _diff,
        _restore,
    ),
    page="snapshots.md",
)
