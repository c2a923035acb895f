"""How the data sources reach a cluster that asks for TLS or SASL, without Spark showing a secret.

Options of a source are seen: in plans, in Spark's UI, in logs. So secrets are never among them. They travel inside the
source's own class, which Spark pickles for its Python workers and shows to nobody; or a file on the driver holds them,
which an option names. From there they go to the executors with the reader, in the same way. Files that are read at
each login (a keytab, a token's file) must be on the executors too.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping
from typing import Any, TypeVar

from kgroups.config.flags import Flags
from kgroups.config.load import load_settings
from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.errors import UsageError

_LOG = logging.getLogger("kgroups")

Source = TypeVar("Source", bound=type[Any])


def carrying(source: Source, settings: ClientSettings | None) -> Source:
    """The source with settings in it; itself where there are none. The class has no name that could be looked up, so
    that it is pickled whole."""
    if settings is None or settings.security is None:
        return source
    return type(source.__name__, (source,), {"carried": settings})  # type: ignore[return-value]


def connection(source: str, options: Mapping[str, str], carried: ClientSettings | None) -> ClientSettings:
    """The settings that a source's options ask for; those that it carries, where it is about their servers.

    :raises UsageError: when no server is named, or one that cannot be.
    :raises ConfigError: when the file of ``command.config`` cannot be right.
    """
    servers = options.get("bootstrap.servers")
    if not servers:
        raise UsageError(f"{source}: option bootstrap.servers is needed: HOST:PORT[,…]")
    file = options.get("command.config")
    if file is None and carried is not None and carried.bootstrap == parse_bootstrap(servers, "bootstrap.servers"):
        return carried
    loaded = load_settings(Flags(bootstrap=servers, command_config=file), os.environ, own=False)
    for remark in loaded.warnings:
        _LOG.warning(remark)
    return loaded.settings
