"""``kgroups explain`` on real brokers: its findings are true, and its predictions come true."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator

import pytest

from kgroups.admin.query.explain import gather_facts
from kgroups.admin.query.select_groups import Selection
from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.model.explain import explain
from kgroups.model.explain.change import parse_change
from kgroups.model.explain.facts import GroupFacts
from kgroups.model.explain.what_if import simulate
from kgroups.model.groups import GroupState
from kgroups.net.cluster import Cluster
from tests.integration.asking import Answer, Row
from tests.integration.java_members import JavaMembers
from tests.integration.known_cluster import KnownCluster
from tests.integration.transient_groups import COMPLETING, IDLE, MIXED, OWNED, REGEX, TransientGroups
from tests.integration.versions import newest_only

ASSIGNED = (
    "orders-range",
    "orders-roundrobin",
    "orders-sticky",
    "orders-cooperative",
    "orders-static",
    "orders-kip848",
)

_CLIENTS = "org.apache.kafka.clients.consumer."
STRATEGIES = {
    "range": "RangeAssignor",
    "roundrobin": "RoundRobinAssignor",
    "sticky": "StickyAssignor",
    "cooperative-sticky": "CooperativeStickyAssignor",
}
TOPICS = ("orders", "payments")
SETTLE = 180.0

Held = dict[str, set[tuple[str, int]]]
"""Member -> partitions."""


def rules(item: Row) -> set[str]:
    return {finding["rule"] for finding in item["findings"]}


def severe(item: Row) -> set[tuple[str, str]]:
    return {(each["severity"], each["rule"]) for each in item["findings"] if each["severity"] != "info"}


def by_group(answer: Answer) -> dict[str, Row]:
    return {item["group"]: item for item in answer.items}


# The known cluster.


def test_explain_reproduces_real_assignments(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("explain", "--regex", "orders-.*", "-o", "json")
    assert (answer.code, answer.err) == (0, "")
    assert answer.envelope["schema"] == "kgroups/explain/v1"
    items = by_group(answer)
    wanted = {name for name in ASSIGNED if name in known_cluster.groups}
    assert items.keys() >= wanted
    assert {name for name in wanted if "as-assigned" not in rules(items[name])} == set()
    assert {name: severe(items[name]) for name in wanted if severe(items[name])} == {}


def test_explain_names_the_offsets_partition_of_a_group(known_cluster: KnownCluster) -> None:
    (item,) = known_cluster.ask("explain", "orders-range", "-o", "json").items
    placement = item["placement"]
    assert placement["leader"] == item["coordinator"]["id"]
    assert placement["how"].startswith("FindCoordinator v")
    assert 0 <= placement["partition"] < placement["partitions"]
    listed = known_cluster.ask("explain", "--regex", "orders-range", "-o", "json").items[0]
    assert listed["placement"] == placement | {"how": listed["placement"]["how"]}
    assert listed["placement"]["how"].startswith("ListGroups v")
    limits = item["limits"]
    assert limits["max.message.bytes"] == {"value": 1_048_588, "told": True} or not known_cluster.since("3.0")
    assert limits["group.max.size"]["told"] == known_cluster.since("2.2")
    sizes = {member["metadata_bytes"] for member in item["members"]}
    assert all(20 < size < 100 for size in sizes)


def test_explain_reports_a_deleted_topic(known_cluster: KnownCluster) -> None:
    (item,) = known_cluster.ask("explain", "billing-deleted-topic", "-o", "json").items
    assert severe(item) == {("warning", "missing-topics"), ("problem", "held-but-gone")}


def test_explain_handles_every_group(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("explain", "--all-groups", "-o", "plain", "-v")
    assert (answer.code, answer.err) == (0, "")
    assert "\x1b" not in answer.out
    for name in known_cluster.groups:
        if name.isascii():
            assert re.search(rf"^{re.escape(name)}: [A-Z]{{2}}", answer.out, re.MULTILINE), name


def test_explain_missing_or_empty_groups(known_cluster: KnownCluster) -> None:
    answer = known_cluster.ask("explain", "ahead", "no-such-group", "-o", "json")
    assert answer.code == 1
    assert [item["group"] for item in answer.items] == ["ahead"]
    assert rules(answer.items[0]) == {"coordinator", "state"}
    assert [failure["name"] for failure in answer.failures] == ["no-such-group"]
    answer = known_cluster.ask("explain", "ahead", "--what-if", "members=+1")
    assert answer.code == 1 and "it has no members" in answer.err
    answer = known_cluster.ask("explain", "orders-range", "--what-if", "members=0")
    assert answer.code == 2 and "--what-if: members=0" in answer.err and answer.out == ""


# TransientGroups.


def test_explain_unusual_groups(known_cluster: KnownCluster, transient_groups: TransientGroups) -> None:
    answer = known_cluster.ask("explain", *transient_groups.groups, "-o", "json")
    assert (answer.code, answer.err) == (0, "")
    items = by_group(answer)
    assert severe(items[IDLE]) == {("warning", "idle-members")}
    assert severe(items[OWNED]) == set() and "as-assigned" in rules(items[OWNED])
    assert severe(items[COMPLETING]) == {("warning", "state")}
    if MIXED in transient_groups.groups:
        assert severe(items[MIXED]) == {("warning", "upgrade-under-way")}
        assert "as-assigned" in rules(items[MIXED]) and "as-assigned" in rules(items[REGEX])
        (regex,) = known_cluster.ask("explain", REGEX, "--what-if", "members=3", "-o", "json").items
        assert regex["what_if"]["moved"] == 2
    answer = known_cluster.ask("explain", COMPLETING, "--what-if", "members=+1")
    assert answer.code == 1 and "its state is CompletingRebalance" in answer.err


# What is foretold, and what Java's own consumers then do.


@pytest.fixture(scope="module")
def java_members(
    known_cluster: KnownCluster, jdk: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[JavaMembers]:
    with JavaMembers(known_cluster.sandbox.bootstrap, tmp_path_factory.mktemp("java") / "members.log") as members:
        yield members


def _enter(java_members: JavaMembers, client_id: str, group: str, strategy: str, topics: tuple[str, ...]) -> None:
    if strategy == "uniform":
        java_members.join(client_id, group, topics, "group.protocol=consumer")
    else:
        assignor = f"partition.assignment.strategy={_CLIENTS}{STRATEGIES[strategy]}"
        java_members.join(client_id, group, topics, assignor, "heartbeat.interval.ms=300")


def _look(known_cluster: KnownCluster, names: tuple[str, ...]) -> dict[str, GroupFacts]:
    """In this process: it is asked often."""

    async def ask() -> dict[str, GroupFacts]:
        cluster, _ = await Cluster.connect(ClientSettings(parse_bootstrap(known_cluster.sandbox.bootstrap)))
        async with cluster:
            return {facts.group.group: facts for facts in (await gather_facts(cluster, Selection(names))).items}

    return asyncio.run(ask())


def _settled(known_cluster: KnownCluster, members: dict[str, int]) -> dict[str, GroupFacts]:
    """Wait until each group is stable with N members that hold their target assignments of all 9 partitions."""
    until = time.monotonic() + SETTLE
    while True:
        found = _look(known_cluster, tuple(members))
        if all(_is_settled(found.get(name), count) for name, count in members.items()):
            return found
        assert time.monotonic() < until, {name: (facts.group.state, _held(facts)) for name, facts in found.items()}
        time.sleep(0.1)


def _is_settled(facts: GroupFacts | None, members: int) -> bool:
    if facts is None or facts.group.state != GroupState.STABLE or len(facts.members) != members:
        return False
    on_the_way = any(member.target not in (None, member.assignment) for member in facts.members)
    return sum(map(len, _held(facts).values())) == 9 and not on_the_way


def _held(facts: GroupFacts) -> Held:
    return {member.member_id: set(member.assignment.pairs()) for member in facts.members}


def _found(facts: GroupFacts) -> set[str]:
    return {finding.rule for finding in explain(facts)}


@newest_only
def test_what_if_of_one_more_member_comes_true(known_cluster: KnownCluster, java_members: JavaMembers) -> None:
    """For each assignor, the predicted assignment and number of moved partitions match Java's consumers."""
    groups = {f"explained-{name}": name for name in (*STRATEGIES, "uniform")}
    mixed = "explained-mixed"
    for group, strategy in groups.items():
        for number in range(2):
            _enter(java_members, f"member-{number}", group, strategy, TOPICS)
    _enter(java_members, "member-0", mixed, "cooperative-sticky", TOPICS)
    _enter(java_members, "member-1", mixed, "cooperative-sticky", ("orders",))
    before = _settled(known_cluster, dict.fromkeys((*groups, mixed), 2))
    assert {group for group in before if "as-assigned" not in _found(before[group])} == set()
    assert "subscriptions-differ" in _found(before[mixed])
    foretold = {group: simulate(before[group], [parse_change("members=+1")]) for group in groups}
    for group, strategy in groups.items():
        _enter(java_members, "~new", group, strategy, TOPICS)  # its id comes last, as is said of it
    after = _settled(known_cluster, dict.fromkeys(groups, 3))
    for group in groups:
        had, has, what_if = _held(before[group]), _held(after[group]), foretold[group]
        (new,) = has.keys() - had.keys()
        expected = {
            new if shift.status == "new" else shift.consumer_id: (
                had.get(shift.consumer_id, set()) - set(shift.gives_up.pairs()) | set(shift.gets.pairs())
            )
            for shift in what_if.shifts
        }
        assert has == expected, group
        assert what_if.moved == sum(len(pairs - has[name]) for name, pairs in had.items()), group
        assert what_if.stop_the_world == (groups[group] in ("range", "roundrobin", "sticky"))
    assert {group for group in groups if "as-assigned" not in _found(after[group])} == set()
