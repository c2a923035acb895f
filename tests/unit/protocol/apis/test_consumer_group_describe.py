from __future__ import annotations

from uuid import UUID

import pytest

from kgroups.protocol.apis.consumer_group_describe import ConsumerGroup, ConsumerGroupDescribe
from tests.fakes.replies import OK, heard, part, reply


@pytest.mark.parametrize(("version", "kind", "upgraded"), [(0, 1, None), (1, 1, True), (1, 0, False), (1, -1, None)])
def test_consumer_group_describe_reads_members(version: int, kind: int, upgraded: bool | None) -> None:
    held = part(69, version, "TopicPartitions", topic_id=UUID(int=1), topic_name="t", partitions=(1, 0))
    assignment = part(69, version, "Assignment", topic_partitions=(held,))
    nothing = part(69, version, "Assignment", topic_partitions=())
    member = part(
        69,
        version,
        "Member",
        member_id="m",
        member_epoch=3,
        client_id="c",
        client_host="/h",
        rack_id="r",
        subscribed_topic_names=("z", "a"),
        subscribed_topic_regex="x.*",
        assignment=assignment,
        target_assignment=nothing,
        member_type=kind,
    )
    values = {"group_state": "Stable", "group_epoch": 4, "assignment_epoch": 3, "assignor_name": "uniform"}
    entry = part(69, version, "DescribedGroup", error_code=OK, group_id="g", members=(member,), **values)
    found = heard(ConsumerGroupDescribe(("g",)), reply(69, version, groups=(entry,)))["g"]
    assert isinstance(found, ConsumerGroup)
    assert found[:5] == ("g", "Stable", "uniform", 4, 3)
    (read,) = found.members
    assert (str(read.assignment), str(read.target), str(read.subscription)) == ("t:0,1", "", "a,z /x.*/")
    assert (read.member_epoch, read.rack_id, read.upgraded) == (3, "r", upgraded)
