from __future__ import annotations

import pytest

from kgroups.model.assignment import Assignment
from kgroups.model.cluster import Node
from kgroups.model.explain import explain
from kgroups.model.explain.facts import GroupFacts, Placement
from kgroups.model.group_log import NOT_READ, CommitTimes, GroupLogs, LogQuery, expires_at, keys_of
from kgroups.model.groups import Group, GroupState, GroupType, Member
from kgroups.model.moments import moment_text
from kgroups.model.views.deep_rows import StateLog, deep_state_row
from kgroups.model.views.member_rows import StateRow

HOUR = 3_600_000


def group(state: str = "Empty", protocol_type: str = "consumer", group_type: str = GroupType.CLASSIC) -> Group:
    members = (Member("m", "c", "/h", Assignment()),)
    return Group("g", group_type, state, protocol_type, "", Node(1, "h", 1), members)


@pytest.mark.parametrize(
    ("described", "commit", "expected"),
    [
        (group(), CommitTimes(10), 500 + HOUR),  # from when it became empty
        (group("Stable"), CommitTimes(10), None),
        (group(protocol_type=""), CommitTimes(10), 10 + HOUR),  # only ever committed to
        (group(group_type=GroupType.CONSUMER), CommitTimes(10), 10 + HOUR),
        (group("Stable"), CommitTimes(10, 77), 77),
    ],
)
def test_expires_at_depends_on_group_state(described: Group, commit: CommitTimes, expected: int | None) -> None:
    log = NOT_READ._replace(state="Empty", state_since=500)
    assert expires_at(described, commit, log, HOUR) == expected
    assert expires_at(described, commit, log, None) == commit.expires


@pytest.mark.parametrize("live", GroupState.ALL)
@pytest.mark.parametrize("recorded", [GroupState.STABLE, GroupState.EMPTY, None])
def test_time_of_a_state_belongs_to_the_state_in_the_record(live: str, recorded: str | None) -> None:
    """A group that was stable for days is not rebalancing for days, and no offset expires from then on."""
    log = NOT_READ._replace(state=recorded, state_since=500)
    expected = 500 if live == recorded else None
    assert log.since(live) == expected
    row = StateRow("g", None, None, live, None, None, 1, "Classic", "consumer")
    shown = deep_state_row(row, GroupLogs({"g": log}, ()))
    assert shown[len(row) :][StateLog._fields.index("state_since")] == (expected and moment_text(expected))
    explained = explain(GroupFacts(group(live), Placement("ListGroups v5"), {}, log=log))
    texts = [finding.text for finding in explained if finding.rule == "history"]
    expected_texts = [f"its state is {live} since {moment_text(expected)}"] if expected else []
    assert [text for text in texts if "since" in text] == expected_texts
    if live == GroupState.EMPTY:
        assert expires_at(group(live), CommitTimes(10), log, HOUR) == (expected and expected + HOUR)


def test_keys_of_depend_on_view_and_group_type() -> None:
    commits = [("t", 0), ("t", 1)]
    of_commits = {(1, "g", "t", 0), (1, "g", "t", 1)}
    assert keys_of(group("Stable"), LogQuery.OFFSETS, commits) == of_commits
    assert keys_of(group("Empty"), LogQuery.OFFSETS, commits) == of_commits | {(2, "g")}
    assert keys_of(group("Stable"), LogQuery.STATE) == keys_of(group("Stable"), LogQuery.MEMBERS) == {(2, "g")}
    assert keys_of(group(group_type=GroupType.CONSUMER), LogQuery.STATE) == {(3, "g"), (6, "g")}
    assert keys_of(group(group_type=GroupType.CONSUMER), LogQuery.MEMBERS) == {(5, "g", "m")}


def test_moment_text_is_utc() -> None:
    assert moment_text(1_760_000_000_123) == "2025-10-09T08:53:20.123Z"
    assert moment_text(2**62) == str(2**62)
