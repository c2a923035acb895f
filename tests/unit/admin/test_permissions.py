"""Notices and failures for principals with few ACLs."""

from __future__ import annotations

from typing import Any

import pytest
from kio.schema.errors import ErrorCode

from kgroups.admin.query.select_groups import Selection
from kgroups.model.operations.reset import ToEarliest
from kgroups.model.permissions import DESCRIBE_CLUSTER, OMITTED_COMMITS_NOTICE, OMITTED_GROUPS_NOTICE
from tests.fakes.asking import ask, describe, describe_offsets, errors, list_groups, rows
from tests.fakes.broker import FakeCluster
from tests.fakes.cluster_state import FakeMember

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
    fake.state.fail("Metadata", "t", ErrorCode.topic_authorization_failed)
    assert describe_offsets(fake, Selection(("b",))).notices == (OMITTED_COMMITS_NOTICE,)


def test_describe_topics_unauthorized_despite_cluster_describe_is_noted() -> None:
    """A group without members whose topics are all hidden: no row, no failure; the offsets topic, asked for at the
    start, tells that not every topic may be seen."""

    def narrow(*, sees: bool) -> FakeCluster:
        fake = shop(operations=DESCRIBE)
        fake.state.group("empty")
        if not sees:
            fake.state.fail("Metadata", "__consumer_offsets", ErrorCode.topic_authorization_failed)
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
            return await admin.delete_groups(["a"])
        from kgroups.admin.change.reset_request import ResetRequest

        planned = await admin.plan_reset(ResetRequest(Selection(("a",)), ToEarliest()))
        return await admin.apply_offsets(planned.items)

    assert [failure.message for failure in ask(fake, act).failures] == [message]


def test_list_refused_by_broker_names_the_acl() -> None:
    fake = shop("1.1.1")
    for broker in ("0", "1"):
        fake.state.fail("ListGroups", broker, ErrorCode.cluster_authorization_failed)
    answer = list_groups(fake)
    assert {failure.message for failure in answer.failures} == {"not authorized: needs DESCRIBE on CLUSTER"}
