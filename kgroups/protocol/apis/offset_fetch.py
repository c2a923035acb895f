"""OffsetFetch (key 9): the committed offsets of groups.

v1  one group per request
v2  no list of topics: all committed offsets of the group (Kafka 0.10.2); always used
v3  throttle time
v5  leader epoch of each commit (KIP-320, Kafka 2.1)
v7  require_stable (KIP-447, Kafka 2.5): an error instead of each commit that an open transaction is going to replace
v8  several groups per request (KIP-709, Kafka 3.0)
v9  member ID and epoch (KIP-848); not needed to read
v10 topic IDs instead of names (Kafka 4.1); not used: brokers look up the ID of each name, and omit deleted topics

Every commit of every group is decoded here.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from kgroups.model.groups import GroupId
from kgroups.model.offsets import Commit, GroupCommits, new_commit

from ..error_codes import Code, KafkaError, kafka_error
from ..reader import Reader, reader_of
from ..repeats import Repeats
from ..versions import OFFSET_FETCH, Api
from ..writer import form_of

API = OFFSET_FETCH

BATCHED = 8
"""The first version with several groups per request; before, one request per group."""

_THROTTLE, _EPOCHS, _REQUIRE_STABLE, _MEMBERS = 3, 5, 7, 9
"""The first version that has each."""

_NO_MEMBER = b"\0\xff\xff\xff\xff"

_PLAIN = struct.Struct(">iqi4x")
"""An entry without metadata: partition, offset, epoch; then the length of the metadata, error, number of tags."""
_LENGTH_AT, _TAGS_AT = 16, 19


class OffsetFetch(NamedTuple):
    """Request the committed offsets of these groups on every topic; more than one requires version :data:`BATCHED`.

    With ``stable``, commits that an open transaction is going to replace are missing, and ``pending`` names them.
    Brokers since 4.0 respond after enough replicas have what was written to the group before.
    """

    groups: tuple[GroupId, ...]
    repeats: Repeats | None = None
    stable: bool = False

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return len(self.groups)

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        topics = (_NO_MEMBER if version >= _MEMBERS else b"") + form.null_array  # all topics
        stable = bytes([self.stable]) if version >= _REQUIRE_STABLE else b""
        if version < BATCHED:
            return form.string(self.groups[0]) + topics + stable + form.tags
        rest = topics + form.tags
        return form.array(form.string(name) + rest for name in self.groups) + stable + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[GroupId, GroupCommits | KafkaError]:
        """Return group -> its commits, or its error. A group that does not exist has no commits."""
        stable = self.stable and version >= _REQUIRE_STABLE
        with reader_of(API, version, data, offset) as reader:
            if version >= _THROTTLE:
                reader.skip(4)
            if version < BATCHED:
                results = {self.groups[0]: _group(reader, version, stable, self.groups[0])}
            else:
                results = {}
                for _ in reader.turns(reader.count()):
                    name = reader.string()
                    read = partial(_group, reader, version, stable, name)
                    results[name] = (
                        self.repeats.read(reader, version, name, read) if self.repeats is not None else read()
                    )
                reader.tags()
            reader.end()
        return results


def _group(reader: Reader, version: int, stable: bool, group: GroupId) -> GroupCommits | KafkaError:
    """Read the fields of a group after its name; before :data:`BATCHED`, the whole response."""
    topics: dict[str, tuple[Commit, ...]] = {}
    unset: dict[str, tuple[int, ...]] = {}
    pending: set[tuple[str, int]] = set()
    for _ in reader.turns(reader.count()):
        topic = reader.string()
        count = reader.count()
        commits = _plain_commits(reader, count) if version >= API.flexible else None
        if commits is None:
            commits, unset_here, pending_here = _commits(reader, version, count)
            if unset_here:
                unset[topic] = unset_here
            pending.update((topic, partition) for partition in pending_here)
        if commits:
            topics[topic] = commits
        reader.tags()
    error = reader.int16()
    reader.tags()
    if error:
        return kafka_error(error)
    return GroupCommits(group, topics, unset, pending=frozenset(pending) if stable else None)


def _commits(reader: Reader, version: int, count: int) -> tuple[tuple[Commit, ...], tuple[int, ...], tuple[int, ...]]:
    """Return the commits of one topic, the partitions without one, and those with an unstable one.

    All topics were requested, so that every entry is a commit. A negative offset is like none.
    """
    commits, unset, pending = [], [], []
    for _ in reader.turns(count):
        partition, offset = reader.int32(), reader.int64()
        epoch = reader.int32() if version >= _EPOCHS else -1
        metadata = reader.nullable_string()
        error = reader.int16()
        reader.tags()
        if offset >= 0:
            commits.append(Commit(partition, offset, None if epoch < 0 else epoch, metadata or ""))
        elif error == Code.unstable_offset_commit:
            pending.append(partition)
        elif not error:
            unset.append(partition)
    return tuple(commits), tuple(unset), tuple(pending)


def _plain_commits(reader: Reader, count: int) -> tuple[Commit, ...] | None:
    """Return the commits of one topic in the flexible form, many times as fast as :func:`_commits`.

    ``None`` if an entry has metadata, or no offset. Otherwise all have the same size, and are unpacked in one call.
    """
    data, start = reader.data, reader.at
    end = start + count * _PLAIN.size
    # The length of each entry's metadata (null or empty), and the number of its tagged fields. If the first entry has
    # neither, the second begins at its expected offset, and so on.
    lengths, tags = data[start + _LENGTH_AT : end : _PLAIN.size], data[start + _TAGS_AT : end : _PLAIN.size]
    if lengths.strip(b"\0\1") or tags.strip(b"\0"):
        return None
    commits = tuple(
        [
            new_commit((partition, offset, None if epoch < 0 else epoch, ""))
            for partition, offset, epoch in _PLAIN.iter_unpack(data[start:end])
            if offset >= 0
        ]
    )
    if len(commits) < count:
        return None
    reader.skip(end - start)
    return commits
