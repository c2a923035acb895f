"""``kgroups explain --migration`` and ``list --migration`` over fake brokers: verdicts, fixes, and missing ACLs."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from kgroups.model.assignment import Assignment, TopicPartitions
from kgroups.model.cluster import Node
from kgroups.model.explain.migration import static_notes
from kgroups.model.groups import Group, Member
from kgroups.model.migration import BrokerFacts, MigrationFacts, judge_migration
from kgroups.model.views.migration_row import migration_row
from kgroups.protocol.embedded.registry import decode_member
from tests.fakes.broker import FakeCluster
from tests.fakes.cluster_state import FakeMember

Run = Callable[..., tuple[int, str, str]]

SETTINGS = {
    "group.consumer.migration.policy": "BIDIRECTIONAL",
    "group.consumer.max.size": "4",
    "group.max.size": "3",
    "group.coordinator.rebalance.protocols": "classic,consumer,share,streams",
    "group.consumer.assignors": "uniform,range",
}


def shop(fake: FakeCluster) -> None:
    """Groups of broker 0, which converts in both directions, and of broker 1, which does not."""
    state = fake.state
    state.features = {"group.version": 1}
    state.settings["0"] = dict(SETTINGS)
    state.settings["1"] = SETTINGS | {"group.consumer.migration.policy": "disabled", "group.max.size": "1"}
    state.settings[""] = {"consumer.session.timeout.ms": "45000", "consumer.heartbeat.interval.ms": "5000"}
    state.topic("__consumer_offsets", [0, 1])
    state.topic("orders", [0, 1, 0, 1])
    first, second = FakeMember("m-1", {"orders": (0, 1)}, instance_id="one"), FakeMember("m-2", {"orders": (2, 3)})
    state.group("well", 0, state="Stable", members=(first, second))
    state.group("off", 1, state="Stable", members=(first, second))
    state.group("off-and-empty", 1)
    state.group("moving", 0, state="PreparingRebalance", protocol="", members=(FakeMember("m-9"),))
    state.group("garbled", 0, state="Stable", members=(FakeMember("m-1", metadata=b"\0\1\0"), second))
    held = b"\0\1" + b"\0\0\0\1\0\6orders\0\0\0\1\0\0\0\0" + b"\0\0\0\3abc"
    state.group("custom", 0, state="Stable", protocol="mine", members=(FakeMember("m-1", garbage=held), second))
    state.group("streams", 0, state="Stable", protocol="stream", members=(FakeMember("m-1", garbage=held),))
    state.group("workers", 0, state="Stable", protocol_type="connect", members=(FakeMember("m-1"),))
    state.group("own", 0, state="Stable", protocol_type="mine", members=(FakeMember("m-\x1b[31m1"),))
    full = tuple(FakeMember(f"m-{number}", {"orders": (number,)}) for number in range(4))
    state.group("full", 0, state="Stable", members=full)
    state.group("modern", 1, type="Consumer", state="Stable", protocol="uniform", members=(first, second))


@pytest.fixture
def run(run_cli: Run, serve: Callable) -> Callable[..., tuple[int, str, str]]:
    served = serve(fill=shop)
    return lambda command, *words: run_cli(command, "-b", served.bootstrap, *words, "--migration")


def listed(answer: tuple[int, str, str]) -> dict[str, tuple[str, str, list[str], list[str]]]:
    return {
        row["group"]: (row["upgrade"], row["rollback"], row["upgrade_rules"], row["rollback_rules"])
        for row in json.loads(answer[1])["items"]
    }


def test_list_shows_each_verdict_with_its_rules(run: Run) -> None:
    answer = run("list", "-o", "json")
    assert answer[0] == 0
    assert answer[2].strip() == (
        "kgroups: note: brokers differ in group.consumer.migration.policy, group.max.size: "
        "each verdict follows the coordinator of the group, and can change when that moves"
    )
    found = listed(answer)
    policy = ["migration-policy"]
    assert found == {
        "well": ("ready", "ready", [], []),
        "off": ("ready-if", "ready-if", policy, [*policy, "group-size"]),
        "off-and-empty": ("ready", "ready", [], []),
        "moving": ("unknown", "ready", ["rebalancing"], []),
        "garbled": ("blocked", "ready", ["subscription"], []),
        "custom": ("blocked", "ready", ["user-data"], []),
        "streams": ("blocked", "ready", ["classic-streams"], []),
        "workers": ("not-applicable", "not-applicable", [], []),
        "own": ("blocked", "not-applicable", ["protocol-type"], []),
        "full": ("ready-if", "ready-if", ["group-full"], ["group-full", "group-size"]),
        "modern": ("done", "ready-if", [], [*policy, "group-size"]),
    }


def test_reason_is_short_enough_for_a_table(run: Run) -> None:
    _, out, _ = run("list", "-o", "plain")
    lines = {line.split()[0]: line.split(maxsplit=4)[4] for line in out.splitlines()}
    assert lines["off"] == "migration-policy; rollback: migration-policy,group-size"
    assert lines["workers"] == "protocol type connect"
    assert lines["well"] == "-"


def test_explain_names_members_evidence_and_fix(run: Run) -> None:
    code, out, err = run("explain", "garbled", "custom", "own")
    assert (code, err) == (0, "")
    assert "garbled: upgrade: BLOCKED; rollback: READY\n" in out
    assert "- subscription: brokers cannot parse the subscription of m-1 (undecodable" in out
    assert "  fix: fix or update the clients of these members: client (/127.0.0.1)\n" in out
    assert "which the assignor 'mine' sets, and consumer groups do not keep" in out
    assert "\x1b" not in out


def test_explain_json_contains_moves_and_notes(run: Run) -> None:
    code, out, _ = run("explain", "well", "-o", "json")
    document = json.loads(out)
    assert (code, document["schema"]) == (0, "kgroups/explain-migration/v1")
    (item,) = document["items"]
    assert (item["upgrade"]["verdict"], item["what_if"]["assignor"], item["what_if"]["moved"]) == (
        "ready",
        "uniform",
        0,
    )
    topics = [note["topic"] for note in item["notes"]]
    assert topics == [
        *("other-brokers", "assignor", "remote-assignor", "eager", "static-members", "timeouts", "acls"),
        "client-versions",
    ]
    assert item["other_brokers"] == [1]


@pytest.fixture
def changed(run_cli: Run, serve: Callable) -> Callable[[Callable[[FakeCluster], object]], Run]:
    def served(change: Callable[[FakeCluster], object]) -> Run:
        def fill(fake: FakeCluster) -> None:
            shop(fake)
            change(fake)

        bootstrap = serve(fill=fill).bootstrap
        return lambda command, *words: run_cli(command, "-b", bootstrap, *words, "--migration")

    return served


def test_verdict_without_describe_configs_is_unknown_with_the_missing_acl(changed: Any) -> None:
    def deny(fake: FakeCluster) -> None:
        fake.state.fail("DescribeConfigs", "0", ErrorCode.cluster_authorization_failed)

    run = changed(deny)
    code, out, err = run("list", "well", "custom", "-o", "json")
    document = json.loads(out)
    found = listed((code, out, err))
    assert code == 1
    assert found["well"][:2] == ("unknown", "unknown")
    assert found["custom"][:2] == ("blocked", "unknown")
    assert document["missing_acls"] == [
        {"operation": "DESCRIBE_CONFIGS", "resource": "CLUSTER", "name": "kafka-cluster"}
    ]
    code, out, err = run("explain", "well")
    assert code == 1
    assert "needs DESCRIBE_CONFIGS on CLUSTER" in out
    assert "broker 0" in err


def test_settings_of_another_broker_that_are_denied_are_a_notice(changed: Any) -> None:
    def deny(fake: FakeCluster) -> None:
        fake.state.fail("DescribeConfigs", "1", ErrorCode.cluster_authorization_failed)

    code, out, err = changed(deny)("list", "well", "-o", "json")
    assert (code, listed((code, out, err))["well"][0]) == (0, "ready")
    assert "broker 1: its settings, which count if it becomes a coordinator, are unknown" in err


@pytest.mark.parametrize(
    ("features", "verdict", "rules"),
    [(None, "unknown", ["broker-settings"]), ({}, "ready-if", ["group-version"])],
)
def test_level_of_the_feature_decides(changed: Any, features: Any, verdict: str, rules: list[str]) -> None:
    run = changed(lambda fake: setattr(fake.state, "features", features))
    answer = run("list", "well", "off-and-empty", "-o", "json")
    for name, found in listed(answer).items():
        assert (name, found[0], found[2]) == (name, verdict, rules)


def test_group_that_changes_while_it_is_judged_is_unknown(changed: Any) -> None:
    def change(fake: FakeCluster) -> None:
        times = []

        def leave(api: str, answer: Any) -> Any:
            if api == "DescribeGroups":
                times.append(api)
                if len(times) == 1:
                    fake.state.groups["well"].members = fake.state.groups["well"].members[:1]
            return answer

        for broker in fake.brokers.values():
            broker.bend = leave

    code, out, _ = changed(change)("explain", "well")
    assert code == 1
    assert "- changed: it changed while it was judged: members joined or left; run the command again\n" in out


def test_options_that_do_not_fit_are_rejected(run: Run) -> None:
    for words in (("well", "--what-if", "members=+1"), ("--lagging",), ("well", "--partition", "orders")):
        code, _, err = run("explain", *words)
        assert (code, "--migration cannot be combined" in err) == (2, True)
    assert run("list", "--by", "cluster")[0] == 2


def test_partition_that_does_not_exist_makes_the_upgrade_unknown(changed: Any) -> None:
    run = changed(lambda fake: fake.state.topic("orders", [0, 1, 0]))
    answer = run("list", "well", "-o", "json")
    assert listed(answer)["well"] == ("unknown", "ready", ["partitions"], [])
    code, out, _ = run("explain", "well")
    assert code == 1
    assert "members are assigned partitions that do not exist (orders-3)" in out


def test_topic_that_cannot_be_described_makes_the_upgrade_unknown(changed: Any) -> None:
    run = changed(lambda fake: fake.state.fail("Metadata", "orders", ErrorCode.topic_authorization_failed))
    answer = run("list", "well", "off-and-empty", "-o", "json")
    assert listed(answer)["well"][::2] == ("unknown", ["partitions"])
    assert listed(answer)["off-and-empty"][0] == "ready"


def test_check_fails_where_brokers_would_not_convert(run_cli: Run, serve: Callable) -> None:
    bootstrap = serve(fill=shop).bootstrap

    def check(*words: str) -> tuple[int, dict[str, str]]:
        code, out, _ = run_cli("check", "-b", bootstrap, *words, "-o", "json")
        rows = [row for row in json.loads(out)["items"] if row["check"] != "exists"]
        return code, {row["group"]: f"{row['status']} {row['message']}" for row in rows}

    code, found = check("well", "workers", "modern", "off-and-empty", "--migration-ready")
    assert (code, {text.split()[0] for text in found.values()}) == (0, {"OK"})
    code, found = check("off", "custom", "moving", "--migration-ready")
    assert code == 2
    assert found["off"].startswith("CRITICAL ready if: group.consumer.migration.policy is disabled on broker 1")
    assert found["custom"].startswith("CRITICAL blocked: the assignment of 1 member has user data (m-1)")
    assert found["moving"].startswith("UNKNOWN unknown: it is rebalancing")
    assert check("modern", "--rollback-ready")[0] == 2
    assert check("well", "--rollback-ready")[0] == 0


def librdkafka(*owned: int) -> bytes:
    """A subscription of librdkafka to cooperative-sticky: without user data first, then with what the member had."""
    topics = b"\0\0\0\1" + b"\0\6orders"
    had = topics + len(owned).to_bytes(4, "big") + b"".join(each.to_bytes(4, "big") for each in owned)
    data = had + (7).to_bytes(4, "big") if owned else b""
    return b"\0\1" + topics + (len(data).to_bytes(4, "big") if owned else b"\xff\xff\xff\xff") + data + b"\0\0\0\0"


JAVA = b"\0\1" + b"\0\0\0\1" + b"\0\6orders" + b"\0\0\0\4" + b"\xff\xff\xff\xff" + b"\0\0\0\0"
"""A subscription of Java's cooperative-sticky, whose user data is the generation alone."""


