from __future__ import annotations

import struct

from hypothesis import example, given
from hypothesis import strategies as st

from kgroups.errors import RemoteProtocolError
from kgroups.protocol.framing import FrameReader

payloads = st.lists(st.binary(min_size=4, max_size=40), max_size=8)


def stream_of(frames: list[bytes]) -> bytes:
    return b"".join(struct.pack(">i", len(frame)) + frame for frame in frames)


@st.composite
def cut(draw: st.DrawFn, streams: st.SearchStrategy[bytes]) -> list[bytes]:
    stream = draw(streams)
    places = sorted(draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    return [stream[a:b] for a, b in zip([0, *places], [*places, len(stream)], strict=True)]


@given(payloads, st.data())
def test_frames_do_not_depend_on_chunk_boundaries(frames: list[bytes], data: st.DataObject) -> None:
    reader = FrameReader()
    pieces = data.draw(cut(st.just(stream_of(frames))))
    assert [frame for piece in pieces for frame in reader.feed(piece)] == frames
    assert reader.pending == 0


@given(payloads, st.binary(min_size=4, max_size=40), st.data())
def test_incomplete_frame_is_waited_for(frames: list[bytes], last: bytes, data: st.DataObject) -> None:
    whole = stream_of([last])
    kept = data.draw(st.integers(0, len(whole) - 1))
    reader = FrameReader()
    assert reader.feed(stream_of(frames) + whole[:kept]) == frames
    assert reader.feed(whole[kept:]) == [last]


@given(cut(st.binary(max_size=200)))
@example([b"\0\0\0\x40" + b"x" * 80])
@example([b"\0\0\0\x3f", b"x" * 62])
def test_garbage_is_rejected_or_framed_within_the_limit(pieces: list[bytes]) -> None:
    limit = 64
    reader = FrameReader(limit)
    try:
        for piece in pieces:
            for frame in reader.feed(piece):
                assert 4 <= len(frame) <= limit
            assert reader.pending <= limit
    except RemoteProtocolError:
        pass
