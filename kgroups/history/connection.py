"""Connection settings of the data sources for clusters with TLS or SASL, without secrets in Spark's output.

The options of a data source are visible in plans, in Spark's UI, and in logs, so they never contain secrets. Secrets
are in the class of the data source, which Spark pickles for its Python workers and never shows, or in a file on the
driver that an option names. The reader carries them to the executors in the same way. Files that are read at each
authentication (a keytab, a token file) must be on the executors too.
"""

from __future__ import annotations

import logging
import os
from typing import Any, TypeVar

from kgroups.config.flags import Flags
from kgroups.config.load import load_settings
from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.errors import KgroupsError, UsageError

from .options import Options

_LOG = logging.getLogger("kgroups")

Source = TypeVar("Source", bound=type[Any])


def with_settings(source: Source, settings: ClientSettings | None, cores: int | None = None) -> Source:
    """Return a subclass of the source that contains settings and cores; the source itself if there are none.

    The subclass is not importable, so it is pickled by value.

    :param cores: the cores of the Spark cluster. The process that plans a query cannot ask for them.
    """
    embedded = {"embedded": settings if settings and settings.security else None, "cores": cores}
    if not any(embedded.values()):
        return source
    return type(source.__name__, (source,), embedded)  # type: ignore[return-value]


def resolve_settings(options: Options, embedded: ClientSettings | None) -> ClientSettings:
    """Return the settings that the options of a source select.

    :param embedded: settings in the class of the source; used only for their own bootstrap servers.
    :raises UsageError: if ``bootstrap.servers`` is missing or invalid.
    :raises ConfigError: if the file of ``command.config`` is invalid.
    """
    servers = options.get("bootstrap.servers")
    if not servers or not servers.strip(" ,"):
        fix = "set it to HOST:PORT[,…]"
        if not options.as_dict():
            fix += "; for a table, omit the list of columns in CREATE TABLE: Spark then keeps the table's options"
        raise UsageError(f"{options.source}: option bootstrap.servers is not set; {fix}")
    bootstrap = parse_bootstrap(servers, f"{options.source}: option bootstrap.servers")
    file = options.get("command.config")
    if file is None and embedded is not None and embedded.bootstrap == bootstrap:
        return embedded
    try:
        loaded = load_settings(Flags(bootstrap=servers, command_config=file), os.environ, own=False)
    except KgroupsError as error:
        raise error.within(f"{options.source}: option command.config") from None
    for remark in loaded.warnings:
        _LOG.warning(remark)
    return loaded.settings
