"""A topic is deleted and recreated while a group's coordinator is down: the commits outlive the topic."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient

from kgroups.admin.query.log_offsets import fetch_logs
from kgroups.admin.routing.coordinators import find_coordinators
from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.model.lag import EPOCH_AHEAD, RECREATED
from kgroups.model.offsets import Commit
from kgroups.net.cluster import Cluster
from kgroups.protocol.apis.offset_commit import OffsetCommit
from kgroups.protocol.apis.offset_fetch import API, OffsetFetch
from kgroups.protocol.error_codes import KafkaError as ReportedError
from kgroups.protocol.reader import reader_of
from kgroups.protocol.versions import Api
from kgroups.sandbox import Sandbox
from kgroups.sandbox.coordinator_client import CoordinatorClient
from kgroups.sandbox.topics import create_topics
from tests.integration.asking import run_kgroups
from tests.integration.conftest import wanted_versions
from tests.integration.versions import MAIN

T = TypeVar("T")
TOPIC = "recreated"
WITH_EPOCH, WITHOUT = "epoch", "no-epoch"


def test_recreated_topic_is_reported_by_every_command(
    request: pytest.FixtureRequest, require_kafka: Callable[[str], None]
) -> None:
    if MAIN not in wanted_versions(request.config):
        pytest.skip(f"harm is done to Kafka {MAIN} only")
    require_kafka(MAIN)
    fast = {"broker.session.timeout.ms": "6000"}
    with Sandbox.up(MAIN, brokers=3, name=f"pytest-{os.getpid()}-recreated", properties=fast) as sandbox:
        make(sandbox)
        leader = leader_of(sandbox)
        # Both groups are kept by one broker that does not lead the topic.
        names = [f"{kind}-{number}" for number in range(40) for kind in (WITH_EPOCH, WITHOUT)]
        coordinators = in_cluster(sandbox, lambda cluster: routed(cluster, names))
        keeper = next(node for node in coordinators.values() if node != leader)
        by_keeper = [name for name in names if coordinators[name] == keeper]
        kept = {kind: next(name for name in by_keeper if name.startswith(kind)) for kind in (WITH_EPOCH, WITHOUT)}
        produce(sandbox, 100)
        sandbox.restart(leader)
        epoch = in_cluster(sandbox, current_epoch)
        assert epoch > 0, "a partition that lost its leader is at a later epoch"
        in_cluster(sandbox, lambda cluster: commit(cluster, kept[WITH_EPOCH], Commit(0, 90, epoch)))
        in_cluster(sandbox, lambda cluster: commit(cluster, kept[WITHOUT], Commit(0, 90)))
        groups = list(kept.values())
        for words in ((), ("--deep",)):
            rows = ask(sandbox, "describe", *groups, *words)
            assert [(row["lag"], row["note"]) for row in rows] == [(10, None)] * 2, words

        sandbox.kill(keeper)
        delete(sandbox)
        sandbox.restart(keeper)
        named, by_id = in_cluster(sandbox, lambda cluster: fetched(cluster, kept[WITHOUT]))
        assert (named, by_id) == ([TOPIC], 0)
        make(sandbox)
        produce(sandbox, 95)
        assert in_cluster(sandbox, current_epoch) < epoch

        def reported(*words: str) -> dict[str, tuple[Any, Any]]:
            return {row["group"]: (row["lag"], row["note"]) for row in ask(sandbox, *words)}

        unknown, as_ever = (None, RECREATED), (5, None)
        by_epoch = {kept[WITH_EPOCH]: (None, EPOCH_AHEAD), kept[WITHOUT]: as_ever}
        assert reported("describe", *groups) == by_epoch
        assert reported("lag", *groups, "--by", "partition") == by_epoch
        assert reported("describe", *groups, "--deep") == dict.fromkeys(groups, unknown)
        checked = run_kgroups("check", kept[WITH_EPOCH], "--max-lag", "50", bootstrap=sandbox.bootstrap)
        assert checked.code == 3 and f"lag unknown on 1 partition: {EPOCH_AHEAD}" in checked.out
        judged = ask(sandbox, "explain", *groups, "--partition", TOPIC, "--stuck-after", "1ms")
        verdicts = {kept[WITH_EPOCH]: "leader-epoch-ahead", kept[WITHOUT]: "recreated-topic"}
        assert {row["group"]: row["verdict"] for row in judged} == verdicts
        explained = run_kgroups("explain", *groups, bootstrap=sandbox.bootstrap)
        assert explained.out.count(EPOCH_AHEAD) == 1


def delete(sandbox: Sandbox) -> None:
    """Delete the topic while a broker is down, which may have been the controller: on a busy machine, not at once."""
    for left in reversed(range(4)):
        admin = AdminClient({"bootstrap.servers": sandbox.bootstrap})
        (deleted,) = admin.delete_topics([TOPIC], operation_timeout=60).values()
        try:
            deleted.result(90)
            return
        except KafkaException as failed:
            if failed.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                return  # an earlier try was not answered in time
            if not left:
                raise


def ask(sandbox: Sandbox, *words: str) -> list[Any]:
    answer = run_kgroups(*words, "-o", "json", bootstrap=sandbox.bootstrap)
    assert answer.code == 0, answer.err
    return answer.items


def in_cluster(sandbox: Sandbox, act: Callable[[Cluster], Awaitable[T]]) -> T:
    async def done() -> T:
        cluster, _ = await Cluster.connect(
            ClientSettings(parse_bootstrap(sandbox.bootstrap), timeout=60, broker_timeout=60)
        )
        async with cluster:
            return await act(cluster)

    return asyncio.run(done())


def make(sandbox: Sandbox) -> None:
    in_cluster(sandbox, lambda cluster: create_topics(cluster, {TOPIC: 1}))


def produce(sandbox: Sandbox, count: int) -> None:
    producer = Producer({"bootstrap.servers": sandbox.bootstrap, "enable.idempotence": True})
    for number in range(count):
        producer.produce(TOPIC, b"%d" % number, partition=0)
    assert not producer.flush(60)


def leader_of(sandbox: Sandbox) -> int:
    topics = AdminClient({"bootstrap.servers": sandbox.bootstrap}).list_topics(TOPIC, timeout=60).topics
    return int(topics[TOPIC].partitions[0].leader)


async def routed(cluster: Cluster, names: list[str]) -> dict[str, int]:
    found, lost = await find_coordinators(cluster, names)
    assert not lost
    return {name: node.id for name, node in found.items()}


async def current_epoch(cluster: Cluster) -> int:
    logs, failures = await fetch_logs(cluster, {TOPIC: [0]})
    assert not failures
    return logs.epochs[TOPIC][0]


class FetchById(OffsetFetch):
    """Requests the commits of one group with v10, whose request equals v9's; returns the number of topics."""

    @property
    def api(self) -> Api:
        return API._replace(oldest=10, newest=10)

    def decode(self, version: int, data: bytes, offset: int) -> Any:
        with reader_of(API, version, data, offset) as reader:
            reader.skip(4)
            assert (reader.count(), reader.string()) == (1, *self.groups)
            return reader.count()


async def fetched(cluster: Cluster, group: str) -> tuple[list[str], int]:
    """Return the topics with commits of a group by name, and their number by ID."""
    route = await CoordinatorClient.to(cluster, [group])
    commits = (await route.call(group, OffsetFetch((group,))))[group]
    assert not isinstance(commits, ReportedError), commits
    return list(commits.topics), await route.call(group, FetchById((group,)))


async def commit(cluster: Cluster, group: str, made: Commit) -> None:
    route = await CoordinatorClient.to(cluster, [group])
    answer = await route.call(group, OffsetCommit(group, {TOPIC: [made]}))
    errors = answer[group]
    assert not isinstance(errors, ReportedError) and not any(errors.values()), errors
