"""Heartbeat (key 12): a member of a classic group is still there.

v1  throttle time
v3  group instance id (KIP-345)
"""

from __future__ import annotations

from typing import NamedTuple

from kgroups.model.groups import GroupId
from kgroups.protocol.error_codes import KafkaError, kafka_error
from kgroups.protocol.schema import read_response, write_request
from kgroups.protocol.versions import Api

API = Api(12, "Heartbeat", 1, 4, flexible=4)


class Heartbeat(NamedTuple):
    """I am still there; am I still a member?"""

    group: GroupId
    member_id: str
    generation: int

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return 1

    def encode(self, version: int) -> bytes:
        return write_request(
            API,
            version,
            group_id=self.group,
            generation_id=self.generation,
            member_id=self.member_id,
        )

    def decode(self, version: int, data: bytes, offset: int) -> KafkaError | None:
        """``None`` when all is well."""
        response = read_response(API, version, data, offset)
        return kafka_error(response.error_code) if response.error_code else None
