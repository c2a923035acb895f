"""JoinGroup (key 11): become a member of a classic group; answered when the group's rebalance is through.

v1  rebalance timeout (KIP-62)
v2  throttle time; the oldest that Kafka 4 takes
v4  a newcomer is first only given its id, with MEMBER_ID_REQUIRED, and asks again with it (KIP-394, Kafka 2.2)
v5  group instance id: static members (KIP-345)
v7  the answer tells the protocol type (KIP-559)
v8  the reason for joining (KIP-800); we give none
v9  the leader may be told not to assign (KIP-814); happens to static leaders only
"""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

from kgroups.model.groups import GroupId
from kgroups.protocol.error_codes import Code, KafkaError, kafka_error
from kgroups.protocol.schema import build, nested, read_response, request_type, write_request
from kgroups.protocol.versions import Api

API = Api(11, "JoinGroup", 2, 9, flexible=6)


class Joined(NamedTuple):
    """``members`` (id -> what it sent) is known to the leader only."""

    member_id: str
    generation: int
    leader: str
    members: dict[str, bytes]


class MemberIdRequired(NamedTuple):
    """The coordinator's first answer to a newcomer (v4 and newer): the id to come back with."""

    member_id: str


class JoinGroup(NamedTuple):
    """Let me in, with one protocol on offer; ``member_id`` is empty for a newcomer."""

    group: GroupId
    member_id: str
    protocol_type: str
    protocol: str
    metadata: bytes
    session_timeout: timedelta
    rebalance_timeout: timedelta

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return 1

    def encode(self, version: int) -> bytes:
        kind = request_type(API.key, version)
        offer = build(nested(kind, "JoinGroupRequestProtocol"), name=self.protocol, metadata=self.metadata)
        return write_request(
            API,
            version,
            group_id=self.group,
            session_timeout=self.session_timeout,
            rebalance_timeout=self.rebalance_timeout,
            member_id=self.member_id,
            protocol_type=self.protocol_type,
            protocols=(offer,),
        )

    def decode(self, version: int, data: bytes, offset: int) -> Joined | MemberIdRequired | KafkaError:
        response = read_response(API, version, data, offset)
        if response.error_code == Code.member_id_required:
            return MemberIdRequired(response.member_id)
        if response.error_code:
            return kafka_error(response.error_code)
        members = {member.member_id: member.metadata for member in response.members}
        return Joined(response.member_id, int(response.generation_id), response.leader, members)
