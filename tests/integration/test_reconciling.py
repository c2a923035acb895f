"""A KIP-848 group in transition: one member keeps a partition that it must revoke, and another waits for it. Also what
``--deep`` reads about such a group, compared with a plain consumer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import Consumer
from confluent_kafka.admin import AdminClient, NewTopic

from kgroups.model.moments import moment_text
from kgroups.protocol.offsets_topic import decode
from kgroups.sandbox import Sandbox
from tests.integration.asking import Row, run_here
from tests.integration.offsets_log import read_log

GROUP = TOPIC = "reconciling"
PARTITIONS = 4
DEEP = ("--deep", "--deep-time", "20s")
_SECONDS = 120.0


def until(found: Callable[[], bool]) -> None:
    end = time.monotonic() + _SECONDS
    while not found():
        assert time.monotonic() < end, "it did not come to that"


@pytest.fixture(scope="module")
def reconciling_group(cluster: Sandbox) -> Iterator[Sandbox]:
    """The first member has all, committed one offset, and does not poll any more; the second has come since."""
    if not cluster.version.final_consumer_protocol:
        pytest.skip("no KIP-848 groups")
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 3})
    for made in admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)]).values():
        made.result(60)
    settings = {"bootstrap.servers": cluster.bootstrap, "group.id": GROUP, "group.protocol": "consumer"}
    rest = {"enable.auto.commit": "false", "log_level": "3"}
    first, second = (
        Consumer(settings | rest | {"client.id": name, "client.rack": f"rack-{name}"}) for name in ("first", "second")
    )
    try:
        first.subscribe([TOPIC])
        until(lambda: first.poll(0.1) is None and len(first.assignment()) == PARTITIONS)
        (mine, *_) = first.assignment()
        mine.offset = 0
        first.commit(offsets=[mine], asynchronous=False)
        second.subscribe([TOPIC])
        until(lambda: second.poll(0.1) is None and len(members(cluster)) == 2 and members(cluster)[0]["reconciling"])
        yield cluster
    finally:
        second.close()
        first.close()


def members(sandbox: Sandbox, *options: str) -> list[Row]:
    answer = run_here("describe", GROUP, "--members", *options, "-o", "json", bootstrap=sandbox.bootstrap)
    assert answer.code == 0, answer.err
    return sorted(answer.items, key=lambda row: str(row["client_id"]))


def count(assignment: list[Row]) -> int:
    return sum(len(entry["partitions"]) for entry in assignment)


def test_reconciling_members_are_marked(reconciling_group: Sandbox) -> None:
    first, second = members(reconciling_group)
    assert (first["reconciling"], second["reconciling"]) == (True, True)
    assert (first["rack"], second["rack"]) == ("rack-first", "rack-second")
    assert (count(first["target_assignment"]), count(second["target_assignment"])) == (2, 2)
    assert count(second["current_assignment"]) == 0
    assert first["current_epoch"] < first["target_epoch"]
    text = run_here("describe", GROUP, "--members", "-o", "plain", bootstrap=reconciling_group.bootstrap)
    assert "RECONCILING" in text.out.splitlines()[0]
    (state,) = run_here("describe", GROUP, "--state", "-o", "json", bootstrap=reconciling_group.bootstrap).items
    assert state["state"] == "Reconciling"


def test_reconciling_group_is_explained(reconciling_group: Sandbox) -> None:
    (item,) = run_here("explain", GROUP, "-o", "json", bootstrap=reconciling_group.bootstrap).items
    found = {finding["rule"]: finding for finding in item["findings"]}
    assert found["reconciling"]["severity"] == "warning" and len(found["reconciling"]["subjects"]) == 2
    assert "changing to a new assignment (Reconciling)" in found["state"]["text"]


def test_deep_matches_the_records_of_the_log(reconciling_group: Sandbox) -> None:
    newest = {}
    for each in read_log(reconciling_group.bootstrap):
        record = decode(each.key, each.value)
        newest[record.record_type, *record.key.values()] = record.value
    (deep,) = [
        row
        for row in run_here("describe", GROUP, *DEEP, "-o", "json", bootstrap=reconciling_group.bootstrap).items
        if row["current_offset"] is not None
    ]
    committed = newest[1, GROUP, TOPIC, deep["partition"]]
    assert committed and deep["committed_at"] == moment_text(committed["commitTimestamp"])
    assert deep["expires_at"] is None  # it has members
    for row in members(reconciling_group, *DEEP):
        member = newest[5, GROUP, row["consumer_id"]]
        assert member and row["rebalance_timeout_ms"] == member["RebalanceTimeoutMs"] > 0
        assert (row["leader"], row["session_timeout_ms"]) == (None, None)
