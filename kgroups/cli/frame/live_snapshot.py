"""Take a snapshot of a cluster, for the commands that save it or compare with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .run_query import Shape, hinted, or_error_envelope, run_query

if TYPE_CHECKING:
    from kgroups.admin.port import GroupAdmin
    from kgroups.admin.query.select_groups import Selection
    from kgroups.config.settings import ClientSettings
    from kgroups.model.outcome import Outcome
    from kgroups.model.snapshot.snapshot import Snapshot
    from kgroups.render.views import View


def live_snapshot(
    settings: ClientSettings, shape: Shape, view: View, selection: Selection, *, records: bool, debug: bool
) -> Outcome[Snapshot]:
    """Return the state of the selected groups now.

    :raises KgroupsError: if the cluster cannot be reached; with ``-o json``, the envelope is written first.
    """
    from kgroups.model.operations.origin import Source

    from .repeat_options import this_command

    source = Source().stamped(settings.bootstrap_servers, this_command())

    async def query(admin: GroupAdmin) -> Outcome[Snapshot]:
        from kgroups.admin.snapshot.take import take_snapshot

        return await take_snapshot(admin, selection, source, records=records)

    outcome, _ = or_error_envelope(shape, view, lambda: run_query(settings, hinted(query, selection), debug=debug))
    (snapshot,) = outcome.items
    return outcome.with_items((snapshot._replace(failures=outcome.failures),))  # those of the selection, too
