"""Causes planted on real brokers: ``kgroups explain --partition`` names each of them."""

from __future__ import annotations

import asyncio
import itertools
import signal
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.net.cluster import Cluster
from kgroups.sandbox import Sandbox, member
from kgroups.sandbox.coordinator_client import CoordinatorClient
from kgroups.sandbox.security import Acl, Secure
from tests.fakes.watchdog import alarm
from tests.integration.asking import Row, run_here
from tests.integration.committing_consumer import committing_consumer
from tests.integration.group_settings import kafka_configs
from tests.integration.known_cluster import KnownCluster
from tests.integration.quick_cleaner import quick_cleaner
from tests.integration.scratch_cluster import LOG, ScratchCluster
from tests.integration.versions import newest_only, on

LARGE = 2_000_000
SOON = ("--stuck-after", "1ms")
"""No test waits until a partition is stuck by the default."""

EXPECTED = {
    "open": "open-transaction",
    "aborted": "unknown",
    "marker": "no-unread-records",
    "done": "caught-up",
    "beyond": "beyond-log-end",
    "below": "below-log-start",
    "nobody": "unassigned",
    "silent": "not-committing",
    "same": "same-offset-committed",
    "large": "large-record",
    "hole": "unknown",
}
"""Group, and the verdict about its partition 0 of the topic ``verdict-GROUP``."""
LIVE = {
    "stopped": "not-committing",
    "expired": "unassigned",
    "crashing": "crash-loop",
    "slow": "falling-behind",
    "fast": "catching-up",
}
"""The same for groups of clients that go on, or are stopped while they consume."""
LATE = ("--stuck-after", "10m")
"""For consumers that have just committed, however slow the machine is."""
STUCK_AFTER = {"slow": LATE, "fast": LATE, "crashing": ("--stuck-after", "10s")}
"""A crash loop must have changed the members within ten times this."""
LIMIT = 120.0
"""Seconds until a verdict must be the expected one."""
PATIENCE = 900_000
"""Milliseconds for which brokers keep members and transactions, however slow the machine is; that of transactions is
the largest one that brokers accept."""
MANY = 50_000
QUOTA = 1_000_000
CONFIG = {
    "hole": {
        "cleanup.policy": "compact",
        "segment.ms": "100",
        "min.cleanable.dirty.ratio": "0.01",
        "delete.retention.ms": "0",
    },
    "large": {"max.message.bytes": str(2 * LARGE)},
}


