"""Rows and lag summaries of share groups."""

from __future__ import annotations

from kgroups.model.assignment import assignment_of
from kgroups.model.cluster import Node
from kgroups.model.groups import Group, GroupType, Member
from kgroups.model.offsets import Commit, GroupCommits, LogOffsets, Logs
from kgroups.model.outcome import Failure, Scope
from kgroups.model.views.lag_rows import GroupLagRow, PartitionLagRow
from kgroups.model.views.lag_summary import By, shares
from kgroups.model.views.offset_row import GroupOffsets
from kgroups.model.views.offsets import offset_rows
from kgroups.model.views.share_rows import NOT_READ_YET, UPPER_BOUND

MEMBERS = tuple(Member(name, "c", "/h", assignment_of([("t", (0, 1, 2))])) for name in "ab")
LOGS = Logs({"t": {at: LogOffsets(10, 100) for at in range(4)}}, {("t", 9): "its topic is gone"})


def offsets(commits: GroupCommits) -> GroupOffsets:
    group = Group("s", GroupType.SHARE, "Stable", "share", "simple", Node(0, "h", 1), MEMBERS)
    return GroupOffsets(group, commits, LOGS)


def test_share_rows_have_one_row_per_partition() -> None:
    answer = GroupCommits("s", {"t": (Commit(1, 90, 3), Commit(0, 5))}, {"t": (2,)}, {("t", 0): 40, ("t", 1): 0})
    rows = offset_rows(offsets(answer))
    assert [(row.partition, row.leader_epoch, row.start_offset, row.lag, row.note) for row in rows] == [
        (0, None, 5, 40, "data lost: 5 offsets deleted before they were read"),
        (1, 3, 90, 0, None),
        (2, None, None, None, NOT_READ_YET),
    ]
    assert {(row.current_offset, row.consumer_id) for row in rows} == {(None, None)}


def test_share_rows_without_reported_lag_have_a_noted_upper_bound() -> None:
    rows = offset_rows(offsets(GroupCommits("s", {"t": (Commit(0, 90), Commit(1, 100), Commit(3, 101))})))
    assert [(row.lag, row.note) for row in rows] == [
        (10, UPPER_BOUND),
        (0, None),
        (-1, "starts beyond the end of the log"),
    ]


def test_share_rows_note_why_values_are_unknown() -> None:
    failure = Failure(Scope.PARTITION, "t-1", "no")
    answer = GroupCommits("s", {"t": (Commit(9, 1),)}, {"t": (1,)}, {}, {("t", 1): failure})
    assert [(row.partition, row.lag, row.note) for row in offset_rows(offsets(answer))] == [
        (1, None, "no"),
        (9, None, "its topic is gone"),
    ]


def test_share_lag_summary_counts_partitions_not_read_yet() -> None:
    answer = GroupCommits("s", {"t": (Commit(0, 5), Commit(1, 90))}, {"t": (2,)}, {("t", 0): 40, ("t", 1): 0})
    (share,) = shares(offsets(answer), By.GROUP)
    row = share.row()
    assert isinstance(row, GroupLagRow)
    assert (row.known_lag, row.behind, row.uncommitted, row.partitions, row.data_lost, row.members) == (
        *(40, 1, 2, 4),
        *(1, 2),
    )
    assert {place.offset for place in share.positions()} == {10, 90}
    parts = [each.row() for each in shares(offsets(answer), By.PARTITION)]
    assert [(part.partition, part.start_offset) for part in parts if isinstance(part, PartitionLagRow)] == [
        *((0, 5), (1, 90)),
        *((2, None), (3, None)),
    ]
