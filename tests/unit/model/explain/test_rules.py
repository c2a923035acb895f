"""Facts of a group and the findings that they produce."""

from __future__ import annotations

import pytest

from kgroups.model.assignment import Assignment, Raw, Subscription, assignment_of
from kgroups.model.cluster import Node
from kgroups.model.effective_setting import Effective
from kgroups.model.embedded.connect import ConnectorWork, WorkerAssignment
from kgroups.model.explain import explain
from kgroups.model.explain.facts import BrokerLimits, GroupFacts, Limit, MemberTimeouts, Placement
from kgroups.model.explain.findings import Finding, Severity
from kgroups.model.explain.rows import explained_members
from kgroups.model.streams import AssignedTasks, StreamsMember, SubtopologyTasks, Tasks

from .groups import facts, member

QUIET = {"coordinator", "protocol", "leader", "as-assigned", "weight"}
"""The findings about a group without problems."""


def found(given: GroupFacts) -> dict[str, Finding]:
    return {finding.rule: finding for finding in explain(given)}


def notable(given: GroupFacts) -> dict[str, Severity]:
    return {rule: finding.severity for rule, finding in found(given).items() if finding.severity is not Severity.INFO}


WELL = facts(member("a", {"t": (0, 1)}), member("b", {"t": (2, 3)}))


def test_healthy_group_has_only_informational_findings() -> None:
    assert found(WELL).keys() == QUIET
    assert notable(WELL) == {}
    assert "2 partitions each" in found(WELL)["as-assigned"].text
    assert "FindCoordinator v6: the leader of partition 7 of 50" in found(WELL)["coordinator"].text
    assert "'range': all 2 members support it" in found(WELL)["protocol"].text


def test_group_without_members_but_with_commits_is_a_warning() -> None:
    empty = facts()
    assert "not-stopped" not in found(empty)
    busy = found(empty._replace(outsiders="3 commits of t-0, at most 1.0 s apart"))["not-stopped"]
    assert (
        busy.severity is Severity.WARNING and "3 commits of t-0, at most 1.0 s apart; the group is in use" in busy.text
    )


def test_coordinator_that_does_not_lead_its_partition_is_a_warning() -> None:
    moving = WELL._replace(placement=Placement("ListGroups v5", 7, 50, 2))
    assert notable(moving) == {"coordinator": Severity.WARNING}
    assert "is now broker 2" in found(moving)["coordinator"].text
    assert found(WELL._replace(placement=Placement("ListGroups v5")))["coordinator"].text.endswith("by ListGroups v5")


def test_idle_members_are_a_warning_with_reason() -> None:
    few = facts(member("a", {"t": (0,)}), member("b"), partitions=1)
    assert notable(few) == {"idle-members": Severity.WARNING}
    assert found(few)["idle-members"].subjects == ("b",)
    assert (
        found(few)["idle-members"].text
        == "1 of 2 members has no partitions (b): there are fewer partitions than members (1), and each goes to one "
        "member only"
    )
    both = ("t", "u")
    ranged = facts(member("a", {"t": (0,), "u": (0,)}, both), member("b", topics=both), partitions={"t": 1, "u": 1})
    assert "range assigns each topic separately" in found(ranged)["idle-members"].text


@pytest.mark.parametrize(
    ("subscription", "cause"),
    [
        (Subscription(regex="^no.*"), "no topic that their principals can describe matches '^no.*'"),
        (Subscription(("gone",)), "no topic that they subscribe to exists"),
        (Subscription(), "they subscribe to no topic; "),
    ],
)
def test_members_without_topics_are_not_told_of_too_few_partitions(subscription: Subscription, cause: str) -> None:
    lost = member("b")._replace(subscription=subscription)
    reader = member("a", {"t": (0, 1)})
    for others in ((), (reader,)) if subscription != Subscription() else ((reader,),):
        given = facts(*others, lost, partitions=2)._replace(missing=frozenset({"gone"}))
        answer = found(given)
        assert answer["members-without-topics"].subjects == ("b",) and "idle-members" not in answer
        assert f"has nothing to read (b): {cause}" in answer["members-without-topics"].text
    note = list(explained_members(given))[-1].note or ""
    assert ("'^no.*'" in note, "no subscription" in note) == (bool(subscription.regex), subscription == Subscription())


def test_undecodable_assignments_are_a_warning_and_hide_other_findings() -> None:
    """The assignment is unknown: neither idle members nor unassigned partitions are reported."""
    raw = Raw(b"?", "it ends too soon")
    odd = facts(member("a")._replace(assignment=Assignment(raw=raw)), partitions=6)
    assert notable(odd) == {"undecoded-assignments": Severity.WARNING}
    assert found(odd)["undecoded-assignments"].text == (
        "the assignment of 1 of 1 member cannot be decoded (a: it ends too soon): unassigned partitions are unknown"
    )
    (row,) = explained_members(odd)
    assert (row.note, row.partitions) == ("its assignment cannot be decoded: it ends too soon", None)


