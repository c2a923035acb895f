"""A member of a share group (KIP-932), played by hand, so that each record gets exactly the acknowledgment wanted."""

from __future__ import annotations

import asyncio
import base64
import time
import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, Final, NamedTuple

from kgroups.model.cluster import Node
from kgroups.net.cluster import Cluster
from kgroups.protocol.error_codes import Code, KafkaError, kafka_error
from kgroups.protocol.versions import Api
from kgroups.sandbox.coordinator_client import CoordinatorClient
from tests.fakes.oracle import build, nested, read_response, request_type, write_request

HEARTBEAT = Api(76, "ShareGroupHeartbeat", 1, 1, flexible=0)
READ_STATE = Api(84, "ReadShareGroupState", 0, 0, flexible=0)
FETCH = Api(78, "ShareFetch", 1, 2, flexible=0)

ACCEPT, RELEASE, REJECT = 1, 2, 3
"""Types of acknowledgments."""

JOIN, LEAVE = 0, -1
"""Member epochs; for the session, the first and the last epoch."""

_SECONDS: Final = 120.0

Acks = Sequence[tuple[int, int, int]]
"""First offset, last offset, and type of acknowledgment."""


class Acquired(NamedTuple):
    first: int
    last: int
    deliveries: int


class ShareGroupHeartbeat(NamedTuple):
    group: str
    member_id: str
    epoch: int
    topic: str

    @property
    def api(self) -> Api:
        return HEARTBEAT

    @property
    def keys(self) -> int:
        return 1

    def encode(self, version: int) -> bytes:
        joining = self.epoch == JOIN
        topics = (self.topic,) if joining else None
        fields: dict[str, Any] = {"member_epoch": self.epoch, "rack_id": None, "subscribed_topic_names": topics}
        return write_request(HEARTBEAT, version, group_id=self.group, member_id=self.member_id, **fields)

    def decode(self, version: int, data: bytes, offset: int) -> int | KafkaError:
        """Return the member epoch."""
        response = read_response(HEARTBEAT, version, data, offset)
        if response.error_code:
            return kafka_error(response.error_code, response.error_message)
        return int(response.member_epoch)


class ShareFetch(NamedTuple):
    """Acknowledge records of one partition, and acquire at most this number."""

    group: str
    member_id: str
    session: int
    topic_id: int
    partition: int
    acks: Acks
    most: int

    @property
    def api(self) -> Api:
        return FETCH

    @property
    def keys(self) -> int:
        return 1

    def encode(self, version: int) -> bytes:
        kind = request_type(FETCH.key, version)
        ack = nested(kind, "AcknowledgementBatch")
        batches = tuple(
            build(ack, first_offset=a, last_offset=b, acknowledge_types=(each,)) for a, b, each in self.acks
        )
        partition = build(
            nested(kind, "FetchPartition"), partition_index=self.partition, acknowledgement_batches=batches
        )
        topic = build(nested(kind, "FetchTopic"), topic_id=uuid.UUID(int=self.topic_id), partitions=(partition,))
        limits = {"min_bytes": 1, "max_bytes": 1 << 24, "max_records": self.most, "batch_size": max(1, self.most)}
        return write_request(
            FETCH,
            version,
            **{"group_id": self.group, "member_id": self.member_id, "share_session_epoch": self.session, **limits},
            max_wait=timedelta(milliseconds=200),
            share_acquire_mode=1,  # not more than max_records, although they are in the middle of a batch
            is_renew_ack=False,
            topics=(topic,) if self.session != LEAVE or batches else (),
            forgotten_topics_data=(),
        )

    def decode(self, version: int, data: bytes, offset: int) -> list[Acquired] | KafkaError:
        response = read_response(FETCH, version, data, offset)
        if response.error_code:
            return kafka_error(response.error_code, response.error_message)
        found: list[Acquired] = []
        for topic in response.responses:
            for each in topic.partitions:
                code = each.error_code or each.acknowledge_error_code
                if code:
                    return kafka_error(code, each.error_message or each.acknowledge_error_message)
                found += [Acquired(a.first_offset, a.last_offset, a.delivery_count) for a in each.acquired_records]
        return found


