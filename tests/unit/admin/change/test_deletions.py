"""Deletion of groups and offsets, and removal of members, over brokers that fail on demand."""

from __future__ import annotations

import asyncio
import re

import pytest
from kio.schema.errors import ErrorCode

from kgroups.admin.change.apply.delete_groups import delete_groups
from kgroups.admin.change.apply.remove_members import remove_members
from kgroups.admin.change.plan.plan_delete import plan_delete
from kgroups.admin.change.plan.plan_delete_offsets import plan_delete_offsets
from kgroups.admin.change.plan.plan_removal import WantedMembers, plan_removal
from kgroups.admin.query.select_groups import Selection
from kgroups.errors import UsageError
from kgroups.model.operations.results import DeletedGroup, MemberRemoval, RemovedMember
from kgroups.model.outcome import Outcome, Result
from kgroups.model.permissions import OMITTED_COMMITS_NOTICE
from kgroups.model.topic_scope import parse_topic_scope
from tests.fakes.asking import PATIENCE, ask, errors
from tests.fakes.broker import FakeCluster, silence
from tests.fakes.cluster_state import FakeMember


def shop(versions: str = "4.3.1") -> FakeCluster:
    fake = FakeCluster(2, versions)
    fake.state.topic("t", [0, 1])
    fake.state.topic("u", [0])
    fake.state.group("a", 0, commits={("t", 0): 50, ("t", 1): 51, ("u", 0): 1})
    fake.state.group("b", 1, commits={("t", 0): 5})
    members = (FakeMember("m-1", {"t": (0,)}), FakeMember("m-2", {"t": (1,)}, instance_id="i-2"))
    fake.state.group("busy", 0, state="Stable", members=members, commits={("t", 0): 7, ("u", 0): 8})
    return fake


NAMED = Selection(("a", "b", "busy"))


@pytest.mark.parametrize("versions", ["1.1.1", "2.8.2", "4.3.1"])
def test_plan_delete_lists_empty_groups_with_their_commits(versions: str) -> None:
    deletions = ask(shop(versions), lambda admin: plan_delete(admin.cluster, Selection(("a", "busy", "nope"))))
    assert [(each.group.group, len(each.commits)) for each in deletions.items] == [("a", 3)]
    assert errors(deletions) == {"busy": "NON_EMPTY_GROUP", "nope": "GROUP_ID_NOT_FOUND"}
    assert [(entry.key, entry.old, entry.new) for entry in deletions.items[0].as_plan()] == [
        (("a", "t", 0), 50, None),
        (("a", "t", 1), 51, None),
        (("a", "u", 0), 1, None),
    ]


def test_plan_delete_named_share_group_is_included() -> None:
    fake = shop()
    fake.state.group("share", 1, type="Share", protocol_type="share")
    fake.state.fail("OffsetFetch", "share", ErrorCode.group_id_not_found)
    fake.state.groups["share"].commits[("t", 0)] = 5
    deletions = ask(fake, lambda admin: plan_delete(admin.cluster, Selection(("share",))))
    assert [each.group.group for each in deletions.items] == ["share"] and not deletions.failures
    assert list(deletions.items[0].commits) == [("t", 0)]


def deleted(fake: FakeCluster, *names: str, **settings: float) -> Outcome[DeletedGroup]:
    return ask(fake, lambda admin: delete_groups(admin.cluster, names), **settings)


@pytest.mark.parametrize("versions", ["1.1.1", "4.3.1"])
def test_delete_groups_sends_batches(versions: str) -> None:
    fake = shop(versions)
    names = [f"many-{number}" for number in range(20)]
    for name in names:
        fake.state.group(name, len(name) % 2)
    outcome = deleted(fake, *names, "busy", "nope")
    assert errors(outcome) == {"busy": "NON_EMPTY_GROUP", "nope": "GROUP_ID_NOT_FOUND"}
    assert [each.result for each in outcome.items].count(Result.APPLIED) == 20
    assert [each.group for each in outcome.items] == sorted([*names, "busy", "nope"])
    assert len(fake.asked("DeleteGroups")) <= 2
    assert not set(names) & set(fake.state.groups)


