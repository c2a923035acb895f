"""OffsetFetch is written and read by hand; kio is the oracle for both."""

from __future__ import annotations

import resource
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kio.schema.errors import ErrorCode

from kgroups.errors import LocalProtocolError, RemoteProtocolError
from kgroups.model.groups import GroupId
from kgroups.model.offsets import Commit, GroupCommits
from kgroups.protocol.apis.offset_fetch import API, BATCHED, OffsetFetch
from kgroups.protocol.error_codes import KafkaError, kafka_error
from tests.fakes.oracle import build, nested, read, request_type, response_type, write, write_request
from tests.fakes.replies import part, reply
from tests.property.strategies import damaged, entities, groups, names

STABLE = 7

every_version = pytest.mark.parametrize("version", range(API.oldest, API.newest + 1))


def request_by_kio(call: OffsetFetch, version: int) -> bytes:
    stable = {"require_stable": call.stable} if version >= STABLE else {}
    if version < BATCHED:
        return write_request(API, version, group_id=call.groups[0], topics=None, **stable)
    group = nested(request_type(API.key, version), "OffsetFetchRequestGroup")
    asked = tuple(build(group, group_id=name, topics=None) for name in call.groups)
    return write_request(API, version, groups=asked, **stable)


def read_by_kio(call: OffsetFetch, version: int, data: bytes) -> dict[GroupId, GroupCommits | KafkaError]:
    response, end = read(response_type(API.key, version), data)
    if end != len(data):
        raise RemoteProtocolError("bytes after the end")
    stable = call.stable and version >= STABLE
    if version < BATCHED:
        return {call.groups[0]: commits_of(call.groups[0], response, stable)}
    return {group.group_id: commits_of(group.group_id, group, stable) for group in response.groups}


def commits_of(group_id: GroupId, answer: Any, stable: bool) -> GroupCommits | KafkaError:
    if answer.error_code:
        return kafka_error(answer.error_code)
    topics, unset, pending = {}, {}, set()
    for topic in answer.topics:
        commits = tuple(commit_of(entry) for entry in topic.partitions if entry.committed_offset >= 0)
        if commits:
            topics[topic.name] = commits
        without = tuple(
            entry.partition_index for entry in topic.partitions if entry.committed_offset < 0 and not entry.error_code
        )
        if without:
            unset[topic.name] = without
        unstable = [entry for entry in topic.partitions if entry.error_code is ErrorCode.unstable_offset_commit]
        pending.update((topic.name, entry.partition_index) for entry in unstable if entry.committed_offset < 0)
    return GroupCommits(group_id, topics, unset, pending=frozenset(pending) if stable else None)


def commit_of(entry: Any) -> Commit:
    epoch = getattr(entry, "committed_leader_epoch", -1)
    return Commit(entry.partition_index, entry.committed_offset, None if epoch < 0 else epoch, entry.metadata or "")


_numbers = st.integers(-1, 2**31 - 1)
_errors = st.just(ErrorCode.none) | st.sampled_from(ErrorCode)


@st.composite
def usual_responses(draw: st.DrawFn, version: int) -> Any:
    """As brokers mostly answer: topics of many commits, most of them without metadata, few errors."""
    many = "s" if version >= BATCHED else ""  # Kafka's definition names the structs inside a batched answer so
    texts = draw(st.sampled_from([st.just(""), st.none(), st.sampled_from([None, "", "", "m"])]))
    fields = {"partition_index": _numbers, "committed_offset": _numbers, "committed_leader_epoch": _numbers}
    entries = st.fixed_dictionaries({**fields, "metadata": texts, "error_code": _errors}).map(
        lambda values: part(API.key, version, f"OffsetFetchResponsePartition{many}", **values)
    )
    partitions = st.lists(entries, max_size=9).map(tuple)
    topics = st.fixed_dictionaries({"name": names, "partitions": partitions}).map(
        lambda values: part(API.key, version, f"OffsetFetchResponseTopic{many}", **values)
    )
    answers = st.fixed_dictionaries({"topics": st.lists(topics, max_size=3).map(tuple), "error_code": _errors})
    if version < BATCHED:
        return reply(API.key, version, **draw(answers))
    return reply(
        API.key,
        version,
        groups=tuple(
            part(API.key, version, "OffsetFetchResponseGroup", group_id=name, **draw(answers)) for name in draw(groups)
        ),
    )


def responses(version: int) -> st.SearchStrategy[bytes]:
    """Any answer that kio can write."""
    return (usual_responses(version) | entities(response_type(API.key, version))).map(write)


@every_version
@given(call=st.builds(OffsetFetch, groups, stable=st.booleans()))
def test_offset_fetch_request_matches_kio(version: int, call: OffsetFetch) -> None:
    assert call.encode(version) == request_by_kio(call, version)


