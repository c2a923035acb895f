"""The options of the data source ``kgroups-live``, read and checked. Pure.

====================== =================================================================================
bootstrap.servers      where to ask first; needed
command.config         a properties file with TLS and SASL settings, as for ``--command-config``; on the driver.
                       Secrets are no options: Spark shows those. See :mod:`kgroups.pipeline.connection`
table                  offsets (default), groups, members, assignments, failures
timeout                seconds for the list, and for what each task asks; default 30
broker.timeout         seconds that one broker that hangs may cost of it; default 10
isolation              read_uncommitted (default), or read_committed: whose end of the log
failOnError            true (default): fail when anything could not be asked; false: the rows that came back
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

from ..connection import connection
from ..tables import Table
from .tables import LIVE, OFFSETS

T = TypeVar("T")

_ISOLATIONS = {level.name.lower(): level for level in Isolation}
_SWITCH = {"true": True, "false": False}


class LiveOptions(NamedTuple):
    """What is asked, and how."""

    settings: ClientSettings
    table: Table
    isolation: Isolation
    fail_on_error: bool

    def __repr__(self) -> str:
        return f"LiveOptions({self.table.name})"  # settings are nobody's business in a plan or a log


def parse_options(options: Mapping[str, str], carried: ClientSettings | None = None) -> LiveOptions:
    """
    :param carried: settings that came with the source itself, for its own servers only.
    :raises UsageError: when an option cannot be right; the text names it.
    :raises ConfigError: when the file of command.config cannot be.
    """
    defaults = ClientSettings._field_defaults
    _one_of(options, "pushdown", _SWITCH, "false")
    return LiveOptions(
        settings=connection("kgroups-live", options, carried)._replace(
            timeout=_seconds(options, "timeout", defaults["timeout"]),
            broker_timeout=_seconds(options, "broker.timeout", defaults["broker_timeout"]),
        ),
        table=_one_of(options, "table", LIVE, OFFSETS.name),
        isolation=_one_of(options, "isolation", _ISOLATIONS, "read_uncommitted"),
        fail_on_error=_one_of(options, "failOnError", _SWITCH, "true"),
    )


def _one_of(options: Mapping[str, str], name: str, known: Mapping[str, T], otherwise: str) -> T:
    word = options.get(name, otherwise)
    if word.lower() not in known:
        raise UsageError(f"kgroups-live: option {name}: {word!r} must be one of {', '.join(known)}")
    return known[word.lower()]


def _seconds(options: Mapping[str, str], name: str, otherwise: float) -> float:
    text = options.get(name)
    if text is None:
        return otherwise
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds > 0):
        raise UsageError(f"kgroups-live: option {name}: {text!r} is not a number of seconds above 0")
    return seconds
