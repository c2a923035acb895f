"""The options of the data source ``kgroups-live``, parsed and validated. No I/O but for the settings file.

====================== =================================================================================
bootstrap.servers      bootstrap servers; required
command.config         a properties file with TLS and SASL settings, as for ``--command-config``; on the driver.
                       Secrets are not options: Spark shows those. See :mod:`kgroups.pipeline.connection`
table                  offsets (default), groups, members, assignments, failures
timeout                maximum seconds for the list, and for the requests of each task; default 30
broker.timeout         maximum seconds to wait for one unresponsive broker; default 10
isolation              read_uncommitted (default), or read_committed: selects the log end offset
failOnError            true (default): fail if rows are missing; false: return the available rows
pushdown               no effect: filters are applied by Spark; see :class:`kgroups.pipeline.live.source.LiveReader`
====================== =================================================================================
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple, TypeVar

from kgroups.config.settings import ClientSettings
from kgroups.errors import UsageError
from kgroups.model.offsets import Isolation

from ..connection import resolve_settings
from ..tables import Table
from .tables import LIVE, OFFSETS

T = TypeVar("T")

_ISOLATIONS = {level.name.lower(): level for level in Isolation}
_SWITCH = {"true": True, "false": False}


class LiveOptions(NamedTuple):
    """The parsed options."""

    settings: ClientSettings
    table: Table
    isolation: Isolation
    fail_on_error: bool

    def __repr__(self) -> str:
        return f"LiveOptions({self.table.name})"  # no settings in plans and logs


def parse_options(options: Mapping[str, str], embedded: ClientSettings | None = None) -> LiveOptions:
    """Parse the options.

    :param embedded: settings in the class of the source; used only for their own bootstrap servers.
    :raises UsageError: if an option is invalid; the message names it.
    :raises ConfigError: if the file of ``command.config`` is invalid.
    """
    defaults = ClientSettings._field_defaults
    _one_of(options, "pushdown", _SWITCH, "false")
    return LiveOptions(
        settings=resolve_settings("kgroups-live", options, embedded)._replace(
            timeout=_seconds(options, "timeout", defaults["timeout"]),
            broker_timeout=_seconds(options, "broker.timeout", defaults["broker_timeout"]),
        ),
        table=_one_of(options, "table", LIVE, OFFSETS.name),
        isolation=_one_of(options, "isolation", _ISOLATIONS, "read_uncommitted"),
        fail_on_error=_one_of(options, "failOnError", _SWITCH, "true"),
    )


def _one_of(options: Mapping[str, str], name: str, known: Mapping[str, T], default: str) -> T:
    text = options.get(name, default)
    if text.lower() not in known:
        raise UsageError(f"kgroups-live: option {name}: {text!r} must be one of {', '.join(known)}")
    return known[text.lower()]


def _seconds(options: Mapping[str, str], name: str, default: float) -> float:
    text = options.get(name)
    if text is None:
        return default
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds > 0):
        raise UsageError(f"kgroups-live: option {name}: {text!r} is not a number of seconds above 0")
    return seconds