class Planter:
    """Plants one cause for each group; its clients stay until it is closed."""

    def __init__(self, bootstrap: str, names: Iterable[str]) -> None:
        self._bootstrap = {"bootstrap.servers": bootstrap}
        self._admin = AdminClient(self._bootstrap)
        self.stack = ExitStack()
        new = [NewTopic(f"verdict-{name}", 1, 1, config=CONFIG.get(name, {})) for name in names]
        for created in self._admin.create_topics(new).values():
            created.result(60)
        self._names = [each.topic for each in new]

    def remove(self) -> None:
        """Delete the groups, whose members have left, and then the topics: other tests list the whole cluster."""
        self.stack.close()
        for delete in (self._admin.delete_consumer_groups, self._admin.delete_topics):
            for each in delete(self._names).values():
                each.result(60)

    def produce(
        self, name: str, count: int = 5, value: bytes | None = b"value", time: int = 0, **settings: Any
    ) -> Producer:
        if "transactional.id" in settings:
            settings["transaction.timeout.ms"] = PATIENCE
        producer = Producer({**self._bootstrap, "message.max.bytes": 2 * LARGE, **settings})
        if "transactional.id" in settings:
            producer.init_transactions(60)
            producer.begin_transaction()
        for number in range(count):
            key = b"same" if name == "hole" else b"%d" % number
            producer.produce(f"verdict-{name}", value, key=key, headers={"trace": b"1"}, timestamp=time)
        assert not producer.flush(60)
        return producer

    def consumer(
        self, name: str, *, member: bool, isolation: str = "read_committed", stack: ExitStack | None = None
    ) -> Consumer:
        settings = {
            "group.id": f"verdict-{name}",
            "client.id": f"verdict-{name}",
            "enable.auto.commit": False,
            "isolation.level": isolation,
            "session.timeout.ms": PATIENCE,
            "max.poll.interval.ms": PATIENCE,  # members that have their partitions do not poll
        }
        consumer = Consumer({**self._bootstrap, **settings})
        (stack or self.stack).callback(consumer.close)
        if member:
            consumer.subscribe([f"verdict-{name}"])
            until = time.monotonic() + LIMIT
            while not consumer.assignment():
                assert time.monotonic() < until
                consumer.poll(0.1)
        return consumer

    def commit(self, name: str, offset: int, *, member: bool = False, times: int = 1) -> None:
        consumer = self.consumer(name, member=member)
        for _ in range(times):
            consumer.commit(offsets=[TopicPartition(f"verdict-{name}", 0, offset)], asynchronous=False)

    def stop(self, name: str, session: float) -> None:
        """Let a consumer in another process read what there is, stop it with SIGSTOP, and write more."""
        self.produce(name)
        process = self.stack.enter_context(
            committing_consumer(
                self._bootstrap["bootstrap.servers"], f"verdict-{name}", f"verdict-{name}", LARGE, session
            )
        )
        watcher = self.consumer(name, member=False)
        with alarm(LIMIT):
            while watcher.committed([TopicPartition(f"verdict-{name}", 0)], 60)[0].offset != 5:
                assert process.poll() is None
                time.sleep(0.1)
        process.send_signal(signal.SIGSTOP)
        self.produce(name)

    def crash(self, name: str) -> None:
        """Let a consumer join, commit the same offset, leave, and start again, until the planter is closed."""
        ended = threading.Event()

        def restart() -> None:
            while not ended.wait(1.2):  # changes of the membership within a second count as one
                with ExitStack() as stack:
                    consumer = self.consumer(name, member=True, stack=stack)
                    consumer.commit(offsets=[TopicPartition(f"verdict-{name}", 0, 2)], asynchronous=False)

        self.produce(name)
        thread = threading.Thread(target=restart)
        thread.start()
        self.stack.callback(thread.join)
        self.stack.callback(ended.set)

    def read_while_writing(self, name: str, read: int, written: int) -> None:
        """Let a member commit while a producer writes, until the planter is closed: numbers of records at a time."""
        ended = threading.Event()
        an_hour_ago = time.time_ns() // 1_000_000 - 3_600_000  # by the producer's clock, which is wrong

        def go_on() -> None:
            at = 0
            while not ended.wait(0.3):
                self.produce(name, written, time=an_hour_ago)
                at += read
                consumer.commit(offsets=[TopicPartition(f"verdict-{name}", 0, at)], asynchronous=False)

        self.produce(name, MANY, time=an_hour_ago)
        consumer = self.consumer(name, member=True)
        thread = threading.Thread(target=go_on)
        thread.start()
        self.stack.callback(thread.join)
        self.stack.callback(ended.set)

    def compact(self, name: str) -> None:
        """Let compaction remove the record at the committed offset and all others; aborted records begin segments."""
        began = time.time_ns() // 1_000_000
        self.produce(name, 4)
        self.produce(name, 1, None)  # the tombstone of the same key, which the second compaction removes
        self.commit(name, 2)
        watcher = self.consumer(name, member=False, isolation="read_uncommitted")
        with quick_cleaner(self._admin), alarm(LIMIT):
            for minute in itertools.count(1):
                at = began + 60_000 * minute
                self.produce(name, 1, time=at, **{"transactional.id": "verdict-hole"}).abort_transaction(60)
                watcher.assign([TopicPartition(f"verdict-{name}", 0, 0)])
                message = watcher.poll(LIMIT)
                if message is not None and (message.offset() or 0) > 4:
                    return

    def delete_records(self, name: str, before: int) -> None:
        deleted = self._admin.delete_records([TopicPartition(f"verdict-{name}", 0, before)])
        for each in deleted.values():
            each.result(60)

    def plant_live(self) -> None:
        self.crash("crashing")
        self.stop("expired", 6)
        self.stop("stopped", PATIENCE / 1000)
        self.read_while_writing("slow", 5, 50)
        self.read_while_writing("fast", 50, 5)
        self.compact("hole")

    def plant(self) -> None:
        self.produce("open", 10)
        self.hanging = self.produce("open", 3, **{"transactional.id": "verdict-hanging"})
        self.commit("open", 10)
        self.produce("aborted", **{"transactional.id": "verdict-aborted"}).abort_transaction(60)
        self.commit("aborted", 0)
        self.produce("marker", **{"transactional.id": "verdict-marker"}).commit_transaction(60)
        self.commit("marker", 5)
        for name in ("done", "beyond", "below", "nobody", "silent", "same"):
            self.produce(name)
        self.commit("done", 5)
        self.commit("beyond", 50)
        self.commit("below", 1)
        self.delete_records("below", 3)
        self.commit("nobody", 2)
        self.commit("silent", 2, member=True)
        self.commit("same", 2, member=True, times=4)
        self.produce("large", 1, bytes(LARGE))
        self.commit("large", 0, member=True)
        self.consumer("open", member=True)


