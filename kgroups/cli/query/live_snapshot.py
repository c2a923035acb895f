"""Take a snapshot of a cluster, for the commands that save it or compare with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kgroups.admin.client import Client
from kgroups.admin.query.select_groups import Selection
from kgroups.admin.snapshot.take import take_snapshot
from kgroups.config.settings import ClientSettings
from kgroups.errors import KgroupsError
from kgroups.model.operations.origin import Source
from kgroups.model.outcome import Outcome
from kgroups.model.snapshot.snapshot import Snapshot
from kgroups.render.views import View

from ..frame.output import Shape, or_error_envelope
from ..frame.repeat_options import this_command
from ..frame.run_query import Query, hinted, run_queries, run_query


def live_snapshot(
    settings: ClientSettings, shape: Shape, view: View, selection: Selection, *, records: bool, debug: bool
) -> Outcome[Snapshot]:
    """Return the state of the selected groups now.

    :raises KgroupsError: if the cluster cannot be reached; with ``-o json``, the envelope is written first.
    """
    query = _snapshot_query(settings, selection, records)
    outcome, _ = or_error_envelope(shape, view, lambda: run_query(settings, query, debug=debug))
    return _complete(outcome)


class Live(NamedTuple):
    """A cluster, the groups to compare, whether to compare their records, and the topics in the other state."""

    settings: ClientSettings
    selection: Selection
    records: bool
    topics: tuple[str, ...] = ()


def live_snapshots(clusters: Sequence[Live], *, debug: bool) -> list[Outcome[Snapshot] | KgroupsError]:
    """Return the states of several clusters, or their errors; all are queried at the same time."""
    queries = [(each.settings, _snapshot_query(*each)) for each in clusters]
    found = run_queries(queries, debug=debug)
    return [each if isinstance(each, KgroupsError) else _complete(each) for each in found]


def _snapshot_query(
    settings: ClientSettings, selection: Selection, records: bool, topics: tuple[str, ...] = ()
) -> Query:
    source = Source().stamped(settings.bootstrap_servers, this_command())

    async def query(admin: Client) -> Outcome[Snapshot]:
        return await take_snapshot(admin, selection, source, records=records, topics=topics)

    return hinted(query, selection)


def _complete(outcome: Outcome[Snapshot]) -> Outcome[Snapshot]:
    """Return a snapshot that includes the failures of its selection."""
    (snapshot,) = outcome.items
    return outcome.with_items((snapshot._replace(failures=outcome.failures),))
