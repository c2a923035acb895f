"""CreateTopics (key 19): new topics, as the controller spreads them.

v2  throttle time; what Kafka 1.1 speaks. Before Kafka 2.6 only the controller itself takes it
v4  defaults for partitions and replicas (KIP-464); not needed
v5  the answer tells the topics' settings (KIP-525); not read
v7  topic ids (KIP-516); not read
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import NamedTuple

from kgroups.protocol.error_codes import KafkaError, kafka_error
from kgroups.protocol.schema import build, nested, read_response, request_type, write_request
from kgroups.protocol.versions import Api

API = Api(19, "CreateTopics", 2, 7, flexible=5)

_TIMEOUT = timedelta(seconds=30)


class CreateTopics(NamedTuple):
    """Make these topics, name -> number of partitions, each with one replica."""

    topics: Mapping[str, int]

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return len(self.topics)

    def encode(self, version: int) -> bytes:
        kind = request_type(API.key, version)
        topic = nested(kind, "CreatableTopic")
        return write_request(
            API,
            version,
            topics=tuple(
                build(topic, name=name, num_partitions=partitions, replication_factor=1, assignments=(), configs=())
                for name, partitions in self.topics.items()
            ),
            timeout=_TIMEOUT,
            validate_only=False,
        )

    def decode(self, version: int, data: bytes, offset: int) -> Mapping[str, KafkaError | None]:
        """Topic -> the error given for it, or ``None`` when it was made."""
        response = read_response(API, version, data, offset)
        return {
            topic.name: kafka_error(topic.error_code, topic.error_message) if topic.error_code else None
            for topic in response.topics
        }
