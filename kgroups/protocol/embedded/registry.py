"""Select the decoder of a group's member metadata by protocol type, and by assignor for consumers.

A new protocol is one line here; its decoder is imported for the first member that uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any

from kgroups.model.assignment import Assignment, Raw, Subscription
from kgroups.model.groups import CONSUMER_PROTOCOL_TYPE

from .consumer import ReadUserData, decode_assignment, decode_subscription, raw_user_data

TYPES: Mapping[str, tuple[str, str, str]] = {
    "connect": ("connect", "decode_worker", "decode_work"),
    "sr": ("schema_registry", "decode_identity", "decode_leader"),
}
"""Protocol type -> module in this package, and its functions for a member's metadata and assignment."""

USER_DATA: Mapping[str, tuple[str, str, str]] = {
    # librdkafka returns each member's data in its assignment.
    "sticky": ("sticky", "decode_sticky", "decode_sticky"),
    "cooperative-sticky": ("sticky", "decode_cooperative", "decode_cooperative"),
    "stream": ("classic_streams", "decode_subscription_info", "decode_assignment_info"),
}
"""Assignor -> module in this package, and its functions for the user data of subscriptions and assignments."""

SMALL = 4_096
"""Bytes. The members of a group mostly send the same metadata: up to this size, the decoded form is cached."""


def decode_member(
    protocol_type: str, metadata: bytes, assignment: bytes, protocol: str = ""
) -> tuple[Subscription, Assignment]:
    """Return a member's subscription and assignment, given the group's assignor or protocol.

    Never raise: unknown metadata is kept raw.
    """
    return _decoded(protocol_type, protocol, metadata, 0), _decoded(protocol_type, protocol, assignment, 1)


def is_known(protocol_type: str) -> bool:
    """Return whether the metadata of this protocol type contains topics and partitions."""
    return protocol_type == CONSUMER_PROTOCOL_TYPE


def _decoded(protocol_type: str, protocol: str, data: bytes, which: int) -> Any:
    return (_cached if len(data) <= SMALL else _decode)(protocol_type, protocol, data, which)


def _decode(protocol_type: str, protocol: str, data: bytes, which: int) -> Subscription | Assignment:
    """Decode the metadata (``which`` is 0) or the assignment (1)."""
    if not data:
        return Assignment() if which else Subscription()
    if protocol_type == CONSUMER_PROTOCOL_TYPE:
        read = _user_data(protocol, which)
        return decode_assignment(data, read) if which else decode_subscription(data, read)
    if protocol_type in TYPES:
        module, *functions = TYPES[protocol_type]
        found: Subscription | Assignment = _named(module, functions[which])(data, protocol)
        return found
    raw = Raw(data, f"protocol type {protocol_type!r} is not decoded")
    return Assignment(raw=raw) if which else Subscription(raw=raw)


_cached = lru_cache(maxsize=4096)(_decode)


def _user_data(protocol: str, which: int) -> ReadUserData:
    if protocol in USER_DATA:
        module, *functions = USER_DATA[protocol]
        read: ReadUserData = _named(module, functions[which])
        return read
    return raw_user_data


def _named(module: str, function: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(import_module(f"kgroups.protocol.embedded.{module}"), function)
    return found
