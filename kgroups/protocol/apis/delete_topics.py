"""DeleteTopics (key 20): delete topics with their records, several per request.

v1  throttle time (Kafka 1.0)
v4  flexible form
v5  error messages
v6  topics by name or ID (Kafka 2.8)

Without ZooKeeper, any broker accepts the request and forwards it to the controller.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ..error_codes import Code, KafkaError, kafka_error
from ..reader import reader_of
from ..versions import Api
from ..writer import form_of

API = Api(20, "DeleteTopics", 1, 6, flexible=4, waits=True, throttled_from=2)

_MESSAGE, _BY_ID = 5, 6
"""The first version that has each."""

_NO_ID = bytes(16)
_MESSAGES = {
    Code.topic_authorization_failed: "not authorized: needs the ACL DELETE on this topic",
    Code.topic_deletion_disabled: "topic deletion is disabled on the brokers (delete.topic.enable is false)",
    Code.request_timed_out: "the deletion may not be complete on all brokers yet",
    Code.unknown_topic_or_partition: "the topic does not exist",
}


class DeleteTopics(NamedTuple):
    """Delete these topics within ``timeout_ms``."""

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
        """Return topic -> itself if it was deleted, or its error."""
        results: dict[str, str | KafkaError] = {}
        with reader_of(API, version, data, offset) as reader:
            reader.skip(4)  # throttle time
            for _ in reader.turns(reader.count()):
                name = reader.nullable_string() if version >= _BY_ID else reader.string()
                reader.skip(16 if version >= _BY_ID else 0)
                code = reader.int16()
                message = reader.nullable_string() if version >= _MESSAGE else None
                reader.tags()
                if name is not None:
                    results[name] = kafka_error(code, message, messages=_MESSAGES) if code else name
            reader.tags()
            reader.end()
        return results
