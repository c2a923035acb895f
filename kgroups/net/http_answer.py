"""Read one HTTP response with ``http.client``, and no more bytes than allowed."""

from __future__ import annotations

import io
from collections.abc import Callable
from http.client import BadStatusLine, HTTPException, HTTPResponse, IncompleteRead, RemoteDisconnected
from typing import Any, NamedTuple

LARGEST = 1024 * 1024
"""Bytes of a body; tokens of large services have some thousands. Head and framing may have as many again."""


class BadAnswer(Exception):
    """The response is not HTTP, is incomplete, or is too large."""


class Answer(NamedTuple):
    status: int
    body: bytes


class BoundedResponse(HTTPResponse):
    """A response that stops reading after twice :data:`LARGEST`."""

    def __init__(self, sock: Any, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        self.fp = io.BufferedReader(_Bounded(self.fp))


class _Bounded(io.RawIOBase):
    def __init__(self, source: io.BufferedReader) -> None:
        self._source = source
        self._left = 2 * LARGEST

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._source.readinto1(buffer)
        self._left -= count
        if self._left < 0:
            raise _too_large()
        return count

    def close(self) -> None:
        self._source.close()
        super().close()


def read_answer(begin: Callable[[], HTTPResponse]) -> Answer:
    """Read the response that ``begin`` returns after its head.

    :raises BadAnswer: if it is not HTTP, is incomplete, or is too large.
    :raises OSError: if the connection fails.
    """
    try:
        with begin() as response:
            return Answer(response.status, _body(response))
    except RemoteDisconnected:
        raise _incomplete() from None
    except BadStatusLine:
        raise BadAnswer("the response is not HTTP") from None
    except (HTTPException, ValueError):
        raise BadAnswer("the response is not valid HTTP") from None


def _body(response: HTTPResponse) -> bytes:
    size = response.getheader("Content-Length")
    if size is not None and not response.chunked:
        if not size.isascii() or not size.isdigit() or len(size) > 12:
            raise _invalid_length()
        if int(size) > LARGEST:
            raise _too_large()
    try:
        body = response.read(LARGEST + 1)
    except IncompleteRead as error:
        announced = getattr(response, "chunk_left", None)
        if isinstance(announced, int) and announced > LARGEST:
            raise _too_large() from None
        if error.__cause__ and isinstance(error.__cause__.__context__, ValueError):  # a chunk's size
            raise _invalid_length() from None
        raise _incomplete() from None
    if len(body) > LARGEST:
        raise _too_large()
    if response.length:
        raise _incomplete()
    return body


def _incomplete() -> BadAnswer:
    return BadAnswer("closed the connection before the response was complete")


def _invalid_length() -> BadAnswer:
    return BadAnswer("the response announces an invalid length")


def _too_large() -> BadAnswer:
    return BadAnswer(f"the response has more than {LARGEST:,} bytes; a token has far fewer")
