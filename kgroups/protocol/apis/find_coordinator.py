"""FindCoordinator (key 10): which broker keeps a group.

v0  one group a request
v1  key type (group or transaction), throttle time
v4  many groups a request (KIP-699, Kafka 3.0)
v5, v6  new error codes for transactions and share groups; same shape
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from kgroups.model.cluster import Node
from kgroups.model.groups import GroupId

from ..error_codes import KafkaError, kafka_error
from ..schema import read_response, write_request
from ..versions import Api

API = Api(10, "FindCoordinator", 0, 6, flexible=3)

BATCHED = 4
"""The first version that takes many groups in one request; below it, one request a group."""

_GROUP_KEY = 0


class FindCoordinator(NamedTuple):
    """Which broker keeps these groups? More than one group needs version :data:`BATCHED`."""

    groups: tuple[GroupId, ...]

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return len(self.groups)

    def encode(self, version: int) -> bytes:
        return write_request(API, version, key=self.groups[0], key_type=_GROUP_KEY, coordinator_keys=self.groups)

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[GroupId, Node | KafkaError]:
        """Group -> its coordinator, or the error given for it."""
        response = read_response(API, version, data, offset)
        if hasattr(response, "coordinators"):
            return {entry.key: _coordinator(entry) for entry in response.coordinators}
        return {self.groups[0]: _coordinator(response)}


def _coordinator(entry: Any) -> Node | KafkaError:
    if entry.error_code:
        return kafka_error(entry.error_code, getattr(entry, "error_message", None))
    return Node(int(entry.node_id), entry.host, int(entry.port))
