"""``kgroups snapshot save``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kgroups.admin.snapshot.file import check_writable, write_snapshot
from kgroups.errors import Reason
from kgroups.model.outcome import NO_MATCH, Failure, Outcome, Scope
from kgroups.model.snapshot.rows import snapshot_row
from kgroups.render.snapshot_views import SNAPSHOT

from ..frame.options import ConnectionOptions
from ..frame.output import Shape, show
from ..frame.selected_groups import GroupOptions
from ..query.live_snapshot import live_snapshot


def save(
    connection: ConnectionOptions,
    shape: Shape,
    chosen: GroupOptions,
    file: Path,
    with_records: bool,
    overwrite: bool,
) -> int:
    """Run ``kgroups snapshot save``; return the exit code."""
    selection = chosen.selection(all_by_default=True)
    shape.check(SNAPSHOT)
    check_writable(file, overwrite=overwrite)
    taken = live_snapshot(connection.settings, shape, SNAPSHOT, selection, records=with_records, debug=connection.debug)
    (found,) = taken.items
    if not found.groups and (taken.failures or (chosen.any_given and not chosen.all_groups)):
        reason = taken.failures or (Failure(Scope.CLUSTER, "", NO_MATCH, reason=Reason.NO_MATCH),)
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
