from typing import Any

import pytest

from kgroups.model.rows import (
    DeleteOffsetRow,
    DeleteRow,
    ListRow,
    MemberRow,
    OffsetRow,
    RemoveMemberRow,
    ResetRow,
    StateRow,
)
from kgroups.render.views import LIST, MEMBERS, OFFSETS, STATE, VIEWS, View, both_true_and_false, some_value

ROWS: dict[str, Any] = {"list": ListRow, "state": StateRow, "members": MemberRow, "offsets": OffsetRow} | {
    "reset-offsets": ResetRow,
    "delete-offsets": DeleteOffsetRow,
    "delete": DeleteRow,
    "remove-members": RemoveMemberRow,
}


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_a_view_shows_every_field_of_its_row_once_and_under_its_own_name(view: View) -> None:
    row = ROWS[view.name]
    assert sorted(column.key for column in view.columns) == sorted(row._fields)
    sample = row(*row._fields)
    assert [column.value(sample) for column in view.columns] == [column.key for column in view.columns]


@pytest.mark.parametrize("view", VIEWS, ids=lambda view: view.name)
def test_headers_are_unique_and_upper_case(view: View) -> None:
    headers = [column.header for column in view.columns]
    assert len(set(headers)) == len(headers)
    assert [header.upper() for header in headers] == headers


def test_headers_are_the_java_tools() -> None:
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


def test_some_value() -> None:
    assert some_value([None, 0])
    assert some_value([""])
    assert not some_value([None, None])
    assert not some_value([])


def test_both_true_and_false() -> None:
    assert both_true_and_false([True, None, False])
    assert not both_true_and_false([True, True, None])
    assert not both_true_and_false([None])
