from __future__ import annotations

import pytest

from kgroups.model.assignment import Assignment, Raw, Subscription
from kgroups.protocol.embedded.consumer import decode_assignment, decode_subscription
from kgroups.protocol.embedded.registry import decode_member
from tests.fakes.cluster_state import assignment_bytes, subscription_bytes

# As a Java consumer sends it: version, topics, user data (null), and by version: owned, generation, rack.
TOPICS = b"\0\0\0\2" + b"\0\1t" + b"\0\1a" + b"\xff\xff\xff\xff"
OWNED = b"\0\0\0\1" + b"\0\1t" + b"\0\0\0\2\0\0\0\1\0\0\0\0"


def owned(subscription: Subscription) -> str:
    return str(subscription.owned)


def test_subscription_fields_depend_on_the_version() -> None:
    v0, v1, v2, v3 = (
        decode_subscription(data)
        for data in (
            b"\0\0" + TOPICS,
            b"\0\1" + TOPICS + OWNED,
            b"\0\2" + TOPICS + OWNED + b"\0\0\0\7",
            b"\0\3" + TOPICS + OWNED + b"\0\0\0\7" + b"\0\2r1",
        )
    )
    assert [each.topics for each in (v0, v1, v2, v3)] == [("a", "t")] * 4
    assert [owned(each) for each in (v0, v1, v2, v3)] == ["", "t:0,1", "t:0,1", "t:0,1"]
    assert [each.generation for each in (v0, v1, v2, v3)] == [None, None, 7, 7]
    assert all(each.raw is None for each in (v0, v1, v2, v3))


def test_newer_subscription_version_is_read_as_the_newest_known() -> None:
    found = decode_subscription(b"\0\x09" + TOPICS + OWNED + b"\0\0\0\7" + b"\xff\xff" + b"and more")
    assert (found.topics, found.generation, found.raw) == (("a", "t"), 7, None)
    assert str(decode_assignment(b"\0\x09" + OWNED + b"\xff\xff\xff\xff" + b"and more")) == "t:0,1"


@pytest.mark.parametrize(
    ("behind", "note"),
    [
        (b"", "it ends before its user data"),
        (b"\0\0\0\0", "it ends before its owned partitions"),
        (b"\0\0\0\0" + OWNED[:-1], "its owned partitions cannot be decoded"),
        (b"\0\0\0\0" + OWNED, "it ends before its generation"),
        (b"\0\0\0\0" + OWNED + b"\0\0\0\1", "it ends before its rack"),
        (b"\0\0\0\0" + OWNED + b"\0\0\0\1\xff\xff", None),
        (b"\0\0\0\0" + OWNED + b"\0\0\0\1\xff\xffab", "2 bytes after its end"),
    ],
)
def test_subscription_with_missing_or_extra_bytes_has_a_note(behind: bytes, note: str | None) -> None:
    found = decode_subscription(b"\0\3" + TOPICS[:-4] + behind)
    assert (found.topics, found.note, found.raw) == (("a", "t"), note, None)


def test_subscription_rack_is_read() -> None:
    assert decode_subscription(b"\0\3" + TOPICS + OWNED + b"\0\0\0\7" + b"\0\2r1").rack == "r1"


def test_subscription_generation_of_minus_1_is_none() -> None:
    assert decode_subscription(b"\0\2" + TOPICS + OWNED + b"\xff\xff\xff\xff").generation is None


def test_empty_bytes_are_a_member_that_is_joining() -> None:
    assert (decode_subscription(b""), decode_assignment(b"")) == (Subscription(), Assignment())


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\0", "ends too soon"),
        (b"\xff\xff" + OWNED, "version -1"),
        (b"\0\1", "undecodable"),
        (b"\0\1" + OWNED[:6], "undecodable"),
        (b"\0\0\xff\xff\xff\xfe", "undecodable"),
    ],
)
def test_undecodable_bytes_are_kept_with_the_reason(data: bytes, reason: str) -> None:
    for raw in (decode_subscription(data).raw, decode_assignment(data).raw):
        assert isinstance(raw, Raw)
        assert raw.data == data
        assert reason in raw.reason


def test_null_topic_list_does_not_raise() -> None:
    assert decode_assignment(b"\0\0\xff\xff\xff\xff\xff\xff\xff\xff").size in (None, 0)
    assert decode_subscription(b"\0\0\xff\xff\xff\xff\xff\xff\xff\xff").topics == ()


def test_decode_member_depends_on_the_protocol_type() -> None:
    metadata, assignment = subscription_bytes(["t"]), assignment_bytes({"t": (2, 1)})
    subscription, held = decode_member("consumer", metadata, assignment)
    assert (subscription.topics, str(held)) == (("t",), "t:1,2")
    subscription, held = decode_member("sheep", metadata, assignment)
    assert subscription.raw == Raw(metadata, "protocol type 'sheep' is not decoded")
    assert held.raw and held.raw.data == assignment
    assert decode_member("sheep", b"", b"") == (Subscription(), Assignment())
