"""Reading MirrorMaker 2's topics of two clusters: names, what is kept, and what cannot be read."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Awaitable, Callable, Sequence
from hashlib import sha256
from typing import TypeVar

import pytest
from kio.schema.errors import ErrorCode

from kgroups.admin.query.select_groups import Selection
from kgroups.admin.translation.mirror import LIMITS, Committed, Mirror, read_mirror
from kgroups.admin.translation.translate import Request, translate
from kgroups.errors import UsageError
from kgroups.model.group_log import ReadBudget
from kgroups.model.translation.method import Method
from kgroups.model.translation.mirror_names import MirrorNames
from kgroups.model.translation.syncs import OffsetPair, SyncTranslation
from kgroups.model.translation.topics import TopicMap, parse_topic_map
from kgroups.net.cluster import Cluster
from tests.fakes import broker as faults
from tests.fakes.broker import FakeCluster
from tests.fakes.record_batches import Batch, batch

SYNCS, CHECKPOINTS = "mm2-offset-syncs.B.internal", "A.checkpoints.internal"
COMMITTED: Committed = {("t", 0): {"g": 60, "h": 5}, ("t", 1): {"g": 60}}
AUTO = MirrorNames()
T = TypeVar("T")


def text(name: str) -> bytes:
    return struct.pack(">h", len(name)) + name.encode()


def sync(at: int, upstream: int, downstream: int, topic: str = "t", partition: int = 0) -> Batch:
    key, value = text(topic) + struct.pack(">i", partition), struct.pack(">qq", upstream, downstream)
    return batch(at, [(at, 1000)], key=key, value=value)


def checkpoint(at: int, group: str, upstream: int, downstream: int, topic: str = "A.t") -> Batch:
    key = text(group) + text(topic) + bytes(4)
    return batch(at, [(at, 1000)], key=key, value=struct.pack(">hqq", 0, upstream, downstream) + text("m"))


def pair(
    syncs: Sequence[Batch] = (sync(0, 50, 40), sync(1, 60, 45)), checkpoints: Sequence[Batch] = ()
) -> tuple[FakeCluster, FakeCluster]:
    source, target = FakeCluster(1, "4.3.1"), FakeCluster(1, "4.3.1")
    source.state.topic("t", [0, 0])
    source.state.topic(SYNCS, [0], end=syncs[-1].last + 1 if syncs else 0, logs={0: syncs})
    target.state.topic("A.t", [0, 0])
    end = checkpoints[-1].last + 1 if checkpoints else 0
    target.state.topic(CHECKPOINTS, [0], end=end, logs={0: checkpoints})
    return source, target


def read(
    clusters: tuple[FakeCluster, FakeCluster],
    names: MirrorNames = AUTO,
    limits: ReadBudget = LIMITS,
    before: Callable[[], None] = lambda: None,
) -> Mirror:
    async def question(source: Cluster, target: Cluster) -> Mirror:
        before()
        return await read_mirror(source, target, names, COMMITTED, limits)

    return ask(clusters, question)


def ask(clusters: tuple[FakeCluster, FakeCluster], question: Callable[[Cluster, Cluster], Awaitable[T]]) -> T:
    source, target = clusters

    async def run() -> T:
        async with source, target:
            from_cluster, _ = await Cluster.connect(source.settings(broker_timeout=2))
            to_cluster, _ = await Cluster.connect(target.settings(broker_timeout=2))
            async with from_cluster, to_cluster:
                return await question(from_cluster, to_cluster)

    return asyncio.run(run())


def test_names_are_found_and_reported() -> None:
    mirror = read(pair())
    assert mirror.names == MirrorNames("A", "B", renames=True, on_target=False)
    assert mirror.notices == [
        f"MirrorMaker 2: offset syncs in {SYNCS} on the source, checkpoints in {CHECKPOINTS}; copies are named A.TOPIC"
    ]


def test_topics_with_equal_names_are_copies_if_none_was_renamed() -> None:
    source, target = pair()
    del target.state.topics["A.t"]
    target.state.topic("t", [0])
    assert read((source, target)).names.copy_of("t") == "t"


def test_what_concerns_committed_offsets_is_kept() -> None:
    others = sync(2, 60, 3, "other"), sync(3, 60, 50, partition=1)
    checkpoints = checkpoint(0, "h", 4, 3), checkpoint(1, "h", 6, 4), checkpoint(2, "x", 1, 1), checkpoint(3, "h", 1, 0)
    mirror = read(pair([sync(0, 50, 40), sync(1, 60, 45), *others], [*checkpoints, checkpoint(4, "h", 2, 2, "t")]))
    assert set(mirror.syncs) == {("t", 0), ("t", 1)}
    assert {pair: list(kept) for pair, kept in mirror.checkpoints.items()} == {("t", 0): ["h"]}
    assert mirror.checkpoints_of("h", ("t", 0)) == [OffsetPair(4, 3), OffsetPair(1, 0)]
    assert mirror.translate("g", "t", 0, 60) == SyncTranslation(45, 0, "sync 60 -> 45")
    assert mirror.translate("h", "t", 0, 5) == (
        "the oldest offset sync is 50 -> 40, after the committed offset, and does not prove the checkpoint 4 -> 3"
    )
    assert mirror.translate("g", "t", 1, 60, OffsetPair(61, 51)) == SyncTranslation(50, 0, "sync 60 -> 50")
    assert not mirror.failures


def test_syncs_on_the_target_are_found() -> None:
    source, target = pair()
    target.state.topics["mm2-offset-syncs.A.internal"] = source.state.topics.pop(SYNCS)
    target.state.topics["mm2-offset-syncs.A.internal"].name = "mm2-offset-syncs.A.internal"
    mirror = read((source, target))
    assert mirror.names == MirrorNames("A", None, renames=True, on_target=True)
    assert mirror.translate("g", "t", 0, 60) == SyncTranslation(45, 0, "sync 60 -> 45")


@pytest.mark.parametrize(
    ("on_source", "on_target", "message"),
    [
        (
            [],
            ["C.checkpoints.internal"],
            f"the target has several topics of MirrorMaker 2: {CHECKPOINTS}, C.checkpoints.internal; name one "
            "(--mm2-source)",
        ),
        (
            ["mm2-offset-syncs.C.internal"],
            [],
            f"the source has several topics of MirrorMaker 2: {SYNCS}, mm2-offset-syncs.C.internal; name one "
            "(--mm2-target)",
        ),
        (
            [],
            ["mm2-offset-syncs.A.internal"],
            f"both clusters have offset syncs of MirrorMaker 2 (source: {SYNCS}; target: mm2-offset-syncs.A.internal), "
            "and their names do not show their direction; set where those from source to target are (--mm2-syncs)",
        ),
    ],
)
def test_several_topics_that_match_are_an_error(on_source: list[str], on_target: list[str], message: str) -> None:
    source, target = pair()
    for cluster, names in ((source, on_source), (target, on_target)):
        for name in names:
            cluster.state.topic(name, [0], end=0)
    with pytest.raises(UsageError) as caught:
        read((source, target))
    assert str(caught.value) == message


def test_no_topic_that_matches_is_an_error() -> None:
    source, target = pair()
    del source.state.topics[SYNCS]
    with pytest.raises(UsageError, match=r"the source has no topic mm2-offset-syncs\.ALIAS\.internal of MirrorMaker 2"):
        read((source, target))


def test_alias_that_the_target_does_not_know_is_an_error() -> None:
    with pytest.raises(UsageError) as caught:
        read(pair(), MirrorNames("X"))
    assert (
        str(caught.value) == f"the target has no topic X.checkpoints.internal; of MirrorMaker 2, it has {CHECKPOINTS}"
    )


@pytest.mark.parametrize(("renames", "is_known"), [(None, False), (False, True)])
def test_checkpoints_of_renamed_copies_that_are_hidden_show_another_policy(
    renames: bool | None, is_known: bool
) -> None:
    """They are not visible without DESCRIBE; the topic of the same name is another one."""
    source, target = pair(checkpoints=[checkpoint(0, "g", 60, 45)])
    target.state.topic("t", [0])
    del target.state.topics["A.t"]
    found = read((source, target), MirrorNames(renames=renames)).translate("g", "t", 0, 60)
    assert isinstance(found, SyncTranslation) is is_known
    assert is_known or found == (
        f"the policy of MirrorMaker 2 is unknown: {CHECKPOINTS} is about the copy A.t, but no topic with such a name "
        "is visible on the target; set --mm2-policy"
    )


def test_missing_topic_of_named_clusters_is_a_failure() -> None:
    mirror = read(pair(), MirrorNames("A", "C"))
    (failure,) = mirror.failures
    assert (failure.name, failure.error) == ("mm2-offset-syncs.C.internal", "UNKNOWN_TOPIC_OR_PARTITION")
    assert mirror.translate("g", "t", 0, 60) == f"{failure.name}: {failure.message}"


def test_missing_acl_is_a_failure_and_no_sync_is_used() -> None:
    source, target = pair()
    source.state.fail("Fetch", f"{SYNCS}-0", ErrorCode.topic_authorization_failed)
    mirror = read((source, target))
    assert [(each.name, each.error) for each in mirror.failures] == [(SYNCS, "TOPIC_AUTHORIZATION_FAILED")]
    assert isinstance(mirror.translate("g", "t", 0, 60), str)


def test_syncs_are_used_without_checkpoints() -> None:
    source, target = pair(checkpoints=[checkpoint(0, "g", 60, 45)])
    target.state.fail("Fetch", f"{CHECKPOINTS}-0", ErrorCode.topic_authorization_failed)
    mirror = read((source, target))
    assert [each.name for each in mirror.failures] == [CHECKPOINTS]
    assert mirror.translate("g", "t", 0, 60) == SyncTranslation(45, 0, "sync 60 -> 45")


def test_broker_that_dies_is_a_failure() -> None:
    source, target = pair()
    mirror = read((source, target), before=lambda: source.brokers[0].fault("Fetch", faults.silence))
    (failure,) = mirror.failures
    assert failure.name == f"{SYNCS}-0" and "no response" in failure.message


def test_syncs_that_were_read_in_part_are_not_used() -> None:
    many = [sync(at, 50 + at, 40 + at) for at in range(30_000)]
    mirror = read(pair(many), limits=ReadBudget(1_000_000, 60))
    (failure,) = mirror.failures
    assert "the limit of 1,000,000 bytes is reached" in failure.message
    assert mirror.translate("g", "t", 0, 60) == f"{failure.name}: {failure.message}"


def test_undecodable_sync_makes_its_partition_unknown() -> None:
    broken = batch(2, [(2, 1000)], key=text("t") + bytes(4), value=b"?")
    alien = batch(3, [(3, 1000)], key=b"?", value=b"?")
    mirror = read(pair([sync(0, 60, 45), sync(1, 60, 50, partition=1), broken, alien]))
    assert mirror.translate("g", "t", 0, 60) == (
        "an offset sync of the partition could not be decoded: undecodable value (it ends too soon)"
    )
    assert mirror.translate("g", "t", 1, 60) == SyncTranslation(50, 0, "sync 60 -> 50")
    assert mirror.notices[1:] == [f"{SYNCS}: 1 record could not be decoded, and not used"]


@pytest.mark.parametrize("topic_map", [(), parse_topic_map(["t=t"])])
def test_topic_that_is_not_the_copy_gets_no_offsets_of_syncs(topic_map: TopicMap) -> None:
    """The target has a topic of the same name, and the copy was deleted, is hidden, or is not the one that is named."""
    source, target = pair()
    if not topic_map:
        target.state.topic("A.other", [0])
        del target.state.topics["A.t"]
    target.state.cluster_id = "other"
    target.state.topic("t", [0, 0], end=1_000)
    source.state.group("g", 0, commits={("t", 0): 60})
    request = Request(Selection(everything=True), frozenset([Method.SYNC]), topic_map, mirror=AUTO)
    (found,) = ask((source, target), lambda one, other: translate(one, other, request))
    assert (found.target_topic, found.translation.offset) == ("t" if topic_map else "A.t", None)


@pytest.mark.parametrize(("ms", "offset"), [(61_000, None), (60_999, 45)])
def test_syncs_that_are_older_than_the_records_before_them_prove_nothing(ms: int, offset: int | None) -> None:
    source, target = pair()
    source.state.topic("t", [0, 0], end=100)
    target.state.topic("A.t", [0, 0], end=80, times={40: ms})  # the syncs are of second 1
    target.state.cluster_id = "other"
    source.state.group("g", 0, commits={("t", 0): 60})
    request = Request(Selection(everything=True), frozenset([Method.SYNC]), mirror=AUTO)
    (found,) = ask((source, target), lambda one, other: translate(one, other, request))
    assert found.translation.offset == offset
    if offset is None:
        assert "the offset sync 60 -> 45 is older than the record at 40 of the copy" in found.translation.evidence


@pytest.mark.parametrize("old", [45, 44])
def test_offset_of_a_checkpoint_is_one_that_the_mirror_may_have_committed(old: int) -> None:
    source, target = pair(checkpoints=[checkpoint(0, "g", 50, 40), checkpoint(1, "g", 60, 45)])
    source.state.topic("t", [0, 0], end=100)
    target.state.topic("A.t", [0, 0], end=80)
    target.state.cluster_id = "other"
    source.state.group("g", 0, commits={("t", 0): 60})
    target.state.group("g", 0, commits={("A.t", 0): old})
    request = Request(Selection(everything=True), frozenset([Method.SYNC]), mirror=AUTO)
    (found,) = ask((source, target), lambda one, other: translate(one, other, request))
    assert found.old and (found.old.offset in found.mirrored) == (old == 45)
    assert found.mark == f"kgroups translate from fake-cluster for {sha256(b'g').hexdigest()[:12]}"
