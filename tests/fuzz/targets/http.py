"""Answers of token endpoints, and what SCRAM's server says."""

from __future__ import annotations

import asyncio
import atexit
from collections.abc import Iterator
from contextlib import suppress

from kgroups.config.secret import Secret
from kgroups.config.security import Password
from kgroups.errors import AuthenticationFailed, RemoteProtocolError
from kgroups.net.http_answer import Answer, BadAnswer, read_answer
from kgroups.protocol.sasl.scram import scram

LIMIT = 4096
LOOP = asyncio.new_event_loop()
atexit.register(LOOP.close)


def seeds() -> Iterator[bytes]:
    yield b'HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{"access_token":"a"}'
    yield (
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\n\r\n"
    )
    yield b"HTTP/1.0 500 x\r\n\r\nbody"
    yield b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    yield b"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="


def one(data: bytes) -> None:
    with suppress(BadAnswer):
        assert len(LOOP.run_until_complete(_read(data)).body) <= LIMIT
    dialogue = scram("SCRAM-SHA-256", Password("u", Secret("p")))
    first = next(dialogue)
    assert first is not None
    with suppress(AuthenticationFailed, RemoteProtocolError):
        # With the nonce of this dialogue, or as it is.
        dialogue.send(data.replace(b"NONCE", first.rpartition(b"r=")[2]))


async def _read(data: bytes) -> Answer:
    reader = asyncio.StreamReader(limit=LIMIT)
    reader.feed_data(data)
    reader.feed_eof()
    return await read_answer(reader, LIMIT)
