from typing import Any

import pytest

from kgroups.model.views.cluster_groups import ClusterGroupsRow
from kgroups.model.views.lag_rows import ClusterLagRow, GroupLagRow, MemberLagRow, PartitionLagRow, Tally, TopicLagRow
from kgroups.model.views.lag_summary import By
from kgroups.model.views.list_row import ListRow
from kgroups.model.views.member_rows import MemberRow, StateRow
from kgroups.model.views.offset_row import WITHOUT_COLUMN, OffsetRow
from kgroups.model.views.operation_rows import DeleteOffsetRow, DeleteRow, RemoveMemberRow, ResetRow
from kgroups.render.act_views import OPERATION_VIEWS
from kgroups.render.lag_views import CLUSTER_LAG, LAG_VIEWS
from kgroups.render.list_by_cluster import LIST_BY_CLUSTER
from kgroups.render.list_view import LIST
from kgroups.render.member_views import MEMBERS, STATE
from kgroups.render.offset_view import OFFSETS
from kgroups.render.views import Tier, View, both_true_and_false, some_above_zero, some_value

VIEWS = (LIST, LIST_BY_CLUSTER, STATE, MEMBERS, OFFSETS, *LAG_VIEWS.values(), CLUSTER_LAG, *OPERATION_VIEWS)
ROWS: dict[str, Any] = {
    "list": ListRow,
    "list-by-cluster": ClusterGroupsRow,
    "state": StateRow,
    "members": MemberRow,
    "offsets": OffsetRow,
    "lag": GroupLagRow,
    "lag-by-topic": TopicLagRow,
    "lag-by-partition": PartitionLagRow,
    "lag-by-member": MemberLagRow,
    "lag-by-cluster": ClusterLagRow,
    "reset-offsets": ResetRow,
    "delete-offsets": DeleteOffsetRow,
    "delete": DeleteRow,
    "remove-members": RemoveMemberRow,
}


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_view_has_every_field_of_its_row_once(view: View) -> None:
    row = ROWS[view.name]
    # NOTE says what is unread on topics that the group has left.
    assert sorted(column.key for column in view.columns) == sorted({*row._fields} - {"left_lag"} - WITHOUT_COLUMN)
    sample = row(*row._fields)
    assert [column.value(sample) for column in view.columns] == [column.key for column in view.columns]


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_view_headers_are_unique_and_upper_case(view: View) -> None:
    headers = [column.header for column in view.columns]
    assert len(set(headers)) == len(headers)
    assert [header.upper() for header in headers] == headers


def test_view_headers_match_the_java_tools() -> None:
    assert [column.header for column in OFFSETS.columns if column.tier == 0] == (
        ["GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST", "CLIENT-ID"]
    )
    assert [column.header for column in MEMBERS.columns if column.tier == 0] == (
        ["GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS"]
    )
    assert [column.header for column in STATE.columns if column.tier == 0] == (
        ["GROUP", "COORDINATOR (ID)", "ASSIGNMENT-STRATEGY", "STATE", "#MEMBERS"]
    )
    assert [column.header for column in LIST.columns if column.tier == 0] == ["GROUP"]


def test_some_value_ignores_none() -> None:
    assert some_value([None, 0])
    assert some_value([""])
    assert not some_value([None, None])
    assert not some_value([])


def test_both_true_and_false_ignores_none() -> None:
    assert both_true_and_false([True, None, False])
    assert not both_true_and_false([True, True, None])
    assert not both_true_and_false([None])


def test_some_above_zero_ignores_none() -> None:
    assert some_above_zero([0, None, 2])
    assert not some_above_zero([0, None, -2])
    assert not some_above_zero([])


def test_lag_views_exist_for_each_grouping() -> None:
    assert set(LAG_VIEWS) == set(By)


@pytest.mark.parametrize("row", [GroupLagRow, TopicLagRow, MemberLagRow])
def test_lag_rows_end_with_the_tally_fields(row: type[tuple[object, ...]]) -> None:
    fields = tuple(name for name in row._fields if name not in ("status", "left_lag"))  # type: ignore[attr-defined]  # a NamedTuple has them
    assert fields[-len(Tally._fields) :] == Tally._fields


@pytest.mark.parametrize("view", LAG_VIEWS.values(), ids=lambda view: view.name)
def test_lag_time_column_is_in_no_tier(view: View) -> None:
    (column,) = [column for column in view.columns if column.key == "time_lag_ms"]
    assert column.tier > Tier.WIDE and column.sooner is None
