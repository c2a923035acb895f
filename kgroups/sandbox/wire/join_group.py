"""JoinGroup (key 11): join a classic group; the response arrives when the rebalance is complete.

v1  rebalance timeout (KIP-62)
v2  throttle time; the oldest version of Kafka 4
v4  the coordinator first returns a new member ID, with MEMBER_ID_REQUIRED; the member joins again with it (KIP-394)
v5  group instance ID: static members (KIP-345)
v6  flexible form
v7  the response contains the protocol type (KIP-559)
v8  the reason for joining (KIP-800); not sent
v9  the coordinator can tell a static leader not to assign (KIP-814); not used
"""

from __future__ import annotations

from datetime import timedelta
from typing import NamedTuple

from kgroups.model.groups import GroupId
from kgroups.protocol.error_codes import Code, KafkaError, kafka_error
from kgroups.protocol.reader import Reader, reader_of
from kgroups.protocol.versions import Api
from kgroups.protocol.writer import form_of, int32

API = Api(11, "JoinGroup", 2, 9, flexible=6)

_INSTANCES, _TYPE, _REASON, _SKIP = 5, 7, 8, 9
"""The first version that has each."""


class Joined(NamedTuple):
    """A complete rebalance. Only the leader receives ``members`` (ID -> metadata)."""

    member_id: str
    generation: int
    leader: str
    members: dict[str, bytes]


class MemberIdRequired(NamedTuple):
    """The coordinator's first response to a new member (v4 and later): the ID to join with."""

    member_id: str


class JoinGroup(NamedTuple):
    """Join a group with one protocol; ``member_id`` is empty for a new member, ``instance`` is that of a static one."""

    group: GroupId
    member_id: str
    protocol_type: str
    protocol: str
    metadata: bytes
    session_timeout: timedelta
    rebalance_timeout: timedelta
    instance: str | None = None

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return 1

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        instance = form.null_string if self.instance is None else form.string(self.instance)
        instance = instance if version >= _INSTANCES else b""
        protocol = form.string(self.protocol) + form.binary(self.metadata) + form.tags
        reason = form.null_string if version >= _REASON else b""
        return (
            form.string(self.group)
            + _milliseconds(self.session_timeout)
            + _milliseconds(self.rebalance_timeout)
            + form.string(self.member_id)
            + instance
            + form.string(self.protocol_type)
            + form.array((protocol,))
            + reason
            + form.tags
        )

    def decode(self, version: int, data: bytes, offset: int) -> Joined | MemberIdRequired | KafkaError:
        with reader_of(API, version, data, offset) as reader:
            reader.skip(4)  # throttle time
            code, generation = reader.int16(), reader.int32()
            if version >= _TYPE:
                reader.nullable_string()
                reader.nullable_string()  # the protocol's name
            else:
                reader.string()
            leader = reader.string()
            reader.skip(1 if version >= _SKIP else 0)
            member_id = reader.string()
            members = dict(_member(reader, version) for _ in reader.turns(reader.count()))
            reader.tags()
            reader.end()
        if code == Code.member_id_required:
            return MemberIdRequired(member_id)
        return kafka_error(code) if code else Joined(member_id, generation, leader, members)


def _member(reader: Reader, version: int) -> tuple[str, bytes]:
    member_id = reader.string()
    if version >= _INSTANCES:
        reader.nullable_string()
    metadata = reader.binary()
    reader.tags()
    return member_id, metadata


def _milliseconds(time: timedelta) -> bytes:
    return int32(time // timedelta(milliseconds=1))
