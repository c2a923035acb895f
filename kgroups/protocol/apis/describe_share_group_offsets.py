"""DescribeShareGroupOffsets (key 90): start offsets of share groups, several per request (KIP-932, Kafka 4.1).

v0  start offset and leader epoch
v1  lag (KIP-1226, Kafka 4.2): without records after the start offset that are already acknowledged
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeVar

from kgroups.model.groups import GroupId
from kgroups.model.offsets import Commit, GroupCommits
from kgroups.model.outcome import Failure, Scope

from ..error_codes import KafkaError, kafka_error
from ..reader import Reader, reader_of
from ..versions import Api
from ..writer import form_of

API = Api(90, "DescribeShareGroupOffsets", 0, 1, flexible=0, waits=True, throttled_from=0)

T = TypeVar("T")

LAG = 1
"""The first version that has it."""


class DescribeShareGroupOffsets(NamedTuple):
    """Request the start offsets of these share groups on every topic. A group that does not exist has none."""

    groups: tuple[GroupId, ...]

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return len(self.groups)

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        rest = form.null_array + form.tags  # all topics
        return form.array(form.string(name) + rest for name in self.groups) + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[GroupId, GroupCommits | KafkaError]:
        """Return group -> its start offsets, or its error."""
        results: dict[GroupId, GroupCommits | KafkaError] = {}
        with reader_of(API, version, data, offset) as reader:
            reader.skip(4)  # throttle time
            for _ in reader.turns(reader.count()):
                name = reader.string()
                results[name] = _group(reader, version, name)
            reader.tags()
            reader.end()
        return results


def _group(reader: Reader, version: int, group: GroupId) -> GroupCommits | KafkaError:
    """Read the fields of a group after its name."""
    starts: dict[str, list[Commit]] = {}
    unset: dict[str, list[int]] = {}
    lags: dict[tuple[str, int], int] = {}
    failures: dict[tuple[str, int], Failure] = {}
    for _ in reader.turns(reader.count()):
        topic = reader.string()
        reader.skip(16)  # topic ID
        for _ in reader.turns(reader.count()):
            partition, offset, epoch = reader.int32(), reader.int64(), reader.int32()
            lag = reader.int64() if version >= LAG else -1
            code, message = reader.int16(), reader.nullable_string()
            reader.tags()
            # -1: not started yet
            if offset >= 0 and not code:
                starts.setdefault(topic, []).append(Commit(partition, offset, None if epoch < 0 else epoch))
                if version >= LAG:
                    lags[topic, partition] = lag
            else:
                unset.setdefault(topic, []).append(partition)
            if code:
                error = kafka_error(code, message)
                error = error._replace(message=f"group '{group}': {error.message}")
                failures[topic, partition] = error.failure(Scope.PARTITION, f"{topic}-{partition}", api=API.name)
        reader.tags()
    code, message = reader.int16(), reader.nullable_string()
    reader.tags()
    if code:
        return kafka_error(code, message)
    return GroupCommits(group, _tuples(starts), _tuples(unset), lags, failures, frozenset())


def _tuples(lists: Mapping[str, list[T]]) -> dict[str, tuple[T, ...]]:
    return {topic: tuple(each) for topic, each in lists.items()}
