"""Decoders take time linear in what they are given, also when it was made to be slow.

Counted, not timed: lines of kgroups that run, and bytes and numbers that are copied.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from kgroups.protocol.apis.api_versions import ApiVersions
from kgroups.protocol.apis.consumer_group_describe import ConsumerGroupDescribe
from kgroups.protocol.apis.describe_groups import DescribeGroups
from kgroups.protocol.apis.fetch import Fetch
from kgroups.protocol.apis.list_groups import ListGroups
from kgroups.protocol.apis.metadata import Metadata
from kgroups.protocol.apis.offset_fetch import OffsetFetch
from kgroups.protocol.embedded import registry
from kgroups.protocol.first_records import first_records
from kgroups.protocol.reader import Reader
from kgroups.protocol.record_entries import read_entries

SMALL, GROWTH = 200, 4
SLACK = 1.25


class Copied(bytes):
    """Bytes that count what is cut out of them."""

    count = 0

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        if isinstance(found, int):
            return found
        Copied.count += len(found)
        return Copied(found)


class Joined(tuple):
    """Numbers that count how many are copied where tuples are joined."""

    def __add__(self, other: Any) -> Any:
        Copied.count += len(self) + len(other)
        return Joined([*self, *other])

    def __radd__(self, other: Any) -> Any:
        Copied.count += len(self) + len(other)
        return Joined([*other, *self])


def cost(decode: Callable[[bytes], object], data: bytes, monkeypatch: pytest.MonkeyPatch) -> int:
    lines = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal lines
        lines += event == "line"
        return trace if "kgroups" in frame.f_code.co_filename else None

    plain = Reader.int32s
    monkeypatch.setattr(Reader, "int32s", lambda reader: Joined(plain(reader)))
    Copied.count = 0
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        decode(Copied(data))
    finally:
        sys.settrace(before)
        monkeypatch.undo()
    return lines + Copied.count


def i16(number: int) -> bytes:
    return number.to_bytes(2, "big", signed=True)


def i32(number: int) -> bytes:
    return number.to_bytes(4, "big", signed=True)


def text(words: str) -> bytes:
    return i16(len(words)) + words.encode()


def short(words: str) -> bytes:
    """Of the flexible form."""
    return varint(len(words) + 1) + words.encode()


def varint(number: int) -> bytes:
    out = bytearray()
    while number >= 0x80:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def connect_work(n: int) -> bytes:
    """One connector, named again and again."""
    return i16(1) + i16(0) + text("l") + text("u") + bytes(8) + i32(n) + (text("c") + i32(2) + i32(0) + i32(1)) * n


def one_topic_again(n: int) -> bytes:
    return i16(3) + i32(n) + (text("t") + i32(2) + i32(0) + i32(1)) * n + i32(0)


def nested_streams(n: int) -> bytes:
    """AssignmentInfo v6: few names, many hosts and pairs."""
    hosts = (text("h") + i32(1) + i32(2) + i32(0) + i32(0) + i32(0) + i32(1)) * n
    return i32(6) + i32(6) + i32(0) + i32(0) + i32(1) + i32(0) + text("t") + i32(n) + hosts + i32(0) + i32(0)


def many_states(n: int) -> bytes:
    """Groups in states that differ at their end only, each longer than there are groups."""
    groups = b"".join(
        short(f"g{at % 10}") + short("p" * n * 4 + str(at % 10)) + short("s") + short("t") + b"\0" for at in range(9)
    )
    groups += (short("g") + short("p") + short("s") + short("t") + b"\0") * n
    return bytes(4) + i16(0) + varint(9 + n + 1) + groups + b"\0"


def classic_states(n: int) -> bytes:
    one = i16(0) + text("g") + text("s") + text("t") + text("p") + i32(0)
    first = i16(0) + text("g") + text("s" * n * 4) + text("t") + text("p") + i32(0)
    return i32(8 + n) + first * 8 + one * n


def plain_commits(n: int) -> bytes:
    """OffsetFetch v9: a topic for each commit."""
    topic = short("t") + varint(2) + i32(0) + bytes(8) + i32(0) + short("m") + i16(0) + b"\0\0"
    return bytes(4) + varint(2) + short("g") + varint(n + 1) + topic * n + i16(0) + b"\0\0"


def tags(n: int) -> bytes:
    return bytes(4) + i16(0) + varint(1) + varint(n) + b"".join(varint(at) + b"\0" for at in range(n))


def nodes(n: int) -> bytes:
    listed = b"".join(i32(at) + text("h") + i32(1) + i16(-1) for at in range(n))
    return i32(n) + listed + i32(0) + i32(0)


def versions(n: int) -> bytes:
    return i16(0) + varint(n + 1) + (i16(3) + i16(0) + i16(9) + b"\0") * n + bytes(4) + b"\0"


def batches(n: int) -> bytes:
    """Empty batches, which move the scan on by nothing."""
    return (bytes(8) + i32(49) + i32(0) + b"\2" + i32(0) + bytes(40)) * n


def aborted(n: int) -> bytes:
    """Fetch v4 with many aborted transactions."""
    partition = i32(0) + i16(0) + bytes(16) + i32(n) + bytes(16) * n + i32(0)
    return bytes(4) + i32(1) + text("t") + i32(1) + partition


def member(kind: str, protocol: str, which: int) -> Callable[[bytes], object]:
    """The decoder itself, without what is kept of small ones."""
    return lambda data: registry._decode(kind, protocol, data, which)


CASES: dict[str, tuple[Callable[[bytes], object], Callable[[int], bytes]]] = {
    "connect": (member("connect", "compatible", 1), connect_work),
    "consumer-assignment": (member("consumer", "range", 1), one_topic_again),
    "consumer-subscription": (member("consumer", "range", 0), lambda n: i16(0) + i32(n) + text("t") * n + i32(-1)),
    "sticky": (
        member("consumer", "sticky", 0),
        lambda n: i16(0) + i32(0) + i32(len(one_topic_again(n)) - 2) + one_topic_again(n)[2:],
    ),
    "streams": (
        member("consumer", "stream", 1),
        lambda n: i16(0) + i32(0) + i32(len(nested_streams(n))) + nested_streams(n),
    ),
    "list-groups": (lambda data: ListGroups().decode(5, data, 0), many_states),
    "describe-groups": (lambda data: DescribeGroups(("g",)).decode(0, data, 0), classic_states),
    "offset-fetch": (lambda data: OffsetFetch(("g",)).decode(9, data, 0), plain_commits),
    "tags": (lambda data: ListGroups().decode(5, data, 0), tags),
    "metadata": (lambda data: Metadata(()).decode(1, data, 0), nodes),
    "api-versions": (lambda data: ApiVersions().decode(3, data, 0), versions),
    "fetch": (lambda data: Fetch({"t": {0: 0}}).decode(4, data, 0), aborted),
    "first-records": (lambda data: first_records(data, [0]), batches),
    "entries": (lambda data: read_entries(data, 0), batches),
    "consumer-group-describe": (
        lambda data: ConsumerGroupDescribe(("g",)).decode(0, data, 0),
        lambda n: (
            bytes(4)
            + varint(n + 1)
            + (i16(0) + b"\0" + short("g") + short("s") + bytes(8) + short("a") + b"\1" + bytes(4) + b"\0") * n
            + b"\0"
        ),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_decoding_takes_time_linear_in_the_bytes(case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    decode, made = CASES[case]
    decode(made(1))  # imports
    little, much = made(SMALL), made(SMALL * GROWTH)
    work, more = cost(decode, little, monkeypatch), cost(decode, much, monkeypatch)
    assert work > SMALL, "it was read to its end"
    assert more <= SLACK * work * len(much) / len(little)
