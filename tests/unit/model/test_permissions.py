from __future__ import annotations

import pytest

from kgroups.model.outcome import Failure, Outcome, Scope, merge
from kgroups.model.permissions import DESCRIBE_CLUSTER, Acl, missing_acl
from kgroups.model.views.member_rows import MemberRow, StateRow
from kgroups.model.views.offset_row import OffsetRow
from kgroups.model.views.refused_rows import refused_rows

GROUP, TOPIC, CLUSTER = (f"{kind}_AUTHORIZATION_FAILED" for kind in ("GROUP", "TOPIC", "CLUSTER"))


@pytest.mark.parametrize(
    ("error", "api", "sentence"),
    [
        (GROUP, "FindCoordinator", "DESCRIBE on GROUP g"),
        (GROUP, "DescribeGroups", "DESCRIBE on GROUP g"),
        (GROUP, "OffsetFetch", "DESCRIBE on GROUP g"),
        (GROUP, "OffsetCommit", "READ on GROUP g"),
        (GROUP, "LeaveGroup", "READ on GROUP g"),
        (GROUP, "OffsetDelete", "DELETE on GROUP g"),
        (GROUP, "DeleteGroups", "DELETE on GROUP g"),
        (TOPIC, "Metadata", "DESCRIBE on TOPIC t"),
        (TOPIC, "ListOffsets", "DESCRIBE on TOPIC t"),
        (TOPIC, "Fetch", "READ on TOPIC t"),
        (TOPIC, "OffsetCommit", "READ on TOPIC t"),
        (TOPIC, "OffsetDelete", "READ on TOPIC t"),
        (CLUSTER, "ListGroups", "DESCRIBE on CLUSTER"),
    ],
)
def test_missing_acl_names_what_each_api_needs(error: str, api: str, sentence: str) -> None:
    assert str(missing_acl(error, api, group="g", topic="t")) == sentence


def test_missing_acl_of_other_errors_is_none() -> None:
    assert missing_acl("GROUP_ID_NOT_FOUND", "DescribeGroups", group="g") is None


def test_missing_acl_of_unnamed_topic_is_each_topic() -> None:
    acl = missing_acl(TOPIC, "ConsumerGroupDescribe", group="g")
    assert acl == Acl("DESCRIBE", "TOPIC", None)
    assert str(acl) == "DESCRIBE on each TOPIC of its members"


def refused(name: str) -> Failure:
    return Failure(Scope.GROUP, name, "no", GROUP, 30, "DescribeGroups", acl=Acl("DESCRIBE", "GROUP", name))


def test_missing_acls_are_unique_and_include_hidden_ones() -> None:
    hidden = Outcome[int]((1,), hidden_by=(DESCRIBE_CLUSTER,))
    whole = merge([hidden, hidden, Outcome(failures=(refused("b"), refused("a"), refused("b")))])
    assert list(map(str, whole.missing_acls())) == ["DESCRIBE on CLUSTER", "DESCRIBE on GROUP a", "DESCRIBE on GROUP b"]
    assert whole.with_items(()).with_failures(()).hidden_by == (DESCRIBE_CLUSTER,)
    assert Outcome[int]().after(hidden).hidden_by == (DESCRIBE_CLUSTER,)


@pytest.mark.parametrize("kind", [StateRow, MemberRow, OffsetRow])
def test_refused_rows_has_one_row_per_group_with_reason(kind: type) -> None:
    others = (Failure(Scope.GROUP, "gone", "not there", "GROUP_ID_NOT_FOUND", 69), Failure(Scope.BROKER, "1", "down"))
    rows = refused_rows(kind, (refused("b"), *others, refused("a"), refused("a")))
    assert [(row.group, row.note) for row in rows] == [("a", "no"), ("b", "no")]
    assert not any(value for row in rows for name, value in row._asdict().items() if name not in ("group", "note"))
