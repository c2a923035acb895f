from __future__ import annotations

import pytest

from kgroups.model.assignment import assignment_of
from kgroups.model.cluster import Node
from kgroups.model.groups import Group, Member
from kgroups.model.views.member_rows import member_rows

NODE = Node(1, "h", 1)


@pytest.mark.parametrize(
    ("epoch", "held", "target", "expected"),
    [(3, (0,), (0,), False), (3, (0,), (0, 1), True), (2, (0,), (0,), True), (None, (0,), (0,), None)],
    ids=["settled", "to have more", "an epoch behind", "of a classic group"],
)
def test_reconciling_depends_on_epoch_and_target(
    epoch: int | None, held: tuple[int, ...], target: tuple[int, ...], expected: bool | None
) -> None:
    one = Member(
        "m", "c", "/h", assignment_of([("t", held)]), member_epoch=epoch, target=assignment_of([("t", target)])
    )
    group = Group("g", "Consumer", "Stable", "consumer", "", NODE, (one,), target_assignment_epoch=3)
    (row,) = member_rows(group)
    assert row.reconciling is expected


@pytest.mark.parametrize(("epoch", "expected"), [(3, False), (2, True)])
def test_reconciling_share_member_depends_on_epoch(epoch: int, expected: bool) -> None:
    one = Member("m", "c", "/h", assignment_of([("t", (0,))]), member_epoch=epoch)
    (row,) = member_rows(Group("g", "Share", "Stable", "share", "", NODE, (one,), target_assignment_epoch=3))
    assert row.reconciling is expected
