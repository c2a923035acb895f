"""Run one query against several clusters, and show the rows of all of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, NamedTuple, TypeVar

from kgroups.admin.client import Client
from kgroups.admin.fleet import Fleet, Member, Progress, open_member, query_clusters, wanted_of
from kgroups.admin.query.select_groups import Selection
from kgroups.config.flags import TIMEOUT, Flags
from kgroups.config.load import load_profile
from kgroups.config.settings import ClientSettings, Transport
from kgroups.errors import UsageError
from kgroups.model.clusters import ClusterAnswer, ids_of, merge_clusters
from kgroups.model.outcome import Outcome
from kgroups.net.fanout import run
from kgroups.render.selection import sort_rows
from kgroups.render.views import View, with_cluster

from .output import Shape, print_exchange, print_once, show
from .progress import progress_line
from .repeat_options import repeated
from .run_query import Query, hinted

T = TypeVar("T")
Load = Callable[[], ClientSettings]
"""Reads the settings of a cluster."""


def fleet_of(
    profiles: Sequence[str], flags: Flags, cluster_timeout: float | None
) -> tuple[ClientSettings, FleetQueries]:
    """Return the clusters of these profiles, and the settings that they share, which have no servers.

    :raises UsageError: if a flag belongs to one cluster only.
    """
    for name, given in (
        ("--bootstrap-server", flags.bootstrap),
        ("--command-config", flags.command_config),
        ("-X", flags.overrides),
    ):
        if given:  # its password must not reach the other clusters
            raise UsageError(f"{name} cannot be combined with several profiles: it is for one cluster")
    timeout = flags.timeout or TIMEOUT
    tell = print_once()
    members = tuple(
        Member(name, partial(_load, flags._replace(profile=name, timeout=timeout), tell)) for name in profiles
    )
    transport = Transport(flags.transport or Transport.WIRE)
    shared = ClientSettings((), timeout=timeout, transport=transport)
    return shared, FleetQueries(Fleet(members, timeout, min(cluster_timeout or timeout, timeout)), flags, tell)


def _load(flags: Flags, tell: Callable[[str], None]) -> ClientSettings:
    loaded = load_profile(flags, os.environ)
    for note in loaded.warnings:
        tell(f"{flags.profile}: {note}")
    return loaded.settings


class FleetQueries(NamedTuple):
    """Runs the query of a command against each cluster."""

    fleet: Fleet
    flags: Flags
    tell: Callable[[str], None]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(member.name for member in self.fleet.members)

    @property
    def cluster_timeout(self) -> float:
        return self.fleet.cluster_timeout

    def loaded_once(self) -> FleetQueries:
        """Return the same clusters; the settings of each are read once, so that a plan is written where it was made."""
        return self._loaded_by(cache)

    def for_reading(self) -> FleetQueries:
        """Return the same clusters, for clients that cannot change anything; settings are read once."""
        return self._loaded_by(lambda load: cache(lambda: load()._replace(read_only=True)))

    def _loaded_by(self, change: Callable[[Load], Load]) -> FleetQueries:
        members = tuple(member._replace(load=change(member.load)) for member in self.fleet.members)
        return self._replace(fleet=self.fleet._replace(members=members))

    def settings_of(self, name: str) -> ClientSettings:
        """Return the settings of a cluster.

        :raises KgroupsError: if they are invalid.
        """
        return self._member(name).load().within(self.cluster_timeout)

    def as_words(self, name: str) -> tuple[str, ...]:
        """Return the connection options for one cluster as arguments of a suggested command."""
        return repeated(self.flags._replace(profile=name))

    async def open(self, name: str, *, debug: bool) -> Client:
        """Return an admin that is connected to one cluster, whose settings are read now.

        :raises KgroupsError: if they are invalid, or the cluster cannot be reached or rejects the client.
        """
        return await open_member(self._member(name), self.cluster_timeout, print_exchange if debug else None, self.tell)

    def _member(self, name: str) -> Member:
        return next(member for member in self.fleet.members if member.name == name)

    def answers(self, queries: Mapping[str, Query], *, debug: bool) -> Sequence[ClusterAnswer]:
        """Run the query of each of these clusters."""
        members = tuple(member for member in self.fleet.members if member.name in queries)
        return run(_answers(self.fleet._replace(members=members), queries, debug, self.tell))

    def merged(
        self, query: Query, selection: Selection | None, joined: Callable[[str, Any], T], *, debug: bool
    ) -> tuple[Outcome[T], Mapping[str, str | None]]:
        """Return the items of all clusters, each joined with the name of its cluster, and the IDs of the clusters."""
        answers = self.answers(dict.fromkeys(self.names, hinted(query, selection)), debug=debug)
        outcome, shown = merge_clusters(answers, joined, wanted_of(selection) if selection else frozenset())
        return outcome, ids_of(shown)

    def query_and_show(
        self, shape: Shape, view: View, query: Query, *, debug: bool, selection: Selection | None, top: int | None
    ) -> int:
        """Show the items of all clusters, and return the exit code.

        :param top: show only this many rows, in the order of ``--sort``.
        """
        fleet_view = with_cluster(view)
        shape.check(fleet_view)
        outcome, ids = self.merged(query, selection, lambda cluster, row: (cluster, *row), debug=debug)
        if top is not None:
            outcome = outcome.with_items(sort_rows(outcome.items, fleet_view, shape.sort)[:top])
        return show(outcome, None, shape, fleet_view, {"clusters": ids})


async def _answers(
    fleet: Fleet, queries: Mapping[str, Query], debug: bool, tell: Callable[[str], None]
) -> Sequence[ClusterAnswer]:
    async with progress_line() as line:
        line.status = progress = Progress(len(fleet.members))
        observer: Any = print_exchange if debug else None
        return await query_clusters(fleet, queries.__getitem__, progress, observer, tell)