@pytest.mark.parametrize("size", [126, 127, 128, 16_382, 16_383, 32_767])
@pytest.mark.parametrize("version", [2, 7, 9])
def test_offset_fetch_request_with_long_names_matches_kio(version: int, size: int) -> None:
    call = OffsetFetch(("g" * size, *map(str, range(size))))
    assert call.encode(version) == request_by_kio(call, version)


@every_version
@pytest.mark.parametrize("name", ["g" * 32_768, "\ud800"], ids=["too long", "no UTF-8"])
def test_offset_fetch_name_that_cannot_be_encoded_is_a_local_error(version: int, name: str) -> None:
    with pytest.raises(LocalProtocolError):
        OffsetFetch((name,)).encode(version)


@every_version
@given(data=st.data())
def test_offset_fetch_response_matches_kio_and_truncation_is_rejected(version: int, data: st.DataObject) -> None:
    call = OffsetFetch(("asked",), stable=data.draw(st.booleans()))
    response = data.draw(responses(version))
    before = data.draw(st.binary(max_size=3))
    assert call.decode(version, before + response, len(before)) == read_by_kio(call, version, response)
    cut = data.draw(st.integers(0, len(response) - 1))
    with pytest.raises(RemoteProtocolError, match="OffsetFetchResponse"):
        call.decode(version, response[:cut], 0)
    with pytest.raises(RemoteProtocolError, match="1 bytes after the end of OffsetFetchResponse"):
        call.decode(version, response + b"\0", 0)


@every_version
@given(data=st.data())
def test_offset_fetch_damaged_response_is_rejected_or_matches_kio(version: int, data: st.DataObject) -> None:
    """Bytes that kio rejects are rejected, except for skipped tags and errors of one partition."""
    call = OffsetFetch(("asked",), stable=data.draw(st.booleans()))
    rubbish = data.draw(st.binary(max_size=64) | damaged(responses(version)))
    try:
        expected = read_by_kio(call, version, rubbish)
    except RemoteProtocolError as refused:
        try:
            call.decode(version, rubbish, 0)
        except RemoteProtocolError as error:
            assert "OffsetFetchResponse" in str(error)
        else:
            assert "tag" in str(refused) or "is not a valid ErrorCode" in str(refused)
    else:
        assert call.decode(version, rubbish, 0) == expected


def test_offset_fetch_unknown_tags_are_skipped() -> None:
    tags = b"\2\5\0\x81\1\3xyz"
    entry = b"\0\0\0\1" + bytes(7) + b"\5" + b"\xff\xff\xff\xff" + b"\1" + b"\0\0" + tags
    body = b"\0\0\0\0" + b"\2" + b"\2g" + b"\2" + b"\2t" + b"\2" + entry + tags + b"\0\0" + tags + tags
    assert OffsetFetch(("g",)).decode(9, body, 0) == {"g": GroupCommits("g", {"t": (Commit(1, 5),)})}


IN_LITTLE_MEMORY = """
import sys
from kgroups.errors import RemoteProtocolError
from kgroups.protocol.apis.offset_fetch import OffsetFetch
try:
    OffsetFetch(("g",)).decode(int(sys.argv[1]), bytes.fromhex(sys.argv[2]), 0)
except RemoteProtocolError:
    print("refused")
"""
ABSURD = [
    (2, b"\x7f\xff\xff\xff"),  # topics
    (5, b"\0\0\0\0\0\0\0\1\0\1t\x7f\xff\xff\xff"),  # partitions
    (6, b"\0\0\0\0\2\xff\xff\xff\xff\x7f"),  # a topic's name
    (8, b"\0\0\0\0\xff\xff\xff\xff\x7f"),  # groups
    (9, b"\0\0\0\0\2\2g\2\2t\xff\xff\xff\xff\x7f"),  # partitions
    (9, b"\0\0\0\0\1\xff\xff\xff\xff\x7f"),  # tags
    (9, b"\0\0\0\0\1\1\0\xff\xff\xff\xff\x7f"),  # a tag's length
]


@pytest.mark.parametrize(("version", "before"), ABSURD, ids=range(len(ABSURD)))
@pytest.mark.parametrize("behind", [b"\0" * 60, b"\1" * 60], ids=["zeros", "ones"])
def test_offset_fetch_absurd_length_costs_no_memory_or_time(version: int, before: bytes, behind: bytes) -> None:
    def little_memory() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

    command = [sys.executable, "-c", IN_LITTLE_MEMORY, str(version), (before + behind).hex()]
    done = subprocess.run(command, preexec_fn=little_memory, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "refused"), done.stderr[:200]
