"""Every response decoder, in every version that is spoken."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from kgroups.errors import RemoteProtocolError
from kgroups.protocol.framing import decode_response
from tests.fakes.oracle import build, response_type, write
from tests.fuzz.harness import examples
from tests.property.strategies import CALLS, SPOKEN, calls, entities

ASKED: dict[str, Any] = {api.name: examples(calls(api), 2)[-1] for api in CALLS}


def seeds() -> Iterator[bytes]:
    for at, (api, version) in enumerate(SPOKEN):
        for response in examples(entities(response_type(api.key, version))):
            header = build(type(response).__header_schema__, correlation_id=1)
            yield bytes([at]) + write(header) + write(response)


def one(data: bytes) -> None:
    if len(data) < 5:
        return
    api, version = SPOKEN[data[0] % len(SPOKEN)]
    with suppress(RemoteProtocolError):
        decode_response(ASKED[api.name], version, data[1:])