@contextmanager
def planted(bootstrap: str, names: Iterable[str]) -> Iterator[Planter]:
    planter = Planter(bootstrap, names)
    with planter.stack:
        yield planter


def judged(cluster: ScratchCluster, name: str, verdict: str, *, lagging: bool = False) -> Row:
    """Wait for the verdict about a group: some causes are visible only after a while."""
    until = time.monotonic() + LIMIT
    partitions = ("--lagging",) if lagging else ("--partition", f"verdict-{name}:0")
    while True:
        item = verdicts(cluster, f"verdict-{name}", *partitions, stuck_after=STUCK_AFTER.get(name, SOON))[name]
        if item["verdict"] == verdict:
            return item
        assert name in LIVE and time.monotonic() < until, item
        time.sleep(0.2)


def verdicts(cluster: ScratchCluster, *words: str, stuck_after: tuple[str, str] = SOON) -> dict[str, Row]:
    answer = cluster.ask("explain", *words, *stuck_after, "-o", "json")
    assert answer.code == int(any(item["unavailable"] for item in answer.items)), answer.err
    return {item["group"].removeprefix("verdict-"): item for item in answer.items}


@contextmanager
def quota(sandbox: Sandbox, client_id: str) -> Iterator[None]:
    """Limit the bytes that a client fetches."""
    alter = ("clients", client_id, "--alter")
    kafka_configs(sandbox, *alter, "--add-config", f"consumer_byte_rate={QUOTA}")
    try:
        yield
    finally:
        kafka_configs(sandbox, *alter, "--delete-config", "consumer_byte_rate")


