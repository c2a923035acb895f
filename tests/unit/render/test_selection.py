from collections.abc import Iterable

import pytest

from kgroups.errors import UsageError
from kgroups.model.cluster import Node
from kgroups.model.outcome import Outcome
from kgroups.model.streams import Pairs
from kgroups.model.views.list_row import ListRow
from kgroups.model.views.member_rows import MemberRow
from kgroups.model.views.offset_row import OffsetRow
from kgroups.render.list_view import LIST
from kgroups.render.member_views import MEMBERS, STATE
from kgroups.render.offset_view import OFFSETS
from kgroups.render.selection import columns_for, select_columns, sort_rows
from kgroups.render.views import Column, Tier


def keys(columns: Iterable[Column]) -> list[str]:
    return [column.key for column in columns]


def row(group: str, lag: int | None, current: int | None = None) -> OffsetRow:
    return OffsetRow(group, topic="t", partition=0, current_offset=current, lag=lag)


def test_list_columns_are_names_or_type_before_state() -> None:
    assert keys(columns_for(LIST)) == ["group"]
    assert keys(columns_for(LIST, extra=("state", "type"))) == ["group", "type", "state"]
    assert keys(columns_for(LIST, Tier.WIDE)) == ["group", "type", "protocol_type", "state", "coordinator"]


def test_verbose_state_columns_have_epochs_before_members() -> None:
    assert keys(columns_for(STATE, Tier.VERBOSE)) == [
        *("group", "coordinator", "assignment_strategy", "state", "group_epoch", "target_assignment_epoch", "members")
    ]


def test_verbose_offsets_columns_have_leader_epoch_after_partition() -> None:
    assert keys(columns_for(OFFSETS, Tier.VERBOSE))[:4] == ["group", "topic", "partition", "leader_epoch"]


def test_note_column_is_shown_if_a_row_has_one(offsets: Outcome[OffsetRow]) -> None:
    assert "note" not in keys(columns_for(OFFSETS, rows=[row("g", 1)]))
    assert "note" in keys(columns_for(OFFSETS, rows=offsets.items))
    assert "group_instance_id" not in keys(columns_for(OFFSETS, rows=offsets.items))


def test_instance_id_and_upgraded_columns_are_shown_only_if_informative(members: Outcome[MemberRow]) -> None:
    without = [item._replace(group_instance_id=None, upgraded=True) for item in members.items]
    assert "group_instance_id" in keys(columns_for(MEMBERS, rows=members.items))
    assert "group_instance_id" not in keys(columns_for(MEMBERS, rows=without))
    assert "upgraded" not in keys(columns_for(MEMBERS, rows=members.items))
    assert "upgraded" in keys(columns_for(MEMBERS, Tier.VERBOSE, rows=members.items))
    assert "upgraded" not in keys(columns_for(MEMBERS, Tier.VERBOSE, rows=without))
    assert columns_for(MEMBERS, Tier.WIDE) == tuple(each for each in MEMBERS.columns if each.tier <= Tier.WIDE)


def test_columns_of_some_group_types_are_shown_if_present(members: Outcome[MemberRow]) -> None:
    streams = [item._replace(process_id="p", client_tags=Pairs()) for item in members.items]
    for tier, shown in ((Tier.BASE, {"process_id"}), (Tier.WIDE, {"process_id", "client_tags"})):
        assert set(keys(columns_for(MEMBERS, tier, rows=streams))) - set(keys(columns_for(MEMBERS, tier))) >= shown
    assert "process_id" not in keys(columns_for(MEMBERS, Tier.WIDE, rows=members.items))


def test_unknown_extra_column_is_a_programming_error() -> None:
    with pytest.raises(ValueError, match="no such column in view list: colour"):
        columns_for(LIST, extra=("colour",))


@pytest.mark.parametrize(
    "names", ["lag,GROUP,log_end_offset", "Lag, group ,LOG-END-OFFSET", ["LAG", "group", "log-end-offset"]]
)
def test_columns_are_selected_by_header_or_key_in_order(names: str | list[str]) -> None:
    assert keys(select_columns(OFFSETS, names)) == ["lag", "group", "log_end_offset"]


def test_columns_with_signs_in_their_header_are_selectable() -> None:
    assert keys(select_columns(STATE, "#members,coordinator (id)")) == ["members", "coordinator"]


def test_column_selected_twice_is_shown_once() -> None:
    assert keys(select_columns(OFFSETS, "lag,LAG,lag")) == ["lag"]


@pytest.mark.parametrize("names", ["lags", "", "group,,lag", "group,lags"])
def test_unknown_column_error_names_option_and_columns(names: str) -> None:
    with pytest.raises(UsageError, match=r"^--columns: unknown column '(lags)?'; use group, type"):
        select_columns(LIST, names)


def test_rows_are_sorted_by_group_and_keep_their_order() -> None:
    rows = [row("b", 1), row("a", 9), row("b", 0), row("a", 3)]
    assert [(item.group, item.lag) for item in sort_rows(rows, OFFSETS, None)] == [
        ("a", 9), ("a", 3), ("b", 1), ("b", 0)
    ]  # fmt: skip


@pytest.mark.parametrize(("spec", "lags"), [("lag", [-1, 2, 2, 5, None, None]), ("-lag", [5, 2, 2, -1, None, None])])
def test_unknown_values_sort_last_in_both_directions(spec: str, lags: list[int | None]) -> None:
    rows = [row("a", None), row("b", 5), row("c", 2), row("d", -1), row("e", None), row("f", 2)]
    result = sort_rows(rows, OFFSETS, spec)
    assert [item.lag for item in result] == lags
    assert [item.group for item in result if item.lag == 2] == ["c", "f"]
    assert [item.group for item in result if item.lag is None] == ["a", "e"]


def test_first_sort_key_has_precedence() -> None:
    rows = [row("a", 1, 10), row("b", 0, 30), row("c", 1, 20)]
    assert [item.group for item in sort_rows(rows, OFFSETS, "lag, -CURRENT-OFFSET")] == ["b", "c", "a"]


def test_coordinators_sort_by_id_and_assignments_by_text(members: Outcome[MemberRow]) -> None:
    rows = [ListRow(str(number), None, "", None, Node(number, "h", 1)) for number in (10, 9, 2)]
    assert [item.coordinator.id for item in sort_rows(rows, LIST, "coordinator")] == [2, 9, 10]
    by_text = sort_rows(members.items, MEMBERS, "-current_assignment")
    assert [item.consumer_id for item in by_text] == ["m-1", "m-2", "m-3"]


@pytest.mark.parametrize("spec", ["lags", "-lags", "", "lag,", "--lag"])
def test_unknown_sort_key_is_a_usage_error(spec: str) -> None:
    with pytest.raises(UsageError, match=r"^--sort: unknown column"):
        sort_rows([], OFFSETS, spec)
