"""SyncGroup (key 14): the leader gives out the assignments, every member gets its own.

v1  throttle time
v3  group instance id (KIP-345)
v5  protocol type and name, which must be those of the group (KIP-559)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kgroups.model.groups import GroupId
from kgroups.protocol.error_codes import KafkaError, kafka_error
from kgroups.protocol.schema import build, nested, read_response, request_type, write_request
from kgroups.protocol.versions import Api

API = Api(14, "SyncGroup", 1, 5, flexible=4)


class SyncGroup(NamedTuple):
    """Here is what I assign (member id -> bytes; empty unless I lead); what is mine?"""

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
        kind = request_type(API.key, version)
        entry = nested(kind, "SyncGroupRequestAssignment")
        return write_request(
            API,
            version,
            group_id=self.group,
            generation_id=self.generation,
            member_id=self.member_id,
            protocol_type=self.protocol_type,
            protocol_name=self.protocol,
            assignments=tuple(
                build(entry, member_id=member, assignment=assignment) for member, assignment in self.assignments.items()
            ),
        )

    def decode(self, version: int, data: bytes, offset: int) -> bytes | KafkaError:
        """What was assigned to this member."""
        response = read_response(API, version, data, offset)
        if response.error_code:
            return kafka_error(response.error_code)
        assignment: bytes = response.assignment
        return assignment
