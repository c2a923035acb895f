"""User data of Kafka Streams' assignor, ``stream`` (classic protocol): SubscriptionInfo and AssignmentInfo, v1 to v11.

Of a newer version, only its number and the latest supported one are read, as in Streams' version probing.
Subscriptions are in Kafka's message format; assignments are Java's DataOutput (modified UTF-8, UTF-16).
"""

from __future__ import annotations

import uuid

from kgroups.errors import RemoteProtocolError
from kgroups.model.assignment import Assignment, Raw, UserData, assignment_of
from kgroups.model.embedded.classic_streams import (
    RUNNING,
    HostPartitions,
    StandbyTask,
    StreamsAssignment,
    StreamsSubscription,
    TaskId,
    TaskOffsets,
)

from ..reader import Reader

NEWEST = 11
_LONGEST_TOPIC = 249
"""Characters that Kafka allows."""
_ENDPOINT, _LATEST, _OFFSET_SUMS, _UNIQUE, _SUBSCRIPTION_ERROR, _TOPOLOGIES, _TAGS = 2, 3, 7, 8, 9, 10, 11
_HOSTS, _ERROR, _DICTIONARY, _STANDBY_HOSTS, _NEXT = 2, 4, 5, 6, 7
"""The first version that has each."""


def decode_subscription_info(data: bytes) -> UserData:
    """Decode the user data of a subscription; never raise."""
    try:
        with Reader("SubscriptionInfo", data, 0) as reader:
            found = _subscription(reader)
            reader.inside()
    except RemoteProtocolError as error:
        return Raw(data, str(error))
    return found


def decode_assignment_info(data: bytes) -> UserData:
    """Decode the user data of an assignment; never raise."""
    try:
        with Reader("AssignmentInfo", data, 0) as reader:
            found = _assignment(reader)
            reader.inside()
    except RemoteProtocolError as error:
        return Raw(data, str(error))
    return found


def _version(reader: Reader) -> int:
    version = reader.int32()
    if version < 1:
        raise ValueError(f"version {version}")
    return version


def _subscription(reader: Reader) -> StreamsSubscription:
    version = _version(reader)
    latest = reader.int32() if version >= _LATEST else None
    if version > NEWEST:
        return StreamsSubscription(version, latest, None)
    process = _uuid(reader)
    previous: tuple[TaskId, ...] = ()
    standby: tuple[TaskId, ...] = ()
    if version < _OFFSET_SUMS:
        previous, standby = _tasks(reader, version), _tasks(reader, version)
    endpoint = _utf8(reader.binary()) if version >= _ENDPOINT else ""
    sums = _offset_sums(reader, version) if version >= _OFFSET_SUMS else ()
    if version >= _OFFSET_SUMS:
        previous = tuple(each.task for each in sums if each.offset_sum == RUNNING)
        standby = tuple(each.task for each in sums if each.offset_sum != RUNNING)
    return StreamsSubscription(
        version=version,
        latest_version=latest,
        process_id=process,
        previous_tasks=previous,
        standby_tasks=standby,
        offset_sums=sums,
        endpoint=endpoint or None,
        unique_field=reader.int8() if version >= _UNIQUE else None,
        error=reader.int32() if version >= _SUBSCRIPTION_ERROR else None,
        client_tags=_tags(reader) if version >= _TAGS else (),
    )


def _offset_sums(reader: Reader, version: int) -> tuple[TaskOffsets, ...]:
    sums = []
    for _ in reader.turns(reader.count()):
        subtopology = reader.int32()
        if version >= _TOPOLOGIES:
            partition, total, topology = reader.int32(), reader.int64(), reader.nullable_string()
            sums.append(TaskOffsets(TaskId(subtopology, partition, topology or None), total))
        else:
            for _ in reader.turns(reader.count()):
                sums.append(TaskOffsets(TaskId(subtopology, reader.int32()), reader.int64()))
    return tuple(sorted(sums, key=str))


def _tags(reader: Reader) -> tuple[tuple[str, str], ...]:
    return tuple(sorted([(_utf8(reader.binary()), _utf8(reader.binary())) for _ in reader.turns(reader.count())]))


