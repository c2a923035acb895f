"""LeaveGroup (key 13): remove members from a group, as they or an admin request, one group per request.

v3  several members per request, static ones by instance ID (KIP-345, Kafka 2.4); before, only members can leave
v4  flexible form
v5  a reason for the broker's log (KIP-800, Kafka 3.2)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kgroups.model.groups import GroupId

from ..error_codes import Code, KafkaError, kafka_error
from ..reader import reader_of
from ..versions import Api
from ..writer import form_of

API = Api(13, "LeaveGroup", 3, 5, flexible=4, throttled_from=2)

_REASON = 5

_MESSAGES = {
    Code.unknown_member_id: "the group has no such member",
    Code.fenced_instance_id: "the static member now has another member ID",
}

MemberErrors = Mapping[tuple[str, str | None], KafkaError | None]
"""(member ID, instance ID) of the request -> its error, or ``None`` if the member was removed."""


class LeaveGroup(NamedTuple):
    """Remove these members: (member ID, instance ID). A static member has an instance ID and no member ID."""

    group: GroupId
    members: tuple[tuple[str, str | None], ...]
    reason: str = ""

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return len(self.members)

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        reason = b"" if version < _REASON else form.string(self.reason) if self.reason else form.null_string
        members = form.array(
            form.string(member_id)
            + (form.null_string if instance is None else form.string(instance))
            + reason
            + form.tags
            for member_id, instance in self.members
        )
        return form.string(self.group) + members + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[GroupId, MemberErrors | KafkaError]:
        """Return the group -> the error of each member, or the error of the whole group."""
        errors: dict[tuple[str, str | None], KafkaError | None] = {}
        with reader_of(API, version, data, offset) as reader:
            reader.skip(4)  # throttle time
            whole = reader.int16()
            for _ in reader.turns(reader.count()):
                member_id, instance, code = reader.string(), reader.nullable_string(), reader.int16()
                reader.tags()
                errors[member_id, instance] = kafka_error(code, messages=_MESSAGES) if code else None
            reader.tags()
            reader.end()
        return {self.group: kafka_error(whole, messages=_MESSAGES) if whole else errors}
