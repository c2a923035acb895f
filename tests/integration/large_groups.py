"""Groups of classic members whose size no client makes by itself: a connection for each, and any metadata."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Final

from kgroups.admin.routing.coordinators import find_coordinators
from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.model.cluster import Node
from kgroups.net.cluster import Cluster
from kgroups.net.connection import Connection
from kgroups.net.dial import dial
from kgroups.protocol.error_codes import KafkaError
from kgroups.sandbox.wire.consumer_protocol import Partitions, encode_assignment, encode_subscription
from kgroups.sandbox.wire.join_group import Joined, JoinGroup, MemberIdRequired
from kgroups.sandbox.wire.sync_group import SyncGroup

PROTOCOL: Final = "range"
_JOIN, _SYNC = 9, 5
"""Versions, of Kafka 4."""
_SESSION: Final = timedelta(minutes=30)
_REBALANCE: Final = _SESSION
"""A member must join again after its assignment was too large, and is removed after this time without a join."""
_PATIENCE: Final = 180.0
_BESIDE: Final = len(encode_subscription(["t"], {}, version=1)) - len("t")
"""Bytes of a subscription to one topic without its name: its user data is null, and it owns nothing."""

Assign = Callable[[Sequence[str]], Mapping[str, Partitions]]
"""Member ids -> who gets what."""


def subscription(topic: str, size: int) -> bytes:
    """To one topic, with so much user data that it is of this size."""
    data = size - _BESIDE - len(topic)
    plain = encode_subscription([topic], {}, version=1)
    return plain[:-8] + struct.pack(">i", data) + b"\xfe" * data + plain[-4:]


def join_all(bootstrap: str, group: str, metadata: Sequence[bytes], assign: Assign) -> list[KafkaError | None]:
    """Lets a member join for each metadata, in one group; what comes of each one's SyncGroup.

    They stay when this returns: their sessions are half an hour long.
    """
    return asyncio.run(_join_all(bootstrap, group, metadata, assign))


async def _join_all(bootstrap: str, group: str, metadata: Sequence[bytes], assign: Assign) -> list[KafkaError | None]:
    cluster, _ = await Cluster.connect(ClientSettings(parse_bootstrap(bootstrap)))
    async with cluster:
        found, _ = await find_coordinators(cluster, [group])
    crowd = [_Member(group, f"{group}-{number:04}", each) for number, each in enumerate(metadata)]
    for member in crowd:
        await member.connect(found[group])
    try:
        first, *others = crowd
        # Alone it leads a group that is stable, and when it comes again as the leader, there is a rebalance. That is
        # through when all have come who have been given an id (KIP-394): after one for all, not one for each.
        await first.ask_for_id()
        await first.sync(await first.join(), {})
        await asyncio.gather(*(member.ask_for_id() for member in others))
        joined = await asyncio.gather(*(member.join() for member in crowd))
        held = assign([each.member_id for each in joined])
        given = {name: encode_assignment(partitions) for name, partitions in held.items()}
        return await asyncio.gather(
            *(
                member.sync(each, given if each.member_id == each.leader else {})
                for member, each in zip(crowd, joined, strict=True)
            )
        )
    finally:
        for member in crowd:
            member.close()


class _Member:
    def __init__(self, group: str, client: str, metadata: bytes) -> None:
        self._group, self._client, self._metadata = group, client, metadata
        self._id = ""
        self._connection: Connection

    async def connect(self, node: Node) -> None:
        self._connection = await dial(
            node.host, node.port, name=self._client, client_id=self._client, timeout=_PATIENCE
        )
        self._connection.trust()

    async def ask_for_id(self) -> None:
        answer = await self._ask_to_join()
        assert isinstance(answer, MemberIdRequired), answer
        self._id = answer.member_id

    async def join(self) -> Joined:
        answer = await self._ask_to_join()
        assert isinstance(answer, Joined), answer
        return answer

    async def _ask_to_join(self) -> Joined | MemberIdRequired | KafkaError:
        call = JoinGroup(self._group, self._id, "consumer", PROTOCOL, self._metadata, _SESSION, _REBALANCE)
        return await self._connection.call(call, _JOIN, _PATIENCE)

    async def sync(self, joined: Joined, given: Mapping[str, bytes]) -> KafkaError | None:
        call = SyncGroup(self._group, self._id, joined.generation, "consumer", PROTOCOL, given)
        answer = await self._connection.call(call, _SYNC, _PATIENCE)
        return answer if isinstance(answer, KafkaError) else None

    def close(self) -> None:
        self._connection.close()
