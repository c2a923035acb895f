"""OffsetCommit with topic IDs (v10), compared with kio."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st
from kio.schema.errors import ErrorCode

from kgroups.model.offsets import Commit
from kgroups.protocol.apis.offset_commit import API, WITH_TOPIC_IDS, OffsetCommit
from kgroups.protocol.error_codes import KafkaError
from tests.fakes.oracle import build, nested, read, request_type, response_type, write

VERSION = 10
names = st.text(min_size=1, max_size=8)
commits = st.lists(
    st.builds(Commit, st.integers(0, 99), st.integers(0, 2**62), st.none() | st.integers(0, 9)), max_size=3
)


@st.composite
def calls(draw: st.DrawFn) -> OffsetCommit:
    topics = draw(st.dictionaries(names, commits, min_size=1, max_size=3))
    ids = draw(st.lists(st.integers(1, 2**128 - 1), min_size=len(topics), max_size=len(topics), unique=True))
    return OffsetCommit(draw(names), topics, topic_ids=dict(zip(topics, ids, strict=True)))


@given(calls())
def test_request_has_the_topic_ids(call: OffsetCommit) -> None:
    assert call.api == WITH_TOPIC_IDS
    data = call.encode(VERSION)
    request, end = read(request_type(API.key, VERSION), data, 0)
    assert end == len(data) and write(request) == data
    found = {
        topic.topic_id.int: [
            (each.partition_index, each.committed_offset, each.committed_leader_epoch) for each in topic.partitions
        ]
        for topic in request.topics
    }
    assert found == {
        call.topic_ids[topic]: [
            (each.partition, each.offset, -1 if each.leader_epoch is None else each.leader_epoch) for each in made
        ]
        for topic, made in call.topics.items()
    }


@given(calls())
def test_a_topic_without_an_id_is_sent_by_name(call: OffsetCommit) -> None:
    one = next(iter(call.topics))
    rest = {topic: topic_id for topic, topic_id in call.topic_ids.items() if topic != one}
    assert call._replace(topic_ids=rest).api == API


@given(calls(), st.sampled_from((ErrorCode.none, ErrorCode.unknown_topic_id)))
def test_response_is_read_by_topic_id(call: OffsetCommit, error: ErrorCode) -> None:
    kind = response_type(API.key, VERSION)
    topic, partition = nested(kind, "OffsetCommitResponseTopic"), nested(kind, "OffsetCommitResponsePartition")
    answered = tuple(
        build(
            topic,
            topic_id=UUID(int=call.topic_ids[name]),
            partitions=tuple(build(partition, partition_index=each.partition, error_code=error) for each in made),
        )
        for name, made in call.topics.items()
    )
    data = write(build(kind, throttle_time=timedelta(), topics=answered))
    errors = call.decode(VERSION, data, 0)[call.group]
    assert not isinstance(errors, KafkaError)
    assert {key: each and each.name for key, each in errors.items()} == {
        (name, each.partition): None if error is ErrorCode.none else "UNKNOWN_TOPIC_ID"
        for name, made in call.topics.items()
        for each in made
    }
