"""Heartbeat (key 12): keep a member of a classic group alive.

v1  throttle time
v3  group instance ID (KIP-345)
v4  flexible form
"""

from __future__ import annotations

from typing import NamedTuple

from kgroups.model.groups import GroupId
from kgroups.protocol.error_codes import KafkaError, kafka_error
from kgroups.protocol.reader import reader_of
from kgroups.protocol.versions import Api
from kgroups.protocol.writer import form_of, int32

API = Api(12, "Heartbeat", 1, 4, flexible=4)

_INSTANCES = 3
"""The first version that has them."""


class Heartbeat(NamedTuple):
    """Report that a member is alive, and learn whether it is still in the group."""

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
        form = form_of(API, version)
        instance = form.null_string if version >= _INSTANCES else b""
        return form.string(self.group) + int32(self.generation) + form.string(self.member_id) + instance + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> KafkaError | None:
        """Return the error, or ``None`` if the member is still in the group."""
        with reader_of(API, version, data, offset) as reader:
            reader.skip(4)  # throttle time
            code = reader.int16()
            reader.tags()
            reader.end()
        return kafka_error(code) if code else None