@newest_only
def test_verdict_names_each_planted_cause(scratch_cluster: ScratchCluster) -> None:
    with planted(scratch_cluster.sandbox.bootstrap, EXPECTED | LIVE) as planter:
        planter.plant_live()
        planter.plant()
        found = {name: judged(scratch_cluster, name, key) for name, key in (EXPECTED | LIVE).items()}
        assert not any(item["unavailable"] for item in found.values())
        blocked = found["open"]["facts"]
        assert (blocked["last_stable_offset"], blocked["log_end_offset"]) == (10, 13)
        assert "'verdict-hanging'" in found["open"]["text"]
        record = found["silent"]["facts"]
        assert (record["first_unread_offset"], record["record_size"], record["header_names"]) == (2, 6, "trace")
        assert found["large"]["facts"]["batch_size"] > LARGE
        shown = scratch_cluster.ask("explain", "verdict-nobody", "--partition", "verdict-nobody", "--show-record")
        assert "- key: 2\n" in shown.out and "- value: value\n" in shown.out

        assert found["hole"]["facts"]["committed_offset"] == 2
        assert "has the partition, but does not commit: its last commit was at" in found["stopped"]["text"]
        assert found["expired"]["facts"]["state"] == "Empty"
        assert found["crashing"]["facts"]["membership_changes"] >= 3
        assert "the group will have caught up in about" in found["fast"]["text"]

        lagging = verdicts(scratch_cluster, "--regex", "verdict-.*", "--lagging")
        assert lagging.keys() == (EXPECTED | LIVE).keys() - {"done"}
        assert {name: lagging[name]["verdict"] for name in EXPECTED if name != "done"} == {
            name: key for name, key in EXPECTED.items() if name != "done"
        }

        with quota(scratch_cluster.sandbox, "verdict-slow"):
            item = judged(scratch_cluster, "slow", "throttled", lagging=True)
        assert item["facts"]["consumer_byte_rate"] == QUOTA, item
        assert f"a quota for client ID 'verdict-slow' allows {QUOTA:,} bytes per second" in item["text"]

        planter.hanging.abort_transaction(60)
        (item,) = verdicts(scratch_cluster, "verdict-open", "--partition", "verdict-open:0").values()
        assert item["verdict"] == "unknown" and "only records of aborted transactions are unread" in item["text"]


@on("1.1.1", "2.8.2")
def test_older_brokers_have_the_same_verdicts_and_what_they_lack_is_named(scratch_cluster: ScratchCluster) -> None:
    expected = {name: key for name, key in EXPECTED.items() if name != "hole"}
    with planted(scratch_cluster.sandbox.bootstrap, expected) as planter:
        planter.plant()
        found = {name: judged(scratch_cluster, name, key) for name, key in expected.items()}
    needs, version = ("ListTransactions", "3.0") if scratch_cluster.since("2.8") else ("DescribeProducers", "2.8")
    lacking = {name: item["unavailable"] for name, item in found.items() if item["unavailable"]}
    assert lacking.keys() == {"open"}
    ((part, reason),) = (each.values() for each in lacking["open"])
    assert part == "open_transaction" and reason.startswith(f"requires {needs} (Kafka {version}): ")
    blocked = found["open"]
    assert (blocked["facts"]["last_stable_offset"], blocked["facts"]["log_end_offset"]) == (10, 13)
    assert ("producer_id" in blocked["facts"]) == scratch_cluster.since("2.8")


def test_missing_acls_are_named_and_the_rest_is_shown(secure: Secure) -> None:
    acls: list[Row] = []

    def ask(name: str) -> tuple[str, dict[str, str], Row]:
        nonlocal acls
        words = (f"verdict-{name}", "--partition", f"verdict-{name}:0", *SOON, "-o", "json")
        answer = run_here("explain", *words, "--command-config", str(secure.user_file("ann")))
        (item,) = answer.items
        assert answer.code == 1, answer.err
        acls = answer.envelope["missing_acls"]
        return item["verdict"], {each["part"]: each["reason"] for each in item["unavailable"]}, item["facts"]

    groups = Acl("ann", "describe", "group", "verdict-", prefixed=True)
    topics = Acl("ann", "describe", "topic", "verdict-", prefixed=True)
    commits, records = Acl("ann", "read", "topic", "__consumer_offsets"), topics._replace(operation="read")
    denied = "not authorized: needs READ on TOPIC verdict-silent"
    with planted(secure.sandbox.bootstrap, ("silent", "open")) as planter:
        planter.produce("silent")
        planter.commit("silent", 2, member=True)
        planter.hanging = planter.produce("open", 3, **{"transactional.id": "verdict-hanging"})
        planter.commit("open", 0, member=True)

        secure.allow(groups, topics, commits)
        verdict, lacking, facts = ask("silent")
        assert (verdict, lacking) == ("fetch-denied", {"first_unread_record": denied})
        assert facts["committed_offset"] == 2 and facts["last_commit"]

        secure.allow(records, Acl("ann", "read", "topic", "verdict-silent", deny=True))
        verdict, lacking, _ = ask("silent")
        assert (verdict, lacking) == ("fetch-denied", {"first_unread_record": denied})
        verdict, lacking, facts = ask("open")
        assert verdict == "open-transaction" and facts["producer_id"] is not None
        assert ("the ACL DESCRIBE on the TRANSACTIONAL_ID" in lacking["open_transaction"]) == (
            secure.sandbox.version.name != "2.8.2"
        )

        secure.allow(Acl("ann", "describe", "topic", "verdict-silent", deny=True))
        verdict, lacking, facts = ask("silent")
        assert verdict == "unknown" and facts["member"]
        assert "DESCRIBE on TOPIC verdict-silent" in lacking["log"]

        secure.forget("ann")
        secure.allow(groups, records)
        verdict, lacking, facts = ask("silent")
        assert verdict == "unknown" and lacking.keys() == {"commit_history"}
        assert "READ" in lacking["commit_history"] and facts["record_size"] == 6
        assert {"operation": "READ", "resource": "TOPIC", "name": "__consumer_offsets"} in acls
        planter.hanging.abort_transaction(60)
        planter.remove()
    secure.forget("ann")


