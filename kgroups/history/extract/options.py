"""The options of the data source ``kgroups-offsets``, parsed and validated. No I/O but for the settings file.

====================== =================================================================================
bootstrap.servers      bootstrap servers; required
command.config         a properties file with TLS and SASL settings, as for ``--command-config``; on the driver.
                       Secrets are not options: Spark shows those. See :mod:`kgroups.history.connection`
topic                  the log to read, if not ``__consumer_offsets``, such as a mirrored copy
table                  records, decoded (default), or a table of decoded records: commits, members, …
groups                 only records of these groups, comma-separated or a JSON list; reads only their log partitions
columns                only these columns of the table, comma-separated; the others are not sent to Spark
startingOffsets        earliest (default), latest, or JSON: ``{"0": 17, "3": 0}``; others start at the log start
endingOffsets          latest (default: the last stable offset), or JSON; batch only
startingTimestamp      first record at or after that time: ISO 8601, or milliseconds; instead of offsets
endingTimestamp        last record before that time; batch only
numPartitions          input partitions, of about equal size; default: the cores that Spark had when the source was
                       registered, and more for more than :data:`.ranges.SPLIT` offsets each
maxRecordsPerTrigger   maximum number of offsets in a micro-batch; default: unlimited; stream only
timeout                maximum seconds without a response from a broker; default 30
====================== =================================================================================
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

from kgroups.config.settings import ClientSettings
from kgroups.errors import UsageError
from kgroups.model.groups import GroupId
from kgroups.model.placement import OFFSETS_TOPIC

from ..connection import resolve_settings
from ..options import Options
from ..tables import ASSIGNMENTS, COMMITS, DECODED, EPOCHS, GROUP_METADATA, MEMBERS, RECORDS, UNDECODED, Table

Position = str | int | Mapping[int, int]
"""``earliest``, ``latest``, a time in milliseconds since 1970, or an offset for each partition."""

EARLIEST, LATEST = "earliest", "latest"

TABLES: dict[str, Table] = {
    table.name: table for table in (RECORDS, DECODED, COMMITS, GROUP_METADATA, MEMBERS, ASSIGNMENTS, EPOCHS, UNDECODED)
}

BATCH_ONLY = ("endingOffsets", "endingTimestamp")
STREAM_ONLY = ("maxRecordsPerTrigger",)
OPTIONS = (
    *("bootstrap.servers", "command.config", "topic", "table", "groups", "columns", "startingOffsets"),
    *("startingTimestamp", "numPartitions", "timeout", *BATCH_ONLY, *STREAM_ONLY),
)


class OffsetsOptions(NamedTuple):
    """The parsed options."""

    settings: ClientSettings
    topic: str
    table: Table
    groups: tuple[GroupId, ...] | None
    start: Position
    stop: Position
    splits: int | None
    max_records: int | None


def parse_options(options: Options, embedded: ClientSettings | None = None) -> OffsetsOptions:
    """Parse the options.

    :param embedded: settings in the class of the source; used only for their own bootstrap servers.
    :raises UsageError: if an option is invalid; the message names it.
    :raises ConfigError: if the file of ``command.config`` is invalid.
    """
    timeout = options.seconds("timeout", 30)
    return OffsetsOptions(
        settings=resolve_settings(options, embedded)._replace(timeout=timeout),
        topic=options.get("topic") or OFFSETS_TOPIC,
        table=options.one_of("table", TABLES, DECODED.name),
        groups=options.names("groups"),
        start=_position(options, "starting", EARLIEST),
        stop=_position(options, "ending", LATEST),
        splits=options.number("numPartitions"),
        max_records=options.number("maxRecordsPerTrigger"),
    )


def _position(options: Options, which: str, default: str) -> Position:
    offsets, time = options.get(f"{which}Offsets"), options.get(f"{which}Timestamp")
    if offsets and time:
        raise options.error(f"{which}Offsets", f"and {which}Timestamp {time!r} are mutually exclusive; remove one")
    if time:
        return milliseconds(f"{options.source}: option {which}Timestamp", time)
    text = offsets or default
    return text if text in (EARLIEST, LATEST) else _offsets(options, f"{which}Offsets", text)


def _offsets(options: Options, name: str, text: str) -> Mapping[int, int]:
    try:
        found = {int(partition): int(offset) for partition, offset in json.loads(text).items()}
    except (ValueError, TypeError, AttributeError):
        found = {-1: -1}
    if any(partition < 0 or offset < 0 for partition, offset in found.items()):
        raise options.error(name, 'must be earliest, latest, or {"PARTITION": OFFSET, …}')
    return found


def milliseconds(name: str, text: str) -> int:
    """Parse a time, and return milliseconds since 1970; a time without a zone is UTC.

    :param name: name of the option, for the message.
    :raises UsageError: if the text is not a time.
    """
    if re.fullmatch("[0-9]{1,18}", text):
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{name}: {text!r} is neither ISO 8601 nor milliseconds") from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000)