def test_delete_without_response_is_unknown() -> None:
    fake = shop()
    fake.brokers[1].fault("DeleteGroups", silence)
    outcome = deleted(fake, "a", "b", broker_timeout=PATIENCE)
    assert [each.result for each in outcome.items] == [Result.APPLIED, Result.UNKNOWN]
    fake = shop()
    fake.state.omitted = set()
    fake.state.fail("DeleteGroups", "a", ErrorCode.not_coordinator, times=1)
    assert [each.result for each in deleted(fake, "a", "b").items] == [Result.APPLIED, Result.APPLIED]


def test_delete_group_missing_after_timeout_is_unknown() -> None:
    fake = shop()
    fake.state.fail("DeleteGroups", "a", ErrorCode.request_timed_out, times=1)
    fake.state.fail("DeleteGroups", "a", ErrorCode.group_id_not_found, times=1)
    (item,) = deleted(fake, "a").items
    assert item.result is Result.UNKNOWN and item.failure
    assert item.failure.message.startswith("unknown whether kgroups deleted it")


def test_delete_after_broker_failure_waits_for_the_new_coordinator() -> None:
    fake = shop()

    async def dies() -> None:
        await fake.brokers[1].stop()

        async def takes_over() -> None:
            await asyncio.sleep(0.5)
            fake.state.groups["b"].coordinator = 0

        tasks.append(asyncio.ensure_future(takes_over()))

    tasks: list[asyncio.Future[None]] = []
    outcome = ask(fake, lambda admin: delete_groups(admin.cluster, ["a", "b"]), via=(0,), before=dies)
    assert [each.result for each in outcome.items] == [Result.APPLIED, Result.APPLIED], outcome.failures


def test_plan_delete_offsets_lists_commits_in_scope() -> None:
    scope = parse_topic_scope(["t:1", "u"])
    planned = ask(shop(), lambda admin: plan_delete_offsets(admin.cluster, NAMED, scope))
    assert [entry.key for entry in planned.items] == [("a", "t", 1), ("a", "u", 0), ("busy", "u", 0)]
    assert not planned.failures


def test_plan_delete_offsets_of_subscribed_topic_is_refused() -> None:
    fake = shop()
    planned = ask(fake, lambda admin: plan_delete_offsets(admin.cluster, NAMED, parse_topic_scope(["t"])))
    assert {entry.group for entry in planned.items} == {"a", "b"}
    assert [(failure.name, failure.error) for failure in planned.failures] == [("t", "GROUP_SUBSCRIBED_TO_TOPIC")]


def test_plan_delete_offsets_of_unknown_topic_is_a_usage_error() -> None:
    with pytest.raises(
        UsageError, match="--topic: topic 'nope' does not exist, and there is no committed offset for it"
    ):
        ask(shop(), lambda admin: plan_delete_offsets(admin.cluster, NAMED, parse_topic_scope(["nope"])))
    fake = shop()
    fake.state.topic("unread", [0])
    planned = ask(fake, lambda admin: plan_delete_offsets(admin.cluster, NAMED, parse_topic_scope(["unread"])))
    assert planned.notices == ("none of these groups has a committed offset on topic 'unread'",) and not planned.items


@pytest.mark.parametrize(
    ("scope", "reason"),
    [
        (
            "t:0,7",
            "--topic: topic 't' has no partition 7, and there is no committed offset for it; "
            "the number of partitions is 2",
        ),
        ("nope:3,4", "--topic: topic 'nope' does not exist, and there is no committed offset for its partition 3"),
        ("gone:0,1", "--topic: topic 'gone' does not exist, and there is no committed offset for its partition 1"),
    ],
)
def test_plan_delete_offsets_of_unknown_partition_is_a_usage_error(scope: str, reason: str) -> None:
    fake = shop()
    fake.state.groups["a"].commits["gone", 0] = 9
    with pytest.raises(UsageError, match=f"^{re.escape(reason)}$"):
        ask(fake, lambda admin: plan_delete_offsets(admin.cluster, NAMED, parse_topic_scope([scope])))


@pytest.mark.parametrize("scope", ["gone", "gone:0", "t:5", "u:0"])
def test_plan_delete_offsets_includes_deleted_topics_and_partitions(scope: str) -> None:
    fake = shop()
    fake.state.groups["a"].commits.update({("gone", 0): 9, ("t", 5): 9})
    del fake.state.topics["u"]
    planned = ask(
        fake, lambda admin: plan_delete_offsets(admin.cluster, Selection(("a", "b")), parse_topic_scope([scope]))
    )
    assert [(entry.group, entry.topic) for entry in planned.items] == [("a", scope.partition(":")[0])]
    assert not planned.failures and not planned.notices


