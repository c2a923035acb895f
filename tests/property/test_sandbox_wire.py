"""The sandbox's requests, responses, and member metadata, in every version, against kio."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kio.index import load_entity_schema
from kio.static.constants import EntityType

from kgroups.errors import LocalProtocolError, RemoteProtocolError
from kgroups.protocol.call import Call
from kgroups.protocol.error_codes import Code, kafka_error
from kgroups.sandbox.wire.consumer_protocol import NEWEST, encode_assignment, encode_subscription
from kgroups.sandbox.wire.create_topics import CreateTopics
from kgroups.sandbox.wire.heartbeat import Heartbeat
from kgroups.sandbox.wire.join_group import Joined, JoinGroup, MemberIdRequired
from kgroups.sandbox.wire.offset_commit import OffsetCommit
from kgroups.sandbox.wire.sync_group import SyncGroup
from tests.fakes.oracle import build, nested, read_response, request_type, response_type, write, write_request
from tests.property.strategies import damaged, entities, names

_int32s = st.integers(-(2**31), 2**31 - 1)
_int64s = st.integers(-(2**63), 2**63 - 1)
_times = st.integers(0, 2**31 - 1).map(lambda milliseconds: timedelta(milliseconds=milliseconds))
_texts, _bytes = st.text(max_size=200), st.binary(max_size=200)

CALLS: dict[str, st.SearchStrategy[Any]] = {
    "CreateTopics": st.builds(CreateTopics, st.dictionaries(names, _int32s, max_size=3)),
    "JoinGroup": st.builds(JoinGroup, names, _texts, names, names, _bytes, _times, _times),
    "SyncGroup": st.builds(SyncGroup, names, _texts, _int32s, names, names, st.dictionaries(names, _bytes, max_size=3)),
    "Heartbeat": st.builds(Heartbeat, names, _int32s.map(str), _int32s),
    "OffsetCommit": st.builds(
        OffsetCommit,
        names,
        st.dictionaries(names, st.dictionaries(_int32s, _int64s, max_size=3), max_size=3),
        _texts,
        _int32s,
        _texts,
    ),
}
EXAMPLES: dict[str, Any] = {
    "CreateTopics": CreateTopics({}),
    "JoinGroup": JoinGroup("", "", "", "", b"", timedelta(), timedelta()),
    "SyncGroup": SyncGroup("", "", 0, "", "", {}),
    "Heartbeat": Heartbeat("", "", 0),
    "OffsetCommit": OffsetCommit("", {}),
}
FEWER = settings(max_examples=max(10, settings.default.max_examples // 5))


def every_version(apis: Iterable[str]) -> pytest.MarkDecorator:
    """Parametrize a test with every API of these, and every version of it that the sandbox knows."""
    return pytest.mark.parametrize(
        ("name", "version"),
        [
            pytest.param(name, version, id=f"{name}-v{version}")
            for name in apis
            for version in range(EXAMPLES[name].api.oldest, EXAMPLES[name].api.newest + 1)
        ],
    )


def _create_topics(call: CreateTopics, part: Callable[..., Any]) -> dict[str, Any]:
    topics = [
        part("CreatableTopic", name=name, num_partitions=number, replication_factor=1, assignments=(), configs=())
        for name, number in call.topics.items()
    ]
    return {"topics": tuple(topics), "timeout": timedelta(seconds=30), "validate_only": False}


def _join_group(call: JoinGroup, part: Callable[..., Any]) -> dict[str, Any]:
    return {
        "group_id": call.group,
        "member_id": call.member_id,
        "session_timeout": call.session_timeout,
        "rebalance_timeout": call.rebalance_timeout,
        "protocol_type": call.protocol_type,
        "protocols": (part("JoinGroupRequestProtocol", name=call.protocol, metadata=call.metadata),),
        "group_instance_id": call.instance,
    }


def _sync_group(call: SyncGroup, part: Callable[..., Any]) -> dict[str, Any]:
    assignments = [
        part("SyncGroupRequestAssignment", member_id=member, assignment=assignment)
        for member, assignment in call.assignments.items()
    ]
    return {
        "group_id": call.group,
        "member_id": call.member_id,
        "generation_id": call.generation,
        "protocol_type": call.protocol_type,
        "protocol_name": call.protocol,
        "assignments": tuple(assignments),
    }


def _heartbeat(call: Heartbeat, part: Callable[..., Any]) -> dict[str, Any]:
    return {"group_id": call.group, "member_id": call.member_id, "generation_id": call.generation}


def _offset_commit(call: OffsetCommit, part: Callable[..., Any]) -> dict[str, Any]:
    topics = [
        part(
            "OffsetCommitRequestTopic",
            name=topic,
            partitions=tuple(
                part(
                    "OffsetCommitRequestPartition",
                    partition_index=index,
                    committed_offset=offset,
                    committed_leader_epoch=-1,
                    committed_metadata=call.metadata,
                )
                for index, offset in offsets.items()
            ),
        )
        for topic, offsets in call.offsets.items()
    ]
    return {
        "group_id": call.group,
        "member_id": call.member_id,
        "generation_id_or_member_epoch": call.generation,
        "topics": tuple(topics),
    }


VALUES: dict[str, Callable[[Any, Callable[..., Any]], dict[str, Any]]] = {
    "CreateTopics": _create_topics,
    "JoinGroup": _join_group,
    "SyncGroup": _sync_group,
    "Heartbeat": _heartbeat,
    "OffsetCommit": _offset_commit,
}


@every_version(EXAMPLES)
@FEWER
@given(data=st.data())
def test_sandbox_requests_match_kio(name: str, version: int, data: st.DataObject) -> None:
    call: Call[Any] = data.draw(CALLS[name])
    kind = request_type(call.api.key, version)

    def part(struct_name: str, **values: Any) -> Any:
        return build(nested(kind, struct_name), **values)

    assert call.encode(version) == write_request(call.api, version, **VALUES[name](call, part))


def _error(code: int, message: str | None = None) -> Any:
    return kafka_error(code, message) if code else None


def _joined(response: Any) -> Any:
    if response.error_code == Code.member_id_required:
        return MemberIdRequired(response.member_id)
    members = {member.member_id: member.metadata for member in response.members}
    return _error(response.error_code) or Joined(response.member_id, response.generation_id, response.leader, members)


READ_BY_KIO: dict[str, Callable[[Any], Any]] = {
    "CreateTopics": lambda response: {
        topic.name: _error(topic.error_code, topic.error_message) for topic in response.topics
    },
    "JoinGroup": _joined,
    "SyncGroup": lambda response: _error(response.error_code) or response.assignment,
    "Heartbeat": lambda response: _error(response.error_code),
}
"""What kio's entity means. OffsetCommit is read by kgroups.protocol.apis."""


