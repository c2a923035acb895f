"""Facts about share groups: states read backward, settings, oldest unfinished records, and why something is unknown."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from kio.schema.errors import ErrorCode

from kgroups.admin.query.select_groups import Selection
from kgroups.admin.share_state.gather import READ_STATES, Gathered, gather_share_facts
from kgroups.admin.wire import WireClient
from kgroups.model.effective_setting import Effective
from kgroups.model.group_log import ReadBudget
from kgroups.model.offsets import Isolation
from kgroups.model.share.batches import StateBatch
from kgroups.model.share.partition import ShareFacts, SharePartition
from kgroups.model.time_lag import FirstUnread
from tests.fakes.asking import ask
from tests.fakes.broker import FakeCluster
from tests.fakes.record_batches import Batch, batch
from tests.fakes.share_records import GROUP, TOPIC_ID, deleted, snapshot, state_key, update

LOG = "__share_group_state"
PLENTY = ReadBudget(1 << 30, 60)
LIMIT, LOCK, DEAD = "share.delivery.count.limit", "share.record.lock.duration.ms", "errors.deadletterqueue.topic.name"


def fake(*log: Batch) -> FakeCluster:
    """A share group that starts at offset 5 of the log of ``t``, which goes from 0 to 20."""
    found = FakeCluster(1, "4.3.1")
    records = [batch(offset, [(offset, 100 + offset)]) for offset in range(20)]
    found.state.topic("t", [0], end=20, logs={0: records}, topic_id=TOPIC_ID)
    found.state.topic(LOG, [0], end=log[-1].last + 1 if log else 0, logs={0: log}, topic_id=9)
    found.state.group(GROUP, 0, type="Share", protocol_type="share", commits={("t", 0): 5})
    found.state.settings = {GROUP: {LIMIT: "7", LOCK: "15000", DEAD: "dlq.t"}, "0": {f"group.{LIMIT}": "5"}}
    return found


def gather(cluster: FakeCluster, limits: ReadBudget = PLENTY) -> Gathered:
    async def query(admin: WireClient) -> Gathered:
        items = (await admin.describe_offsets(Selection((GROUP,)), isolation=Isolation.READ_UNCOMMITTED)).items
        return await gather_share_facts(admin.cluster, items, limits)

    return ask(cluster, query)


def facts(cluster: FakeCluster) -> ShareFacts:
    return gather(cluster).facts[GROUP]


def partition(cluster: FakeCluster) -> SharePartition:
    (found,) = facts(cluster).partitions
    return found


def others(offsets: Sequence[int]) -> list[Batch]:
    return [update(offset, group="other") for offset in offsets]


def test_state_consists_of_the_last_snapshot_and_the_updates_after_it() -> None:
    log = [
        snapshot(0, 3, [(3, 9, 2, 1)]),
        snapshot(1, 5, [(5, 6, 2, 1)]),
        *others(range(2, 60)),
        update(60, states=[(7, 7, 0, 3)]),
        *others(range(61, 900)),
        update(900, states=[(9, 9, 4, 1)]),
    ]
    found = partition(fake(*log))
    assert found.unknown is None and found.state
    assert found.state.batches == (StateBatch(5, 6, 2, 1), StateBatch(7, 7, 0, 3), StateBatch(9, 9, 4, 1))
    assert found.state.progress.latest == 900_000
    assert found.oldest == FirstUnread(7, 107)


def test_records_of_the_dead_letter_topic_are_counted() -> None:
    cluster = fake(snapshot(0, 3))
    assert facts(cluster).dead_letters == "the topic or partition does not exist (deleted?)"
    cluster = fake(snapshot(0, 3))
    cluster.state.topic("dlq.t", [0, 0], end=7, topic_id=11)
    assert facts(cluster).dead_letters == 14
    cluster = fake(snapshot(0, 3))
    cluster.state.settings[GROUP].pop(DEAD)
    assert facts(cluster).dead_letters is None


def test_search_stops_at_the_last_snapshot() -> None:
    log = [snapshot(0, 3), *others(range(1, 9000)), snapshot(9000, 5), update(9001, 6)]
    found = gather(fake(*log))
    (reached,) = found.reached
    assert reached.startswith("read 16 records (")
    assert f") of {LOG}-0, offsets 8,986 to 9,002 of 0 to 9,002, back to 1970-01-01T02:29:46.000Z" in reached


def test_deleted_state_is_none_and_records_after_it_count() -> None:
    assert partition(fake(snapshot(0, 3), deleted(1))).state is None
    assert partition(fake(snapshot(0, 3), deleted(1))).unknown is None
    again = partition(fake(snapshot(0, 3, [(3, 9, 2, 1)]), deleted(1), snapshot(2, 5)))
    assert again.state and again.state.batches == ()


def test_group_without_records_has_no_state() -> None:
    found = partition(fake(*others(range(40))))
    assert (found.state, found.unknown, found.oldest) == (None, None, None)


def test_updates_without_snapshot_are_unknown() -> None:
    found = partition(fake(update(0, 5)))
    assert (found.state, found.unknown) == (None, f"{LOG} contains updates of its state, but no snapshot")


def test_undecodable_record_makes_only_its_state_unknown() -> None:
    broken = batch(1, [(1, 1000)], key=state_key(1), value=b"\0\x63")
    found = gather(fake(snapshot(0, 5), broken, snapshot(2, 0, partition=1)))
    (partition,) = found.facts[GROUP].partitions
    assert (partition.state, partition.unknown) == (None, "a record of its state could not be decoded")
    assert "; 1 could not be decoded" in found.reached[0]


def test_search_beyond_its_limit_is_unknown_with_reason() -> None:
    log = [snapshot(0, 5), *others(range(1, 9000))]
    (found,) = gather(fake(*log), ReadBudget(1 << 16, 60)).facts[GROUP].partitions
    assert found.unknown == f"not found in {LOG}-0; the search stopped at 65,536 bytes"


@pytest.mark.parametrize("api", ["Metadata", "Fetch"])
def test_missing_acl_on_the_state_topic_is_named(api: str) -> None:
    cluster = fake(snapshot(0, 5))
    cluster.state.fail(api, LOG if api == "Metadata" else f"{LOG}-0", ErrorCode.topic_authorization_failed)
    found = gather(cluster)
    (partition,) = found.facts[GROUP].partitions
    assert partition.unknown == f"not authorized: reading {LOG} requires the ACL READ on it"
    assert found.missing_acls == [READ_STATES]
    assert str(READ_STATES) == f"READ on TOPIC {LOG}"


def test_missing_state_topic_is_named() -> None:
    cluster = fake(snapshot(0, 5))
    del cluster.state.topics[LOG]
    assert LOG in (partition(cluster).unknown or "")


def test_oldest_record_that_cannot_be_read_is_unknown() -> None:
    cluster = fake(snapshot(0, 5))
    cluster.state.fail("Fetch", "t-0", ErrorCode.topic_authorization_failed)
    oldest = partition(cluster).oldest
    assert oldest and oldest.failed and "not authorized" in oldest.failed.lower()


def test_settings_of_the_group_precede_those_of_the_broker() -> None:
    cluster = fake(snapshot(0, 5))
    assert facts(cluster).settings == (Effective(LIMIT, "7"), Effective(LOCK, "15000"), Effective(DEAD, "dlq.t"))
    cluster = fake(snapshot(0, 5))
    cluster.state.settings = {GROUP: {LOCK: "15000"}, "0": {f"group.{LIMIT}": "5"}}
    limit, lock, dead = facts(cluster).settings
    assert (limit.number, lock.number) == (5, 15_000)
    assert (dead.value, dead.unknown) == (None, "not reported, requires Kafka 4.4")


def test_settings_that_cannot_be_read_are_unknown() -> None:
    cluster = fake(snapshot(0, 5))
    cluster.state.fail("DescribeConfigs", GROUP, ErrorCode.group_authorization_failed)
    settings = facts(cluster).settings
    assert [each.value for each in settings] == [None] * 3
    assert {each.unknown for each in settings} == {f"not authorized: needs DESCRIBE_CONFIGS on GROUP {GROUP}"}


def test_delivery_limit_that_only_brokers_have_is_unknown_without_theirs() -> None:
    cluster = fake(snapshot(0, 5))
    cluster.state.settings = {GROUP: {LOCK: "15000"}}
    cluster.state.fail("DescribeConfigs", "0", ErrorCode.cluster_authorization_failed)
    limit, lock, _ = facts(cluster).settings
    assert lock == Effective(LOCK, "15000")
    assert limit.value is None and "DESCRIBE_CONFIGS on the cluster" in (limit.unknown or "")


def test_start_offset_that_the_broker_does_not_report_is_unknown() -> None:
    cluster = fake(snapshot(0, 5))
    cluster.state.fail("DescribeShareGroupOffsets", "t-0", ErrorCode.unknown_server_error)
    found = partition(cluster)
    assert found.state is None and found.unknown and "unknown server error" in found.unknown.lower()
