"""Shell completion: names from the cluster, within a short time, or nothing at all.

Only names of plain characters are completed: any client can name a group, and a completed name becomes part of a
command line.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterable
from typing import Any

import click

from kgroups.admin.client import Client
from kgroups.admin.query.select_groups import Selection
from kgroups.config.flags import Flags
from kgroups.config.load import load_settings
from kgroups.config.profiles import read_profiles
from kgroups.config.settings import ClientSettings
from kgroups.errors import KgroupsError
from kgroups.model.outcome import Outcome
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.metadata import Metadata

from .run_query import run_query

TIMEOUT = 1.5
"""Seconds to wait for the cluster; together with the start of Python, less than two."""

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+@%,-]*")


def group_names(context: click.Context, _: click.Parameter, prefix: str) -> list[str]:
    """Return groups of the cluster that the command line names."""
    given = context.params.get("names") or ()
    return [name for name in group_names_of(_settings(context), prefix) if name not in given]


def group_names_of(settings: ClientSettings, prefix: str) -> list[str]:
    """Return groups of a cluster; none if it does not respond."""

    async def query(admin: Client) -> Outcome[Any]:
        listed = await admin.list_selected(Selection())
        return listed.with_items(group.group for group in listed.items)

    try:
        outcome, _ = run_query(settings, query, debug=False, quiet=True)
    except (KgroupsError, OSError):
        return []
    return completions_of(outcome.items, prefix)


def topic_names(context: click.Context, _: click.Parameter, prefix: str) -> list[str]:
    """Return topics of the cluster that the command line names."""
    return topic_names_of(_settings(context), prefix)


def topic_names_of(settings: ClientSettings, prefix: str) -> list[str]:
    """Return topics of a cluster, internal ones only for the prefix ``__``; none if it does not respond."""
    try:
        topics = asyncio.run(list_topics(settings))
    except (KgroupsError, OSError):
        return []
    return completions_of((name for name in topics if prefix.startswith("__") or not name.startswith("__")), prefix)


def broker_ids(context: click.Context, _: click.Parameter, prefix: str) -> list[str]:
    """Return the IDs of the brokers of the cluster that the command line names."""
    try:
        return asyncio.run(_list_brokers(_settings(context), prefix))
    except (KgroupsError, OSError):
        return []


async def _list_brokers(settings: ClientSettings, prefix: str) -> list[str]:
    cluster, _ = await Cluster.connect(settings)
    async with cluster:
        return completions_of(map(str, sorted(cluster.nodes)), prefix)


def completions_of(names: Iterable[str], prefix: str) -> list[str]:
    """Return the names with this prefix that are safe on a command line."""
    return sorted(name for name in names if name.startswith(prefix) and _PLAIN.fullmatch(name))


def profile_names(_: click.Context, __: click.Parameter, prefix: str) -> list[str]:
    """Return the profiles of the configuration file."""
    try:
        return completions_of(read_profiles(os.environ).tables, prefix)
    except KgroupsError:
        return []


def _settings(context: click.Context) -> ClientSettings:
    """Return the settings of an incomplete command line, as far as it was parsed."""
    params = context.params
    flags = Flags(
        params.get("bootstrap_server"),
        params.get("command_config"),
        tuple(params.get("overrides") or ()),
        next(iter(params.get("profiles") or ()), None),
        timeout=TIMEOUT,
        broker_timeout=TIMEOUT,
    )
    return load_settings(flags, os.environ).settings


async def list_topics(settings: ClientSettings) -> list[str]:
    """Return the names of all visible topics, also internal ones; always over the wire client.

    :raises KgroupsError: if no broker returns them.
    """
    cluster, _ = await Cluster.connect(settings)
    async with cluster:
        return sorted(entry.topic for entry in (await cluster.call_any(Metadata(None))).topics if entry.topic)
