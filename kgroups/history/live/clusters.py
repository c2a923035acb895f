"""List the groups of the cluster that the options select, or of several clusters at the same time."""

from __future__ import annotations

import asyncio
import logging
import os
from functools import partial
from typing import NamedTuple

from kgroups.admin.client import Client
from kgroups.admin.fleet import Fleet, Member, Progress, query_clusters
from kgroups.admin.query.select_groups import Selection
from kgroups.config.flags import Flags
from kgroups.config.load import load_profile
from kgroups.config.settings import ClientSettings
from kgroups.model.clusters import distinct
from kgroups.model.groups import ListedGroup
from kgroups.model.outcome import Outcome, Scope

from .answer import check, list_groups
from .options import LiveOptions
from .tables import LIVE

_LOG = logging.getLogger("kgroups")


class Origin(NamedTuple):
    """One of several clusters. Only the tasks of this cluster receive its settings."""

    cluster: str
    cluster_id: str | None
    settings: ClientSettings

    def __repr__(self) -> str:
        return self.cluster  # no settings in plans and logs

    def alone(self, options: LiveOptions) -> LiveOptions:
        """Return the options for this cluster only."""
        table = LIVE[options.table.name]
        return options._replace(settings=self.settings, table=table, profiles=(), cluster=self.cluster)


def list_clusters(options: LiveOptions) -> list[tuple[Origin | None, Outcome[ListedGroup]]]:
    """List every group of each cluster; the origin is ``None`` without profiles.

    :raises HistoryError: if a list is incomplete, unless the table is ``failures`` or ``failOnError`` is false.
    """
    if not options.profiles:
        return [(None, list_groups(options))]
    settings = dict.fromkeys(options.profiles, options.settings)

    def load(profile: str) -> ClientSettings:
        loaded = load_profile(Flags(profile=profile), os.environ)
        for remark in loaded.warnings:
            _LOG.warning("%s: %s", profile, remark)
        settings[profile] = loaded.settings._replace(
            timeout=options.settings.timeout, broker_timeout=options.settings.broker_timeout
        )
        return settings[profile]

    async def query(admin: Client) -> Outcome[ListedGroup]:
        return await admin.list_selected(Selection())

    members = tuple(Member(profile, partial(load, profile)) for profile in options.profiles)
    fleet = Fleet(members, options.settings.timeout, options.settings.timeout)
    answers, notices = distinct(
        asyncio.run(query_clusters(fleet, lambda _: query, Progress(len(members)), tell=_LOG.warning))
    )
    for notice in notices:
        _LOG.warning(notice)
    found: list[tuple[Origin | None, Outcome[ListedGroup]]] = []
    for cluster, cluster_id, outcome in answers:
        named = (
            each._replace(cluster=cluster, name="" if each.scope is Scope.CLUSTER else each.name)
            for each in outcome.failures
        )
        origin = Origin(cluster, cluster_id, settings[cluster])
        found.append((origin, outcome._replace(failures=tuple(named))))
    check(options, [failure for _, outcome in found for failure in outcome.failures])
    return found
