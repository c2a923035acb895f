"""A member of a streams group (KIP-1071), played by hand: Kafka Streams itself is not among the sandbox's jars."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta
from typing import Any, NamedTuple

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.net.cluster import Cluster
from kgroups.protocol.error_codes import KafkaError, kafka_error
from kgroups.protocol.versions import Api
from kgroups.sandbox.coordinator_client import CoordinatorClient
from tests.fakes.oracle import build, nested, read_response, request_type, write_request

API = Api(88, "StreamsGroupHeartbeat", 0, 0, flexible=0)

JOIN, LEAVE = 0, -1
"""Member epochs that say so."""

_SECONDS = 120.0
Tasks = tuple[tuple[str, tuple[int, ...]], ...]
"""Subtopology and its partitions."""


class Beat(NamedTuple):
    """What the coordinator answers; ``tasks`` is ``None`` where they have not changed."""

    epoch: int
    tasks: Tasks | None


class StreamsGroupHeartbeat(NamedTuple):
    group: str
    member_id: str
    epoch: int
    topic: str
    tasks: Tasks

    @property
    def api(self) -> Api:
        return API

    @property
    def keys(self) -> int:
        return 1

    def encode(self, version: int) -> bytes:
        kind = request_type(API.key, version)
        joining = self.epoch == JOIN
        task = nested(kind, "TaskIds")
        owned = tuple(build(task, subtopology_id=name, partitions=partitions) for name, partitions in self.tasks)
        return write_request(
            API,
            version,
            group_id=self.group,
            member_id=self.member_id,
            member_epoch=self.epoch,
            endpoint_information_epoch=0,
            instance_id=None,
            rack_id="rack-1" if joining else None,
            rebalance_timeout=timedelta(seconds=30) if joining else timedelta(milliseconds=-1),
            topology=self._topology(kind) if joining else None,
            active_tasks=owned,
            standby_tasks=(),
            warmup_tasks=(),
            process_id="process-1" if joining else None,
            user_endpoint=build(nested(kind, "Endpoint"), host="localhost", port=65000) if joining else None,
            client_tags=(build(nested(kind, "KeyValue"), key="zone", value="a"),) if joining else None,
            task_offsets=None,
            task_end_offsets=None,
            shutdown_application=False,
        )

    def _topology(self, kind: Any) -> Any:
        """Reads one topic, and keeps a state that is logged."""
        config = build(nested(kind, "KeyValue"), key="cleanup.policy", value="compact")
        changelog = build(
            nested(kind, "TopicInfo"),
            name=f"{self.group}-store-changelog",
            partitions=0,
            replication_factor=1,
            topic_configs=(config,),
        )
        alone = build(
            nested(kind, "CopartitionGroup"), source_topics=(0,), source_topic_regex=(), repartition_source_topics=()
        )
        subtopology = build(
            nested(kind, "Subtopology"),
            subtopology_id="0",
            source_topics=(self.topic,),
            source_topic_regex=(),
            state_changelog_topics=(changelog,),
            repartition_sink_topics=(),
            repartition_source_topics=(),
            copartition_groups=(alone,),
        )
        return build(nested(kind, "Topology"), epoch=1, subtopologies=(subtopology,))

    def decode(self, version: int, data: bytes, offset: int) -> Beat | KafkaError:
        response = read_response(API, version, data, offset)
        if response.error_code:
            return kafka_error(response.error_code, response.error_message)
        tasks = response.active_tasks
        return Beat(
            int(response.member_epoch),
            None if tasks is None else tuple((each.subtopology_id, tuple(map(int, each.partitions))) for each in tasks),
        )


def play_streams_group(bootstrap: str, group: str, topic: str) -> None:
    """Joins alone, waits until it owns tasks, and leaves again."""
    asyncio.run(_play(bootstrap, group, topic))


async def _play(bootstrap: str, group: str, topic: str) -> None:
    cluster, _ = await Cluster.connect(
        ClientSettings(parse_bootstrap(bootstrap), timeout=2 * _SECONDS, broker_timeout=_SECONDS / 2)
    )
    async with cluster:
        route = await CoordinatorClient.to(cluster, [group])
        beat = StreamsGroupHeartbeat(group, f"{group}-member", JOIN, topic, ())
        until = time.monotonic() + _SECONDS
        while not beat.tasks:
            answer = await route.call(group, beat)
            assert isinstance(answer, Beat), answer
            assert time.monotonic() < until, f"no tasks after {_SECONDS:g} s: {answer}"
            beat = beat._replace(epoch=answer.epoch, tasks=answer.tasks or beat.tasks)
            await asyncio.sleep(0.2)
        for epoch in (beat.epoch, LEAVE):
            answer = await route.call(group, beat._replace(epoch=epoch))
            assert isinstance(answer, Beat), answer
