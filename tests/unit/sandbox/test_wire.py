"""The sandbox's requests and responses in every version."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kio.schema.errors import ErrorCode

from kgroups.model.assignment import assignment_of
from kgroups.protocol.call import Call
from kgroups.protocol.embedded.consumer import decode_assignment, decode_subscription
from kgroups.protocol.error_codes import KafkaError
from kgroups.sandbox.wire.consumer_protocol import NEWEST, encode_assignment, encode_subscription
from kgroups.sandbox.wire.create_topics import CreateTopics
from kgroups.sandbox.wire.heartbeat import Heartbeat
from kgroups.sandbox.wire.join_group import Joined, JoinGroup, MemberIdRequired
from kgroups.sandbox.wire.offset_commit import OffsetCommit
from kgroups.sandbox.wire.sync_group import SyncGroup
from tests.fakes.oracle import build, nested, response_type, write
from tests.fakes.replies import asked, heard, reply

MINUTE = timedelta(minutes=1)

CREATE = CreateTopics({"a": 3, "b": 1})
JOIN = JoinGroup("g", "m", "consumer", "range", b"asks", MINUTE, MINUTE)
SYNC = SyncGroup("g", "m", 3, "consumer", "range", {"m": b"gets"})
BEAT = Heartbeat("g", "m", 3)
COMMIT = OffsetCommit("g", {"a": {0: 5, 2: 7}}, "m", 3)
CALLS: list[Call[Any]] = [CREATE, JOIN, SYNC, BEAT, COMMIT]

SPOKEN = [
    pytest.param(call, version, id=f"{call.api}-v{version}")
    for call in CALLS
    for version in range(call.api.oldest, call.api.newest + 1)
]
# ApiVersions of the oldest and the newest broker that a sandbox runs.
OLDEST_BROKER = {"CreateTopics": 2, "JoinGroup": 2, "SyncGroup": 1, "Heartbeat": 1, "OffsetCommit": 3}
NEWEST_BROKER = {"CreateTopics": 2, "JoinGroup": 2, "SyncGroup": 0, "Heartbeat": 0, "OffsetCommit": 2}


def answered(call: Call[Any], version: int, **values: Any) -> Any:
    """What the call makes of a response, as it comes off the wire."""
    return heard(call, reply(call.api.key, version, **values))


@pytest.mark.parametrize(("call", "version"), SPOKEN)
def test_request_round_trips_in_every_version(call: Call[Any], version: int) -> None:
    assert write(asked(call, version)) == call.encode(version)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.api.name)
def test_calls_cover_oldest_and_newest_broker(call: Call[Any]) -> None:
    assert call.api.oldest <= OLDEST_BROKER[call.api.name]
    assert call.api.newest >= NEWEST_BROKER[call.api.name]


def test_call_keys_count_the_requested_items() -> None:
    assert [call.keys for call in CALLS] == [2, 1, 1, 1, 2]


@pytest.mark.parametrize("version", range(JOIN.api.oldest, JOIN.api.newest + 1))
def test_join_group_responses_are_read(version: int) -> None:
    member = nested(response_type(JOIN.api.key, version), "JoinGroupResponseMember")
    values = {"protocol_name": "range", "leader": "m", "member_id": "m", "generation_id": 4}
    others = {"members": (build(member, member_id="m", metadata=b"asks"),)}
    assert answered(JOIN, version, error_code=ErrorCode.none, **values, **others) == Joined("m", 4, "m", {"m": b"asks"})
    again = answered(JOIN, version, error_code=ErrorCode.member_id_required, **values, members=())
    assert again == MemberIdRequired("m")
    refused = answered(JOIN, version, error_code=ErrorCode.invalid_session_timeout, **values, members=())
    assert isinstance(refused, KafkaError) and refused.code == ErrorCode.invalid_session_timeout


@pytest.mark.parametrize("version", range(SYNC.api.oldest, SYNC.api.newest + 1))
def test_sync_group_responses_are_read(version: int) -> None:
    assert answered(SYNC, version, error_code=ErrorCode.none, assignment=b"gets") == b"gets"
    refused = answered(SYNC, version, error_code=ErrorCode.rebalance_in_progress, assignment=b"")
    assert refused.code == ErrorCode.rebalance_in_progress


@pytest.mark.parametrize("version", range(BEAT.api.oldest, BEAT.api.newest + 1))
def test_heartbeat_responses_are_read(version: int) -> None:
    assert answered(BEAT, version, error_code=ErrorCode.none) is None
    assert answered(BEAT, version, error_code=ErrorCode.unknown_member_id).code == ErrorCode.unknown_member_id


@pytest.mark.parametrize("version", range(COMMIT.api.oldest, COMMIT.api.newest + 1))
def test_offset_commit_response_has_the_first_error(version: int) -> None:
    kind = response_type(COMMIT.api.key, version)

    def topics(*codes: ErrorCode) -> Any:
        entry = nested(kind, "OffsetCommitResponsePartition")
        entries = tuple(build(entry, partition_index=at, error_code=code) for at, code in enumerate(codes))
        return (build(nested(kind, "OffsetCommitResponseTopic"), name="a", partitions=entries),)

    assert answered(COMMIT, version, topics=topics(ErrorCode.none, ErrorCode.none)) is None
    error = answered(COMMIT, version, topics=topics(ErrorCode.none, ErrorCode.offset_metadata_too_large))
    assert error.code == ErrorCode.offset_metadata_too_large


@pytest.mark.parametrize("version", range(CREATE.api.oldest, CREATE.api.newest + 1))
def test_create_topics_responses_are_read(version: int) -> None:
    topic = nested(response_type(CREATE.api.key, version), "CreatableTopicResult")
    values = {"error_message": None, "topic_id": None, "configs": ()}
    codes = {"a": ErrorCode.none, "b": ErrorCode.topic_already_exists}
    made = tuple(build(topic, name=name, error_code=code, **values) for name, code in codes.items())
    answer = answered(CREATE, version, topics=made)
    assert (answer["a"], answer["b"].code) == (None, ErrorCode.topic_already_exists)


PARTITIONS = st.dictionaries(
    st.text(min_size=1, max_size=5), st.lists(st.integers(0, 99), min_size=1, max_size=5), max_size=3
)


@given(PARTITIONS, st.integers(0, NEWEST))
def test_consumer_protocol_round_trips(partitions: dict[str, list[int]], version: int) -> None:
    expected = assignment_of(partitions.items())
    held = decode_assignment(encode_assignment(partitions, version=version))
    assert (held.topics, held.version, held.note) == (expected.topics, version, None)
    asked = decode_subscription(encode_subscription(list(partitions), partitions, generation=7, version=version))
    assert asked.topics == tuple(sorted(partitions))
    assert asked.owned == (expected if version >= 1 else assignment_of([]))
    assert asked.generation == (7 if version >= 2 else None)
