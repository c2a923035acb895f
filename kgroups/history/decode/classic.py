"""Rows from the record of a classic group (type 2)."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Any, Final

from kgroups.protocol.embedded.registry import decode_member, is_known

from .facts import ASSIGNMENTS, GROUP_METADATA, MEMBERS, Body, Extractor, Fact, micros, none_if_absent, none_if_empty

KIND: Final = "classic"


def _extract_group(body: Body) -> Iterator[Fact]:
    if body.value is None:
        yield GROUP_METADATA, {}
        return
    value = body.value
    yield (
        GROUP_METADATA,
        {
            "protocol_type": value["protocolType"],
            "generation": value["generation"],
            "protocol": value["protocol"],
            "leader": value["leader"],
            "state_time": micros(value.get("currentStateTimestamp")),
            "member_count": len(value["members"]),
        },
    )
    for member in value["members"]:
        yield from _extract_member(value["protocolType"], value["generation"], member)


def _extract_member(protocol_type: str, generation: int, member: Mapping[str, Any]) -> Iterator[Fact]:
    """Yield the rows of a member.

    Topics are null, and there are no assignments, if its bytes do not come from a consumer.
    """
    subscription, assignment = decode_member(
        protocol_type, _bytes(member["subscription"]), _bytes(member["assignment"])
    )
    yield (
        MEMBERS,
        {
            "kind": KIND,
            "generation": generation,
            "member_id": member["memberId"],
            "instance_id": none_if_empty(member.get("groupInstanceId")),
            "client_id": member["clientId"],
            "client_host": none_if_empty(member["clientHost"]),
            "rebalance_timeout_ms": none_if_absent(member.get("rebalanceTimeout")),
            "session_timeout_ms": member["sessionTimeout"],
            "topics": None if subscription.raw or not is_known(protocol_type) else list(subscription.topics),
        },
    )
    for topic, partitions in assignment.topics:
        yield (
            ASSIGNMENTS,
            {
                "kind": KIND,
                "member_id": member["memberId"],
                "role": "assigned",
                "topic": topic,
                "partitions": list(partitions),
                "epoch": generation,
            },
        )


def _bytes(text: str) -> bytes:
    return base64.b64decode(text)


EXTRACTORS: Final[Mapping[int, Extractor]] = {2: _extract_group}
