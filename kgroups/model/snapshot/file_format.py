"""The file format of snapshots: JSON Lines in ASCII, with a header, a trailer, and a checksum; docs/snapshots.md.

::

    {"schema": "kgroups/snapshot/v1", "cluster_id": ..., "created": ..., "extent": {...}}
    {"topic": "t", "id": ..., "logs": [[0, 0, 100], [1, 5, 70]]}
    {"group": "g", "type": "Classic", "state": "Empty", ..., "offsets": {"t": [[0, 60, 3, "note"]]}}
    {"record": ["t", 0, 60], "at": 60, "timestamp": 1700000000000, "crc": 123}
    {"failure": {"scope": "group", "name": "h", "message": ...}}
    {"end": {"topics": 1, "groups": 1, "records": 1, "failures": 1}, "sha256": ...}

The checksum covers all lines before the last one, with their line ends. The file is compressed with gzip.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from kgroups.errors import Reason, UsageError

from ..assignment import Assignment, Raw, Subscription, assignment_of
from ..cluster import Node
from ..groups import Group, Member
from ..offsets import Commit, GroupCommits, LogOffsets, Logs
from ..operations.origin import topic_id_of, topic_id_text
from ..operations.plan_row import LARGEST_OFFSET, LARGEST_PARTITION, bounded, envelope, move_of, source_of
from ..outcome import NOT_FOUND, Failure, Scope
from ..time_lag import FirstUnread, Position
from ..views.offset_row import GroupOffsets
from .snapshot import Extent, Snapshot

SCHEMA = "kgroups/snapshot/v1"
_FAMILY = "kgroups/snapshot/"


def snapshot_bytes(snapshot: Snapshot) -> bytes:
    """Return the contents of a file, not compressed."""
    found = list(_items(snapshot))
    header = {"schema": SCHEMA, **envelope(snapshot.source), "extent": snapshot.extent._asdict()}
    del header["topic_ids"]  # each topic has a line
    lines = [header, *found]
    data = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines).encode()
    counts = Counter(next(iter(item)) for item in found)
    trailer = {"end": {f"{key}s": counts[key] for key in _READERS}, "sha256": hashlib.sha256(data).hexdigest()}
    return data + json.dumps(trailer).encode() + b"\n"


def _items(snapshot: Snapshot) -> Iterator[dict[str, Any]]:
    ids, logs, missing = snapshot.source.topic_ids, snapshot.logs.offsets, snapshot.missing_topics
    for topic in sorted({*logs, *ids, *missing}):
        pairs = [[partition, *offsets] for partition, offsets in sorted(logs.get(topic, {}).items())]
        topic_id = topic_id_text(ids[topic]) if topic in ids else None
        yield {"topic": topic, "id": topic_id, "logs": None if topic in missing else pairs}
    for each in snapshot.groups:
        yield _group_item(each, snapshot)
    for position, found in sorted(snapshot.records.items()):
        yield {"record": list(position), "at": found.offset, "timestamp": found.timestamp, "crc": found.crc}
    for failure in snapshot.failures:
        kept = failure._replace(acl=None, reason=None, general=None, state=None)._asdict()
        yield {"failure": {key: value for key, value in kept.items() if value is not None}}


def _group_item(offsets: GroupOffsets, snapshot: Snapshot) -> dict[str, Any]:
    group, commits = offsets.group, offsets.commits
    item: dict[str, Any] = {
        "group": group.group,
        "type": group.type,
        "state": group.state,
        "protocol_type": group.protocol_type,
        "protocol": group.protocol,
        "coordinator": list(group.coordinator),
        "epoch": group.group_epoch,
        "members": None if group.members is None else list(map(_member_item, group.members)),
        "offsets": {topic: list(map(_commit_item, sorted(made))) for topic, made in sorted(commits.topics.items())},
    }
    if commits.unset:
        item["unset"] = {topic: sorted(partitions) for topic, partitions in sorted(commits.unset.items())}
    if commits.lags:
        item["lags"] = [[*pair, lag] for pair, lag in sorted(commits.lags.items())]
    if (configs := snapshot.configs.get(group.group)) is not None:
        item["configs"] = dict(configs)
    return item


def _commit_item(commit: Commit) -> list[Any]:
    """Return partition, offset, leader epoch, and metadata, without the empty ones at the end."""
    item = [commit.partition, commit.offset, commit.leader_epoch, commit.metadata or None]
    while item[-1] is None:
        del item[-1]
    return item


def _member_item(member: Member) -> dict[str, Any]:
    assigned, wanted = member.assignment, member.subscription
    item = {
        "id": member.member_id,
        "client_id": member.client_id,
        "host": member.host,
        "instance_id": member.instance_id,
        "rack": member.rack_id,
        "epoch": member.member_epoch,
        "assignment": _raw_item(assigned.raw) or {entry.topic: entry.partitions for entry in assigned.topics},
        "topics": wanted.topics,
        "regex": wanted.regex,
        "subscription": _raw_item(wanted.raw),
    }
    return {key: value for key, value in item.items() if value is not None}


def _raw_item(raw: Raw | None) -> list[str] | None:
    """Return bytes of a client that could not be decoded, in hexadecimal form, and why."""
    return [raw.data.hex(), raw.reason] if raw else None


def parse_snapshot(data: bytes, name: str) -> Snapshot:
    """Parse the contents of a file.

    :param name: of the file, for errors.
    :raises UsageError: if it is not a snapshot, of a newer version, truncated, or changed; one line.
    """
    header = _object(data.partition(b"\n")[0])
    schema = header.get("schema") if header else None
    if header is None or not isinstance(schema, str) or not schema.startswith(_FAMILY):
        raise UsageError(f"{name}: not a snapshot of kgroups")
    if schema != SCHEMA:
        version = header.get("version")
        by = f" of kgroups {version}" if isinstance(version, str) else ""
        raise UsageError(f"{name}: its format {schema}{by} is not supported; this version reads {SCHEMA}")
    start = data.rfind(b"\n", 0, len(data) - 1) + 1
    trailer = _object(data[start:]) if data.endswith(b"\n") else None
    if trailer is None or "end" not in trailer:
        raise UsageError(f"{name}: truncated: its last line, with the counts and the checksum, is missing")
    if trailer.get("sha256") != hashlib.sha256(data[:start]).hexdigest():
        raise UsageError(f"{name}: changed after it was written: its checksum (SHA-256) differs")
    lines = data[:start].split(b"\n")[1:-1]
    reader = _Reader()
    for number, line in enumerate(lines, 2):
        where = f"{name}, line {number}"
        try:
            reader.read(where, json.loads(line))
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise UsageError(f"{where}: not a line of a snapshot ({error})") from None
    if trailer["end"] != {f"{key}s": reader.counts[key] for key in _READERS}:
        raise UsageError(f"{name}: the counts in its last line differ from its contents")
    return reader.snapshot(header, name)


class _Reader:
    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.ids: dict[str, int] = {}
        self.logs: dict[str, dict[int, LogOffsets]] = {}
        self.groups: list[tuple[Group, GroupCommits]] = []
        self.configs: dict[str, dict[str, str | None]] = {}
        self.records: dict[Position, FirstUnread] = {}
        self.failures: list[Failure] = []
        self.missing: set[str] = set()

    def read(self, where: str, item: dict[str, Any]) -> None:
        key = next(iter(item), "")
        _READERS[key](self, where, item)
        self.counts[key] += 1

    def snapshot(self, header: Mapping[str, Any], name: str) -> Snapshot:
        source = replace(source_of({**header, "topic_ids": None}, f"{name}, line 1"), topic_ids=self.ids)
        logs = Logs(self.logs, topic_ids=self.ids)
        try:
            extent = _extent(header["extent"])
        except (TypeError, LookupError) as error:
            raise UsageError(f"{name}, line 1: not a header of a snapshot ({error})") from None
        topics = frozenset(extent.topics)
        groups = tuple(GroupOffsets(group, commits, logs, topics) for group, commits in self.groups)
        failures, missing = tuple(self.failures), frozenset(self.missing)
        return Snapshot(source, extent, groups, logs, self.configs, self.records, failures, missing)

    def topic(self, where: str, item: dict[str, Any]) -> None:
        topic = _text(item["topic"])
        if item["id"] is not None:
            self.ids[topic] = topic_id_of(item["id"])
        if item["logs"] is None:
            self.missing.add(topic)
            return
        self.logs[topic] = {
            bounded(where, "partition", int(partition), LARGEST_PARTITION): LogOffsets(_offset(start), _offset(end))
            for partition, start, end in item["logs"]
        }

    def group(self, where: str, item: dict[str, Any]) -> None:
        name = _text(item["group"])
        node_id, host, port = item["coordinator"]
        members = item["members"]
        group = Group(
            name,
            None if item["type"] is None else _text(item["type"]),
            _text(item["state"]),
            _text(item["protocol_type"]),
            _text(item["protocol"]),
            Node(int(node_id), _text(host), int(port)),
            None if members is None else tuple(map(_member, members)),
            _offset(item["epoch"]),
        )
        topics = {
            _text(topic): tuple(_commit(where, *entry) for entry in entries)
            for topic, entries in item["offsets"].items()
        }
        unset = {_text(topic): tuple(map(int, partitions)) for topic, partitions in item.get("unset", {}).items()}
        lags = {(_text(topic), int(partition)): int(lag) for topic, partition, lag in item.get("lags", ())}
        self.groups.append((group, GroupCommits(name, topics, unset, lags)))
        if "configs" in item:
            configs = item["configs"].items()
            self.configs[name] = {_text(key): None if value is None else _text(value) for key, value in configs}

    def record(self, where: str, item: dict[str, Any]) -> None:
        topic, partition, offset = item["record"]
        found = FirstUnread(_offset(item["at"]), _offset(item["timestamp"]), crc=_offset(item["crc"]))
        self.records[Position(_text(topic), int(partition), int(offset))] = found

    def failure(self, where: str, item: dict[str, Any]) -> None:
        found = item["failure"]
        reason = Reason.GROUP_NOT_FOUND if found.get("error") == NOT_FOUND else Reason.NOT_SAVED
        self.failures.append(Failure(**{**found, "scope": Scope(found["scope"]), "reason": reason}))


_READERS: Mapping[str, Callable[[_Reader, str, dict[str, Any]], None]] = {
    "topic": _Reader.topic,
    "group": _Reader.group,
    "record": _Reader.record,
    "failure": _Reader.failure,
}


def _extent(item: Mapping[str, Any]) -> Extent:
    lists = {key: tuple(map(_text, item[key])) for key in ("names", "patterns", "topics")}
    return Extent(everything=item["everything"] is True, filtered=item["filtered"] is True, **lists)


def _member(item: Mapping[str, Any]) -> Member:
    assigned, topics, wanted = item["assignment"], item["topics"], item.get("subscription")
    regex, instance, rack = (
        None if item.get(key) is None else _text(item[key]) for key in ("regex", "instance_id", "rack")
    )
    return Member(
        _text(item["id"]),
        _text(item["client_id"]),
        _text(item["host"]),
        Assignment(raw=_raw(assigned))
        if isinstance(assigned, list)
        else assignment_of((_text(topic), map(int, partitions)) for topic, partitions in assigned.items()),
        instance,
        rack,
        Subscription(tuple(map(_text, topics)), regex, raw=_raw(wanted) if wanted else None),
        _offset(item.get("epoch")),
    )


def _raw(item: list[str]) -> Raw:
    data, reason = item
    return Raw(bytes.fromhex(data), _text(reason))


def _commit(where: str, partition: int, offset: int, epoch: int | None = None, metadata: str | None = None) -> Commit:
    at = bounded(where, "partition", partition, LARGEST_PARTITION)
    move = move_of(where, {"offset": offset, "leader_epoch": epoch, "metadata": metadata or ""}, at)
    if move is None:
        raise ValueError("an offset is missing")
    return move


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError(f"{value!r} is not a string")
    return value


def _offset(value: Any) -> int | None:
    if value is not None and (type(value) is not int or not 0 <= value <= LARGEST_OFFSET):
        raise TypeError(f"{value!r} is not an offset or null")
    return value


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
