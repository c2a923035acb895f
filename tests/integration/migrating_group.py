"""Members of both protocols that join and leave a group of one broker, with bytes that no client would send."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import NamedTuple

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.leave_group import LeaveGroup
from kgroups.protocol.error_codes import Code, KafkaError, kafka_error
from kgroups.protocol.reader import reader_of
from kgroups.protocol.versions import Api
from kgroups.protocol.writer import form_of, int32
from kgroups.sandbox.wire.join_group import Joined, JoinGroup, MemberIdRequired
from kgroups.sandbox.wire.sync_group import SyncGroup

TOPIC = "moved"
PARTITIONS = 8
HEARTBEAT = Api(68, "ConsumerGroupHeartbeat", 1, 1, flexible=0)
_LONG = timedelta(hours=2)
_LONG_MS = _LONG // timedelta(milliseconds=1)
PATIENT = {
    "group.consumer.session.timeout.ms": str(_LONG_MS),
    "group.consumer.max.session.timeout.ms": str(_LONG_MS),
}
"""Settings of brokers whose members do not expire: none of them sends heartbeats."""

UNANSWERED = ("null", "text")
"""Subscriptions with which Kafka before 4.4 never responds to JoinGroup: such groups do not exist there."""
SUBSCRIBED = b"\0\0\0\1\0\5moved"
SUBSCRIPTIONS = {
    "v0": b"\0\0" + SUBSCRIBED + b"\xff\xff\xff\xff",
    "v1": b"\0\1" + SUBSCRIBED + b"\xff\xff\xff\xff" + b"\0\0\0\0",
    "sticky": b"\0\1" + SUBSCRIBED + b"\0\0\0\4\0\0\0\0" + b"\0\0\0\0",
    "newer": b"\0\x09" + SUBSCRIBED + b"\xff\xff\xff\xff\0\0\0\0\0\0\0\1\xff\xff" + b"more",
    "longer": b"\0\0" + SUBSCRIBED + b"\xff\xff\xff\xff" + b"more",
    "cut": b"\0\1" + SUBSCRIBED + b"\xff\xff\xff\xff",  # announces owned partitions
    "shorter": b"\0\3" + SUBSCRIBED,
    "null": b"\0\0\xff\xff\xff\xff\xff\xff\xff\xff",
    "negative": b"\xff\xff" + SUBSCRIBED + b"\xff\xff\xff\xff",
    "empty": b"",
    "text": b"not a subscription",
}
ASSIGNED = b"\0\0\0\1\0\5moved\0\0\0\1\0\0\0"
ASSIGNMENTS = {
    "v0": b"\0\0" + ASSIGNED + b"%c" + b"\xff\xff\xff\xff",
    "v3": b"\0\3" + ASSIGNED + b"%c" + b"\0\0\0\0",
    "none": b"",
    "custom": b"\0\1" + ASSIGNED + b"%c" + b"\0\0\0\2hi",
    "cut": b"\0\1" + ASSIGNED + b"%c",
    "text": b"?",
    "longer": b"\0\0" + ASSIGNED + b"%c" + b"\xff\xff\xff\xff" + b"more",
}


class Beat(NamedTuple):
    """Join with the consumer protocol (epoch 0), or leave (-1; -2: a static member)."""

    group: str
    member_id: str
    epoch: int
    instance: str | None = None

    @property
    def api(self) -> Api:
        return HEARTBEAT

    @property
    def keys(self) -> int:
        return 1

    def encode(self, version: int) -> bytes:
        form = form_of(HEARTBEAT, version)
        instance = form.null_string if self.instance is None else form.string(self.instance)
        return (
            form.string(self.group)
            + form.string(self.member_id)
            + int32(self.epoch)
            + instance
            + form.null_string  # rack
            + int32(_LONG_MS)
            + form.array([form.string(TOPIC)])
            + form.null_string  # regular expression
            + form.null_string  # assignor
            + form.array(())
            + form.tags
        )

    def decode(self, version: int, data: bytes, offset: int) -> KafkaError | None:
        with reader_of(HEARTBEAT, version, data, offset) as reader:
            reader.skip(4)  # throttle time
            code, message = reader.int16(), reader.nullable_string()
        return kafka_error(code, message) if code else None


@dataclass
class RawMember:
    """A member, and what it sends; ``member_id`` once it has joined."""

    classic: bool = True
    subscription: str = "v1"
    assignment: str = "v0"
    instance: str | None = None
    member_id: str = ""
    generation: int = -1


@dataclass
class RawGroup:
    """A group and its members; an error of the broker is returned by its name, ``""`` is success."""

    name: str
    seats: Seats
    protocol_type: str = "consumer"
    assignor: str = "range"
    members: list[RawMember] = field(default_factory=list)

    async def form(self, members: Sequence[RawMember]) -> None:
        """Let classic members join at the same time, until they are stable together."""
        self.members = list(members)
        seats, received = self.seats.clusters[: len(members)], asyncio.Condition()
        await asyncio.gather(*(self._stay(seat, each, received) for seat, each in zip(seats, members, strict=True)))

    async def _stay(self, seat: Cluster, member: RawMember, received: asyncio.Condition) -> None:
        while True:
            joined = await self._join(seat, member)
            assert isinstance(joined, Joined), (self.name, joined)
            leads = joined.leader == joined.member_id
            if leads and len(joined.members) < len(self.members):
                await asyncio.sleep(0.05)
                continue
            async with received:
                received.notify_all()
                if leads:  # a static member learns the ID that its assignment needs from its own response
                    await received.wait_for(partial(self._all_received, joined.generation))
            assignments = self._assignments() if leads else {}
            sync = SyncGroup(
                self.name, member.member_id, member.generation, self.protocol_type, self.assignor, assignments
            )
            synced = await seat.call(self.seats.broker(seat), sync)
            if not isinstance(synced, KafkaError):
                return
            assert synced.code in (Code.rebalance_in_progress, Code.illegal_generation), synced

    def _all_received(self, generation: int) -> bool:
        return all(each.generation == generation for each in self.members)

    def _assignments(self) -> dict[str, bytes]:
        return {
            each.member_id: ASSIGNMENTS[each.assignment].replace(b"%c", bytes((at,)))
            for at, each in enumerate(self.members)
        }

    async def _join(self, seat: Cluster, member: RawMember) -> Joined | KafkaError:
        while True:
            call = JoinGroup(
                self.name,
                member.member_id,
                self.protocol_type,
                self.assignor,
                SUBSCRIPTIONS[member.subscription],
                _LONG,
                _LONG,
                member.instance,
            )
            joined = await seat.call(self.seats.broker(seat), call)
            if isinstance(joined, KafkaError):
                return joined
            member.member_id = joined.member_id
            if not isinstance(joined, MemberIdRequired):
                member.generation = joined.generation
                return joined

    async def join(self, member: RawMember) -> str:
        """Let one more member join; a classic one joins a consumer group, or a classic group that waits for nobody."""
        seat = self.seats.clusters[-1]
        if member.classic:
            joined = await self._join(seat, member)
            error = joined.name if isinstance(joined, KafkaError) else ""
        else:
            member.member_id = str(uuid.uuid4())
            beat = await seat.call(self.seats.broker(seat), Beat(self.name, member.member_id, 0, member.instance))
            error = beat.name if beat else ""
        if not error:
            self.members = [each for each in self.members if not member.instance or each.instance != member.instance]
            self.members.append(member)
        return error

    async def leave(self, member: RawMember) -> None:
        seat = self.seats.clusters[-1]
        node = self.seats.broker(seat)
        if member.classic:
            left = (await seat.call(node, LeaveGroup(self.name, ((member.member_id, member.instance),))))[self.name]
            assert not isinstance(left, KafkaError), left
            assert set(left.values()) == {None}, left
        else:
            error = await seat.call(node, Beat(self.name, member.member_id, -1, member.instance))
            assert error is None, error
        self.members.remove(member)

    async def leave_all(self) -> None:
        for each in list(self.members):
            await self.leave(each)


class Seats:
    """Connections: a broker handles the requests of one after the other, and JoinGroup waits for all members."""

    def __init__(self, bootstrap: str, count: int) -> None:
        self._settings = ClientSettings(parse_bootstrap(bootstrap), timeout=900, broker_timeout=300)
        self._count = count
        self._stack = AsyncExitStack()
        self.clusters: list[Cluster] = []

    async def __aenter__(self) -> Seats:
        for _ in range(self._count):
            cluster, _ = await Cluster.connect(self._settings)
            self.clusters.append(await self._stack.enter_async_context(cluster))
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    @staticmethod
    def broker(seat: Cluster) -> object:
        (node,) = seat.nodes.values()
        return node