def test_comparison_with_the_assignor_needs_every_member_decoded() -> None:
    raw = Raw(b"?", "it ends too soon")
    well = member("a", {"t": (0, 1, 2, 3)})
    for odd in (
        member("b", subscription=Subscription(raw=raw)),
        member("b")._replace(assignment=Assignment(raw=raw)),
        member("b")._replace(target=Assignment(raw=raw)),
    ):
        assert found(facts(well, odd)).keys().isdisjoint({"as-assigned", "would-move"})


def test_findings_of_one_member_are_singular() -> None:
    alone = facts(member("a", {"t": (0, 1, 2, 3)}, instance_id="one"))
    assert found(alone)["static-members"].text.startswith("its only member is static: ")
    twice = facts(member("a", {"t": (0,)}, instance_id="one"), member("b"), partitions=1)
    assert found(twice)["static-members"].text.startswith("1 of 2 members is static (one); ")
    assert found(twice)["idle-members"].text.startswith("1 of 2 members has no partitions (b): ")


def test_partitions_without_a_member_are_a_problem() -> None:
    grown = facts(member("a", {"t": (0, 1)}), member("b", {"t": (2,)}), partitions=5)
    assert notable(grown) == {"without-member": Severity.PROBLEM, "would-move": Severity.WARNING}
    assert found(grown)["without-member"].subjects == ("t-3", "t-4")
    target = assignment_of({"t": (0, 1, 2, 3, 4)}.items())
    on_the_way = member("a", {"t": (0, 1, 2)}, target=target, member_epoch=4)
    modern = facts(on_the_way, partitions=5, type="Consumer", state="Reconciling", protocol="uniform", group_epoch=4)
    assert notable(modern) == dict.fromkeys(("state", "reconciling", "without-member"), Severity.WARNING)


def test_partitions_in_target_assignments_are_not_without_member() -> None:
    parts = assignment_of({"t": (0, 1)}.items()), assignment_of({"t": (2, 3)}.items())
    first = member("a", {"t": (0, 1, 2, 3)}, target=parts[0], member_epoch=3)
    second = member("b", topics=("t",), target=parts[1], member_epoch=4)
    modern = facts(first, second, partitions=4, type="Consumer", state="Reconciling", protocol="uniform", group_epoch=4)
    assert notable(modern) == dict.fromkeys(("state", "reconciling"), Severity.WARNING)


def test_partitions_claimed_twice_are_a_problem() -> None:
    twice = facts(member("a", {"t": (0, 1)}), member("b", {"t": (1, 2, 3)}))
    assert notable(twice)["claimed-twice"] is Severity.PROBLEM
    assert found(twice)["claimed-twice"].subjects == ("t-1",)


def test_missing_topics_and_partitions_are_reported() -> None:
    gone = facts(member("a", {"t": (0, 1, 2), "x": (0,)}, ("t", "x")), partitions={"t": 2}, missing=frozenset({"x"}))
    assert notable(gone) == {"missing-topics": Severity.WARNING, "held-but-gone": Severity.PROBLEM}
    assert found(gone)["held-but-gone"].subjects == ("t-2", "x-0")


def test_unreported_topics_are_not_missing() -> None:
    undescribed = facts(member("a", {"x": (0, 1)}, ("x",)), partitions={}, undescribed=frozenset({"x"}))
    assert notable(undescribed) == {"untold-topics": Severity.WARNING}


def test_different_subscriptions_are_reported() -> None:
    odd = facts(
        member("a", {"t": (0, 1)}),
        member("b", {"t": (2, 3)}),
        member("c", {"u": (0,)}, ("u",)),
        partitions={"t": 4, "u": 1},
    )
    assert notable(odd) == {"subscriptions-differ": Severity.WARNING}
    assert found(odd)["subscriptions-differ"].subjects == ("c",)
    assert "2 members: t, 1 member: u" in found(odd)["subscriptions-differ"].text


def test_different_clients_are_a_warning() -> None:
    old = facts(member("a", {"t": (0, 1)}), member("b", {"t": (2, 3)}, subscription=Subscription(("t",), version=1)))
    assert notable(old) == {"clients-differ": Severity.WARNING}
    assert "v1, with owned partitions (KIP-429)" in found(old)["clients-differ"].text
    raw = Subscription(("t",), version=3, user_data=Raw(b"?", "no"))
    assert notable(facts(member("a", {"t": (0, 1, 2, 3)}, subscription=raw))) == {"user-data": Severity.WARNING}


