"""DescribeGroups (key 15): state and members of classic groups, several per request.

v0  a group that does not exist is in state Dead
v3  authorized operations, on request (KIP-430, Kafka 2.3)
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
from .metadata import operations_of

if TYPE_CHECKING:
    from ..repeats import Repeats

API = Api(15, "DescribeGroups", 0, 6, flexible=5, throttled_from=2)

OPERATIONS_API = API._replace(oldest=3, newest=5)
"""Authorized operations of groups of any type: until v5, a group that is missing or of another type has them, too."""

_THROTTLE, _OPERATIONS, _INSTANCE_IDS, _MESSAGE = 1, 3, 4, 6
"""The first version that has each."""

_NO_OPERATIONS, _WITH_OPERATIONS = b"\0", b"\1"


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


class GroupOperations(NamedTuple):
    """Request the authorized operations on these groups, which need not exist."""

    groups: tuple[GroupId, ...]

    @property
    def api(self) -> Api:
        return OPERATIONS_API

    @property
    def keys(self) -> int:
        return len(self.groups)

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        return form.array(map(form.string, self.groups)) + _WITH_OPERATIONS + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[GroupId, frozenset[str] | KafkaError]:
        """Return group -> Kafka's names of the operations, or its error."""
        found: dict[GroupId, frozenset[str] | KafkaError] = {}
        with reader_of(API, version, data, offset) as reader:
            reader.skip(4)  # throttle time
            for _ in reader.turns(reader.count()):
                error = reader.int16()
                name, operations = _described(reader, version, [])[0], operations_of(reader.int32())
                reader.tags()
                if error:
                    found[name] = kafka_error(error)
                elif operations is not None:
                    found[name] = operations
            reader.tags()
            reader.end()
        return found


_Attributes = tuple[str, str, str]
"""State, protocol type, protocol."""


def _attributes(reader: Reader) -> _Attributes:
    return reader.string(), reader.string(), reader.string()


def _group(reader: Reader, version: int, seen: Seen[_Attributes]) -> tuple[GroupId, ClassicGroup | KafkaError]:
    error = reader.int16()
    message = reader.nullable_string() if version >= _MESSAGE else None
    group = _described(reader, version, seen)
    if version >= _OPERATIONS:
        reader.skip(4)
    reader.tags()
    if error:
        return group.group_id, kafka_error(error, message)
    if group.state == GroupState.DEAD:
        return group.group_id, kafka_error(Code.group_id_not_found)
    return group.group_id, group


def _described(reader: Reader, version: int, seen: Seen[_Attributes]) -> ClassicGroup:
    name = reader.string()
    state, protocol_type, protocol = reader.repeated(seen, _attributes)
    members = tuple([_member(reader, version, state, protocol_type, protocol) for _ in reader.turns(reader.count())])
    return ClassicGroup(name, state, protocol_type, protocol, members)


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
