"""Messages as kio writes and reads them: the oracle of kgroups' own readers and writers, and the fake brokers' codec.

A message is bent to its version here: :func:`build` takes every value that some version has, and keeps those that the
given version has, so that a test states each value once.
"""

from __future__ import annotations

import io
import sys
from dataclasses import fields
from functools import cache
from typing import Any

from kio.index import load_request_schema, load_response_schema
from kio.serial import entity_reader, entity_writer

from kgroups.errors import LocalProtocolError, RemoteProtocolError
from kgroups.protocol.versions import Api

from .oracle_bounds import check_bounds

Entity = Any
"""An instance of one of kio's generated classes, whose types differ by version."""


@cache
def request_type(api_key: int, version: int) -> type[Entity]:
    return load_request_schema(api_key, version)


@cache
def response_type(api_key: int, version: int) -> type[Entity]:
    return load_response_schema(api_key, version)


def nested(entity_type: type[Entity], name: str) -> type[Entity]:
    """Return a struct inside a message of one version, by its name in Kafka's message definition."""
    found: type[Entity] = getattr(sys.modules[entity_type.__module__], name)
    return found


@cache
def _field_names(entity_type: type[Entity]) -> frozenset[str]:
    return frozenset(field.name for field in fields(entity_type))


def build(entity_type: type[Entity], **values: Any) -> Entity:
    """Return an entity with those of ``values`` that its version has."""
    names = _field_names(entity_type)  # type: ignore[arg-type]  # a class is hashable; Any hides it
    return entity_type(**{name: value for name, value in values.items() if name in names})


def write(entity: Entity) -> bytes:
    """Return the bytes of an entity.

    :raises LocalProtocolError: when a value does not fit Kafka's type (a name of more than 32,767 bytes).
    """
    buffer = io.BytesIO()
    try:
        entity_writer(type(entity))(buffer, entity)
    except Exception as error:
        raise LocalProtocolError(f"cannot encode {type(entity).__name__}: {error}") from error
    return buffer.getvalue()


def read(entity_type: type[Entity], data: bytes, offset: int = 0) -> tuple[Entity, int]:
    """Return an entity, and the offset of the first byte after it.

    :raises RemoteProtocolError: when the bytes are not such an entity.
    """
    try:
        check_bounds(entity_type, data, offset)
        entity, size = entity_reader(entity_type)(data, offset)
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # kio's native reader may panic on absurd lengths, outside of Exception
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise RemoteProtocolError(f"undecodable {entity_type.__name__} ({reason})") from error
    return entity, offset + size


def write_request(api: Api, version: int, **values: Any) -> bytes:
    """Return a request with those of ``values`` that its version has.

    :raises LocalProtocolError: when a value does not fit Kafka's types.
    """
    return write(build(request_type(api.key, version), **values))


def read_response(api: Api, version: int, data: bytes, offset: int) -> Entity:
    """Return the response that goes from ``offset`` to the end of ``data``.

    :raises RemoteProtocolError: when the bytes are not such a response, or continue after its end.
    """
    entity_type = response_type(api.key, version)
    response, end = read(entity_type, data, offset)
    if end != len(data):
        raise RemoteProtocolError(f"{len(data) - end} bytes after the end of {entity_type.__name__}")
    return response
