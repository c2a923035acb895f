"""DeleteShareGroupOffsets (key 92): delete the start offsets of a share group, one group per request.

v0  the only version (KIP-932, Kafka 4.1): whole topics, of a group without members
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kgroups.model.groups import GroupId

from ..error_codes import Code, KafkaError, kafka_error
from ..reader import reader_of
from ..versions import Api
from ..writer import form_of

API = Api(92, "DeleteShareGroupOffsets", 0, 0, flexible=0, waits=True, throttled_from=0)

_MESSAGES = {
    Code.group_authorization_failed: "not authorized: needs the ACL DELETE on this group",
    Code.topic_authorization_failed: "not authorized: needs the ACL READ on this topic",
}

TopicErrors = Mapping[str, KafkaError | None]
"""Topic -> its error, or ``None`` if its offsets were deleted."""


class DeleteShareGroupOffsets(NamedTuple):
    """Delete the start offsets of a share group in all partitions of these topics."""

    group: GroupId
    topics: tuple[str, ...]

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return len(self.topics)

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        topics = form.array(form.string(topic) + form.tags for topic in self.topics)
        return form.string(self.group) + topics + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[GroupId, TopicErrors | KafkaError]:
        """Return the group -> the error of each topic, or the error of the whole group."""
        errors: dict[str, KafkaError | None] = {}
        with reader_of(API, version, data, offset) as reader:
            reader.skip(4)  # throttle time
            whole, reason = reader.int16(), reader.nullable_string()
            for _ in reader.turns(reader.count()):
                topic = reader.string()
                reader.skip(16)  # topic ID
                code, message = reader.int16(), reader.nullable_string()
                reader.tags()
                errors[topic] = _error(code, message) if code else None
            reader.tags()
            reader.end()
        return {self.group: _error(whole, reason) if whole else errors}


def _error(code: int, message: str | None) -> KafkaError:
    """Return an error with the broker's message, which distinguishes a missing topic from one without offsets."""
    return KafkaError(Code(code), _MESSAGES.get(Code(code)) or message or kafka_error(code).message)
