"""The creation of topics, without brokers."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from kgroups.errors import SandboxError
from kgroups.model.cluster import Node
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.metadata import ClusterMetadata, TopicLeaders
from kgroups.protocol.error_codes import Code, KafkaError
from kgroups.sandbox.topics import create_topics
from kgroups.sandbox.wire.create_topics import CreateTopics


class Broker:
    """A broker that reports that a topic exists, although no other client created it if it is missing at first."""

    def __init__(self, *, exists: bool) -> None:
        self.exists = exists

    def nodes_by_health(self) -> list[Node]:
        return [Node(1, "localhost", 9092)]

    async def call(self, node: Node, call: Any) -> Any:
        if isinstance(call, CreateTopics):
            self.exists = True
            return {"a": KafkaError(Code.topic_already_exists, "")}
        leaders = {0: 1} if self.exists else {}
        return ClusterMetadata("id", (node,), (TopicLeaders("a", None, leaders),))


def test_topic_whose_creation_was_forwarded_twice_is_created() -> None:
    asyncio.run(create_topics(cast("Cluster", Broker(exists=False)), {"a": 1}))


def test_topic_that_existed_before_is_rejected() -> None:
    with pytest.raises(SandboxError, match="topic a cannot be created: TOPIC_ALREADY_EXISTS"):
        asyncio.run(create_topics(cast("Cluster", Broker(exists=True)), {"a": 1}))
