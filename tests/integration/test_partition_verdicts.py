"""Causes planted on real brokers: ``kgroups explain --partition`` names each of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.fakes.watchdog import alarm
from tests.integration.asking import Row
from tests.integration.known_cluster import KnownCluster
from tests.integration.scratch_cluster import ScratchCluster
from tests.integration.versions import newest_only

pytestmark = newest_only

LARGE = 2_000_000
SOON = ("--stuck-after", "1ms")
"""No test waits until a partition is stuck by the default."""

EXPECTED = {
    "open": "open-transaction",
    "aborted": "no-unread-records",
    "done": "caught-up",
    "beyond": "beyond-log-end",
    "below": "below-log-start",
    "nobody": "unassigned",
    "silent": "not-committing",
    "same": "same-offset-committed",
    "large": "large-record",
}
"""Group, and the verdict about its partition 0 of the topic ``verdict-GROUP``."""


class Planter:
    """Plants one cause for each group; its clients stay until it is closed."""

    def __init__(self, bootstrap: str) -> None:
        self._bootstrap = {"bootstrap.servers": bootstrap}
        self._admin = AdminClient(self._bootstrap)
        self.stack = ExitStack()
        new = [NewTopic(f"verdict-{name}", 1, 1, config={"max.message.bytes": str(2 * LARGE)}) for name in EXPECTED]
        for created in self._admin.create_topics(new).values():
            created.result(60)

    def produce(self, name: str, count: int = 5, value: bytes = b"value", **settings: Any) -> Producer:
        producer = Producer({**self._bootstrap, "message.max.bytes": 2 * LARGE, **settings})
        if "transactional.id" in settings:
            producer.init_transactions(60)
            producer.begin_transaction()
        for number in range(count):
            producer.produce(f"verdict-{name}", value, key=b"%d" % number, headers={"trace": b"1"})
        assert not producer.flush(60)
        return producer

    def consumer(self, name: str, *, member: bool) -> Consumer:
        consumer = Consumer({**self._bootstrap, "group.id": f"verdict-{name}", "enable.auto.commit": False})
        self.stack.callback(consumer.close)
        if member:
            consumer.subscribe([f"verdict-{name}"])
            with alarm(60):
                while not consumer.assignment():
                    consumer.poll(0.1)
        return consumer

    def commit(self, name: str, offset: int, *, member: bool = False, times: int = 1) -> None:
        consumer = self.consumer(name, member=member)
        for _ in range(times):
            consumer.commit(offsets=[TopicPartition(f"verdict-{name}", 0, offset)], asynchronous=False)

    def delete_records(self, name: str, before: int) -> None:
        deleted = self._admin.delete_records([TopicPartition(f"verdict-{name}", 0, before)])
        for each in deleted.values():
            each.result(60)

    def plant(self) -> None:
        self.produce("open", 10)
        self.hanging = self.produce("open", 3, **{"transactional.id": "verdict-hanging"})
        self.commit("open", 10)
        self.produce("aborted", **{"transactional.id": "verdict-aborted"}).abort_transaction(60)
        self.commit("aborted", 0)
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
def planted(bootstrap: str) -> Iterator[Planter]:
    planter = Planter(bootstrap)
    with planter.stack:
        planter.plant()
        yield planter


def verdicts(cluster: ScratchCluster, *words: str) -> dict[str, Row]:
    answer = cluster.ask("explain", *words, *SOON, "-o", "json")
    assert answer.code == 0, answer.err
    return {item["group"].removeprefix("verdict-"): item for item in answer.items}


def test_verdict_names_each_planted_cause(scratch_cluster: ScratchCluster) -> None:
    with planted(scratch_cluster.sandbox.bootstrap) as planter:
        topics = [word for name in EXPECTED for word in ("--partition", f"verdict-{name}:0")]
        found = {
            name: verdicts(scratch_cluster, f"verdict-{name}", *topics[2 * at : 2 * at + 2])[name]
            for at, name in enumerate(EXPECTED)
        }
        assert {name: item["verdict"] for name, item in found.items()} == EXPECTED
        blocked = found["open"]["facts"]
        assert (blocked["last_stable_offset"], blocked["log_end_offset"]) == (10, 13)
        assert "'verdict-hanging'" in found["open"]["text"]
        record = found["silent"]["facts"]
        assert (record["first_unread_offset"], record["record_size"], record["header_names"]) == (2, 6, "trace")
        assert found["large"]["facts"]["batch_size"] > LARGE
        shown = scratch_cluster.ask("explain", "verdict-nobody", "--partition", "verdict-nobody", "--show-record")
        assert "- key: 2\n" in shown.out and "- value: value\n" in shown.out

        lagging = verdicts(scratch_cluster, "--regex", "verdict-.*", "--lagging")
        assert lagging.keys() == EXPECTED.keys() - {"done"}
        assert {name: item["verdict"] for name, item in lagging.items()} == {
            name: key for name, key in EXPECTED.items() if name != "done"
        }

        planter.hanging.abort_transaction(60)
        (item,) = verdicts(scratch_cluster, "verdict-open", "--partition", "verdict-open:0").values()
        assert item["verdict"] == "no-unread-records"


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
