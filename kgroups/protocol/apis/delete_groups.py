"""DeleteGroups (key 42): delete groups with their committed offsets, several per request.

v0  Kafka 1.1
v1  the response precedes the throttling; same form
v2  flexible form
v3  the broker's reason for each error (Kafka 4.4)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kgroups.model.groups import GroupId

from ..error_codes import Code, KafkaError, kafka_error
from ..reader import reader_of
from ..versions import Api
from ..writer import form_of

API = Api(42, "DeleteGroups", 0, 3, flexible=2, waits=True, throttled_from=1)

_REASONS = 3
"""The first version with a reason for each error."""

_MESSAGES = {
    Code.non_empty_group: "the group has members",
}


class DeleteGroups(NamedTuple):
    """Delete these groups; their coordinator accepts the request."""

    groups: tuple[GroupId, ...]

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return len(self.groups)

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        return form.array(map(form.string, self.groups)) + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[GroupId, GroupId | KafkaError]:
        """Return group -> itself if it was deleted, or its error."""
        results: dict[GroupId, GroupId | KafkaError] = {}
        with reader_of(API, version, data, offset) as reader:
            reader.skip(4)  # throttle time
            for _ in reader.turns(reader.count()):
                group, code = reader.string(), reader.int16()
                message = reader.nullable_string() if version >= _REASONS else None
                reader.tags()
                results[group] = _error(code, message) if code else group
            reader.tags()
            reader.end()
        return results


def _error(code: int, message: str | None) -> KafkaError:
    """Return an error with the broker's reason, which is more exact than a message for the code, if there is one."""
    return KafkaError(Code(code), message) if message else kafka_error(code, messages=_MESSAGES)
