"""Reads one HTTP/1.1 answer off a stream, no more than is allowed of it (RFC 9112)."""

from __future__ import annotations

import asyncio
from typing import NamedTuple


class BadAnswer(Exception):
    """What came is not HTTP, or too much."""


class Answer(NamedTuple):
    status: int
    body: bytes


async def read_answer(reader: asyncio.StreamReader, limit: int) -> Answer:
    """:param limit: in bytes, of the body and of the head each.
    :raises BadAnswer: when it is not HTTP, is cut off, or has more bytes.
    """
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        status, headers = _head(head)
        if status == 100:  # Continue: the answer comes behind it
            status, headers = _head(await reader.readuntil(b"\r\n\r\n"))
        if "chunked" in headers.get("transfer-encoding", ""):
            return Answer(status, await _chunks(reader, limit))
        size = headers.get("content-length")
        if size is None:
            return Answer(status, await _to_the_end(reader, limit))
        return Answer(status, await reader.readexactly(_size(size, 10, limit)))
    except asyncio.IncompleteReadError:
        raise BadAnswer("closed the connection before its answer was whole") from None
    except asyncio.LimitOverrunError:
        raise BadAnswer("the answer does not look like HTTP") from None


def _head(head: bytes) -> tuple[int, dict[str, str]]:
    first, *lines = head.decode("latin-1").split("\r\n")
    version, _, rest = first.partition(" ")
    if not version.startswith("HTTP/1.") or not (rest[:3].isascii() and rest[:3].isdigit()):
        raise BadAnswer("the answer is not HTTP")
    pairs = (line.partition(":") for line in lines)
    return int(rest[:3]), {key.strip().lower(): value.strip().lower() for key, _, value in pairs}


async def _chunks(reader: asyncio.StreamReader, limit: int) -> bytes:
    body = b""
    while True:
        line = await reader.readuntil(b"\r\n")
        size = _size(line.decode("latin-1").partition(";")[0].strip(), 16, limit - len(body))
        if not size:
            return body
        body += await reader.readexactly(size)
        await reader.readexactly(2)


async def _to_the_end(reader: asyncio.StreamReader, limit: int) -> bytes:
    body = b""
    while more := await reader.read(65536):
        body += more
        if len(body) > limit:
            raise _too_much(limit)
    return body


def _size(text: str, base: int, limit: int) -> int:
    if not text.isascii() or not text.isalnum() or len(text) > 12:
        raise BadAnswer("the answer announces a length that is none")
    try:
        size = int(text, base)
    except ValueError:
        raise BadAnswer("the answer announces a length that is none") from None
    if size > limit:
        raise _too_much(limit)
    return size


def _too_much(limit: int) -> BadAnswer:
    return BadAnswer(f"the answer has more than {limit:,} bytes; a token has far fewer")