@pytest.mark.parametrize("code", [ErrorCode.topic_authorization_failed, ErrorCode.invalid_topic_exception])
def test_plan_delete_offsets_of_unavailable_topic_fails_alone(code: ErrorCode) -> None:
    fake = shop()
    fake.state.has_authorizer = True
    fake.state.topic("dark", [0])
    fake.state.fail("Metadata", "dark", code)
    planned = ask(fake, lambda admin: plan_delete_offsets(admin.cluster, NAMED, parse_topic_scope(["dark", "u"])))
    assert [entry.key for entry in planned.items] == [("a", "u", 0), ("busy", "u", 0)]
    assert [(failure.name, failure.error) for failure in planned.failures] == [("dark", code.name.upper())]
    unread = ("group 'a': 99 records are unread on u, after the offsets to delete",)
    others = [each for each in planned.notices if "records are unread" not in each]
    assert set(unread) <= {*planned.notices}
    assert others == ([OMITTED_COMMITS_NOTICE] if code == ErrorCode.topic_authorization_failed else [])


def test_plan_delete_offsets_of_topic_missing_in_response_is_a_failure() -> None:
    fake = shop()
    fake.state.omitted = {"dark"}
    planned = ask(fake, lambda admin: plan_delete_offsets(admin.cluster, NAMED, parse_topic_scope(["dark"])))
    assert [failure.message for failure in planned.failures] == ["missing in the broker's response"]


def left(fake: FakeCluster, wanted: WantedMembers) -> tuple[Outcome[MemberRemoval], Outcome[RemovedMember]]:
    planned: list[Outcome[MemberRemoval]] = []

    async def both(admin: object) -> Outcome[RemovedMember]:
        planned.append(await plan_removal(admin.cluster, NAMED, wanted))  # type: ignore[attr-defined]
        return await remove_members(admin.cluster, planned[0].items, "because")  # type: ignore[attr-defined, no-any-return]

    outcome = ask(fake, both)
    return planned[0], outcome


@pytest.mark.parametrize("versions", ["2.5.1", "4.3.1"])
def test_remove_members_by_id_and_by_instance(versions: str) -> None:
    fake = shop(versions)
    planned, outcome = left(fake, WantedMembers(frozenset({"m-1", "m-9"}), frozenset({"i-2"})))
    assert [leaver.member.member_id for leaver in planned.items] == ["m-1", "m-2"]
    assert [failure.message for failure in planned.failures] == ["no member with the id 'm-9'"]
    assert [each.result for each in outcome.items] == [Result.APPLIED, Result.APPLIED]
    assert fake.state.groups["busy"].members == ()
    assert len(fake.asked("LeaveGroup")) == 1


def test_remove_members_that_already_left_is_a_failure() -> None:
    fake = shop()
    (leaver, _) = ask(shop(), lambda admin: plan_removal(admin.cluster, NAMED, WantedMembers(everyone=True))).items
    fake.state.groups["busy"].members = ()
    outcome = ask(fake, lambda admin: remove_members(admin.cluster, [leaver], ""))
    assert [each.result for each in outcome.items] == [Result.FAILED]
    assert outcome.failures[0].message == "member 'm-1' left the group after the plan was made"


def test_remove_members_before_kafka_2_4_is_a_failure() -> None:
    planned = ask(shop("1.1.1"), lambda admin: plan_removal(admin.cluster, NAMED, WantedMembers(everyone=True)))
    assert not planned.items
    assert [(each.name, each.message) for each in planned.failures] == [
        ("busy", "removing members needs Kafka 2.4 (LeaveGroup v3)")
    ]
    (leaver, _) = ask(shop(), lambda admin: plan_removal(admin.cluster, NAMED, WantedMembers(everyone=True))).items
    outcome = ask(shop("1.1.1"), lambda admin: remove_members(admin.cluster, [leaver], ""))
    assert {each.result for each in outcome.items} == {Result.FAILED}
    assert re.search("not sent: .*supports LeaveGroup v0 to v1", outcome.failures[0].message)
