from __future__ import annotations

from typing import get_args, get_type_hints

from kgroups.model.assignment import Assignment, Raw, Subscription, assignment_of
from kgroups.model.cluster import Node
from kgroups.model.groups import Group, ListedGroup, Member
from kgroups.model.offsets import Commit, GroupCommits, LogOffsets, Logs, new_commit
from kgroups.model.views.list_row import list_row
from kgroups.model.views.member_rows import member_rows, state_row
from kgroups.model.views.offset_row import GroupOffsets, OffsetFields, OffsetRow, offset_row
from kgroups.model.views.offsets import offset_rows

NODE = Node(1, "host", 9092)


def member(name: str, *held: tuple[str, tuple[int, ...]], **rest: object) -> Member:
    return Member(name, f"client-{name}", f"/{name}", assignment_of(held), **rest)  # type: ignore[arg-type]


def group(*members: Member) -> Group:
    return Group("g", "Classic", "Stable", "consumer", "range", NODE, members)


def offsets(
    group: Group, commits: dict[str, tuple[Commit, ...]], logs: Logs | None = None, topics: frozenset[str] = frozenset()
) -> GroupOffsets:
    return GroupOffsets(group, GroupCommits("g", commits), logs or Logs(), topics)


def test_offset_rows_join_commit_owner_and_log() -> None:
    logs = Logs({"t": {0: LogOffsets(5, 100), 1: LogOffsets(None, 50)}})
    commits = {"t": (Commit(1, 50, None), Commit(0, 40, 3))}
    first, second = offset_rows(offsets(group(member("m", ("t", (0,)), instance_id="i")), commits, logs))
    assert first.lag == 60
    assert second.consumer_id is None
    assert first == ("g", "t", 0, 3, 40, 5, 100, 60, "m", "/m", "client-m", "i", *[None] * 5)
    assert second == ("g", "t", 1, None, 50, None, 50, 0, *[None] * 9)


def test_offset_rows_have_one_row_per_claiming_member() -> None:
    both = group(member("b", ("t", (0,))), member("a", ("t", (0,))))
    assert [row.consumer_id for row in offset_rows(offsets(both, {"t": (Commit(0, 1),)}))] == ["a", "b"]
    assert [row.consumer_id for row in offset_rows(offsets(both, {}))] == ["a", "b"]


def test_offset_rows_of_uncommitted_partition_have_no_offset_and_lag() -> None:
    logs = Logs({"t": {7: LogOffsets(0, 9)}})
    (row,) = offset_rows(offsets(group(member("m", ("t", (7,)))), {}, logs))
    assert (row.partition, row.current_offset, row.log_end_offset, row.lag) == (7, None, 9, None)


def test_offset_rows_end_with_members_without_partitions() -> None:
    found = offset_rows(offsets(group(member("z"), member("y"), member("m", ("t", (0,)))), {"z": (Commit(3, 1),)}))
    assert [(row.topic, row.consumer_id) for row in found] == [("t", "m"), ("z", None), (None, "y"), (None, "z")]


def test_offset_rows_note_undecoded_assignment() -> None:
    odd = Member("m", "c", "/h", Assignment(raw=Raw(b"\xff\xfe", "version -2")))
    (row,) = offset_rows(offsets(group(odd), {}))
    assert row.note == "assignment not decoded: 2 bytes 0xfffe"


def test_offset_rows_are_sorted_by_topic_and_partition() -> None:
    commits = {"b": (Commit(10, 1), Commit(9, 1)), "a": (Commit(2, 1),)}
    found = offset_rows(offsets(group(member("m", ("b", (1,)))), commits))
    assert [(row.topic, row.partition) for row in found] == [("a", 2), ("b", 1), ("b", 9), ("b", 10)]


def test_offset_rows_note_missing_log_before_other_remarks() -> None:
    logs = Logs({"t": {0: LogOffsets(10, 20)}}, {("t", 0): "no leader", ("t", 1): "gone"})
    first, second = offset_rows(offsets(group(member("m", ("t", (1,)))), {"t": (Commit(0, 5),)}, logs))
    assert (first.note, second.note) == ("no leader", "gone")


def test_offset_rows_note_lost_data() -> None:
    (row,) = offset_rows(offsets(group(), {"t": (Commit(0, 5),)}, Logs({"t": {0: LogOffsets(10, 20)}})))
    assert row.note == "data lost: 5 offsets deleted before they were read"
    assert row.lag == 15


def test_offset_rows_of_selected_topics_omit_the_rest() -> None:
    both = group(member("m", ("t", (0,)), ("u", (0,))), member("idle"), member("other", ("u", (1,))))
    found = offset_rows(offsets(both, {"t": (Commit(1, 5),)}, topics=frozenset({"t"})))
    assert [(row.topic, row.partition, row.consumer_id) for row in found] == [("t", 0, "m"), ("t", 1, None)]


def test_offset_rows_of_undescribed_group_are_empty() -> None:
    assert offset_rows(offsets(Group("g", "Share", "Stable", "share", "", NODE, members=None), {})) == []


def test_member_rows_are_sorted_and_count_partitions() -> None:
    unread = Member("c", "c", "/h", Assignment(raw=Raw(b"x", "?")), subscription=Subscription(topics=("t",)))
    found = list(member_rows(group(member("b", ("t", (0, 1))), member("a"), unread)))
    assert [(row.consumer_id, row.partitions) for row in found] == [("a", 0), ("b", 2), ("c", None)]


def test_state_row_counts_only_known_members() -> None:
    assert state_row(group(member("a"), member("b"))).members == 2
    shallow = state_row(Group("g", "Share", "Stable", "share", "", NODE, members=None))
    assert (shallow.members, shallow.assignment_strategy) == (None, None)


def test_list_row_keeps_unknown_fields() -> None:
    assert list_row(ListedGroup("g", "consumer", NODE)) == ("g", None, "consumer", None, NODE)


def test_offset_row_and_commit_fields_match_their_declared_types() -> None:
    assert get_args(OffsetFields) == tuple(get_type_hints(OffsetRow).values())
    assert offset_row(tuple(range(17))) == OffsetRow(*range(17))  # type: ignore[arg-type]
    assert new_commit((1, 2, 3, "x")) == Commit(1, 2, 3, "x")
    assert type(new_commit((1, 2, 3, "x"))) is Commit
