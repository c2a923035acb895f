"""ConsumerGroupDescribe (key 69): state, epochs and members of KIP-848 consumer groups, many a request (Kafka 3.7).

v0  epochs, current and target assignment; a group of another type is GROUP_ID_NOT_FOUND
v1  member type: whether a member speaks the classic or the consumer protocol (Kafka 4.0)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from kgroups.model.assignment import Assignment, Subscription, assignment_of
from kgroups.model.groups import GroupId, Member

from ..error_codes import Code, KafkaError, kafka_error
from ..schema import read_response, write_request
from ..versions import Api

API = Api(69, "ConsumerGroupDescribe", 0, 1, flexible=0)

_CLASSIC_MEMBER, _CONSUMER_MEMBER = 0, 1


class ConsumerGroup(NamedTuple):
    """A KIP-848 group as its coordinator describes it."""

    group_id: GroupId
    state: str
    assignor: str
    group_epoch: int
    assignment_epoch: int
    members: tuple[Member, ...]


class ConsumerGroupDescribe(NamedTuple):
    """What are these KIP-848 groups doing, and who is in them?"""

    groups: tuple[GroupId, ...]

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return len(self.groups)

    def encode(self, version: int) -> bytes:
        return write_request(API, version, group_ids=self.groups, include_authorized_operations=False)

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[GroupId, ConsumerGroup | KafkaError]:
        """Group -> its description, or the error given for it.

        Kafka 3.9 answers a request of several groups once from each of their offsets partitions, and each of these
        knows only its own groups: what is not GROUP_ID_NOT_FOUND counts.
        """
        response = read_response(API, version, data, offset)
        by_worth = sorted(
            response.groups, key=lambda group: (not group.error_code, group.error_code != Code.group_id_not_found)
        )
        return {group.group_id: _group(group) for group in by_worth}


def _group(group: Any) -> ConsumerGroup | KafkaError:
    if group.error_code:
        return kafka_error(group.error_code, group.error_message)
    return ConsumerGroup(
        group.group_id,
        group.group_state,
        group.assignor_name,
        int(group.group_epoch),
        int(group.assignment_epoch),
        tuple(map(_member, group.members)),
    )


def _member(member: Any) -> Member:
    kind = getattr(member, "member_type", -1)
    assignment = _assignment(member.assignment)
    return Member(
        member_id=member.member_id,
        client_id=member.client_id,
        host=member.client_host,
        assignment=assignment,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        subscription=Subscription(
            topics=tuple(sorted(member.subscribed_topic_names)),
            regex=member.subscribed_topic_regex or None,
            owned=assignment,
        ),
        member_epoch=int(member.member_epoch),
        target=_assignment(member.target_assignment),
        upgraded={_CLASSIC_MEMBER: False, _CONSUMER_MEMBER: True}.get(kind),
    )


def _assignment(assignment: Any) -> Assignment:
    return assignment_of((entry.topic_name, map(int, entry.partitions)) for entry in assignment.topic_partitions)
