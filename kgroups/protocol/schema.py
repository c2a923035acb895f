"""The one door to kio: entity types by API and version, built, written and read.

Rule: a request is bent to its version here. :func:`build` takes every value that any version could carry and keeps
those that this version has, so that each value is stated once. For what the sandbox asks, and as the oracle of what is
written and read by hand under ``apis/``: what only reads need not load kio.
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

from .bounds import bounded
from .versions import Api

Entity = Any
"""An instance of one of kio's generated classes; their types differ by version, so the type stops at this door."""


@cache
def request_type(api_key: int, version: int) -> type[Entity]:
    return load_request_schema(api_key, version)


@cache
def response_type(api_key: int, version: int) -> type[Entity]:
    return load_response_schema(api_key, version)


def nested(entity_type: type[Entity], name: str) -> type[Entity]:
    """A struct inside a message of one version, by the name that Kafka's message definition gives it."""
    found: type[Entity] = getattr(sys.modules[entity_type.__module__], name)
    return found


@cache
def _field_names(entity_type: type[Entity]) -> frozenset[str]:
    return frozenset(field.name for field in fields(entity_type))


def build(entity_type: type[Entity], **values: Any) -> Entity:
    """An entity of that type from those of ``values`` that its version has."""
    names = _field_names(entity_type)  # type: ignore[arg-type]  # a class is hashable; Any hides it
    return entity_type(**{name: value for name, value in values.items() if name in names})


def write(entity: Entity) -> bytes:
    """The bytes of an entity.

    :raises LocalProtocolError: when a value does not fit Kafka's type (a name of more than 32,767 bytes).
    """
    buffer = io.BytesIO()
    try:
        entity_writer(type(entity))(buffer, entity)
    except Exception as error:
        raise LocalProtocolError(f"cannot encode {type(entity).__name__}: {error}") from error
    return buffer.getvalue()


def read(entity_type: type[Entity], data: bytes, offset: int = 0) -> tuple[Entity, int]:
    """An entity, and the offset of the first byte behind it.

    :raises RemoteProtocolError: when the bytes are not such an entity.
    """
    try:
        bounded(entity_type)(data, offset, len(data))  # type: ignore[arg-type]  # as above
        entity, size = entity_reader(entity_type)(data, offset)
    except (KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:  # kio's native reader may panic on absurd lengths, outside of Exception
        reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise RemoteProtocolError(f"undecodable {entity_type.__name__} ({reason})") from error
    return entity, offset + size


def write_request(api: Api, version: int, **values: Any) -> bytes:
    """A request with those of ``values`` that its version has.

    :raises LocalProtocolError: when a value does not fit Kafka's types.
    """
    return write(build(request_type(api.key, version), **values))


def read_response(api: Api, version: int, data: bytes, offset: int) -> Entity:
    """The response that goes from ``offset`` to the end of ``data``.

    :raises RemoteProtocolError: when the bytes are not such a response, or go on behind its end.
    """
    kind = response_type(api.key, version)
    response, end = read(kind, data, offset)
    if end != len(data):
        raise RemoteProtocolError(f"{len(data) - end} bytes behind the end of {kind.__name__}")
    return response
