"""The options of the data source ``kgroups-offsets``, parsed and validated. No I/O but for the settings file.

====================== =================================================================================
bootstrap.servers      bootstrap servers; required
command.config         a properties file with TLS and SASL settings, as for ``--command-config``; on the driver.
                       Secrets are not options: Spark shows those. See :mod:`kgroups.pipeline.connection`
topic                  the log to read, if not ``__consumer_offsets``, such as a mirrored copy
table                  records, decoded (default), or a table of decoded records: commits, members, …
startingOffsets        earliest (default), latest, or JSON: ``{"0": 17, "3": 0}``; others start at the log start
endingOffsets          latest (default: the last stable offset), or JSON; batch only
startingTimestamp      first record at or after that time: ISO 8601, or milliseconds; instead of offsets
endingTimestamp        last record before that time; batch only
numPartitions          input partitions, of about equal size; default: the cores of the driver's machine
maxRecordsPerTrigger   maximum number of offsets in a micro-batch; default: unlimited
timeout                maximum seconds without a response from a broker; default 30
ranges                 true: an additional row for each range that was read, in table ``decoded``
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

from ..connection import resolve_settings
from ..tables import ASSIGNMENTS, COMMITS, DECODED, EPOCHS, GROUP_METADATA, MEMBERS, RECORDS, UNDECODED, Table

Position = str | int | Mapping[int, int]
"""``earliest``, ``latest``, a time in milliseconds since 1970, or an offset for each partition."""

EARLIEST, LATEST = "earliest", "latest"

TABLES: dict[str, Table] = {
    table.name: table for table in (RECORDS, DECODED, COMMITS, GROUP_METADATA, MEMBERS, ASSIGNMENTS, EPOCHS, UNDECODED)
}


class OffsetsOptions(NamedTuple):
    """The parsed options."""

    settings: ClientSettings
    topic: str
    table: Table
    start: Position
    stop: Position
    splits: int
    max_records: int | None
    ranges: bool


def parse_options(options: Mapping[str, str], embedded: ClientSettings | None = None) -> OffsetsOptions:
    """Parse the options.

    :param embedded: settings in the class of the source; used only for their own bootstrap servers.
    :raises UsageError: if an option is invalid; the message names it.
    :raises ConfigError: if the file of ``command.config`` is invalid.
    """
    table = options.get("table", DECODED.name)
    if table not in TABLES:
        raise UsageError(f"kgroups-offsets: option table: {table!r} must be one of {', '.join(TABLES)}")
    timeout = _number("timeout", options.get("timeout", "30"))
    max_records = options.get("maxRecordsPerTrigger")
    return OffsetsOptions(
        settings=resolve_settings("kgroups-offsets", options, embedded)._replace(timeout=timeout),
        topic=options.get("topic", OFFSETS_TOPIC),
        table=TABLES[table],
        start=_position(options, "starting", EARLIEST),
        stop=_position(options, "ending", LATEST),
        splits=_number("numPartitions", options.get("numPartitions") or str(os.cpu_count() or 1)),
        max_records=_number("maxRecordsPerTrigger", max_records) if max_records else None,
        ranges=options.get("ranges", "false").lower() == "true",
    )


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise UsageError(f"kgroups-offsets: option {name}: {text!r} is not a number above 0")
    return int(text)


def _position(options: Mapping[str, str], which: str, default: str) -> Position:
    offsets, time = options.get(f"{which}Offsets"), options.get(f"{which}Timestamp")
    if offsets and time:
        raise UsageError(f"kgroups-offsets: {which}Offsets and {which}Timestamp are mutually exclusive")
    if time:
        return milliseconds(f"{which}Timestamp", time)
    text = offsets or default
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
    """Parse a time, and return milliseconds since 1970; a time without a zone is UTC.

    :param name: name of the option, for the message.
    :raises UsageError: if the text is not a time.
    """
    if text.isascii() and text.isdigit():
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{name}: {text!r} is neither ISO 8601 nor milliseconds") from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000)
