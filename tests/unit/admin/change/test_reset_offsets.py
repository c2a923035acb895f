"""Reset plans, their check before the write, and the write, over brokers that fail on demand."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from kio.schema.errors import ErrorCode

from kgroups.admin.change.apply.apply_offsets import apply_offsets
from kgroups.admin.change.apply.revalidate import revalidate_offsets
from kgroups.admin.change.plan.decide_reset import Facts, draft_offsets, finish_plan, select_partitions
from kgroups.admin.change.plan.plan_reset import plan_reset
from kgroups.admin.change.plan.reset_request import ResetRequest
from kgroups.admin.query.pattern import compile_pattern
from kgroups.admin.query.select_groups import Selection
from kgroups.errors import UsageError
from kgroups.model.offsets import Commit
from kgroups.model.operations.origin import Origin
from kgroups.model.operations.reset import (
    FromPlan,
    PlannedOffset,
    Scenario,
    ShiftBy,
    ToEarliest,
    ToGroup,
    ToLatest,
    ToOffset,
    ToTime,
)
from kgroups.model.operations.results import AppliedOffset
from kgroups.model.outcome import NOT_FOUND, Failure, Outcome, Result, Scope
from kgroups.model.topic_scope import TopicScope
from tests.fakes.asking import PATIENCE, errors
from tests.fakes.asking import ask_again as ask
from tests.fakes.broker import FakeCluster, close, silence
from tests.fakes.cluster_state import FakeMember
from tests.fakes.versions import KAFKA

MEMBER = FakeMember("m", {"t": (0,)})


def shop(versions: str = "4.3.1") -> FakeCluster:
    """Two brokers; topic t of two partitions, 10 to 100; group a on broker 0 and b on broker 1."""
    fake = FakeCluster(2, versions)
    fake.state.topic("t", [0, 1], start=10, end=100, times={40: 4000, 60: 6000}, history={1: {3: 10, 4: 51}})
    fake.state.group("a", 0, commits={("t", 0): 50, ("t", 1): Commit(1, 51, 3, "noted")})
    fake.state.group("b", 1, commits={("t", 0): 5})
    return fake


def plan(
    fake: FakeCluster,
    scenario: Scenario,
    *names: str,
    topics: TopicScope | None = None,
    pattern: str | None = None,
    everything: bool = False,
    create: bool = False,
) -> Outcome[PlannedOffset]:
    selection = Selection(names, compile_pattern(pattern, "--regex") if pattern else None, everything)
    return ask(fake, lambda admin: plan_reset(admin.cluster, ResetRequest(selection, scenario, topics, create=create)))


def moved(outcome: Outcome[PlannedOffset]) -> dict[tuple[str, str, int], int | None]:
    return {entry.key: entry.new for entry in outcome.items}


def write(fake: FakeCluster, planned: Sequence[PlannedOffset], **settings: float) -> Outcome[AppliedOffset]:
    return ask(fake, lambda admin: apply_offsets(admin.cluster, planned), **settings)


def results(outcome: Outcome[AppliedOffset]) -> dict[tuple[str, str, int], Result]:
    return {each.planned.key: each.result for each in outcome.items}


@pytest.mark.parametrize("versions", KAFKA)
def test_plan_reset_works_on_every_kafka_version(versions: str) -> None:
    assert moved(plan(shop(versions), ToEarliest(), "a")) == {("a", "t", 0): 10, ("a", "t", 1): 10}
    assert moved(plan(shop(versions), ShiftBy(-45), "a", topics={"t": frozenset({1})})) == {("a", "t", 1): 10}
    assert moved(plan(shop(versions), ToTime(4001), "b")) == {("b", "t", 0): 60}
    assert moved(plan(shop(versions), ToTime(6001), "b")) == {("b", "t", 0): 100}


def test_plan_reset_of_many_groups_needs_few_requests() -> None:
    fake = shop()
    for number in range(30):
        fake.state.group(f"many-{number}", number % 2, commits={("t", 0): 1, ("t", 1): 2})
    outcome = plan(fake, ToLatest(), pattern="many-.*")
    assert len(outcome.items) == 60 and not outcome.failures
    apis = [request.api for request in fake.requests]
    assert apis.count("OffsetFetch") == apis.count("ListGroups") == 2
    assert apis.count("ListOffsets") == 4, "start and end, once a leader"
    assert not apis.count("FindCoordinator")


def test_plan_reset_of_whole_topic_includes_uncommitted_partitions() -> None:
    found = plan(shop(), ToOffset(20), "b", topics={"t": None})
    assert [(entry.old, entry.new) for entry in found.items] == [(5, 20), (None, 20)]


def test_plan_reset_refuses_group_with_members_and_plans_the_others() -> None:
    fake = shop()
    fake.state.group("busy", 0, state="Stable", members=(MEMBER,), commits={("t", 0): 50})
    found = plan(fake, ToEarliest(), "busy", "b")
    assert moved(found) == {("b", "t", 0): 10}
    assert errors(found) == {"busy": "NON_EMPTY_GROUP"}
    assert "(state Stable)" in found.failures[0].message


def test_plan_reset_creates_missing_group_only_with_create() -> None:
    refused = plan(shop(), ToLatest(), "new", "b", topics={"t": frozenset({0})})
    assert moved(refused) == {("b", "t", 0): 100} and errors(refused) == {"new": NOT_FOUND} and not refused.notices
    assert "add --create-group" in refused.failures[0].message
    found = plan(shop(), ToLatest(), "new", topics={"t": frozenset({0})}, create=True)
    assert moved(found) == {("new", "t", 0): 100} and not found.failures
    assert found.notices == (
        "group 'new' does not exist; --create-group creates it as a classic group "
        "(kafka-share-groups --reset-offsets creates a share group)",
    )


def test_plan_reset_compares_each_name_once_for_many_missing_groups() -> None:
    """To search all for each took 17 seconds of 20,000: names are not compared with each other."""
    count, compared = 500, 0

    class Name(str):
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return str.__eq__(self, other)

    names = tuple(Name(f"g{number:03}") for number in range(count))

    failures = tuple(Failure(Scope.GROUP, name, "it is not there", NOT_FOUND) for name in names)
    request = ResetRequest(Selection(names), ToLatest(), create=True)
    facts = Facts(request, {}, Outcome((), failures), {name: {} for name in names}, {})
    targets = select_partitions(facts)
    found = finish_plan(facts, targets, draft_offsets(facts, targets))
    assert len(found.notices) == count and not found.failures
    assert compared < 10 * count


def test_plan_reset_skips_other_group_types_unless_named() -> None:
    fake = shop()
    fake.state.group("connect", 0, protocol_type="connect", commits={("t", 0): 1})
    fake.state.group("share", 1, type="Share", protocol_type="share")
    found = plan(fake, ToLatest(), everything=True)
    assert {entry.group for entry in found.items} == {"a", "b"}
    assert found.notices == ("2 groups of other types (Connect, share, streams) skipped; select them by name",)
    assert moved(plan(fake, ToLatest(), "connect")) == {("connect", "t", 0): 100}


@pytest.mark.parametrize(
    ("scenario", "topics", "reason"),
    [
        (ToLatest(), {"nope": None}, "--topic: topic 'nope' does not exist"),
        (ToLatest(), {"t": frozenset({0, 7})}, "--topic: topic 't' has no partition 7; the number of partitions is 2"),
        (
            FromPlan({("a", "u", 0): None}, where={("a", "u", 0): "f, line 3"}),
            None,
            "f, line 3: topic 'u' does not exist",
        ),
        (
            FromPlan({("a", "t", 9): None}, where={("a", "t", 9): "f, line 4"}),
            None,
            "f, line 4: topic 't' has no partition 9",
        ),
        (ToGroup("nobody"), None, "--to-group: group 'nobody' has no commits"),
    ],
)
def test_plan_reset_of_unknown_topic_or_partition_is_a_usage_error(
    scenario: Scenario, topics: TopicScope | None, reason: str
) -> None:
    with pytest.raises(UsageError) as caught:
        plan(shop(), scenario, "a", topics=topics)
    assert str(caught.value).startswith(reason)


def test_undo_plan_restores_the_rest_if_topics_or_partitions_are_gone() -> None:
    undo = {
        ("a", "gone", 0): Commit(0, 3),
        ("a", "gone", 1): None,
        ("a", "t", 0): Commit(0, 40),
        ("a", "t", 9): Commit(9, 3),
        ("b", "gone", 0): None,
        ("b", "gone", 1): Commit(1, 8),
        ("b", "t", 0): None,
    }
    fake = shop()
    fake.state.groups["b"].commits["gone", 0] = 7
    fake.state.groups["b"].commits["gone", 1] = Commit(1, 8)
    found = plan(fake, FromPlan(undo, exact=True), "a", "b")
    assert moved(found) == {("a", "t", 0): 40, ("b", "t", 0): None} and found.exit_code == 1
    assert [(failure.name, failure.message, failure.error) for failure in found.failures] == [
        ("gone-0", "group 'a': the topic does not exist any more; not restored", "UNKNOWN_TOPIC_OR_PARTITION"),
        ("t-9", "group 'a': the partition does not exist any more; not restored", "UNKNOWN_TOPIC_OR_PARTITION"),
        ("gone-0", "group 'b': the topic does not exist any more; not restored", "UNKNOWN_TOPIC_OR_PARTITION"),
    ], "what is as it was needs nothing"
    scoped = plan(fake, FromPlan(undo, exact=True), "a", topics={"gone": frozenset({0})})
    assert not scoped.items and [failure.name for failure in scoped.failures] == ["gone-0"]
    with pytest.raises(UsageError, match="--topic: topic 'nope' does not exist"):
        plan(fake, FromPlan(undo, exact=True), "a", topics={"nope": None})


def test_plan_reset_of_deleted_topic_is_a_failure_of_its_partitions() -> None:
    fake = shop()
    fake.state.groups["a"].commits["gone", 0] = 3
    found = plan(fake, ToLatest(), "a")
    assert set(moved(found)) == {("a", "t", 0), ("a", "t", 1)}
    assert errors(found) == {"gone": "UNKNOWN_TOPIC_OR_PARTITION"}


def test_plan_shift_without_commit_fails_for_that_partition() -> None:
    found = plan(shop(), ShiftBy(10), "b", topics={"t": None})
    assert moved(found) == {("b", "t", 0): 15}
    assert [failure.name for failure in found.failures] == ["t-1"]


def test_plan_to_group_copies_offsets_epochs_and_metadata() -> None:
    found = plan(shop(), ToGroup("a"), "b")
    assert [entry.after for entry in found.items] == [Commit(0, 50, 4), Commit(1, 51, 3, "noted")]
    assert moved(plan(shop(), ToGroup("a"), "b", topics={"t": frozenset({1})})) == {("b", "t", 1): 51}


def test_plan_to_group_with_unreadable_source_is_a_failure() -> None:
    fake = shop()
    fake.state.fail("OffsetFetch", "a", ErrorCode.group_authorization_failed)
    found = plan(fake, ToGroup("a"), "b")
    assert not found.items and errors(found) == {"a": "GROUP_AUTHORIZATION_FAILED"} and found.exit_code == 1


def test_apply_offsets_then_undo_restores_the_commits() -> None:
    fake = shop()
    before = dict(fake.state.groups["a"].commits)
    planned = plan(fake, ToOffset(30), "a", "new", topics={"t": None}, create=True).items
    assert set(results(write(fake, planned)).values()) == {Result.APPLIED}
    assert fake.state.groups["a"].commits == {("t", 0): Commit(0, 30), ("t", 1): Commit(1, 30)}
    assert fake.state.groups["new"].commits == {("t", 0): Commit(0, 30), ("t", 1): Commit(1, 30)}
    undo = FromPlan({entry.key: entry.before for entry in planned}, exact=True)
    back = plan(fake, undo, "a", "new").items
    assert set(results(write(fake, back)).values()) == {Result.APPLIED}
    assert fake.state.groups["a"].commits == {("t", 0): Commit(0, 50, 4), ("t", 1): before["t", 1]}
    assert fake.state.groups["new"].commits == {}


@pytest.mark.parametrize("versions", ["1.1.1", "4.3.1"])
def test_apply_offsets_is_rejected_if_a_member_joined(versions: str) -> None:
    fake = shop(versions)
    planned = plan(fake, ToOffset(30), "a", "b").items
    fake.state.groups["a"].members, fake.state.groups["a"].state = (MEMBER,), "Stable"
    commits = dict(fake.state.groups["a"].commits)
    checked = ask(fake, lambda admin: revalidate_offsets(admin.cluster, planned))
    assert {entry.group for entry in checked.items} == {"b"} and errors(checked) == {"a": "NON_EMPTY_GROUP"}
    written = write(fake, planned)
    assert results(written) == {
        ("a", "t", 0): Result.FAILED,
        ("a", "t", 1): Result.FAILED,
        ("b", "t", 0): Result.APPLIED,
    }
    assert errors(written) == {"a": "NON_EMPTY_GROUP"} and len(written.failures) == 1
    assert fake.state.groups["a"].commits == commits and not any(
        request.keys == ("a",) for request in fake.asked("OffsetCommit")
    )


def test_apply_offsets_is_rejected_by_the_broker_if_a_member_joins_after_the_check() -> None:
    fake = shop()
    planned = plan(fake, ToOffset(30), "a").items
    fake.state.fail("OffsetCommit", "a", ErrorCode.unknown_member_id)
    written = write(fake, planned)
    assert set(results(written).values()) == {Result.FAILED} and errors(written) == {"a": "UNKNOWN_MEMBER_ID"}


def test_revalidate_rejects_offsets_that_changed() -> None:
    fake = shop()
    planned = plan(fake, ToOffset(30), "a", "b", "new", topics={"t": None}, create=True).items
    fake.state.groups["a"].commits["t", 0] = 52
    checked = ask(fake, lambda admin: revalidate_offsets(admin.cluster, planned))
    assert {entry.group for entry in checked.items} == {"b", "new"}
    assert "its offsets have changed" in checked.failures[0].message


def test_revalidate_waits_for_a_leader_as_during_a_rolling_restart() -> None:
    fake = shop()
    planned = plan(fake, ToOffset(30), "a").items
    fake.state.topics["t"].leader_seen = {0: [-1] * 5}  # longer than a query waits
    assert len(ask(fake, lambda admin: revalidate_offsets(admin.cluster, planned)).items) == len(planned)


def test_revalidate_rejects_a_partition_that_stays_without_a_leader() -> None:
    fake = shop()
    planned = plan(fake, ToOffset(30), "a").items
    fake.state.topics["t"].leader_seen = {0: [-1] * 99}
    checked = ask(fake, lambda admin: revalidate_offsets(admin.cluster, planned), broker_timeout=1.0)
    assert not checked.items and "cannot be read now: the partition has no leader" in checked.failures[0].message


def test_apply_offsets_writes_other_partitions_if_one_is_refused() -> None:
    fake = shop()
    planned = plan(fake, ToOffset(30), "a").items
    fake.state.fail("OffsetCommit", "t-1", ErrorCode.topic_authorization_failed)
    written = write(fake, planned)
    assert results(written) == {("a", "t", 0): Result.APPLIED, ("a", "t", 1): Result.FAILED}
    assert written.failures[0].name == "t-1"
    assert written.failures[0].message == "group 'a': not authorized: needs READ on TOPIC t"


def test_apply_offsets_follows_moved_or_loading_coordinator() -> None:
    fake = shop()
    planned = plan(fake, ToOffset(30), "a", "b").items
    fake.state.fail("OffsetCommit", "a", ErrorCode.not_coordinator, times=1)
    fake.state.fail("OffsetCommit", "b", ErrorCode.coordinator_load_in_progress, times=2)
    assert set(results(write(fake, planned)).values()) == {Result.APPLIED}


@pytest.mark.parametrize("fault", [silence, close])
def test_apply_offsets_without_response_is_unknown_and_not_resent(fault: Callable) -> None:
    fake = shop()
    planned = plan(fake, ToOffset(30), "a", "b").items
    fake.brokers[0].fault("OffsetCommit", fault)
    written = write(fake, planned, broker_timeout=PATIENCE)
    assert results(written) == {
        ("a", "t", 0): Result.UNKNOWN,
        ("a", "t", 1): Result.UNKNOWN,
        ("b", "t", 0): Result.APPLIED,
    }
    assert "its outcome is unknown" in written.failures[0].message
    assert len([request for request in fake.asked("OffsetCommit") if request.keys == ("a",)]) == 1


def test_apply_offsets_to_stopped_broker_is_failed_not_unknown() -> None:
    fake = shop()
    planned = plan(fake, ToOffset(30), "a").items

    stopped, settings = fake.brokers[0].stop, {"broker_timeout": PATIENCE}
    written = ask(fake, lambda admin: apply_offsets(admin.cluster, planned), via=(1,), before=stopped, **settings)
    assert set(results(written).values()) == {Result.FAILED}
    assert all(failure.message.startswith("not sent: ") for failure in written.failures)


def test_apply_offsets_timed_out_in_broker_is_unknown() -> None:
    fake = shop()
    planned = plan(fake, ToOffset(30), "a").items
    fake.state.fail("OffsetCommit", "a", ErrorCode.request_timed_out)
    assert set(results(write(fake, planned, broker_timeout=PATIENCE)).values()) == {Result.UNKNOWN}
    again = shop()
    again.state.fail("OffsetCommit", "a", ErrorCode.request_timed_out, times=1)
    assert set(results(write(again, planned)).values()) == {Result.APPLIED}, "to commit twice is to commit once"


def test_apply_offsets_of_many_partitions_is_split() -> None:
    fake = shop()
    fake.state.topic("wide", [0] * 5000, start=0, end=9)
    planned = plan(fake, ToLatest(), "a", topics={"wide": None}).items
    assert set(results(write(fake, planned)).values()) == {Result.APPLIED}
    assert len(fake.asked("OffsetCommit")) == 2
    fake.state.fail("OffsetCommit", "a", ErrorCode.group_authorization_failed)
    planned = plan(fake, ToOffset(3), "a", topics={"wide": None}).items
    refused = write(fake, planned)
    assert set(results(refused).values()) == {Result.FAILED} and len(refused.failures) == 1
    assert len(fake.asked("OffsetCommit")) == 1, "once refused, nothing more is asked"


def test_plan_removing_a_commit_before_kafka_2_4_is_a_failure() -> None:
    fake = shop("1.1.1")
    planned = plan(fake, FromPlan({("b", "t", 0): None, ("b", "t", 1): Commit(1, 20)}, exact=True), "b")
    assert moved(planned) == {("b", "t", 1): 20}, "the plan says so, not only the write"
    (failure,) = planned.failures
    assert (failure.name, failure.message) == ("b", "deleting a committed offset needs Kafka 2.4 (OffsetDelete)")
    assert planned.notices == ("1 new committed offset cannot be undone: that needs Kafka 2.4 (OffsetDelete)",)
    entry = PlannedOffset("b", "t", 0, Commit(0, 5), None)
    written = write(fake, [entry])
    assert set(results(written).values()) == {Result.FAILED}
    assert "not sent" in written.failures[0].message and "does not support OffsetDelete" in written.failures[0].message
    assert not plan(shop(), FromPlan({("b", "t", 0): None}, exact=True), "b").failures


def test_copy_to_a_group_that_is_not_created_says_nothing_about_the_source() -> None:
    found = plan(shop(), ToGroup("a"), "missing")
    assert not found.items and "add --create-group" in found.failures[0].message
    assert not any("no committed offsets" in notice for notice in found.notices)
    assert len(plan(shop(), ToGroup("a"), "missing", create=True).items) == 2


def test_undo_that_creates_a_group_does_not_name_the_flag() -> None:
    origin = Origin("undo", written={("new", "t", 0): None})
    found = plan(shop(), FromPlan({("new", "t", 0): Commit(0, 50)}, exact=True, origin=origin), "new")
    assert "group 'new' does not exist; the undo creates it again" in found.notices
    assert not any("--create-group" in notice for notice in found.notices)