@newest_only
def test_seeded_groups_have_true_verdicts(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("explain", "--all-groups", "--lagging", "-o", "json")
    found = {(item["group"], item["topic"], item["partition"]): item["verdict"] for item in answer.items}
    assert found["ahead", "clicks", 0] == "beyond-log-end"
    assert found["data-lost", "clicks", 0] == "below-log-start"
    assert found["ledger-reader", "ledger", 0] == "open-transaction"
    assert found["billing-deleted-topic", "billing", 0] == "missing-partition"
    assert {found["payments-empty", "payments", number] for number in (1, 2)} == {"unassigned"}
    # The members of the sandbox send heartbeats and never poll; their records may be younger than the limit.
    assert {found["payments-lagging", "payments", number] for number in range(3)} <= {"not-committing", "progressing"}
    assert "unknown" not in found.values()


@newest_only
def test_owner_before_a_rebalance_is_not_taken_for_a_member_that_has_the_partition(
    scratch_cluster: ScratchCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A member that never joins again holds up the rebalance; the brokers still report its assignment."""
    group = "verdict-waits"
    monkeypatch.setattr(member, "REBALANCE", timedelta(minutes=10))
    scratch_cluster.commit({group: {LOG: {0: 11}}})
    scratch_cluster.join(group)
    with joining(scratch_cluster.sandbox, group):
        answer = scratch_cluster.ask("explain", group, "--partition", f"{LOG}:0-1", *SOON, "-o", "json")
        assert [item["verdict"] for item in answer.items] == ["rebalancing", "rebalancing"], answer.out
        assert "; the assignments are those before it" in scratch_cluster.ask("explain", group).out
        answer = scratch_cluster.ask("check", group, "--assigned")
        assert answer.code == 3
        assert "the group is rebalancing (PreparingRebalance): its members had the partitions before" in answer.out
    scratch_cluster.leave(group)


@contextmanager
def joining(sandbox: Sandbox, group: str) -> Iterator[None]:
    """Another member waits for a rebalance to end."""
    done = threading.Event()

    async def join() -> None:
        cluster, _ = await Cluster.connect(
            ClientSettings(parse_bootstrap(sandbox.bootstrap), timeout=600, broker_timeout=600)
        )
        async with cluster:
            joiner = member.join(await CoordinatorClient.to(cluster, [group]), member.consumer(group, {LOG: 3}))
            waiting = asyncio.create_task(joiner)
            await asyncio.to_thread(done.wait)
            waiting.cancel()

    thread = threading.Thread(target=asyncio.run, args=(join(),))
    thread.start()
    try:
        until = time.monotonic() + LIMIT
        while "PreparingRebalance" not in run_here("list", group, "--state", bootstrap=sandbox.bootstrap).out:
            assert time.monotonic() < until
            time.sleep(0.1)
        yield
    finally:
        done.set()
        thread.join()