def test_group_with_mixed_protocols_is_being_upgraded() -> None:
    target = assignment_of({"t": (0, 1)}.items())
    new = member("a", {"t": (0, 1)}, target=target, member_epoch=3, upgraded=True)
    old = member("b", {"t": (2, 3)}, target=assignment_of({"t": (2, 3)}.items()), member_epoch=3, upgraded=False)
    mixed = facts(new, old, type="Consumer", protocol="uniform", group_epoch=3)
    assert notable(mixed) == {"upgrade-under-way": Severity.WARNING}
    assert found(mixed)["upgrade-under-way"].subjects == ("b",)
    assert [row.note for row in explained_members(mixed)] == [None, "uses the classic protocol"]
    assert "leader" not in found(mixed)


def test_static_members_are_a_warning_only_if_partial() -> None:
    both = facts(member("a", {"t": (0, 1)}, instance_id="x"), member("b", {"t": (2, 3)}, instance_id="y"))
    assert notable(both) == {} and "all 2 members are static" in found(both)["static-members"].text
    one = facts(member("a", {"t": (0, 1)}, instance_id="x"), member("b", {"t": (2, 3)}))
    assert notable(one) == {"static-members": Severity.WARNING}


def test_timeouts_of_members_are_the_settings_of_their_group() -> None:
    session, heartbeat = Effective("consumer.session.timeout.ms", "50000"), Effective("consumer.heartbeat.interval.ms")
    given = facts(member("a", {"t": (0, 1, 2, 3)}, instance_id="x"), type="Consumer", protocol="uniform")
    known = found(given._replace(timeouts=MemberTimeouts(session, heartbeat._replace(value="5000"))))
    assert known["timeouts"].text == (
        "a member that sends no heartbeat for 50s is removed (consumer.session.timeout.ms); members send one at "
        "intervals of 5s (consumer.heartbeat.interval.ms)"
    )
    assert "restarts within its session timeout of 50s gets" in known["static-members"].text
    lacking = [each._replace(value=None, unknown="needs an ACL") for each in (session, heartbeat)]
    unknown = found(given._replace(timeouts=MemberTimeouts(*lacking)))
    assert "no heartbeat for an unknown time is removed" in unknown["timeouts"].text
    reason = "; consumer.session.timeout.ms, consumer.heartbeat.interval.ms: needs an ACL"
    assert unknown["timeouts"].text.endswith(reason)
    assert "restarts within its session timeout gets" in unknown["static-members"].text
    assert "timeouts" not in found(given)


def test_empty_rack_is_no_rack() -> None:
    def racked(rack: str | None) -> GroupFacts:
        return facts(member("a", {"t": (0, 1, 2, 3)}, subscription=Subscription(("t",), rack=rack)))

    assert "racks" not in found(racked("")) and "racks" not in found(racked(None))
    assert "1 rack (r)" in found(racked("r"))["racks"].text


@pytest.mark.parametrize("state", ["PreparingRebalance", "CompletingRebalance"])
def test_rebalancing_classic_group_has_only_its_state(state: str) -> None:
    bare = [member(name, topics=(), metadata_bytes=0, assignment_bytes=0) for name in "ab"]
    given = facts(*bare, state=state, protocol="", partitions={})
    assert notable(given) == {"state": Severity.WARNING}
    assert [row.could_hold for row in explained_members(given)] == [None, None]


def test_groups_without_members_and_share_groups_have_their_state() -> None:
    assert found(facts(state="Empty", partitions={})).keys() == {"coordinator", "state"}
    share = facts(type="Share", protocol_type="share", partitions={})
    share = share._replace(group=share.group._replace(members=None))
    assert "members are not described" in found(share)["state"].text


def test_share_and_streams_members_are_explained() -> None:
    shared = facts(member("a", {"t": (0,)}), type="Share", protocol_type="share", protocol="simple")
    assert found(shared)["protocol"].text.startswith("the broker assigns partitions with 'simple': several members")
    assert found(shared).keys() == {"coordinator", "protocol"}

    def threads(*counts: int) -> GroupFacts:
        tasks = [
            AssignedTasks(Tasks((SubtopologyTasks("0", tuple(range(count))),) if count else ())) for count in counts
        ]
        members = [
            member(str(at), topics=(), streams=StreamsMember("p", 1, each, each)) for at, each in enumerate(tasks)
        ]
        return facts(*members, type="Streams", protocol_type="streams", protocol="")

    answer = found(threads(2, 1))
    assert answer["protocol"].text.startswith("the broker assigns tasks: a task is a subtopology")
    assert answer["balance"].text == "2 members run 3 active tasks, 1 to 2 each"
    assert found(threads(2))["balance"].text == "1 member runs 2 active tasks"
    assert found(threads(2, 0))["idle-members"].subjects == ("1",) and "idle-members" not in answer


