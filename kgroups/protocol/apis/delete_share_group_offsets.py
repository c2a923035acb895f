"""DeleteShareGroupOffsets (key 92): forget where a share group starts in some topics, one group a request.

v0  the only one (KIP-932, Kafka 4.1): whole topics, of a group that has no members
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from kgroups.model.groups import GroupId

from ..error_codes import Code, KafkaError, kafka_error
from ..reader import reader_of
from ..versions import Api
from ..writer import form_of

API = Api(92, "DeleteShareGroupOffsets", 0, 0, flexible=0)

_WORDS = {
    Code.group_authorization_failed: "not authorized: needs the ACL DELETE on this group",
    Code.topic_authorization_failed: "not authorized: needs the ACL READ on this topic",
}

TopicErrors = Mapping[str, KafkaError | None]
"""Topic -> its error, or ``None`` where it is done."""


class DeleteShareGroupOffsets(NamedTuple):
    """Forget where this share group starts in these topics, in all of their partitions."""

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
        """The group -> what is said of each topic, or the error that concerns the whole group."""
        errors: dict[str, KafkaError | None] = {}
        with reader_of(API, version, data, offset) as reader:
            reader.skip(4)  # throttle time
            whole, said = reader.int16(), reader.nullable_string()
            for _ in reader.turns(reader.count()):
                topic = reader.string()
                reader.skip(16)  # its id
                code, message = reader.int16(), reader.nullable_string()
                reader.tags()
                errors[topic] = _error(code, message) if code else None
            reader.tags()
            reader.end()
        return {self.group: _error(whole, said) if whole else errors}


def _error(code: int, message: str | None) -> KafkaError:
    """In the broker's words, which tell a topic that is not there from one that the group has nothing on."""
    return KafkaError(Code(code), _WORDS.get(Code(code)) or message or kafka_error(code).message)
