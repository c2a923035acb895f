"""Share groups (KIP-932): describe, reset, undo, and delete over brokers that fail on demand."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest
from kio.schema.errors import ErrorCode

from kgroups.admin.change.apply.apply_offsets import apply_offsets
from kgroups.admin.change.apply.delete_groups import delete_groups
from kgroups.admin.change.apply.delete_now import delete_share_offsets
from kgroups.admin.change.apply.revalidate import revalidate_offsets
from kgroups.admin.change.plan.plan_delete import plan_delete
from kgroups.admin.change.plan.plan_delete_offsets import plan_delete_offsets
from kgroups.admin.change.plan.plan_removal import WantedMembers, plan_removal
from kgroups.admin.change.plan.plan_reset import plan_reset
from kgroups.admin.change.plan.reset_request import ResetRequest
from kgroups.admin.query.list_groups import SHARERS
from kgroups.admin.query.select_groups import Selection
from kgroups.admin.wire import WireClient
from kgroups.model.groups import Group, GroupType
from kgroups.model.offsets import Commit, Isolation
from kgroups.model.operations.reset import FromPlan, PlannedOffset, Scenario, ShiftBy, ToEarliest, ToGroup, ToLatest
from kgroups.model.operations.results import AppliedOffset
from kgroups.model.outcome import Outcome, Result
from kgroups.model.topic_scope import TopicScope, parse_topic_scope
from kgroups.model.views.offset_row import GroupOffsets
from tests.fakes.asking import ask_again as ask
from tests.fakes.asking import errors, names, rows
from tests.fakes.broker import FakeCluster, close, framed
from tests.fakes.cluster_state import FakeMember
from tests.fakes.versions import ALTER_SHARE_GROUP_OFFSETS, DESCRIBE_SHARE_GROUP_OFFSETS, SHARE_GROUP_DESCRIBE

MEMBER = FakeMember("m", {"t": (0, 1)})
EITHER = [Selection(everything=True), Selection(names=("live", "idle", "classic"))]
"""Selections with a known group type, and with an unknown one."""


def shop(versions: str = "4.3.1") -> FakeCluster:
    """Topic t from 10 to 100; share groups live on broker 0, idle on broker 1; a group that commits."""
    fake = FakeCluster(2, versions)
    fake.state.topic("t", [0, 1, 0], start=10, end=100)
    fake.state.topic("u", [1], end=7)
    live = fake.state.group("live", 0, type="Share", protocol_type="share", state="Stable", members=(MEMBER,))
    live.commits.update({("t", 0): 50, ("t", 1): -1})
    live.lags["t", 0] = 3
    idle = fake.state.group("idle", 1, type="Share", protocol_type="share")
    idle.commits.update({("t", 0): 20, ("t", 1): 30, ("u", 0): 5})
    fake.state.group("classic", 0, commits={("t", 0): 40})
    return fake


def describe(fake: FakeCluster, selection: Selection) -> Outcome[Group]:
    return ask(fake, lambda admin: admin.describe(selection))


def describe_offsets(fake: FakeCluster, selection: Selection) -> Outcome[GroupOffsets]:
    return ask(fake, lambda admin: admin.describe_offsets(selection, isolation=Isolation.READ_UNCOMMITTED))


@pytest.mark.parametrize("selection", EITHER)
def test_describe_share_groups_has_members_and_epochs(selection: Selection) -> None:
    answer = describe(shop(), selection)
    assert names(answer) == ["classic", "idle", "live"] and not answer.failures and not answer.notices
    live = next(group for group in answer.items if group.group == "live")
    assert (live.type, live.state, live.protocol, live.group_epoch, live.target_assignment_epoch) == (
        *("Share", "Stable", "simple"),
        *(7, 6),
    )
    (member,) = live.members or ()
    assert (str(member.assignment), member.rack_id, member.member_epoch) == ("t:0,1", "rack-1", 7)
    assert member.subscription.topics == ("t",)


def test_describe_classic_group_sends_no_share_group_requests() -> None:
    fake = shop()
    describe(fake, Selection(names=("classic",)))
    assert not fake.asked("ShareGroupDescribe")
    describe_offsets(fake, Selection(names=("classic",)))
    assert not fake.asked("DescribeShareGroupOffsets")


@pytest.mark.parametrize("selection", EITHER)
def test_describe_offsets_share_groups_have_start_offsets(selection: Selection) -> None:
    answer = describe_offsets(shop(), selection)
    assert not answer.failures
    found = [
        (row.group, row.partition, row.current_offset, row.start_offset, row.log_end_offset, row.lag, row.note)
        for row in rows(answer)
        if row.topic == "t"
    ]
    assert found == [
        ("classic", 0, 40, None, 100, 60, None),
        ("idle", 0, None, 20, 100, 80, None),
        ("idle", 1, None, 30, 100, 70, None),
        ("live", 0, None, 50, 100, 3, None),
        ("live", 1, None, None, 100, None, "not read yet"),
    ]
    assert {row.consumer_id for row in rows(answer)} == {None}, "who reads what, nobody can say before"


def test_describe_offsets_without_reported_lag_has_an_upper_bound() -> None:
    fake = shop()
    for broker in fake.brokers.values():
        broker.ranges = {**broker.ranges, DESCRIBE_SHARE_GROUP_OFFSETS: (0, 0)}
    (row, _) = rows(describe_offsets(fake, Selection(names=("live",))))
    assert (row.lag, (row.note or "")[:21]) == (50, "lag is at most this: ")


def test_topic_selection_matches_share_group_start_offsets() -> None:
    only_u = Selection(topics=frozenset({"u"}))
    assert [row.group for row in rows(describe_offsets(shop(), only_u))] == ["idle"]
    unread = shop()
    unread.state.groups["idle"].commits["u", 0] = -1
    assert [row.group for row in rows(describe_offsets(unread, only_u))] == ["idle"]


def test_describe_offsets_failed_partition_keeps_the_others() -> None:
    fake = shop()
    fake.state.fail("DescribeShareGroupOffsets", "t-0", ErrorCode.coordinator_not_available)
    answer = describe_offsets(fake, Selection(names=("idle",)))
    assert errors(answer) == {"t-0": "COORDINATOR_NOT_AVAILABLE"}
    assert [(row.topic, row.partition, row.lag) for row in rows(answer)] == [("t", 0, None), ("t", 1, 70), ("u", 0, 2)]


@pytest.mark.parametrize("api", ["ShareGroupDescribe", "DescribeShareGroupOffsets"])
def test_unauthorized_share_group_is_one_failure(api: str) -> None:
    fake = shop()
    fake.state.fail(api, "idle", ErrorCode.group_authorization_failed)
    for selection in EITHER:
        answer = describe_offsets(fake, selection)
        assert errors(answer) == {"idle": "GROUP_AUTHORIZATION_FAILED"}
        assert {row.group for row in rows(answer)} == {"classic", "live"}


def test_share_groups_of_older_brokers_are_reported_as_unsupported() -> None:
    fake = shop()
    for broker in fake.brokers.values():  # Kafka 4.0 lists them, but spoke a preview
        broker.ranges = {**broker.ranges, SHARE_GROUP_DESCRIBE: (0, 0)}
    answer = describe(fake, Selection(everything=True))
    assert names(answer) == ["classic"]
    reason = "supports ShareGroupDescribe v0 to v0, kgroups v1 to v1; share groups can be described from Kafka 4.1 on"
    assert answer.failures
    assert all(failure.message.endswith(f"the broker {reason}") for failure in answer.failures)
    old = ask(shop("3.9.1"), lambda admin: admin.list_selected(Selection(among=SHARERS)))
    assert names(old) == ["idle", "live"], "of those that a fake has, which no such broker would"
    older = ask(FakeCluster(1, "2.8.2"), lambda admin: admin.list_selected(Selection(among=SHARERS)))
    assert "does not report group types" in older.failures[0].message


# Acts.


def planned(
    fake: FakeCluster, scenario: Scenario, *groups: str, topics: TopicScope | None = None
) -> Outcome[PlannedOffset]:
    return ask(fake, lambda admin: plan_reset(admin.cluster, ResetRequest(Selection(groups), scenario, topics)))


def written(fake: FakeCluster, plan: Outcome[PlannedOffset]) -> Outcome[AppliedOffset]:
    return ask(fake, lambda admin: apply_offsets(admin.cluster, plan.items))


def starts(fake: FakeCluster, group: str) -> Mapping[tuple[str, int], object]:
    return fake.state.groups[group].commits


def undo(plan: Outcome[PlannedOffset]) -> FromPlan:
    kinds = {entry.group: entry.kind for entry in plan.items if entry.kind}
    return FromPlan({entry.key: entry.before for entry in plan.items}, exact=True, kinds=kinds)


def test_reset_and_undo_share_group_next_to_classic_group() -> None:
    fake = shop()
    plan = planned(fake, ToEarliest(), "idle", "classic", topics={"t": frozenset({0, 2})})
    assert [(entry.group, entry.partition, entry.old, entry.new, entry.kind) for entry in plan.items] == [
        ("classic", 0, 40, 10, "Classic"),
        ("classic", 2, None, 10, "Classic"),
        ("idle", 0, 20, 10, "Share"),
        ("idle", 2, None, 10, "Share"),
    ]
    done = written(fake, plan)
    assert {each.result for each in done.items} == {Result.APPLIED} and not done.failures
    assert starts(fake, "idle") == {("t", 0): 10, ("t", 1): 30, ("u", 0): 5, ("t", 2): 10}
    assert not ask(fake, lambda admin: revalidate_offsets(admin.cluster, plan.items)).items, "it is not as it was shown"
    back = written(fake, planned(fake, undo(plan), "idle", "classic"))
    assert not back.failures
    assert starts(fake, "idle") == {("t", 0): 20, ("t", 1): 30, ("u", 0): 5, ("t", 2): -1}
    assert ("t", 2) not in starts(fake, "classic")


def test_delete_offsets_of_share_group_deletes_whole_topics() -> None:
    fake = shop()
    plan = ask(fake, lambda admin: plan_delete_offsets(admin.cluster, Selection(("idle",)), parse_topic_scope(["t"])))
    assert not written(fake, plan).failures
    assert starts(fake, "idle") == {("u", 0): 5}
    assert len(fake.asked("DeleteShareGroupOffsets")) == 1 and not fake.asked("AlterShareGroupOffsets")
    assert not written(fake, planned(fake, undo(plan), "idle")).failures
    assert starts(fake, "idle") == {("t", 0): 20, ("t", 1): 30, ("u", 0): 5}


def test_undo_of_deleted_share_group_creates_a_share_group() -> None:
    fake = shop()
    deletions = ask(fake, lambda admin: plan_delete(admin.cluster, Selection(("idle", "live"))))
    assert errors(deletions) == {"live": "NON_EMPTY_GROUP"}
    ask(fake, lambda admin: delete_groups(admin.cluster, ["idle"]))
    plan = Outcome(tuple(entry for group in deletions.items for entry in group.as_plan()))
    assert not written(fake, planned(fake, undo(plan), "idle")).failures
    assert (fake.state.groups["idle"].type, len(starts(fake, "idle"))) == ("Share", 3)


@pytest.mark.parametrize(("name", "was"), [("classic", "Share"), ("idle", "Classic")])
def test_undo_for_a_group_of_another_type_is_refused(name: str, was: str) -> None:
    fake = shop()
    moves = {(group, "t", 0): Commit(0, 11) for group in ("classic", "idle")}
    kinds = {"classic": "Classic", "idle": "Share", name: was}
    again = planned(fake, FromPlan(moves, exact=True, kinds=kinds), "classic", "idle")
    assert {entry.group for entry in again.items} == {"classic", "idle"} - {name}
    assert [failure.name for failure in again.failures] == [name]


def test_delete_offsets_of_share_group_partition_or_active_group_is_refused() -> None:
    some = ask(
        shop(), lambda admin: plan_delete_offsets(admin.cluster, Selection(("idle",)), parse_topic_scope(["t:0"]))
    )
    assert not some.items and "can only delete the offsets of whole topics" in some.failures[0].message
    busy = ask(shop(), lambda admin: plan_delete_offsets(admin.cluster, Selection(("live",)), parse_topic_scope(["t"])))
    assert not busy.items and errors(busy) == {"live": "NON_EMPTY_GROUP"}


def test_reset_share_group_with_members_is_refused() -> None:
    refused = planned(shop(), ToLatest(), "live", "idle")
    assert errors(refused) == {"live": "NON_EMPTY_GROUP"} and {entry.group for entry in refused.items} == {"idle"}
    fake = shop()
    plan = planned(fake, ToLatest(), "idle")
    fake.state.groups["idle"].members = (MEMBER,)  # who joined meanwhile
    done = written(fake, plan)
    assert {each.result for each in done.items} == {Result.FAILED}
    assert [(failure.name, failure.error) for failure in done.failures] == [("idle", "NON_EMPTY_GROUP")]


def test_reset_share_group_refused_partition_keeps_the_others() -> None:
    fake = shop()
    plan = planned(fake, ShiftBy(1), "idle")
    fake.state.fail("AlterShareGroupOffsets", "t-1", ErrorCode.topic_authorization_failed)
    done = written(fake, plan)
    assert [each.result for each in done.items] == [Result.APPLIED, Result.FAILED, Result.APPLIED]
    assert starts(fake, "idle") == {("t", 0): 21, ("t", 1): 30, ("u", 0): 6}


def test_reset_share_group_without_response_is_unknown() -> None:
    fake = shop()
    plan = planned(fake, ToLatest(), "idle")
    fake.brokers[1].fault("AlterShareGroupOffsets", close)
    done = written(fake, plan)
    assert {each.result for each in done.items} == {Result.UNKNOWN}
    assert len(fake.asked("AlterShareGroupOffsets")) == 1


def test_delete_share_offsets_fails_if_old_offsets_cannot_be_read() -> None:
    fake = shop()
    plan = ask(fake, lambda admin: plan_delete_offsets(admin.cluster, Selection(("idle",)), parse_topic_scope(["t"])))
    fake.state.fail("DescribeShareGroupOffsets", "idle", ErrorCode.group_authorization_failed)
    done = written(fake, plan)
    assert {each.result for each in done.items} == {Result.FAILED} and len(starts(fake, "idle")) == 3


def test_plan_to_group_copies_share_group_start_offsets() -> None:
    fake = shop()
    copied = planned(fake, ToGroup("live"), "idle", "classic")
    assert [(entry.group, entry.topic, entry.partition, entry.new) for entry in copied.items] == [
        ("classic", "t", 0, 50),
        ("idle", "t", 0, 50),
    ]


def test_delete_share_offsets_of_share_group_reports_unknown_topics() -> None:
    async def forget(admin: WireClient) -> dict[str, str | None]:
        answer = await delete_share_offsets(admin.cluster, "idle", ["u", "nope"])
        return {entry.topic: entry.failure and entry.failure.error for entry in answer.items}

    fake = shop()
    assert ask(fake, forget) == {"nope": "UNKNOWN_TOPIC_OR_PARTITION", "u": None}
    assert ("u", 0) not in starts(fake, "idle")


def test_remove_members_of_share_group_is_refused() -> None:
    plan = ask(shop(), lambda admin: plan_removal(admin.cluster, Selection(("live",)), WantedMembers(everyone=True)))
    assert not plan.items and "members of share groups cannot be removed" in plan.failures[0].message


def test_reset_share_group_on_unsupporting_broker_is_a_failure() -> None:
    fake = shop()
    plan = planned(fake, ToLatest(), "idle")
    for broker in fake.brokers.values():
        broker.ranges = {key: found for key, found in broker.ranges.items() if key != ALTER_SHARE_GROUP_OFFSETS}
    done = written(fake, plan)
    assert "the broker does not support AlterShareGroupOffsets" in done.failures[0].message
    assert {each.result for each in done.items} == {Result.FAILED}


def test_describe_share_group_has_type_share() -> None:
    groups: tuple[Group, ...] = describe(shop(), Selection(names=("idle",))).items
    assert [group.type for group in groups] == [GroupType.SHARE]


def test_reset_of_share_group_reads_start_offsets_back() -> None:
    fake = shop()
    plan = planned(fake, ToEarliest(), "idle", topics={"t": frozenset({0, 1})})
    done = written(fake, plan)
    assert not done.failures and "share groups have no log of their start offsets" in done.notices[0]

    async def overwrite(writer: asyncio.StreamWriter, answer: bytes) -> None:
        fake.state.groups["idle"].commits["t", 1] = 77
        writer.write(framed(answer))

    fake.brokers[1].fault("AlterShareGroupOffsets", overwrite)
    done = written(fake, planned(fake, ToLatest(), "idle", topics={"t": frozenset({0, 1})}))
    (failure,) = done.failures
    assert failure.name == "idle" and "t-1: another client has committed offset 77 since" in failure.message
