"""The records that a reset skips: in words, and as the lines of the file that keeps their bytes.

::

    {"schema": "kgroups/skipped-records/v1", "cluster_id": ..., "command": ..., "records": 1}
    {"group": "g", "topic": "t", "partition": 0, "offset": 12, "timestamp": 1767225600000, "producer_id": null,
     "key": "a2V5", "value": null, "headers": [{"name": "trace", "value": "MQ=="}]}

Keys and values are in Base64 (RFC 4648), ``null`` if the record has none.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..counts import count, some
from ..moments import moment_text
from ..offsets import PlanKey
from ..record import RecordDetails

SCHEMA = "kgroups/skipped-records/v1"
SHOWN = 10
"""Records of one partition that notices describe."""


Skipped = tuple[PlanKey, Sequence[RecordDetails]]
"""The skipped records of one partition of one group."""


def skip_note(records: Sequence[RecordDetails], wanted: int, *, blocked: bool) -> str:
    """Return the skipped records.

    :param wanted: the number of records to skip.
    :param blocked: whether an open transaction ends the records before the end of the log.
    """
    offsets = [str(record.offset) for record in records]
    if not offsets:
        return "skips no records: " + ("an open transaction begins here" if blocked else "none are unread")
    text = f"skips {count(len(offsets), 'record')}: offset {some(offsets)}"
    if len(records) == wanted:
        return text
    return f"{text}; " + ("an open transaction follows" if blocked else "no others are unread")


def skip_notices(skipped: Iterable[Skipped]) -> list[str]:
    """Return a line for each skipped record, without its contents."""
    return [line for each in skipped for line in _notices(each)]


def _notices(skipped: Skipped) -> Iterator[str]:
    (group, topic, partition), records = skipped
    place = f"group '{group}' skips {topic}-{partition}"
    for record in records[:SHOWN]:
        yield f"{place} {_described(record)}"
    if (more := len(records) - SHOWN) > 0:
        yield f"{place}: {count(more, 'more record')}, up to offset {records[-1].offset}"


def _described(record: RecordDetails) -> str:
    written = "no timestamp" if record.timestamp is None else f"written {moment_text(record.timestamp)}"
    key = "no key" if record.key is None else f"key of {count(len(record.key), 'byte')}"
    value = "no value" if record.value is None else f"value of {count(len(record.value), 'byte')}"
    names = some([header.name for header in record.headers])
    headers = f", {'headers' if len(record.headers) > 1 else 'header'} {names}" if names else ""
    producer = "" if record.producer_id is None else f", producer ID {record.producer_id}"
    return f"offset {record.offset}: {written}, {key}, {value}{headers}{producer}"


def record_lines(skipped: Iterable[Skipped], source: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the file, without line ends.

    :param source: the run that writes it, as JSON.
    """
    items = [_item(key, record) for key, records in skipped for record in records]
    yield json.dumps({"schema": SCHEMA, **source, "records": len(items)})
    yield from map(json.dumps, items)


def _item(key: PlanKey, record: RecordDetails) -> dict[str, Any]:
    return {
        **dict(zip(("group", "topic", "partition"), key, strict=True)),
        "offset": record.offset,
        "timestamp": record.timestamp,
        "producer_id": record.producer_id,
        "key": _base64(record.key),
        "value": _base64(record.value),
        "headers": [{"name": header.name, "value": _base64(header.value)} for header in record.headers],
    }


def _base64(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()