@every_version(READ_BY_KIO)
@FEWER
@given(data=st.data())
def test_sandbox_responses_match_kio_and_truncation_is_rejected(name: str, version: int, data: st.DataObject) -> None:
    call: Call[Any] = EXAMPLES[name]
    response = data.draw(entities(response_type(call.api.key, version)))
    written = write(response)
    assert call.decode(version, b"xx" + written, 2) == READ_BY_KIO[name](response)
    with pytest.raises(RemoteProtocolError):
        call.decode(version, written[: data.draw(st.integers(0, len(written) - 1))], 0)
    with pytest.raises(RemoteProtocolError):
        call.decode(version, written + b"\0", 0)


@every_version(READ_BY_KIO)
@FEWER
@given(data=st.data())
def test_sandbox_damaged_responses_are_rejected_or_match_kio(name: str, version: int, data: st.DataObject) -> None:
    """Where kio rejects, kgroups may read: it does not look into tags and fields that it skips."""
    call: Call[Any] = EXAMPLES[name]
    response = data.draw(damaged(entities(response_type(call.api.key, version)).map(write)))
    try:
        found = call.decode(version, response, 0)
    except RemoteProtocolError:
        with pytest.raises(RemoteProtocolError):
            read_response(call.api, version, response, 0)
    else:
        with suppress(RemoteProtocolError):
            assert found == READ_BY_KIO[name](read_response(call.api, version, response, 0))


@given(st.dictionaries(names, st.lists(_int32s, max_size=5), max_size=3), _int32s, st.integers(0, NEWEST))
def test_member_metadata_matches_kio(partitions: dict[str, list[int]], generation: int, version: int) -> None:
    def expected(name: str, **values: Any) -> bytes:
        kind = load_entity_schema(name, version, EntityType.data)
        entries = (
            ()
            if "Subscription" in kind.__name__ and version == 0
            else tuple(
                build(nested(kind, "TopicPartition"), topic=topic, partitions=tuple(numbers))
                for topic, numbers in partitions.items()
            )
        )
        entity = build(kind, user_data=None, owned_partitions=entries, assigned_partitions=entries, **values)
        return struct.pack(">h", version) + write(entity)

    subscription = encode_subscription(list(partitions), partitions, generation=generation, version=version)
    assert subscription == expected(
        "consumer_protocol_subscription", topics=tuple(partitions), generation_id=generation, rack_id=None
    )
    assert encode_assignment(partitions, version=version) == expected("consumer_protocol_assignment")


@pytest.mark.parametrize(
    "call",
    [
        CreateTopics({"t": 2**31}),
        CreateTopics({"t" * 32_768: 1}),
        JoinGroup("g", "", "consumer", "range", b"", timedelta(days=30), timedelta()),
        SyncGroup("g", "m", 2**31, "consumer", "range", {}),
        Heartbeat("\ud800", "m", 1),
    ],
    ids=lambda call: call.api.name,
)
def test_values_that_do_not_fit_are_local_errors(call: Call[Any]) -> None:
    with pytest.raises(LocalProtocolError, match="cannot encode"):
        call.encode(call.api.newest)
