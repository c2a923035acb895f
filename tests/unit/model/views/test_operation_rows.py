from __future__ import annotations

from kgroups.model.cluster import Node
from kgroups.model.groups import Group
from kgroups.model.offsets import Commit
from kgroups.model.operations.results import GroupDeletion
from kgroups.model.views.operation_rows import delete_row


def test_delete_row_does_not_count_unread_partitions() -> None:
    group = Group("g", "Share", "Empty", "share", "", Node(1, "h", 9092))
    deletion = GroupDeletion(group, {("t", 0): Commit(0, 5), ("t", 1): None})
    assert delete_row(deletion).commits == 1
