"""Responses of any API and version, built from named values, and the requests that calls encode."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, TypeVar

from kio.schema.errors import ErrorCode

from kgroups.protocol.call import Call

from .oracle import build, nested, read, request_type, response_type, write

T = TypeVar("T")

OK = ErrorCode.none
NO_TIME = timedelta(0)


def reply(key: int, version: int, /, **values: Any) -> Any:
    return build(response_type(key, version), throttle_time=NO_TIME, **values)


def part(key: int, version: int, name: str, /, **values: Any) -> Any:
    return build(nested(response_type(key, version), name), **values)


def asked(call: Call[Any], version: int) -> Any:
    """The request that a call writes, as kio reads it."""
    data = call.encode(version)
    request, end = read(request_type(call.api.key, version), data)
    assert end == len(data)
    return request


def heard(call: Call[T], response: Any) -> T:
    """Decode a response that kio wrote."""
    return call.decode(response.__version__, write(response), 0)
