from __future__ import annotations

import pytest

from kgroups.model.assignment import Assignment
from kgroups.model.cluster import Node
from kgroups.model.group_log import NOT_READ, CommitTimes, LogQuery, expires_at, keys_of
from kgroups.model.groups import Group, GroupType, Member
from kgroups.model.moments import moment_text

HOUR = 3_600_000


def group(state: str = "Empty", protocol_type: str = "consumer", kind: str = GroupType.CLASSIC) -> Group:
    members = (Member("m", "c", "/h", Assignment()),)
    return Group("g", kind, state, protocol_type, "", Node(1, "h", 1), members)


@pytest.mark.parametrize(
    ("described", "commit", "expected"),
    [
        (group(), CommitTimes(10), 500 + HOUR),  # from when it became empty
        (group("Stable"), CommitTimes(10), None),
        (group(protocol_type=""), CommitTimes(10), 10 + HOUR),  # only ever committed to
        (group(kind=GroupType.CONSUMER), CommitTimes(10), 10 + HOUR),
        (group("Stable"), CommitTimes(10, 77), 77),
    ],
)
def test_expires_at_depends_on_group_state(described: Group, commit: CommitTimes, expected: int | None) -> None:
    log = NOT_READ._replace(state_since=500)
    assert expires_at(described, commit, log, HOUR) == expected
    assert expires_at(described, commit, log, None) == commit.expires


def test_keys_of_depend_on_view_and_group_type() -> None:
    commits = [("t", 0), ("t", 1)]
    of_commits = {(1, "g", "t", 0), (1, "g", "t", 1)}
    assert keys_of(group("Stable"), LogQuery.OFFSETS, commits) == of_commits
    assert keys_of(group("Empty"), LogQuery.OFFSETS, commits) == of_commits | {(2, "g")}
    assert keys_of(group("Stable"), LogQuery.STATE) == keys_of(group("Stable"), LogQuery.MEMBERS) == {(2, "g")}
    assert keys_of(group(kind=GroupType.CONSUMER), LogQuery.STATE) == {(3, "g"), (6, "g")}
    assert keys_of(group(kind=GroupType.CONSUMER), LogQuery.MEMBERS) == {(5, "g", "m")}


def test_moment_text_is_utc() -> None:
    assert moment_text(1_760_000_000_123) == "2025-10-09T08:53:20.123Z"
    assert moment_text(2**62) == str(2**62)
