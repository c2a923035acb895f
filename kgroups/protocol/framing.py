"""Frames: a length of four bytes, a header, a message.

:class:`FrameReader` is fed the bytes of a socket and returns complete frames. It never buffers more than one frame of
at most ``limit`` bytes, and rejects an impossible length at its fourth byte.
"""

from __future__ import annotations

import struct
from typing import Any, TypeVar

from kgroups.errors import Reason, RemoteProtocolError, ResponseTooLarge

from .budget import Budget, spending
from .call import Call
from .reader import FlexibleReader
from .writer import form_of, string

T = TypeVar("T")

MAX_FRAME = 64 * 1024 * 1024
"""Bytes of a response. Requests are batched so that responses are far smaller. A list of 100,000 groups with names of
249 characters has 30 MB."""

MAX_UNTRUSTED_FRAME = 512 * 1024
"""Bytes of a response from a peer that is not authenticated, or has not responded as a Kafka broker yet."""

_LENGTH = struct.Struct(">i")
_HEADER = struct.Struct(">hhi")

_API_VERSIONS = 18
"""Its responses have the old header in every version: a client reads them before it knows the broker's versions."""


class FrameReader:
    """Cut a byte stream into frames, without their length prefix."""

    def __init__(self, limit: int = MAX_FRAME) -> None:
        self.limit = limit
        """Bytes; can be raised at any time."""
        self._buffer = bytearray()
        self._needed: int | None = None

    @property
    def pending(self) -> int:
        """Bytes of an incomplete frame."""
        return len(self._buffer)

    def feed(self, data: bytes) -> list[bytes]:
        """Add bytes, and return the frames that are now complete.

        :raises RemoteProtocolError: when a length is negative or too short for a header.
        :raises ResponseTooLarge: (a subclass) when it is above the limit.
        """
        self._buffer += data
        frames: list[bytes] = []
        start = 0
        while True:
            if self._needed is None:
                if len(self._buffer) - start < 4:
                    break
                (self._needed,) = _LENGTH.unpack_from(self._buffer, start)
                if not 4 <= self._needed <= self.limit:
                    raise _refused(bytes(self._buffer[start : start + 8]), self._needed, self.limit)
                start += 4
            if len(self._buffer) - start < self._needed:
                break
            frames.append(bytes(self._buffer[start : start + self._needed]))
            start += self._needed
            self._needed = None
        del self._buffer[:start]
        return frames


def _refused(head: bytes, length: int, limit: int) -> RemoteProtocolError:
    if (other := _other_protocol(head)) == "TLS":
        hint = "set security.protocol to SSL or SASL_SSL"
        return RemoteProtocolError("the port speaks TLS", reason=Reason.TLS_REQUIRED, hint=hint)
    if other:
        text = f"the port speaks {other}, not Kafka's protocol"
        return RemoteProtocolError(text, reason=Reason.NOT_KAFKA, hint="use the port of a Kafka listener")
    text = f"a frame of {length} bytes was announced; the port does not speak Kafka's protocol"
    if length < limit:
        return RemoteProtocolError(text, reason=Reason.NOT_KAFKA, hint="use the port of a Kafka listener")
    if limit != MAX_UNTRUSTED_FRAME:
        return ResponseTooLarge(f"a response of {length:,} bytes was announced; kgroups accepts at most {limit:,}")
    return ResponseTooLarge(f"{text} (kgroups accepts at most {limit:,} bytes before authentication)")


def _other_protocol(head: bytes) -> str | None:
    """Return the name of the protocol that the first bytes of a stream belong to, if it is a well-known one."""
    if head[:4] in (b"HTTP", b"<htm", b"<!DO"):
        return "HTTP"
    if head[:1] in (b"\x15", b"\x16") and head[1:2] == b"\x03":
        return "TLS"
    return "SSH" if head[:4] == b"SSH-" else None


def encode_request(call: Call[Any], version: int, correlation_id: int, client_id: str) -> bytes:
    """Encode a request as one frame, with the header of its version.

    :raises LocalProtocolError: when a value does not fit Kafka's types.
    """
    # The client ID is a string of the old form in every version.
    head = _HEADER.pack(call.api.key, version, correlation_id) + string(client_id) + form_of(call.api, version).tags
    message = call.encode(version)
    return b"".join((_LENGTH.pack(len(head) + len(message)), head, message))


def correlation_id_of(frame: bytes) -> int:
    """Return the ID that links a response to its request: the first four bytes of every response."""
    (correlation_id,) = _LENGTH.unpack_from(frame)
    return int(correlation_id)


def decode_response(call: Call[T], version: int, frame: bytes, budget: Budget | None = None) -> T:
    """Decode a response frame.

    :raises RemoteProtocolError: when the bytes are not a response to that call, or continue after its end.
    :raises DecodingTimeout: when the budget's time is used up.
    """
    with spending(budget or Budget()):
        return _decode(call, version, frame)


def _decode(call: Call[T], version: int, frame: bytes) -> T:
    with FlexibleReader(f"header of {call.api}Response", frame, _LENGTH.size) as header:
        if version >= call.api.flexible and call.api.key != _API_VERSIONS:
            header.tags()
    return call.decode(version, frame, header.at)
