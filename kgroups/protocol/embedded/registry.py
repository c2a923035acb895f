"""Which decoder reads the members of a group, by its protocol type. A further protocol is one line here."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kgroups.model.assignment import Assignment, Raw, Subscription
from kgroups.model.groups import CONSUMER_PROTOCOL_TYPE

from .consumer import decode_assignment, decode_subscription

Decoder = tuple[Callable[[bytes], Subscription], Callable[[bytes], Assignment]]

DECODERS: Mapping[str, Decoder] = {CONSUMER_PROTOCOL_TYPE: (decode_subscription, decode_assignment)}


def decode_member(protocol_type: str, metadata: bytes, assignment: bytes) -> tuple[Subscription, Assignment]:
    """A member's subscription and assignment; bytes of an unknown protocol are kept raw. Never raises."""
    decoder = DECODERS.get(protocol_type)
    if decoder:
        subscription_of, assignment_of = decoder
        return subscription_of(metadata), assignment_of(assignment)
    reason = f"protocol type {protocol_type!r} is not decoded"
    return (
        Subscription(raw=Raw(metadata, reason)) if metadata else Subscription(),
        Assignment(raw=Raw(assignment, reason)) if assignment else Assignment(),
    )
