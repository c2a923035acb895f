"""Which decoder reads the members of a group: by its protocol type, and for consumers by its assignor.

A further protocol is one line here; its decoder is imported when the first such member comes.
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
"""Protocol type -> module here, and its functions for a member's metadata and its assignment."""

USER_DATA: Mapping[str, tuple[str, str, str]] = {
    # librdkafka gives each member its data back, in its assignment.
    "sticky": ("sticky", "decode_sticky", "decode_sticky"),
    "cooperative-sticky": ("sticky", "decode_cooperative", "decode_cooperative"),
    "stream": ("classic_streams", "decode_subscription_info", "decode_assignment_info"),
}
"""Assignor -> module here, and its functions for the user data of subscriptions and of assignments."""

SMALL = 4_096
"""Bytes. The members of a group say much the same, again and again: what is not longer is decoded once and kept."""


def decode_member(
    protocol_type: str, metadata: bytes, assignment: bytes, protocol: str = ""
) -> tuple[Subscription, Assignment]:
    """A member's subscription and assignment, of a group with this assignor or protocol; what is not known is kept raw.

    Never raises.
    """
    return _of(protocol_type, protocol, metadata, 0), _of(protocol_type, protocol, assignment, 1)


def is_known(protocol_type: str) -> bool:
    """Whether members of this protocol type have topics and partitions to tell."""
    return protocol_type == CONSUMER_PROTOCOL_TYPE


def _of(protocol_type: str, protocol: str, data: bytes, which: int) -> Any:
    return (_kept if len(data) <= SMALL else _decode)(protocol_type, protocol, data, which)


def _decode(protocol_type: str, protocol: str, data: bytes, which: int) -> Subscription | Assignment:
    """``which``: 0 for the metadata, 1 for the assignment."""
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


_kept = lru_cache(maxsize=4096)(_decode)


def _user_data(protocol: str, which: int) -> ReadUserData:
    if protocol in USER_DATA:
        module, *functions = USER_DATA[protocol]
        read: ReadUserData = _named(module, functions[which])
        return read
    return raw_user_data


def _named(module: str, function: str) -> Callable[..., Any]:
    found: Callable[..., Any] = getattr(import_module(f"kgroups.protocol.embedded.{module}"), function)
    return found
