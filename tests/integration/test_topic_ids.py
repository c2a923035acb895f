"""Commits with topic IDs (OffsetCommit v10): the broker rejects those to a topic that was recreated meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from kgroups.admin.change.apply.apply_offsets import Checker, apply_offsets
from kgroups.admin.change.plan.plan_reset import plan_reset
from kgroups.admin.change.plan.reset_request import ResetRequest
from kgroups.admin.query.select_groups import Selection
from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.model.operations.reset import PlannedOffset, ToLatest
from kgroups.model.operations.results import AppliedOffset
from kgroups.model.outcome import Outcome, Result
from kgroups.net.cluster import Cluster
from kgroups.sandbox import Sandbox
from kgroups.sandbox.topics import create_topics
from tests.integration.asking import run_here
from tests.integration.versions import followed

TOPIC, GROUP = "by-id", "by-id-group"


@followed
@pytest.mark.parametrize("with_id", [True, False])
def test_topic_recreated_after_the_last_check(cluster: Sandbox, with_id: bool) -> None:
    """With its ID nothing is written; without it, the broker writes the offset of the former topic to the new one."""
    topic, group = f"{TOPIC}-{with_id}", f"{GROUP}-{with_id}"

    async def recreate(connected: Cluster) -> None:
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
        (deleted,) = admin.delete_topics([topic]).values()
        await asyncio.to_thread(deleted.result, 60)
        await create_topics(connected, {topic: 1})

    class Late(Checker):
        async def check(self, part: Sequence[PlannedOffset]) -> Outcome[PlannedOffset]:
            checked = await super().check(part)
            await recreate(self._cluster)
            return checked

    async def reset() -> Outcome[AppliedOffset]:
        connected, _ = await Cluster.connect(ClientSettings(parse_bootstrap(cluster.bootstrap), timeout=120))
        async with connected:
            await create_topics(connected, {topic: 1})
            producer = Producer({"bootstrap.servers": cluster.bootstrap})
            for number in range(5):
                producer.produce(topic, b"%d" % number, partition=0)
            assert not await asyncio.to_thread(producer.flush, 60)
            request = ResetRequest(Selection((group,)), ToLatest(), {topic: None}, create=True)
            (entry,) = (await plan_reset(connected, request)).items
            assert entry.seen.topic_id
            if not with_id:
                entry = entry._replace(seen=entry.seen._replace(topic_id=None))
            return await apply_offsets(connected, [entry], checker=Late(connected))

    applied = asyncio.run(reset())
    (row,) = applied.items
    assert row.result is (Result.FAILED if with_id else Result.APPLIED)
    assert [failure.error for failure in applied.failures] == (["UNKNOWN_TOPIC_ID"] if with_id else [])
    rows = run_here("describe", group, "-o", "json", bootstrap=cluster.bootstrap).items
    assert [row["current_offset"] for row in rows] == ([] if with_id else [5])
