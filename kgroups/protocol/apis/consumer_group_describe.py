"""ConsumerGroupDescribe (key 69): state, epochs, and members of KIP-848 groups, several per request (Kafka 3.7).

v0  epochs, current and target assignment; a group of another type is GROUP_ID_NOT_FOUND
v1  member type: whether a member uses the classic or the consumer protocol (Kafka 4.0)
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from kgroups.model.assignment import Subscription
from kgroups.model.groups import GroupId, Member

from ..error_codes import KafkaError, kafka_error
from ..group_description import prefer_descriptions, read_assignment
from ..reader import Reader, reader_of
from ..repeats import Repeats
from ..versions import Api
from ..writer import form_of

API = Api(69, "ConsumerGroupDescribe", 0, 1, flexible=0, throttled_from=0)

_MEMBER_TYPE = 1
"""The first version that has it."""

_UPGRADED = {0: False, 1: True}
"""Member type -> whether the member uses the consumer protocol."""

_NO_OPERATIONS = b"\0"


class ConsumerGroup(NamedTuple):
    """A KIP-848 group as its coordinator describes it."""

    group_id: GroupId
    state: str
    assignor: str
    group_epoch: int
    assignment_epoch: int
    members: tuple[Member, ...]


class ConsumerGroupDescribe(NamedTuple):
    """Describe these KIP-848 groups."""

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
        return form.array(map(form.string, self.groups)) + _NO_OPERATIONS + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[GroupId, ConsumerGroup | KafkaError]:
        """Return group -> its description, or its error.

        Kafka 3.9 describes each group of a request once per partition of the offsets topic that is concerned, with
        GROUP_ID_NOT_FOUND from those that do not contain the group.
        """
        with reader_of(API, version, data, offset) as reader:
            reader.skip(4)  # throttle time
            read = partial(_group, reader, version)
            groups = (
                self.repeats.read_in_order(reader, version, self.groups, read)
                if self.repeats
                else [read() for _ in reader.turns(reader.count())]
            )
            reader.tags()
            reader.end()
        return prefer_descriptions(groups)


def _group(reader: Reader, version: int) -> tuple[GroupId, ConsumerGroup | KafkaError]:
    error, message, name, state = reader.int16(), reader.nullable_string(), reader.string(), reader.string()
    epoch, assignment_epoch, assignor = reader.int32(), reader.int32(), reader.string()
    members = tuple([_member(reader, version) for _ in reader.turns(reader.count())])
    reader.skip(4)  # authorized operations
    reader.tags()
    if error:
        return name, kafka_error(error, message)
    return name, ConsumerGroup(name, state, assignor, epoch, assignment_epoch, members)


def _member(reader: Reader, version: int) -> Member:
    member_id, instance_id, rack_id = reader.string(), reader.nullable_string(), reader.nullable_string()
    epoch, client_id, host = reader.int32(), reader.string(), reader.string()
    topics = [reader.string() for _ in reader.turns(reader.count())]
    regex = reader.nullable_string() or None
    assignment, target = read_assignment(reader), read_assignment(reader)
    upgraded = _UPGRADED.get(reader.int8()) if version >= _MEMBER_TYPE else None
    reader.tags()
    return Member(
        member_id=member_id,
        client_id=client_id,
        host=host,
        assignment=assignment,
        instance_id=instance_id,
        rack_id=rack_id,
        subscription=Subscription(topics=tuple(sorted(topics)), regex=regex, owned=assignment),
        member_epoch=epoch,
        target=target,
        upgraded=upgraded,
    )