@pytest.mark.parametrize(
    ("subscriptions", "verdict"),
    [
        ((JAVA, JAVA), "ready"),
        ((librdkafka(), librdkafka()), "unknown"),
        ((JAVA, librdkafka()), "unknown"),
        ((librdkafka(0, 1), JAVA), "unknown"),
    ],
)
def test_leader_of_cooperative_sticky_decides_and_is_known_for_java_only(
    subscriptions: tuple[bytes, ...], verdict: str
) -> None:
    members = tuple(
        Member(
            f"m{number}",
            "c",
            "/h",
            Assignment((TopicPartitions("orders", (number,)),)),
            subscription=decode_member("consumer", each, b"", "cooperative-sticky")[0],
        )
        for number, each in enumerate(subscriptions)
    )
    group = Group("g", "Classic", "Stable", "consumer", "cooperative-sticky", Node(1, "b", 1), members)
    broker = BrokerFacts(1, True, 1, None, "bidirectional", 100, 100)
    found = judge_migration(MigrationFacts(group, broker, partitions={"orders": 2}))
    assert (found.upgrade.verdict, found.rollback.verdict) == (verdict, "ready")


def test_rollback_of_an_empty_group_names_a_policy_that_counts_once_it_has_members() -> None:
    group = Group("g", "Classic", "Empty", "consumer", "", Node(1, "b", 1), ())
    for policy, text in (("bidirectional", None), ("disabled", "rollback: only while it is empty (policy disabled)")):
        facts = MigrationFacts(group, BrokerFacts(1, True, 1, None, policy, 100, 100))
        found = judge_migration(facts)
        assert found.rollback.verdict == "ready"
        assert migration_row(facts, found).reason == text


def test_static_member_that_stopped_is_named() -> None:
    members = (
        Member("m0", "c", "/h", Assignment(), "s0", member_epoch=-2, upgraded=True),
        Member("m1", "c", "/h", Assignment(), "s1", member_epoch=-1, upgraded=False),
    )
    group = Group("g", "Consumer", "Reconciling", "consumer", "uniform", Node(1, "b", 1), members)
    facts = MigrationFacts(group, BrokerFacts(1, True, 1, None, "bidirectional", 100, 100))
    notes = {note.topic: note.text for note in static_notes(facts)}
    assert notes["static-members-left"].startswith("s0 stopped, and counts as a member with the consumer protocol")
    assert "s1" not in notes["static-members-left"]
