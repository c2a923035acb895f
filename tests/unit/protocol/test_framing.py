"""Frames from whole streams, single bytes, and partial frames."""

from __future__ import annotations

import struct

import pytest

from kgroups.errors import LocalProtocolError, RemoteProtocolError, ResponseTooLarge
from kgroups.model.cluster import Node
from kgroups.protocol.apis.api_versions import ApiVersions
from kgroups.protocol.apis.find_coordinator import FindCoordinator
from kgroups.protocol.framing import (
    MAX_FRAME,
    MAX_UNTRUSTED_FRAME,
    FrameReader,
    correlation_id_of,
    decode_response,
    encode_request,
)
from tests.fakes.oracle import request_type


def framed(*payloads: bytes) -> bytes:
    return b"".join(struct.pack(">i", len(payload)) + payload for payload in payloads)


@pytest.mark.parametrize("payloads", [(), (b"abcd",), (b"abcd", b"efghi", b"x" * 1000)])
def test_frames_are_split_from_any_chunks(payloads: tuple[bytes, ...]) -> None:
    stream = framed(*payloads)
    assert FrameReader().feed(stream) == list(payloads)
    reader = FrameReader()
    assert [frame for byte in stream for frame in reader.feed(bytes([byte]))] == list(payloads)
    assert reader.pending == 0
    reader = FrameReader()
    assert reader.feed(stream + framed(b"rest of it")[:9]) == list(payloads)
    assert reader.pending == 5
    assert reader.feed(framed(b"rest of it")[9:]) == [b"rest of it"]


@pytest.mark.parametrize(
    ("stream", "words"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n", "speaks HTTP"),
        (b"<html>", "speaks HTTP"),
        (b"\x15\x03\x03\x00\x02\x02\x50", "speaks TLS"),
        (b"\x16\x03\x01\x02\x00\x01\x00", "speaks TLS"),
        (b"SSH-2.0-OpenSSH_9.6", "speaks SSH"),
        (b"220 smtp.example", "does not speak Kafka"),
        (b"\xff\xff\xff\xff", "frame of -1 bytes"),
        (b"\x00\x00\x00\x00", "frame of 0 bytes"),
        (b"\x00\x00\x00\x03", "frame of 3 bytes"),
        (struct.pack(">i", MAX_UNTRUSTED_FRAME + 1), f"frame of {MAX_UNTRUSTED_FRAME + 1} bytes"),
    ],
)
def test_frame_of_another_protocol_is_named_at_the_fourth_byte(stream: bytes, words: str) -> None:
    with pytest.raises(RemoteProtocolError, match=words):
        FrameReader(MAX_UNTRUSTED_FRAME).feed(stream)
    reader = FrameReader(MAX_UNTRUSTED_FRAME)
    with pytest.raises(RemoteProtocolError):
        for byte in stream[:4]:
            reader.feed(bytes([byte]))


def test_frame_of_the_limit_is_accepted_and_a_longer_one_rejected() -> None:
    assert FrameReader(limit=8).feed(framed(b"12345678")) == [b"12345678"]
    with pytest.raises(RemoteProtocolError):
        FrameReader(limit=8).feed(framed(b"123456789"))


def test_frame_limit_is_named_and_grows_after_authentication() -> None:
    announced = struct.pack(">i", MAX_UNTRUSTED_FRAME + 1)
    with pytest.raises(ResponseTooLarge, match="at most 524,288 bytes before authentication"):
        FrameReader(MAX_UNTRUSTED_FRAME).feed(announced)
    trusted = FrameReader(MAX_UNTRUSTED_FRAME)
    trusted.limit = MAX_FRAME
    assert trusted.feed(announced) == []
    with pytest.raises(ResponseTooLarge, match="67,108,865 bytes was announced; kgroups accepts at most 67,108,864"):
        FrameReader(MAX_FRAME).feed(struct.pack(">i", MAX_FRAME + 1))


def test_request_has_length_key_version_id_and_client() -> None:
    frame = encode_request(FindCoordinator(("g",)), 0, 77, "me")
    assert frame == framed(b"\0\x0a\0\0\0\0\0\x4d\0\x02me\0\x01g")
    assert correlation_id_of(frame[8:]) == 77
    flexible = encode_request(FindCoordinator(("g",)), 3, 77, "me")
    assert flexible == framed(b"\0\x0a\0\3\0\0\0\x4d\0\x02me\0" + b"\x02g\0\0")


def test_request_with_too_long_text_is_a_local_error() -> None:
    with pytest.raises(LocalProtocolError, match="40,000 bytes"):
        encode_request(FindCoordinator(("g" * 40_000,)), 0, 1, "me")
    with pytest.raises(LocalProtocolError, match="40,000 bytes"):
        encode_request(FindCoordinator(("g",)), 0, 1, "m" * 40_000)


def test_response_with_extra_or_missing_bytes_is_an_error() -> None:
    call = FindCoordinator(("g",))
    body = b"\0\0\0\1" + b"\0\0" + b"\0\0\0\5" + b"\0\4host" + b"\0\0\x23\x84"
    assert decode_response(call, 0, body) == {"g": Node(5, "host", 9092)}
    with pytest.raises(RemoteProtocolError, match="1 bytes after the end of FindCoordinatorResponse"):
        decode_response(call, 0, body + b"\0")
    with pytest.raises(RemoteProtocolError):
        decode_response(call, 0, body[:-1])


@pytest.mark.parametrize("tags", [b"\0", b"\2\0\1x\x7f\0"], ids=["none", "two"])
def test_flexible_response_header_may_have_tags(tags: bytes) -> None:
    """Only that of ApiVersions has the old header in every version."""
    body = b"\0\0\0\0" + b"\0\0" + b"\0" + b"\0\0\0\5" + b"\5host" + b"\0\0\x23\x84" + b"\0"
    assert decode_response(FindCoordinator(("g",)), 3, b"\0\0\0\1" + tags + body) == {"g": Node(5, "host", 9092)}
    with pytest.raises(RemoteProtocolError):
        decode_response(FindCoordinator(("g",)), 3, b"\0\0\0\1")
    assert decode_response(ApiVersions(), 3, b"\0\0\0\1" + b"\0\0" + b"\1" + b"\0\0\0\0" + b"\0").ranges == {}


def test_request_type_has_the_requested_version() -> None:
    assert request_type(10, 4).__version__ == 4
