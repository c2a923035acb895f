"""The options of the data source ``kgroups-offsets``, read and checked. Pure.

====================== =================================================================================
bootstrap.servers      where to ask first; needed
command.config         a properties file with TLS and SASL settings, as for ``--command-config``; on the driver.
                       Secrets are no options: Spark shows those. See :mod:`kgroups.pipeline.connection`
topic                  the log to read, where it is not ``__consumer_offsets`` (a mirrored copy, say)
table                  records, decoded (default), or a table that decoding makes: commits, members, …
startingOffsets        earliest (default), latest, or JSON: ``{"0": 17, "3": 0}``; others begin at 0
endingOffsets          latest (default: the last stable offset), or JSON; batch only
startingTimestamp      first record of that time or later: ISO 8601, or milliseconds; instead of offsets
endingTimestamp        up to that time; batch only
numPartitions          input partitions, about equally large; default: the cores of the driver's machine
maxRecordsPerTrigger   bound on a micro-batch; default: none
timeout                seconds that a broker may be silent; default 30
ranges                 true: one more row for each range that was read, in table ``decoded``
====================== =================================================================================
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from kgroups.config.settings import ClientSettings
from kgroups.errors import UsageError
from kgroups.model.placement import OFFSETS_TOPIC

from ..connection import connection
from ..tables import ASSIGNMENTS, COMMITS, DECODED, EPOCHS, GROUP_METADATA, MEMBERS, RECORDS, UNDECODED, Table

Position = str | int | Mapping[int, int]
"""``earliest``, ``latest``, a time in milliseconds, or an offset for each partition."""

EARLIEST, LATEST = "earliest", "latest"

TABLES: dict[str, Table] = {
    table.name: table for table in (RECORDS, DECODED, COMMITS, GROUP_METADATA, MEMBERS, ASSIGNMENTS, EPOCHS, UNDECODED)
}


class OffsetsOptions(NamedTuple):
    """What is to be read, and how."""

    settings: ClientSettings
    topic: str
    table: Table
    start: Position
    stop: Position
    lots: int
    most: int | None
    ranges: bool


def parse_options(options: Mapping[str, str], carried: ClientSettings | None = None) -> OffsetsOptions:
    """
    :param carried: settings that came with the source itself, for its own servers only.
    :raises UsageError: when an option cannot be right; the text names it.
    :raises ConfigError: when the file of command.config cannot be.
    """
    table = options.get("table", DECODED.name)
    if table not in TABLES:
        raise UsageError(f"kgroups-offsets: option table: {table!r} must be one of {', '.join(TABLES)}")
    timeout = _number("timeout", options.get("timeout", "30"))
    most = options.get("maxRecordsPerTrigger")
    return OffsetsOptions(
        settings=connection("kgroups-offsets", options, carried)._replace(timeout=timeout),
        topic=options.get("topic", OFFSETS_TOPIC),
        table=TABLES[table],
        start=_position(options, "starting", EARLIEST),
        stop=_position(options, "ending", LATEST),
        lots=_number("numPartitions", options.get("numPartitions") or str(os.cpu_count() or 1)),
        most=_number("maxRecordsPerTrigger", most) if most else None,
        ranges=options.get("ranges", "false").lower() == "true",
    )


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise UsageError(f"kgroups-offsets: option {name}: {text!r} is not a number above 0")
    return int(text)


def _position(options: Mapping[str, str], which: str, otherwise: str) -> Position:
    offsets, time = options.get(f"{which}Offsets"), options.get(f"{which}Timestamp")
    if offsets and time:
        raise UsageError(f"kgroups-offsets: {which}Offsets and {which}Timestamp are mutually exclusive")
    if time:
        return milliseconds(f"{which}Timestamp", time)
    text = offsets or otherwise
    return text if text in (EARLIEST, LATEST) else _offsets(f"{which}Offsets", text)


def _offsets(name: str, text: str) -> Mapping[int, int]:
    try:
        found = {int(partition): int(offset) for partition, offset in json.loads(text).items()}
    except (ValueError, TypeError, AttributeError):
        found = {-1: -1}
    if any(partition < 0 or offset < 0 for partition, offset in found.items()):
        raise UsageError(
            f'kgroups-offsets: option {name}: {text!r} must be earliest, latest, or {{"PARTITION": OFFSET, …}}'
        )
    return found


def milliseconds(name: str, text: str) -> int:
    """A time as Kafka counts it; without a zone it is UTC.

    :raises UsageError: when it is none.
    """
    if text.isascii() and text.isdigit():
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{name}: {text!r} is neither ISO 8601 nor milliseconds") from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000)
