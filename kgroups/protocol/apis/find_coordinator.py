"""FindCoordinator (key 10): the broker that coordinates a group.

v0  one group per request
v1  key type (group or transaction), throttle time
v4  several groups per request (KIP-699, Kafka 3.0)
v5, v6  error codes for transactions and share groups; same form
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kgroups.model.cluster import Node
from kgroups.model.groups import GroupId

from ..error_codes import KafkaError, kafka_error
from ..reader import Reader, Seen, reader_of
from ..versions import FIND_COORDINATOR, Api
from ..writer import form_of

API = FIND_COORDINATOR

BATCHED = 4
"""The first version with several groups per request; before, one request per group."""

_KEY_TYPE = _THROTTLE = _MESSAGE = 1
"""The first version that has each."""

_GROUP_KEY = b"\0"


class FindCoordinator(NamedTuple):
    """Look up the coordinators of these groups; more than one requires version :data:`BATCHED`."""

    groups: tuple[GroupId, ...]

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return len(self.groups)

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        if version >= BATCHED:
            return _GROUP_KEY + form.array(map(form.string, self.groups)) + form.tags
        return form.string(self.groups[0]) + (_GROUP_KEY if version >= _KEY_TYPE else b"") + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[GroupId, Node | KafkaError]:
        """Return group -> its coordinator, or its error."""
        with reader_of(API, version, data, offset) as reader:
            if version >= _THROTTLE:
                reader.skip(4)
            if version >= BATCHED:
                seen: Seen[Node | KafkaError] = []
                found = {}
                for _ in reader.turns(reader.count()):
                    group = reader.string()
                    found[group] = reader.repeated(seen, _coordinator)
                reader.tags()
            else:
                error = reader.int16()
                message = reader.nullable_string() if version >= _MESSAGE else None
                node = _node(reader)
                reader.tags()
                found = {self.groups[0]: kafka_error(error, message) if error else node}
            reader.end()
        return found


def _coordinator(reader: Reader) -> Node | KafkaError:
    """Read the fields of a group after its name."""
    node, error, message = _node(reader), reader.int16(), reader.nullable_string()
    reader.tags()
    return kafka_error(error, message) if error else node


def _node(reader: Reader) -> Node:
    return Node(reader.int32(), reader.string(), reader.int32())
