"""ShareGroupDescribe (key 77): state, epochs, and members of share groups (KIP-932), several per request.

v1  final form (Kafka 4.1); v0, the preview of Kafka 4.0, is not supported
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kgroups.model.assignment import Subscription
from kgroups.model.groups import GroupId, Member

from ..error_codes import KafkaError, kafka_error
from ..group_description import read_assignment
from ..reader import Reader, reader_of
from ..versions import Api
from ..writer import form_of

API = Api(77, "ShareGroupDescribe", 1, 1, flexible=0, throttled_from=0)

_NO_OPERATIONS = b"\0"


class ShareGroup(NamedTuple):
    """A share group as its coordinator describes it."""

    group_id: GroupId
    state: str
    assignor: str
    group_epoch: int
    assignment_epoch: int
    members: tuple[Member, ...]


class ShareGroupDescribe(NamedTuple):
    """Describe these share groups. A group of another type is GROUP_ID_NOT_FOUND."""

    groups: tuple[GroupId, ...]

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return len(self.groups)

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        return form.array(map(form.string, self.groups)) + _NO_OPERATIONS + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[GroupId, ShareGroup | KafkaError]:
        """Return group -> its description, or its error."""
        with reader_of(API, version, data, offset) as reader:
            reader.skip(4)  # throttle time
            groups = dict([_group(reader) for _ in reader.turns(reader.count())])
            reader.tags()
            reader.end()
        return groups


def _group(reader: Reader) -> tuple[GroupId, ShareGroup | KafkaError]:
    error, message, name, state = reader.int16(), reader.nullable_string(), reader.string(), reader.string()
    epoch, assignment_epoch, assignor = reader.int32(), reader.int32(), reader.string()
    members = tuple([_member(reader) for _ in reader.turns(reader.count())])
    reader.skip(4)  # authorized operations
    reader.tags()
    if error:
        return name, kafka_error(error, message)
    return name, ShareGroup(name, state, assignor, epoch, assignment_epoch, members)


def _member(reader: Reader) -> Member:
    member_id, rack_id, epoch = reader.string(), reader.nullable_string(), reader.int32()
    client_id, host = reader.string(), reader.string()
    topics = [reader.string() for _ in reader.turns(reader.count())]
    assignment = read_assignment(reader)
    reader.tags()
    return Member(
        member_id=member_id,
        client_id=client_id,
        host=host,
        assignment=assignment,
        rack_id=rack_id,
        subscription=Subscription(topics=tuple(sorted(topics)), owned=assignment),
        member_epoch=epoch,
    )