class ReadShareGroupState(NamedTuple):
    group: str
    topic_id: int
    partition: int

    @property
    def api(self) -> Api:
        return READ_STATE

    @property
    def keys(self) -> int:
        return 1

    def encode(self, version: int) -> bytes:
        kind = request_type(READ_STATE.key, version)
        partition = build(nested(kind, "PartitionData"), partition=self.partition, leader_epoch=0)
        topic = build(nested(kind, "ReadStateData"), topic_id=uuid.UUID(int=self.topic_id), partitions=(partition,))
        return write_request(READ_STATE, version, group_id=self.group, topics=(topic,))

    def decode(self, version: int, data: bytes, offset: int) -> Any:
        ((partition,),) = [topic.partitions for topic in read_response(READ_STATE, version, data, offset).results]
        return partition


class ShareMember:
    """A member that is alone in its group and reads one partition of a topic.

    It sends no heartbeats after it has joined: a test ends before its session times out.
    """

    def __init__(self, cluster: Cluster, route: CoordinatorClient, group: str, topic: str, partition: int) -> None:
        self._cluster, self._route = cluster, route
        self._beat = ShareGroupHeartbeat(group, _id(), JOIN, topic)
        self._place = topic, partition
        self._session = JOIN
        self._leader: Node
        self._topic_id: int

    @classmethod
    async def joined(cls, cluster: Cluster, group: str, topic: str, partition: int = 0) -> ShareMember:
        member = cls(cluster, await CoordinatorClient.to(cluster, [group]), group, topic, partition)
        epoch = await member._route.call(group, member._beat)
        assert isinstance(epoch, int), epoch
        member._beat = member._beat._replace(epoch=epoch)
        (entry,) = (await cluster.refresh((topic,))).topics
        leader = entry.leaders[partition]
        assert isinstance(leader, int)
        member._leader, member._topic_id = cluster.nodes[leader], entry.topic_id
        return member

    async def acquire(self, most: int, acks: Acks = ()) -> list[Acquired]:
        """Acknowledge records, and acquire others; wait until there are any, unless ``most`` is 0."""
        until = time.monotonic() + _SECONDS
        while True:
            group, member_id, *_ = self._beat
            call = ShareFetch(group, member_id, self._session, self._topic_id, self._place[1], acks, most)
            answer = await self._cluster.call(self._leader, call)
            if isinstance(answer, KafkaError):
                # The broker creates the state of the partition after the member has joined.
                assert answer.code in _NOT_YET and time.monotonic() < until, answer
            else:
                self._session, acks = self._session + 1, ()
                if answer or not most:
                    return answer
            assert time.monotonic() < until
            await asyncio.sleep(0.1)

    async def acknowledge(self, acks: Acks) -> None:
        await self.acquire(0, acks)

    async def stored_state(self) -> Any:
        """Return the state that the share coordinator has. The topic is new, so that its leader epoch is 0."""
        call = ReadShareGroupState(self._beat.group, self._topic_id, self._place[1])
        for node in self._cluster.nodes.values():
            answer = await self._cluster.call(node, call)
            if answer.error_code != Code.not_coordinator:
                return answer
        raise AssertionError(f"no coordinator has the state of {self._place}")

    async def leave(self) -> None:
        """Close the session, which releases what is acquired, and leave the group."""
        self._session = LEAVE
        await self.acquire(0)
        await self._route.call(self._beat.group, self._beat._replace(epoch=LEAVE))


_NOT_YET = {Code.unknown_topic_or_partition, Code.coordinator_not_available, Code.not_leader_or_follower}


def _id() -> str:
    return base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
