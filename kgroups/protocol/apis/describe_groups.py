"""DescribeGroups (key 15): state and members of classic groups, several per request.

v0  a group that does not exist is in state Dead
v3  authorized operations (KIP-430); not requested
v4  group instance IDs (KIP-345, Kafka 2.4)
v6  a group that does not exist, or is of another type, is GROUP_ID_NOT_FOUND (KIP-1043, Kafka 4.0)
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from kgroups.model.groups import GroupId, GroupState, Member

from ..embedded.registry import decode_member
from ..error_codes import Code, KafkaError, kafka_error
from ..reader import Reader, Seen, reader_of
from ..versions import Api
from ..writer import form_of

if TYPE_CHECKING:
    from ..repeats import Repeats

API = Api(15, "DescribeGroups", 0, 6, flexible=5)

_THROTTLE, _OPERATIONS, _INSTANCE_IDS, _MESSAGE = 1, 3, 4, 6
"""The first version that has each."""

_NO_OPERATIONS = b"\0"


class ClassicGroup(NamedTuple):
    """A classic group as its coordinator describes it; ``protocol`` is the selected assignor, or ``""``."""

    group_id: GroupId
    state: str
    protocol_type: str
    protocol: str
    members: tuple[Member, ...]


class DescribeGroups(NamedTuple):
    """Describe these classic groups."""

    groups: tuple[GroupId, ...]
    repeats: Repeats | None = None

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return len(self.groups)

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        operations = _NO_OPERATIONS if version >= _OPERATIONS else b""
        return form.array(map(form.string, self.groups)) + operations + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[GroupId, ClassicGroup | KafkaError]:
        """Return group -> its description, or its error; a Dead group is GROUP_ID_NOT_FOUND in every version."""
        with reader_of(API, version, data, offset) as reader:
            if version >= _THROTTLE:
                reader.skip(4)
            seen: Seen[_Attributes] = []
            read = partial(_group, reader, version, seen)
            groups = dict(
                self.repeats.read_in_order(reader, version, self.groups, read)
                if self.repeats
                else [read() for _ in reader.turns(reader.count())]
            )
            reader.tags()
            reader.end()
        return groups


_Attributes = tuple[str, str, str]
"""State, protocol type, protocol."""


def _attributes(reader: Reader) -> _Attributes:
    return reader.string(), reader.string(), reader.string()


def _group(reader: Reader, version: int, seen: Seen[_Attributes]) -> tuple[GroupId, ClassicGroup | KafkaError]:
    error = reader.int16()
    message = reader.nullable_string() if version >= _MESSAGE else None
    name = reader.string()
    state, protocol_type, protocol = reader.repeated(seen, _attributes)
    members = tuple([_member(reader, version, state, protocol_type, protocol) for _ in reader.turns(reader.count())])
    if version >= _OPERATIONS:
        reader.skip(4)
    reader.tags()
    if error:
        return name, kafka_error(error, message)
    if state == GroupState.DEAD:
        return name, kafka_error(Code.group_id_not_found)
    return name, ClassicGroup(name, state, protocol_type, protocol, members)


def _member(reader: Reader, version: int, state: str, protocol_type: str, protocol: str) -> Member:
    member_id = reader.string()
    instance_id = reader.nullable_string() if version >= _INSTANCE_IDS else None
    client_id, host = reader.string(), reader.string()
    metadata, held = reader.binary(), reader.binary()
    subscription, assignment = decode_member(protocol_type, metadata, held, protocol)
    reader.tags()
    complete = state == GroupState.STABLE  # before, brokers withhold what members sent
    return Member(
        member_id,
        client_id,
        host,
        assignment,
        instance_id,
        subscription.rack,
        subscription,
        metadata_bytes=len(metadata) if complete else None,
        assignment_bytes=len(held) if complete else None,
    )