def test_completing_rebalance_without_protocol_is_explained() -> None:
    answer = found(facts(member("a", topics=(), metadata_bytes=None), state="CompletingRebalance", protocol=""))
    assert answer["protocol"].text.startswith("all members have joined, and an assignor is chosen")
    answer = found(facts(member("a", topics=(), metadata_bytes=None), state="PreparingRebalance", protocol=""))
    assert answer["protocol"].text.startswith("no assignor is chosen yet") and "weight" not in answer


def test_connect_workers_are_balanced_by_connectors_and_tasks() -> None:
    def worker(name: str, tasks: tuple[int, ...], delay: int = 0) -> object:
        work = WorkerAssignment(2, 0, "a", "http://a:8083/", 5, (ConnectorWork("c", name == "a", tasks),), (), delay)
        raw = Subscription(raw=Raw(b"", ""))
        return member(name, subscription=raw, metadata_bytes=9)._replace(assignment=Assignment(user_data=work))

    def connect(*workers: object) -> dict[str, Finding]:
        return found(facts(*workers, protocol_type="connect", protocol="sessioned", partitions={}))  # type: ignore[arg-type]

    answer = connect(worker("a", (0,)), worker("b", (1, 2)))
    assert answer["leader"].text == "its members report http://a:8083/ as leader"
    assert answer["balance"].text == "2 workers run 1 connector and 3 tasks, 2 to 2 each"
    assert "as-assigned" not in answer and "idle-members" not in answer
    assert connect(worker("a", (0,)), worker("b", (1, 2), 300))["balance"].severity is Severity.WARNING
    assert "uneven" in connect(worker("a", (0, 1, 2)), worker("b", ()))["balance"].text


def test_group_near_size_limits_is_reported() -> None:
    heavy = facts(*(member(f"m{number}", {"t": (number,)}, metadata_bytes=1_000_000) for number in range(4)))
    assert notable(heavy) == {"record-size": Severity.PROBLEM}
    assert "max.message.bytes is 1,048,588 by default" in found(heavy)["record-size"].text
    assert "the JoinGroup response to the leader is 3.8 MiB" in found(heavy)["weight"].text
    limits = BrokerLimits(
        members=Limit("group.max.size", 3, True), request=Limit("socket.request.max.bytes", 100, True)
    )
    small = WELL._replace(limits=limits)
    assert notable(small) == {"group-size": Severity.WARNING, "request-size": Severity.WARNING}
    assert "2 members: 67% of the broker's limit (group.max.size is 3)" in found(small)["group-size"].text
    roomy = WELL._replace(limits=limits._replace(members=Limit("group.max.size", 2**31 - 1, True)))
    assert notable(roomy) == {"request-size": Severity.WARNING}


def test_thousand_members_are_summarized() -> None:
    many = facts(*(member(f"m{n:04}", {"t": (n,)}) for n in range(1000)), partitions=1000)
    assert notable(many) == {}
    assert "1 partition each" in found(many)["as-assigned"].text
    idle = facts(*(member(f"m{n:04}", {"t": (n,)} if n < 10 else None) for n in range(1000)), partitions=10)
    assert (
        "990 of 1,000 members have no partitions (m0010, m0011, m0012, … and 987 more)"
        in found(idle)["idle-members"].text
    )


def test_coordinator_is_named_with_its_address() -> None:
    moved = WELL._replace(group=WELL.group._replace(coordinator=Node(1, "::1", 9)))
    assert "broker 1 ([::1]:9)" in found(moved)["coordinator"].text


def test_restart_of_static_members_is_not_weighed() -> None:
    def advice(*instances: str | None) -> str:
        each = [
            member(f"m{at}", {"t": (at,)}, instance_id=name, metadata_bytes=20) for at, name in enumerate(instances)
        ]
        return found(facts(*each, partitions=2))["weight"].text

    assert "a rolling restart of all members" in advice("one", None) and "restart" not in advice("one", "two")


def test_static_member_that_left_is_not_reconciling() -> None:
    left = member("a", {"t": (0, 1)}, instance_id="a1", member_epoch=-2)
    stays = member("b", {"t": (2, 3)}, instance_id="b1", member_epoch=4)
    modern = facts(left, stays, type="Consumer", protocol="uniform", group_epoch=4)
    assert "reconciling" not in found(modern)
    assert found(modern)["static-members-left"].subjects == ("a1",)
    assert "static-members-left" not in found(facts(stays, type="Consumer", protocol="uniform", group_epoch=4))
