from __future__ import annotations

from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from kgroups.model.offsets import Commit, GroupCommits
from kgroups.protocol.apis.offset_fetch import OffsetFetch
from kgroups.protocol.error_codes import KafkaError
from tests.fakes.replies import OK, asked, heard, part, reply


def committed(version: int, name: str, **values: Any) -> Any:
    given = {"committed_leader_epoch": 4, "metadata": None, "error_code": OK, **values}
    return part(9, version, name, **given)


@pytest.mark.parametrize("version", range(2, 8))
def test_offset_fetch_asks_for_all_topics_of_one_group_before_v8(version: int) -> None:
    call = OffsetFetch(("g",))
    assert (asked(call, version).group_id, asked(call, version).topics) == ("g", None)
    entries = (
        committed(version, "OffsetFetchResponsePartition", partition_index=0, committed_offset=5),
        committed(version, "OffsetFetchResponsePartition", partition_index=1, committed_offset=-1),
    )
    topic = part(9, version, "OffsetFetchResponseTopic", name="t", partitions=entries)
    empty = part(9, version, "OffsetFetchResponseTopic", name="u", partitions=entries[1:])
    found = heard(call, reply(9, version, topics=(topic, empty), error_code=OK))
    epoch = 4 if version >= 5 else None
    assert found == {"g": GroupCommits("g", {"t": (Commit(0, 5, epoch, ""),)}, {"t": (1,), "u": (1,)})}
    denied = heard(call, reply(9, version, topics=(), error_code=ErrorCode.group_authorization_failed))
    assert isinstance(denied["g"], KafkaError)


@pytest.mark.parametrize("version", [8, 9])
@pytest.mark.parametrize("metadata", [None, "x"])
def test_offset_fetch_offset_of_minus_1_is_unset(version: int, metadata: str | None) -> None:
    name = "OffsetFetchResponsePartitions"
    entries = [
        committed(version, name, partition_index=at, committed_offset=offset, metadata=metadata)
        for at, offset in ((0, 5), (1, -1))
    ]
    entries.append(
        committed(version, name, partition_index=2, committed_offset=-1, error_code=ErrorCode.unstable_offset_commit)
    )
    topic = part(9, version, "OffsetFetchResponseTopics", name="t", partitions=tuple(entries))
    group = part(9, version, "OffsetFetchResponseGroup", group_id="a", topics=(topic,), error_code=OK)
    found = heard(OffsetFetch(("a",)), reply(9, version, groups=(group,)))
    assert found == {"a": GroupCommits("a", {"t": (Commit(0, 5, 4, metadata or ""),)}, {"t": (1,)})}


@pytest.mark.parametrize("version", [8, 9])
def test_offset_fetch_asks_about_many_groups_from_v8(version: int) -> None:
    call = OffsetFetch(("a", "b"))
    assert [(group.group_id, group.topics) for group in asked(call, version).groups] == [("a", None), ("b", None)]
    entry = committed(
        version,
        "OffsetFetchResponsePartitions",
        partition_index=0,
        committed_offset=5,
        committed_leader_epoch=-1,
        metadata="x",
    )
    topic = part(9, version, "OffsetFetchResponseTopics", name="t", partitions=(entry,))
    good = part(9, version, "OffsetFetchResponseGroup", group_id="a", topics=(topic,), error_code=OK)
    bad = part(9, version, "OffsetFetchResponseGroup", group_id="b", topics=(), error_code=ErrorCode.not_coordinator)
    found = heard(call, reply(9, version, groups=(good, bad)))
    assert found["a"] == GroupCommits("a", {"t": (Commit(0, 5, None, "x"),)})
    assert isinstance(found["b"], KafkaError)
