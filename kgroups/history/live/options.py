"""The options of the data source ``kgroups-live``, parsed and validated. No I/O but for files of settings.

====================== =================================================================================
bootstrap.servers      bootstrap servers; required, unless ``profile`` is set
command.config         a properties file with TLS and SASL settings, as for ``--command-config``; on the driver.
                       Secrets are not options: Spark shows those. See :mod:`kgroups.history.connection`
profile                instead of these two: profiles of the configuration file, on the driver, comma-separated or a
                       JSON list; also globs, sets, and @tags, as for ``--profile``. Each table then begins with the
                       columns ``cluster`` (the profile) and ``cluster_id``
table                  offsets (default), groups, members, assignments, failures
groups                 only these groups, comma-separated or a JSON list; no requests for others but the list
columns                only these columns of the table, comma-separated
timeout                maximum seconds for the lists, and for the requests of each task; default 30
broker.timeout         maximum seconds to wait for one unresponsive broker; default 10
isolation              read_uncommitted (default), or read_committed: selects the log end offset
failOnError            true (default): fail if rows are missing; false: return the available rows
pushdown               no effect: filters are applied by Spark; see :class:`kgroups.history.live.source.LiveReader`
====================== =================================================================================
"""

from __future__ import annotations

import os
from typing import NamedTuple

from kgroups.config.fleet import select_profiles
from kgroups.config.settings import ClientSettings
from kgroups.model.groups import GroupId
from kgroups.model.offsets import Isolation

from ..connection import resolve_settings
from ..options import Options
from ..tables import Table
from .tables import LIVE, OFFSETS, of_clusters

PROFILE = "profile"
ONE_CLUSTER = ("bootstrap.servers", "command.config")
OPTIONS = (
    *(*ONE_CLUSTER, PROFILE, "table", "groups", "columns", "timeout", "broker.timeout", "isolation"),
    *("failOnError", "pushdown"),
)

_ISOLATIONS = {level.name.lower(): level for level in Isolation}


class LiveOptions(NamedTuple):
    """The parsed options. With ``profiles``, ``settings`` has no servers, and ``table`` has columns for the cluster."""

    settings: ClientSettings
    table: Table
    isolation: Isolation
    fail_on_error: bool
    groups: tuple[GroupId, ...] | None = None
    profiles: tuple[str, ...] = ()
    cluster: str | None = None
    """The profile of the only cluster of a task, to be named in failures."""

    def __repr__(self) -> str:
        return f"LiveOptions({self.table.name})"  # no settings in plans and logs


def parse_options(options: Options, embedded: ClientSettings | None = None) -> LiveOptions:
    """Parse the options.

    :param embedded: settings in the class of the source; used only for their own bootstrap servers.
    :raises UsageError: if an option is invalid; the message names it.
    :raises ConfigError: if the file of ``command.config``, or of the profiles, is invalid.
    """
    defaults = ClientSettings._field_defaults
    options.switch("pushdown", default=False)
    profiles = _profiles(options)
    table = options.one_of("table", LIVE, OFFSETS.name)
    return LiveOptions(
        settings=(ClientSettings(()) if profiles else resolve_settings(options, embedded))._replace(
            timeout=options.seconds("timeout", defaults["timeout"]),
            broker_timeout=options.seconds("broker.timeout", defaults["broker_timeout"]),
        ),
        table=of_clusters(table) if profiles else table,
        isolation=options.one_of("isolation", _ISOLATIONS, "read_uncommitted"),
        fail_on_error=options.switch("failOnError", default=True),
        groups=options.names("groups"),
        profiles=profiles,
    )


def _profiles(options: Options) -> tuple[str, ...]:
    words = options.names(PROFILE)
    if words is None:
        return ()
    for name in ONE_CLUSTER:
        if options.get(name) is not None:
            raise options.error(PROFILE, f"and {name} are mutually exclusive; remove one")
    return select_profiles(words, os.environ, f"{options.source}: option {PROFILE}")
