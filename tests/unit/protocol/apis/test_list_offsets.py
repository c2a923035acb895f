from __future__ import annotations

import pytest
from kio.schema.errors import ErrorCode

from kgroups.model.offsets import Isolation
from kgroups.protocol.apis.list_offsets import Found, ListOffsets, Where
from kgroups.protocol.error_codes import KafkaError
from tests.fakes.replies import OK, asked, heard, part, reply


@pytest.mark.parametrize("version", range(1, 11))
def test_list_offsets_sends_special_timestamps_and_does_not_fence(version: int) -> None:
    call = ListOffsets({"t": (0, 3)}, Where.START, Isolation.READ_COMMITTED)
    request = asked(call, version)
    assert (request.replica_id, call.keys) == (-1, 2)
    assert getattr(request, "isolation_level", 1) == 1
    (topic,) = request.topics
    assert [(entry.partition_index, entry.timestamp) for entry in topic.partitions] == [(0, -2), (3, -2)]
    assert {getattr(entry, "current_leader_epoch", -1) for entry in topic.partitions} == {-1}
    good = part(
        2,
        version,
        "ListOffsetsPartitionResponse",
        partition_index=0,
        error_code=OK,
        timestamp=-1,
        offset=7,
        leader_epoch=1,
    )
    bad = part(
        2,
        version,
        "ListOffsetsPartitionResponse",
        partition_index=3,
        error_code=ErrorCode.not_leader_or_follower,
        timestamp=-1,
        offset=-1,
        leader_epoch=-1,
    )
    answer = part(2, version, "ListOffsetsTopicResponse", name="t", partitions=(good, bad))
    found = heard(call, reply(2, version, topics=(answer,)))
    assert found["t", 0] == Found(7, 1 if version >= 4 else None)
    assert isinstance(found["t", 3], KafkaError)


@pytest.mark.parametrize("version", range(1, 11))
def test_each_partition_can_have_its_own_time(version: int) -> None:
    call = ListOffsets({"t": (3, 0), "u": (0,)}, {("t", 0): 5, ("t", 3): 7, ("u", 0): 9})
    sent = {
        (topic.name, entry.partition_index): entry.timestamp
        for topic in asked(call, version).topics
        for entry in topic.partitions
    }
    assert sent == {("t", 0): 5, ("t", 3): 7, ("u", 0): 9}
