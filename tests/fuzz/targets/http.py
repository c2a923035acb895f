"""HTTP responses of token endpoints, and messages of SCRAM servers."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPResponse

from kgroups.config.secret import Secret
from kgroups.config.security import Password
from kgroups.errors import AuthenticationFailed, RemoteProtocolError
from kgroups.net.http_answer import LARGEST, BadAnswer, BoundedResponse, read_answer
from kgroups.protocol.sasl.scram import scram


class Socket:
    """As much of a socket as a response needs."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, mode: str) -> io.BufferedReader:
        return io.BufferedReader(io.BytesIO(self._data))  # type: ignore[arg-type]  # typeshed wants a RawIOBase


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
        assert len(read_answer(lambda: _begun(data)).body) <= LARGEST
    dialogue = scram("SCRAM-SHA-256", Password("u", Secret("p")))
    first = next(dialogue)
    assert first is not None
    with suppress(AuthenticationFailed, RemoteProtocolError):
        # With the nonce of this dialogue, or as it is.
        dialogue.send(data.replace(b"NONCE", first.rpartition(b"r=")[2]))


def _begun(data: bytes) -> HTTPResponse:
    response = BoundedResponse(Socket(data), method="POST")
    response.begin()
    return response
