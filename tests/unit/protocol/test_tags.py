"""Newer brokers may add tagged fields to any struct of a flexible message (KIP-482): they are stepped over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from kgroups.errors import RemoteProtocolError
from kgroups.model.offsets import Commit, GroupCommits
from kgroups.protocol.apis.api_versions import ApiVersions
from kgroups.protocol.apis.consumer_group_describe import ConsumerGroupDescribe
from kgroups.protocol.apis.describe_groups import DescribeGroups
from kgroups.protocol.apis.find_coordinator import FindCoordinator
from kgroups.protocol.apis.list_groups import ListGroups
from kgroups.protocol.apis.list_offsets import ListOffsets
from kgroups.protocol.apis.metadata import Metadata
from kgroups.protocol.apis.offset_fetch import OffsetFetch
from kgroups.protocol.call import Call
from tests.fakes.oracle import read_response

NONE = b"\0"
TWO = b"\2\5\0\x81\1\3xyz"
"""The fields 5, empty, and 129, of three bytes."""

OK, TIME, ONE, ID = bytes(2), bytes(4), b"\0\0\0\1", bytes(16)
NODE = ONE + b"\5host" + ONE
HELD = b"\2" + ID + b"\2t" + b"\2" + ONE


def listed(tags: bytes) -> bytes:
    return TIME + OK + b"\2" + b"\2g" + b"\2p" + b"\2s" + b"\2k" + tags + tags


def classic(tags: bytes) -> bytes:
    member = b"\2m" + b"\0" + b"\2c" + b"\2h" + b"\1" + b"\1" + tags
    return TIME + b"\2" + OK + b"\0" + b"\2g" + b"\2s" + b"\2p" + b"\2d" + b"\2" + member + TIME + tags + tags


def consumer(tags: bytes) -> bytes:
    who = b"\2m" + b"\0" + b"\0" + ONE + b"\2c" + b"\2h" + b"\2\2t" + b"\0"
    member = who + 2 * (HELD + tags + tags) + b"\1" + tags
    return TIME + b"\2" + OK + b"\0" + b"\2g" + b"\2s" + ONE + ONE + b"\2a" + b"\2" + member + TIME + tags + tags


def ends(tags: bytes) -> bytes:
    return TIME + b"\2" + b"\2t" + b"\2" + ONE + OK + bytes(8) + bytes(8) + ONE + tags + tags + tags


def leaders(tags: bytes) -> bytes:
    partition = OK + ONE + ONE + ONE + 3 * b"\1" + tags
    topic = OK + b"\2t" + ID + b"\0" + b"\2" + partition + TIME + tags
    return TIME + b"\2" + NODE + b"\0" + tags + b"\2c" + ONE + b"\2" + topic + TIME + tags


def commits(tags: bytes) -> bytes:
    entry = ONE + bytes(7) + b"\5" + ONE + b"\1" + OK + tags
    return TIME + b"\2" + b"\2g" + b"\2" + b"\2t" + b"\2" + entry + tags + OK + tags + tags


ANSWERS: list[tuple[Call[Any], int, Callable[[bytes], bytes]]] = [
    (ApiVersions(), 3, lambda tags: OK + b"\2" + bytes(6) + tags + TIME + tags),
    (ConsumerGroupDescribe(("g",)), 1, consumer),
    (DescribeGroups(("g",)), 6, classic),
    (FindCoordinator(("g",)), 3, lambda tags: TIME + OK + b"\0" + NODE + tags),
    (FindCoordinator(("g",)), 6, lambda tags: TIME + b"\2" + b"\2g" + NODE + OK + b"\0" + tags + tags),
    (ListGroups(), 5, listed),
    (ListOffsets({}), 10, ends),
    (Metadata(), 10, leaders),
    (OffsetFetch(("g",)), 9, commits),
]


@pytest.mark.parametrize(
    ("call", "version", "answer"), ANSWERS, ids=[f"{call.api}-v{version}" for call, version, _ in ANSWERS]
)
def test_unknown_tags_are_skipped(call: Call[Any], version: int, answer: Callable[[bytes], bytes]) -> None:
    assert read_response(call.api, version, answer(NONE), 0)  # it is what brokers say
    expected = call.decode(version, answer(NONE), 0)
    assert call.decode(version, answer(TWO), 0) == expected
    for short in (TWO[:-1], b"\2\5\0", b"\xff\xff\xff\xff\xff\1"):
        with pytest.raises(RemoteProtocolError):
            call.decode(version, answer(NONE)[:-1] + short, 0)


def test_fields_between_tags_are_read() -> None:
    assert OffsetFetch(("g",)).decode(9, commits(TWO), 0) == {"g": GroupCommits("g", {"t": (Commit(1, 5, 1),)})}
