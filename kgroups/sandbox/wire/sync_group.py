"""SyncGroup (key 14): the leader sends all assignments, and each member receives its own.

v1  throttle time
v3  group instance ID (KIP-345)
v4  flexible form
v5  protocol type and name, which must be those of the group (KIP-559)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kgroups.model.groups import GroupId
from kgroups.protocol.error_codes import KafkaError, kafka_error
from kgroups.protocol.reader import reader_of
from kgroups.protocol.versions import Api
from kgroups.protocol.writer import form_of, int32

API = Api(14, "SyncGroup", 1, 5, flexible=4)

_INSTANCES, _PROTOCOL = 3, 5
"""The first version that has each."""


class SyncGroup(NamedTuple):
    """Send the assignments (member ID -> bytes; empty unless the member leads), and receive one's own."""

    group: GroupId
    member_id: str
    generation: int
    protocol_type: str
    protocol: str
    assignments: Mapping[str, bytes]

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return 1

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        return (
            form.string(self.group)
            + int32(self.generation)
            + form.string(self.member_id)
            + (form.null_string if version >= _INSTANCES else b"")
            + (form.string(self.protocol_type) + form.string(self.protocol) if version >= _PROTOCOL else b"")
            + form.array(
                form.string(member) + form.binary(assignment) + form.tags
                for member, assignment in self.assignments.items()
            )
            + form.tags
        )

    def decode(self, version: int, data: bytes, offset: int) -> bytes | KafkaError:
        """Return this member's assignment, or the error."""
        with reader_of(API, version, data, offset) as reader:
            reader.skip(4)  # throttle time
            code = reader.int16()
            if version >= _PROTOCOL:
                reader.nullable_string()  # type
                reader.nullable_string()  # name
            assignment = reader.binary()
            reader.tags()
            reader.end()
        return kafka_error(code) if code else assignment
