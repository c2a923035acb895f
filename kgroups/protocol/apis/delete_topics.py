"""DeleteTopics (key 20): delete topics with all that is in them, many a request.

v1  throttle time (Kafka 1.0)
v4  flexible form
v5  the error in words
v6  topics by name or id (Kafka 2.8)

Any broker takes it where there is no ZooKeeper, and hands it to the controller.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..error_codes import Code, KafkaError, kafka_error
from ..reader import reader_of
from ..versions import Api
from ..writer import form_of

API = Api(20, "DeleteTopics", 1, 6, flexible=4)

_MESSAGE, _BY_ID = 5, 6
"""The first version that has each."""

_NO_ID = bytes(16)
_WORDS = {
    Code.topic_authorization_failed: "not authorized: needs the ACL DELETE on this topic",
    Code.topic_deletion_disabled: "the brokers do not delete topics: delete.topic.enable is false",
    Code.request_timed_out: "not known to be deleted everywhere yet",
    Code.unknown_topic_or_partition: "there is no such topic",
}


class DeleteTopics(NamedTuple):
    """Delete these topics, and take ``timeout_ms`` for it at most."""

    topics: tuple[str, ...]
    timeout_ms: int = 30_000

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return len(self.topics)

    def encode(self, version: int) -> bytes:
        form = form_of(API, version)
        no_id = _NO_ID + form.tags if version >= _BY_ID else b""
        topics = form.array(form.string(name) + no_id for name in self.topics)
        return topics + self.timeout_ms.to_bytes(4, "big") + form.tags

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[str, str | KafkaError]:
        """Topic -> itself when it is deleted, or the error given for it."""
        answers: dict[str, str | KafkaError] = {}
        with reader_of(API, version, data, offset) as reader:
            reader.skip(4)  # throttle time
            for _ in reader.turns(reader.count()):
                name = reader.nullable_string() if version >= _BY_ID else reader.string()
                reader.skip(16 if version >= _BY_ID else 0)
                code = reader.int16()
                message = reader.nullable_string() if version >= _MESSAGE else None
                reader.tags()
                if name is not None:
                    answers[name] = kafka_error(code, message, words=_WORDS) if code else name
            reader.tags()
            reader.end()
        return answers
