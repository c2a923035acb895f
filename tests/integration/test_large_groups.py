"""What no client makes by itself, in a real broker: a thousand members in a group, a megabyte in a member.

A classic group is one record of ``__consumer_offsets``, written when its leader assigns. Where that is larger than the
topic's ``max.message.bytes``, the broker answers the leader's SyncGroup with UNKNOWN_SERVER_ERROR, and the group is in
PreparingRebalance again; until it is Stable, brokers report neither subscriptions nor assignments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from kgroups.protocol.error_codes import Code
from kgroups.protocol.offsets_topic import decode
from kgroups.sandbox import Sandbox
from kgroups.sandbox.member import range_assignment
from tests.integration.asking import Answer, run_here
from tests.integration.java_output import ToolOutput
from tests.integration.large_groups import join_all, subscription
from tests.integration.offsets_log import read_log
from tests.integration.versions import newest_only

TOPIC: Final = "large"
PARTITIONS: Final = 20
MANY, HEAVY, TOO_HEAVY = "large-thousand", "large-megabyte", "large-too-heavy"
pytestmark = newest_only

MEMBERS: Final = 1_000
EACH: Final = 600
MEGABYTE: Final = 1_048_000
"""Of metadata: with all else that is in the group's record it is just not too large."""
LIMIT: Final = 1_048_588
"""Kafka's default of ``max.message.bytes``."""


def assigned(members: Sequence[str]) -> dict[str, dict[str, list[int]]]:
    return range_assignment(members, {TOPIC: PARTITIONS})


@pytest.fixture(scope="module")
def large_groups(cluster: Sandbox) -> Iterator[Sandbox]:
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap, "log_level": 3})
    for made in admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)]).values():
        made.result(30)
    try:
        assert join_all(cluster.bootstrap, MANY, [subscription(TOPIC, EACH)] * MEMBERS, assigned) == [None] * MEMBERS
        assert join_all(cluster.bootstrap, HEAVY, [subscription(TOPIC, MEGABYTE)], assigned) == [None]
        (refused,) = join_all(cluster.bootstrap, TOO_HEAVY, [subscription(TOPIC, LIMIT)], assigned)
        assert refused and refused.code == Code.unknown_server_error
        yield cluster
    finally:
        groups = (MANY, HEAVY, TOO_HEAVY)
        gone = run_here("remove-members", *groups, "--all-members", "--execute", "--yes", bootstrap=cluster.bootstrap)
        assert gone.out.count("applied") == MEMBERS + 2, gone.err
        run_here("delete", *groups, "--execute", "--yes", bootstrap=cluster.bootstrap)
        for done in admin.delete_topics([TOPIC]).values():
            done.result(30)


def ask(sandbox: Sandbox, *words: str) -> Answer:
    answer = run_here(*words, bootstrap=sandbox.bootstrap)
    assert answer.code == 0, answer.err
    return answer


def test_describe_a_thousand_members(large_groups: Sandbox) -> None:
    rows = ask(large_groups, "describe", MANY, "--members", "-o", "json").items
    assert [row["client_id"] for row in rows] == [f"{MANY}-{number:04}" for number in range(MEMBERS)]
    held = [entry["partitions"] for row in rows for entry in row["current_assignment"]]
    assert held == [[number] for number in range(PARTITIONS)]
    assert {row["metadata_bytes"] for row in rows} == {EACH}
    (state,) = ask(large_groups, "describe", MANY, "--state", "--deep", "-o", "json").items
    assert (state["state"], state["members"], state["assignment_strategy"]) == ("Stable", MEMBERS, "range")
    assert state["leader"] in {row["consumer_id"] for row in rows}
    offsets = ask(large_groups, "describe", MANY, "-o", "json").items
    assert {row["consumer_id"]: row["partition"] for row in offsets} == {
        row["consumer_id"]: number if number < PARTITIONS else None for number, row in enumerate(rows)
    }
    text = ask(large_groups, "describe", MANY, "--members", "-o", "plain", "-w").lines
    assert len(text) == 1 + MEMBERS and max(map(len, text)) < 1_000
    java = large_groups.java_tool("--describe", "--group", MANY, "--members")
    output = ToolOutput(java.returncode, java.stdout, java.stderr).rows
    assert {(row["CONSUMER-ID"], row["#PARTITIONS"]) for row in output} == {
        (row["consumer_id"], str(row["partitions"])) for row in rows
    }


def test_explain_a_thousand_members(large_groups: Sandbox) -> None:
    (item,) = ask(large_groups, "explain", MANY, "-o", "json").items
    found = {finding["rule"]: finding for finding in item["findings"]}
    assert len(found["idle-members"]["subjects"]) == MEMBERS - PARTITIONS
    assert [member["client_id"] for member in item["members"]] == [f"{MANY}-{at:04}" for at in range(MEMBERS)]
    assert "as-assigned" in found, found
    assert _told_bytes(found["record-size"]["text"]) == pytest.approx(_written(large_groups, MANY) / 1024, rel=0.01)
    (item,) = ask(large_groups, "explain", MANY, "--what-if", "members=-1", "-o", "json").items
    assert item["what_if"]["members"] == MEMBERS - 1


def test_member_with_a_megabyte_of_metadata_is_shown(large_groups: Sandbox) -> None:
    (row,) = ask(large_groups, "describe", HEAVY, "--members", "-o", "json").items
    assert (row["metadata_bytes"], row["partitions"]) == (MEGABYTE, PARTITIONS)
    assert row["user_data"]["raw_bytes"] == MEGABYTE - 16 - len(TOPIC)
    assert len(ask(large_groups, "describe", HEAVY, "--members", "-v", "-o", "plain").out) < 2_000
    (state,) = ask(large_groups, "describe", HEAVY, "--state", "-o", "json").items
    assert (state["state"], state["members"]) == ("Stable", 1)
    (item,) = ask(large_groups, "explain", HEAVY, "-o", "json").items
    found = {finding["rule"]: finding for finding in item["findings"]}
    assert found["record-size"]["severity"] == "problem"
    assert _told_bytes(found["record-size"]["text"]) == pytest.approx(_written(large_groups, HEAVY) / 1024, rel=0.01)


def test_member_above_the_broker_limit_is_shown_without_metadata(large_groups: Sandbox) -> None:
    (row,) = ask(large_groups, "describe", TOO_HEAVY, "--members", "-o", "json").items
    assert (row["metadata_bytes"], row["partitions"], row["subscription"]["topics"]) == (None, 0, [])
    (state,) = ask(large_groups, "describe", TOO_HEAVY, "--state", "-o", "json").items
    assert (state["state"], state["members"], state["assignment_strategy"]) == ("PreparingRebalance", 1, None)
    (item,) = ask(large_groups, "explain", TOO_HEAVY, "-o", "json").items
    assert {each["rule"] for each in item["findings"] if each["severity"] != "info"} == {"state"}


def _told_bytes(text: str) -> float:
    """KiB, of ``(1023.8 KiB)``."""
    found = re.search(r"\(([\d.]+) KiB\)", text)
    assert found, text
    return float(found[1])


def _written(sandbox: Sandbox, group: str) -> int:
    """Bytes of the group's newest record."""
    sizes = [
        len(each.value)
        for each in read_log(sandbox.bootstrap)
        if each.value and each.key[:2] == b"\0\2" and decode(each.key, None).key["group"] == group
    ]
    return sizes[-1]
