"""LeaveGroup (key 13): members leave a group, each by its own word or, as here, by an admin's; one group a request.

v3  many members a request, static ones by their instance id (KIP-345, Kafka 2.4); below it only members leave
v4  flexible form
v5  a reason, for the broker's log (KIP-800, Kafka 3.2)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kgroups.model.groups import GroupId

from ..error_codes import Code, KafkaError, kafka_error
from ..reader import reader_of
from ..versions import Api
from ..writer import form_of

API = Api(13, "LeaveGroup", 3, 5, flexible=4)

_REASON = 5

_WORDS = {
    Code.unknown_member_id: "there is no such member in the group",
    Code.fenced_instance_id: "the static member has another member id by now",
}

MemberErrors = Mapping[tuple[str, str | None], KafkaError | None]
"""(member id, instance id), as they were asked -> its error, or ``None`` when it is gone."""


class LeaveGroup(NamedTuple):
    """Remove these members: (member id, instance id). A static one goes by its instance id, and no member id."""

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
        """The group -> what is said of each member, or the error that concerns the whole group."""
        errors: dict[tuple[str, str | None], KafkaError | None] = {}
        with reader_of(API, version, data, offset) as reader:
            reader.skip(4)  # throttle time
            whole = reader.int16()
            for _ in reader.turns(reader.count()):
                member_id, instance, code = reader.string(), reader.nullable_string(), reader.int16()
                reader.tags()
                errors[member_id, instance] = kafka_error(code, words=_WORDS) if code else None
            reader.tags()
            reader.end()
        return {self.group: kafka_error(whole, words=_WORDS) if whole else errors}