def _assignment(reader: Reader) -> StreamsAssignment:
    version = _version(reader)
    common = reader.int32() if version >= _LATEST else None
    if version > NEWEST:
        return StreamsAssignment(version, common)
    active = _tasks(reader, version)
    standby = [StandbyTask(_task(reader, version), _pairs(reader)) for _ in reader.turns(_count(reader))]
    by_host: tuple[HostPartitions, ...] = ()
    standby_by_host: tuple[HostPartitions, ...] = ()
    if version >= _DICTIONARY:
        topics = {reader.int32(): _topic(reader) for _ in reader.turns(_count(reader))}
        by_host = _hosts(reader, topics)
        standby_by_host = _hosts(reader, topics) if version >= _STANDBY_HOSTS else ()
    elif version >= _HOSTS:
        by_host = _hosts(reader, None)
    return StreamsAssignment(
        version=version,
        common_version=common,
        active=active,
        standby=tuple(sorted(standby, key=lambda each: (each.task.topology or "", each.task))),
        by_host=by_host,
        standby_by_host=standby_by_host,
        error=reader.int32() if version >= _ERROR else None,
        next_rebalance_ms=_moment(reader.int64()) if version >= _NEXT else None,
    )


def _moment(ms: int) -> int | None:
    """Return ``None`` for Java's largest number, which means never."""
    return None if ms == 2**63 - 1 else ms


def _hosts(reader: Reader, topics: dict[int, str] | None) -> tuple[HostPartitions, ...]:
    hosts = [
        HostPartitions(_text(reader), reader.int32(), _pairs(reader, topics)) for _ in reader.turns(_count(reader))
    ]
    return tuple(sorted(hosts, key=lambda each: each[:2]))


def _pairs(reader: Reader, topics: dict[int, str] | None = None) -> Assignment:
    """Read (topic, partition) pairs; with a dictionary, topics are numbers in it."""
    pairs = []
    for _ in reader.turns(_count(reader)):
        name = _text(reader) if topics is None else topics.get(reader.int32())
        if name is None:
            raise ValueError("a topic number that is not in the dictionary")
        pairs.append((name, (reader.int32(),)))
    return assignment_of(pairs)


def _tasks(reader: Reader, version: int) -> tuple[TaskId, ...]:
    return tuple([_task(reader, version) for _ in reader.turns(_count(reader))])


def _task(reader: Reader, version: int) -> TaskId:
    subtopology, partition = reader.int32(), reader.int32()
    if version < _TOPOLOGIES:
        return TaskId(subtopology, partition)
    name = _cut(reader, 2 * _count(reader)).decode("utf-16-be", "replace")
    return TaskId(subtopology, partition, name or None)


def _count(reader: Reader) -> int:
    """Read a number of elements. A negative number, which Java treats as 0, means that the bytes are something else."""
    count = reader.int32()
    if not 0 <= count <= len(reader.data) - reader.at:
        raise ValueError(f"{count} elements are announced")
    return count


def _text(reader: Reader) -> str:
    """Read Java's modified UTF-8: an unsigned length; NUL in two bytes, and characters outside the BMP in six."""
    size = reader.int16() & 0xFFFF
    data = _cut(reader, size).replace(b"\xc0\x80", b"\0")
    halves = data.decode("utf-8", "surrogatepass").encode("utf-16-be", "surrogatepass")
    return halves.decode("utf-16-be", "replace")


def _topic(reader: Reader) -> str:
    """Read a topic name of the dictionary. A few bytes refer to it, so a long name could be shown endlessly."""
    name = _text(reader)
    if len(name) > _LONGEST_TOPIC:
        raise ValueError(f"a topic name of {len(name):,} characters")
    return name


def _cut(reader: Reader, size: int) -> bytes:
    start = reader.at
    reader.skip(size)
    reader.inside()
    return reader.data[start : reader.at]


def _uuid(reader: Reader) -> str:
    return str(uuid.UUID(bytes=_cut(reader, 16)))


def _utf8(data: bytes) -> str:
    return data.decode("utf-8", "replace")
