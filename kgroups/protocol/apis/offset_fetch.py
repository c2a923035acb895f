"""OffsetFetch (key 9): what groups have committed.

v1  one group a request
v2  no list of topics means all that the group has committed (Kafka 0.10.2); what we always ask
v3  throttle time
v5  leader epoch of each commit (KIP-320, Kafka 2.1)
v7  require_stable (KIP-447); not asked for, as the Java tool
v8  many groups a request (KIP-709, Kafka 3.0)
v9  member id and epoch (KIP-848); not needed to read
v10 topic ids instead of names; we stay with names

Written and read by hand: every commit of every group passes here.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import NamedTuple

from kgroups.model.groups import GroupId
from kgroups.model.offsets import Commit, GroupCommits

from ..error_codes import KafkaError, kafka_error
from ..reader import Reader, reader_of
from ..versions import Api
from ..writer import form_of

API = Api(9, "OffsetFetch", 2, 9, flexible=6)

BATCHED = 8
"""The first version that takes many groups in one request; below it, one request a group."""

_THROTTLE, _EPOCHS, _REQUIRE_STABLE, _MEMBERS = 3, 5, 7, 9
"""The first version that has each."""

_NOT_STABLE = b"\0"
_NO_MEMBER = b"\0\xff\xff\xff\xff"

_PLAIN = struct.Struct(">iqi4x")
"""An entry without metadata: partition, offset, epoch; then the length of the metadata, error, number of tags."""
_LENGTH_AT, _TAGS_AT = 16, 19


class OffsetFetch(NamedTuple):
    """What have these groups committed, on every topic? More than one group needs version :data:`BATCHED`."""

    groups: tuple[GroupId, ...]

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return len(self.groups)

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        asked = (_NO_MEMBER if version >= _MEMBERS else b"") + form.null_array  # of topics: all
        stable = _NOT_STABLE if version >= _REQUIRE_STABLE else b""
        if version < BATCHED:
            return form.string(self.groups[0]) + asked + stable + form.tags
        behind = asked + form.tags
        return form.array(form.string(name) + behind for name in self.groups) + stable + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[GroupId, GroupCommits | KafkaError]:
        """Group -> its commits, or the error given for it. A group that does not exist has no commits."""
        with reader_of(API, version, data, offset) as reader:
            if version >= _THROTTLE:
                reader.skip(4)
            if version < BATCHED:
                answers = {self.groups[0]: _answer(reader, version, self.groups[0])}
            else:
                answers = {}
                for _ in reader.turns(reader.count()):
                    name = reader.string()
                    answers[name] = _answer(reader, version, name)
                reader.tags()
            reader.end()
        return answers


def _answer(reader: Reader, version: int, group: GroupId) -> GroupCommits | KafkaError:
    """What stands behind the name of one group; below :data:`BATCHED`, the whole answer."""
    topics: dict[str, tuple[Commit, ...]] = {}
    unset: dict[str, tuple[int, ...]] = {}
    for _ in reader.turns(reader.count()):
        topic = reader.string()
        count = reader.count()
        commits = _plain_commits(reader, count) if version >= API.flexible else None
        if commits is None:
            commits, unset_here = _commits(reader, version, count)
            if unset_here:
                unset[topic] = unset_here
        if commits:
            topics[topic] = commits
        reader.tags()
    error = reader.int16()
    reader.tags()
    return kafka_error(error) if error else GroupCommits(group, topics, unset)


def _commits(reader: Reader, version: int, count: int) -> tuple[tuple[Commit, ...], tuple[int, ...]]:
    """The entries of one topic, and the partitions whose committed offset is negative: all were asked for, so that an
    entry is a commit. Nobody can read on there, which is as good as none."""
    commits, unset = [], []
    for _ in reader.turns(count):
        partition, offset = reader.int32(), reader.int64()
        epoch = reader.int32() if version >= _EPOCHS else -1
        metadata = reader.nullable_string()
        error = reader.int16()
        reader.tags()
        if offset >= 0:
            commits.append(Commit(partition, offset, None if epoch < 0 else epoch, metadata or ""))
        elif not error:
            unset.append(partition)
    return tuple(commits), tuple(unset)


def _plain_commits(reader: Reader, count: int) -> tuple[Commit, ...] | None:
    """The same of the flexible form, many times as fast; ``None`` where an entry has metadata, or no offset.

    Then each takes the same number of bytes, and they are unpacked in one go.
    """
    data, start = reader.data, reader.at
    end = start + count * _PLAIN.size
    # The length of each entry's metadata (null or none), and the number of its tags. Where the first has none, the
    # second begins where it is looked for, and so on.
    lengths, tags = data[start + _LENGTH_AT : end : _PLAIN.size], data[start + _TAGS_AT : end : _PLAIN.size]
    if lengths.strip(b"\0\1") or tags.strip(b"\0"):
        return None
    commits = tuple(
        [
            Commit(partition, offset, None if epoch < 0 else epoch)  # by position: keywords take twice as long
            for partition, offset, epoch in _PLAIN.iter_unpack(data[start:end])
            if offset >= 0
        ]
    )
    if len(commits) < count:
        return None
    reader.skip(end - start)
    return commits
