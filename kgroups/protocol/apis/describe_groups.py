"""DescribeGroups (key 15): state and members of classic groups, many a request.

v0  a group that does not exist is in state Dead
v3  authorized operations (KIP-430); we do not ask for them
v4  group instance ids (KIP-345, Kafka 2.4)
v6  a group that does not exist, or is of another type, is GROUP_ID_NOT_FOUND (KIP-1043, Kafka 4.0)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from kgroups.model.groups import GroupId, GroupState, Member

from ..embedded.registry import decode_member
from ..error_codes import Code, KafkaError, kafka_error
from ..schema import read_response
from ..versions import Api
from ..writer import form_of

API = Api(15, "DescribeGroups", 0, 6, flexible=5)

_OPERATIONS = 3
_NO_OPERATIONS = b"\0"


class ClassicGroup(NamedTuple):
    """A classic group as its coordinator describes it; ``protocol`` is the assignor in force, or ``""``."""

    group_id: GroupId
    state: str
    protocol_type: str
    protocol: str
    members: tuple[Member, ...]


class DescribeGroups(NamedTuple):
    """What are these classic groups doing, and who is in them?"""

    groups: tuple[GroupId, ...]

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return len(self.groups)

    def encode(self, version: int) -> bytes:
        # By hand: kio's writer takes 2 µs for each name.
        form = form_of(API, version)
        operations = _NO_OPERATIONS if version >= _OPERATIONS else b""
        return form.array(map(form.string, self.groups)) + operations + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[GroupId, ClassicGroup | KafkaError]:
        """Group -> its description, or the error given for it; a Dead group is GROUP_ID_NOT_FOUND in any version."""
        response = read_response(API, version, data, offset)
        return {group.group_id: _group(group) for group in response.groups}


def _group(group: Any) -> ClassicGroup | KafkaError:
    if group.error_code:
        return kafka_error(group.error_code, getattr(group, "error_message", None))
    if group.group_state == GroupState.DEAD:
        return kafka_error(Code.group_id_not_found)
    members = tuple(_member(group.protocol_type, member) for member in group.members)
    return ClassicGroup(group.group_id, group.group_state, group.protocol_type, group.protocol_data, members)


def _member(protocol_type: str, member: Any) -> Member:
    subscription, assignment = decode_member(protocol_type, member.member_metadata, member.member_assignment)
    return Member(
        member_id=member.member_id,
        client_id=member.client_id,
        host=member.client_host,
        assignment=assignment,
        instance_id=getattr(member, "group_instance_id", None),
        subscription=subscription,
    )
