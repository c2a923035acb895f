"""``kgroups snapshot save``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..frame.group_options import GroupOptions, saved_group_options
from ..frame.lazy_command import Command
from ..frame.options import ConnectionOptions, connection_options, output_options
from ..frame.run_query import Shape, show
from ..frame.systemd_option import systemd_option
from ..query.live_snapshot import live_snapshot


@click.command("save", cls=Command)
@click.argument("file", type=click.Path(path_type=Path))
@saved_group_options
@click.option(
    "--with-records",
    is_flag=True,
    help="Also save the timestamp and the checksum of the first record at each committed offset; this reads from the "
    "topics.",
)
@systemd_option("--systemd-unit", "kgroups-snapshot.service", "Print a service for systemd, and exit.")
@systemd_option(
    "--systemd-timer", "kgroups-snapshot.timer", "Print a timer that starts the service every hour, and exit."
)
@click.option("--overwrite", is_flag=True, help="Replace FILE if it exists.")
@output_options
@connection_options
def save(
    connection: ConnectionOptions,
    shape: Shape,
    chosen: GroupOptions,
    file: Path,
    with_records: bool,
    overwrite: bool,
) -> int:
    """Save the state of groups in a file.

    Groups are saved as they are at that moment, with or without members. Failures are named and recorded in the file,
    and the exit code is then 1. FILE appears only when it is complete, and only its owner can read it.
    """
    from kgroups.admin.snapshot.file import check_writable, write_snapshot
    from kgroups.model.outcome import NO_MATCH, Failure, Outcome, Scope
    from kgroups.model.snapshot.rows import snapshot_row
    from kgroups.render.snapshot_views import SNAPSHOT

    selection = chosen.selection()
    shape.check(SNAPSHOT)
    check_writable(file, overwrite=overwrite)
    taken = live_snapshot(connection.settings, shape, SNAPSHOT, selection, records=with_records, debug=connection.debug)
    (found,) = taken.items
    if not found.groups and (taken.failures or not chosen.all_groups):
        reason = taken.failures or (Failure(Scope.CLUSTER, "", NO_MATCH),)
        nothing: Outcome[Any] = Outcome(
            (), reason, (f"nothing was saved: {connection.cluster(found.source.cluster_id)}",)
        )
        return show(nothing, found.source.cluster_id, shape, SNAPSHOT)
    write_snapshot(file, found)
    notices = [notice for notice in taken.notices if notice != NO_MATCH]
    if found.failures:
        notices.append(f"{file} is partial: what failed is recorded in it")
    rows = taken.with_items((snapshot_row(found),))._replace(notices=tuple(notices))
    return show(rows, found.source.cluster_id, shape, SNAPSHOT)
