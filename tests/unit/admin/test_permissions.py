"""Notices and failures for principals with few ACLs."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from kgroups.admin.change.apply.apply_offsets import apply_offsets
from kgroups.admin.change.apply.delete_groups import delete_groups
from kgroups.admin.change.plan.plan_delete import plan_delete
from kgroups.admin.change.plan.plan_delete_offsets import plan_delete_offsets
from kgroups.admin.change.plan.plan_removal import WantedMembers, plan_removal
from kgroups.admin.change.plan.plan_reset import plan_reset
from kgroups.admin.change.plan.reset_request import ResetRequest
from kgroups.admin.query.select_groups import Selection
from kgroups.model.operations.reset import ToEarliest
from kgroups.model.permissions import (
    DESCRIBE_CLUSTER,
    OMITTED_COMMITS_NOTICE,
    OMITTED_GROUPS_NOTICE,
    UNCHECKED_COMMITS_NOTICE,
    Acl,
)
from tests.fakes.asking import ask, describe, describe_offsets, errors, list_groups, rows
from tests.fakes.broker import FakeCluster, silence
from tests.fakes.cluster_state import FakeMember
from tests.fakes.versions import DESCRIBE_ACLS, DESCRIBE_LOG_DIRS

DESCRIBE, NOTHING = 1 << 8, 0


def shop(versions: str = "4.3.1", operations: int = NOTHING) -> FakeCluster:
    fake = FakeCluster(2, versions)
    fake.state.operations = operations
    fake.state.topic("t", [0, 1])
    fake.state.group("a", 0, commits={("t", 0): 5})
    fake.state.group("b", 1, state="Stable", members=(FakeMember("m", {"t": (1,)}),))
    return fake


def test_list_without_describe_on_cluster_notes_hidden_groups() -> None:
    for answer in (list_groups(shop()), describe(shop()), describe_offsets(shop())):
        assert answer.notices[0] == OMITTED_GROUPS_NOTICE
        assert answer.missing_acls() == [DESCRIBE_CLUSTER]
        assert not answer.failures  # it is no failure: all that may be seen is there


def test_permission_check_sends_no_extra_request() -> None:
    fake = shop()
    list_groups(fake)
    assert sorted({request.api for request in fake.requests}) == ["ApiVersions", "ListGroups", "Metadata"]
    assert len(fake.asked("Metadata")) == 1


@pytest.mark.parametrize("versions", ["4.3.1", "2.8.2", "2.5.1"])
def test_list_with_describe_on_cluster_has_no_notice(versions: str) -> None:
    answer = list_groups(shop(versions, DESCRIBE))
    assert not answer.notices and not answer.missing_acls()


def test_list_without_reported_operations_has_no_notice() -> None:
    assert not list_groups(shop("1.1.1")).notices  # there the list itself is refused
    assert not list_groups(shop(operations=-(1 << 31))).notices


def test_describe_named_groups_has_no_hidden_groups_notice() -> None:
    answer = describe(shop(), Selection(("a",)))
    assert not answer.notices and not answer.missing_acls()


def test_describe_notes_commits_hidden_by_acls() -> None:
    assert describe_offsets(shop(), Selection(("a",))).notices == (OMITTED_COMMITS_NOTICE,)
    fake = shop(operations=DESCRIBE)
    fake.state.has_authorizer = True
    fake.state.fail("Metadata", "t", ErrorCode.topic_authorization_failed)
    answer = describe_offsets(fake, Selection(("b",)))
    assert answer.notices == (OMITTED_COMMITS_NOTICE,)
    assert answer.items[0].hidden == "committed offsets on topics without permission DESCRIBE are hidden: t"


def test_describe_topics_unauthorized_despite_cluster_describe_is_noted() -> None:
    """A group without members whose topics are all hidden has no row and no failure."""

    def narrow(*, sees: bool) -> FakeCluster:
        fake = shop(operations=DESCRIBE)
        fake.state.has_authorizer = True
        fake.state.group("empty")
        if not sees:
            fake.state.fail("Metadata", "t", ErrorCode.topic_authorization_failed)
        return fake

    empty = Selection(("empty",))
    assert not describe_offsets(narrow(sees=True), empty).notices
    answer = describe_offsets(narrow(sees=False), empty)
    assert (answer.notices, answer.failures) == ((OMITTED_COMMITS_NOTICE,), ())
    assert not list_groups(narrow(sees=False)).notices  # all groups are there


def test_describe_unauthorized_topic_has_rows_with_the_reason() -> None:
    fake = shop(operations=DESCRIBE)
    fake.state.fail("Metadata", "t", ErrorCode.topic_authorization_failed)
    answer = describe_offsets(fake)
    assert [(row.group, row.partition, row.current_offset, row.lag, row.note) for row in rows(answer)] == [
        ("a", 0, 5, None, "not authorized: needs DESCRIBE on TOPIC t"),
        ("b", 1, None, None, "not authorized: needs DESCRIBE on TOPIC t"),
    ]
    assert errors(answer) == {"t": "TOPIC_AUTHORIZATION_FAILED"}


def test_describe_group_unauthorized_for_its_topics_keeps_commits() -> None:
    fake = shop(operations=DESCRIBE)
    fake.state.group("modern", 0, type="Consumer", commits={("t", 0): 7})
    fake.state.fail("ConsumerGroupDescribe", "modern", ErrorCode.topic_authorization_failed)
    answer = describe_offsets(fake)
    assert [(row.group, row.current_offset) for row in rows(answer)] == [("a", 5), ("b", None), ("modern", 7)]
    (failure,) = answer.failures
    assert (failure.name, failure.message) == ("modern", "not authorized: needs DESCRIBE on each TOPIC of its members")
    assert not any("not described" in notice for notice in answer.notices)


@pytest.mark.parametrize(
    ("api", "name", "code", "message"),
    [
        ("OffsetCommit", "", ErrorCode.group_authorization_failed, "not authorized: needs READ on GROUP a"),
        ("DeleteGroups", "a", ErrorCode.group_authorization_failed, "not authorized: needs DELETE on GROUP a"),
    ],
)
def test_operations_name_the_missing_acl(api: str, name: str, code: ErrorCode, message: str) -> None:
    fake = shop(operations=DESCRIBE)
    fake.state.fail(api, name or "a", code)

    async def act(admin: Any) -> Any:
        if api == "DeleteGroups":
            return await delete_groups(admin.cluster, ["a"])
        planned = await plan_reset(admin.cluster, ResetRequest(Selection(("a",)), ToEarliest()))
        return await apply_offsets(admin.cluster, planned.items)

    assert [failure.message for failure in ask(fake, act).failures] == [message]


READ, DELETE = 1 << 3, 1 << 6
PLANS: dict[str, tuple[Callable[[Any], Any], dict[str, int]]] = {
    "reset": (
        lambda admin: plan_reset(admin.cluster, ResetRequest(Selection(("a",)), ToEarliest())),
        {"a": READ, "t": READ},
    ),
    "create": (
        lambda admin: plan_reset(
            admin.cluster, ResetRequest(Selection(("new",)), ToEarliest(), topics={"t": frozenset({0})}, create=True)
        ),
        {"new": READ, "t": READ},
    ),
    "modern": (
        lambda admin: plan_reset(admin.cluster, ResetRequest(Selection(("modern",)), ToEarliest())),
        {"modern": READ, "t": READ},
    ),
    "delete offsets": (
        lambda admin: plan_delete_offsets(admin.cluster, Selection(("a",)), {"t": None}),
        {"a": DELETE, "t": READ},
    ),
    "delete": (lambda admin: plan_delete(admin.cluster, Selection(("a",))), {"a": DELETE}),
    "remove members": (
        lambda admin: plan_removal(admin.cluster, Selection(("b",)), WantedMembers(everyone=True)),
        {"b": READ},
    ),
}
"""Changes, and the operation that each resource needs."""
NAMES = {READ: "READ", DELETE: "DELETE"}


@pytest.mark.parametrize("versions", ["4.3.1", "3.9.1", "2.5.1"])
@pytest.mark.parametrize("name", PLANS)
def test_plan_names_each_acl_that_the_change_will_lack(name: str, versions: str) -> None:
    plan, needs = PLANS[name]
    everything = READ | DELETE | DESCRIBE
    for granted in product((True, False), repeat=len(needs)):
        fake = shop(versions, DESCRIBE)
        fake.state.has_authorizer = True
        if name == "modern":
            if versions == "2.5.1":
                return
            fake.state.group("modern", 0, type="Consumer", commits={("t", 0): 7})
        allowed = dict(zip(needs, granted, strict=True))
        fake.state.authorized = {each: everything if allowed[each] else everything & ~needs[each] for each in needs}
        answer = ask(fake, plan)
        lacking = [
            Acl(NAMES[needs[each]], "TOPIC" if each == "t" else "GROUP", each) for each in needs if not allowed[each]
        ]
        assert answer.items and answer.exit_code == 0
        assert answer.missing_acls() == lacking
        assert [notice for notice in answer.notices if "reject" in notice] == [
            f"brokers will reject the change: not authorized: needs {acl}" for acl in lacking
        ]


def test_reads_and_clusters_without_authorizer_ask_for_no_operations() -> None:
    fake = shop(operations=DESCRIBE)
    fake.state.authorized = {"a": DESCRIBE, "t": DESCRIBE}
    planned = ask(fake, PLANS["reset"][0])
    assert planned.items and not planned.missing_acls()
    fake = shop(operations=DESCRIBE)
    fake.state.has_authorizer, fake.state.authorized = True, {"a": DESCRIBE, "t": DESCRIBE}
    assert not describe_offsets(fake).missing_acls()


def test_operations_that_brokers_do_not_report_are_not_called_missing() -> None:
    fake = shop("1.1.1", DESCRIBE)
    fake.state.has_authorizer, fake.state.authorized = True, {"a": DESCRIBE, "t": DESCRIBE}
    answer = ask(fake, PLANS["reset"][0])
    assert answer.items and not [notice for notice in answer.notices if "reject" in notice]


def test_list_refused_by_broker_names_the_acl() -> None:
    fake = shop("1.1.1")
    for broker in ("0", "1"):
        fake.state.fail("ListGroups", broker, ErrorCode.cluster_authorization_failed)
    answer = list_groups(fake)
    assert {failure.message for failure in answer.failures} == {"not authorized: needs DESCRIBE on CLUSTER"}


EVERY_KAFKA = ("4.3.1", "3.9.1", "2.8.2", "2.5.1", "1.1.1")


def seen_by(versions: str, change: Callable[[FakeCluster], None], *, topics: frozenset[str] = frozenset()) -> Any:
    """Return the outcome about group ``a`` on brokers with an authorizer, for a principal with DESCRIBE on CLUSTER."""
    fake = shop(versions, DESCRIBE)
    fake.state.has_authorizer = True
    change(fake)
    return describe_offsets(fake, Selection(("a",), topics=topics))


@pytest.mark.parametrize("versions", EVERY_KAFKA)
def test_no_authorizer_means_nothing_is_hidden(versions: str) -> None:
    fake = shop(versions, DESCRIBE)
    answer = describe_offsets(fake, Selection(("a",)))
    assert not answer.notices and answer.items[0].hidden is None
    assert len(fake.asked("DescribeAcls")) == 1 and not fake.asked("DescribeLogDirs")


@pytest.mark.parametrize("versions", EVERY_KAFKA[:-1])
def test_principal_that_sees_all_topics_has_no_notice(versions: str) -> None:
    answer = seen_by(versions, lambda fake: None)
    assert not answer.notices and answer.items[0].hidden is None


@pytest.mark.parametrize("api", ["DescribeAcls", "DescribeLogDirs"])
@pytest.mark.parametrize(
    "code", [ErrorCode.cluster_authorization_failed, ErrorCode.unknown_server_error, ErrorCode.unsupported_version]
)
def test_what_is_hidden_is_unknown_after_an_error(api: str, code: ErrorCode) -> None:
    def fail(fake: FakeCluster) -> None:
        for name in ("", "0", "1"):
            fake.state.fail(api, name, code)

    answer = seen_by("4.3.1", fail)
    known = api == "DescribeAcls"  # the topics still show it
    assert (answer.notices == ()) == known and (answer.items[0].hidden is None) == known


@pytest.mark.parametrize("missing", [DESCRIBE_ACLS, DESCRIBE_LOG_DIRS])
def test_what_is_hidden_is_unknown_without_the_api(missing: int) -> None:
    def remove(fake: FakeCluster) -> None:
        for broker in fake.brokers.values():
            broker.ranges.pop(missing)

    answer = seen_by("4.3.1", remove)
    assert (answer.items[0].hidden is None) == (missing == DESCRIBE_ACLS)
    if missing == DESCRIBE_LOG_DIRS:
        assert "the broker does not support DescribeLogDirs" in answer.items[0].hidden


def test_slow_disks_delay_no_other_request() -> None:
    """A broker processes the requests of a connection one after the other, and DescribeLogDirs reads its disks."""
    fake = shop(operations=DESCRIBE)
    fake.state.has_authorizer = True
    fake.brokers[0].fault("DescribeLogDirs", silence)
    answer = describe_offsets(fake, Selection(everything=True))
    assert [each.group.group for each in answer.items] == ["a", "b"] and not answer.failures
    assert all("no response to DescribeLogDirs" in (each.hidden or "") for each in answer.items)
    assert answer.notices == (UNCHECKED_COMMITS_NOTICE,), "no missing permission was found"


def test_selected_topic_decides_alone() -> None:
    def hide(fake: FakeCluster) -> None:
        fake.state.topic("u", [0])
        fake.state.fail("Metadata", "u", ErrorCode.topic_authorization_failed)

    assert seen_by("4.3.1", hide).items[0].hidden
    assert seen_by("4.3.1", hide, topics=frozenset({"t"})).items[0].hidden is None
    assert seen_by("4.3.1", hide, topics=frozenset({"t", "u"})).items[0].hidden.endswith(": u")


def test_list_of_kafka_2_1_is_partial_without_describe_on_cluster() -> None:
    """Brokers do not report the operations before 2.3, and leave out groups from 2.1 on."""
    fake = shop("2.5.1", -(1 << 31))
    fake.state.fail("DescribeAcls", "", ErrorCode.cluster_authorization_failed)
    assert list_groups(fake).notices == (OMITTED_GROUPS_NOTICE,)
