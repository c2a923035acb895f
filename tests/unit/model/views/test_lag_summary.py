"""Lag summaries by group, topic, partition, and member."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from kgroups.model.assignment import Assignment, Raw, assignment_of
from kgroups.model.cluster import Node
from kgroups.model.groups import Group, Member
from kgroups.model.offsets import Commit, GroupCommits, LogOffsets, Logs
from kgroups.model.time_lag import FirstUnread, Position
from kgroups.model.unread_count import FINISHED, NONE, UNKNOWN, UnreadCount
from kgroups.model.views.lag_rows import LagRow
from kgroups.model.views.lag_summary import Ages, By, count_of, is_ahead, shares
from kgroups.model.views.offset_row import GroupOffsets, OffsetRow

NOW = 1_000_000
Pair = tuple[str, int]


def offsets(
    commits: Mapping[Pair, int],
    logs: Mapping[Pair, tuple[int, int]],
    members: Mapping[str, Iterable[Pair]] | None = None,
    holes: Mapping[Pair, str] | None = None,
) -> GroupOffsets:
    by_topic: dict[str, tuple[Commit, ...]] = {}
    for (topic, partition), offset in commits.items():
        by_topic[topic] = (*by_topic.get(topic, ()), Commit(partition, offset))
    by_log: dict[str, dict[int, LogOffsets]] = {}
    for (topic, partition), ends in logs.items():
        by_log.setdefault(topic, {})[partition] = LogOffsets(*ends)
    who = tuple(
        Member(name, "c", "/h", assignment_of((topic, [partition]) for topic, partition in held))
        for name, held in (members or {}).items()
    )
    group = Group("g", "Classic", "Stable", "consumer", "range", Node(0, "h", 1), who)
    return GroupOffsets(group, GroupCommits("g", by_topic), Logs(by_log, holes or {}))


def rows(of: GroupOffsets, by: By = By.GROUP, unread: Mapping[Position, FirstUnread] | None = None) -> list[Any]:
    found = shares(of, by)
    return [share.row() if unread is None else share.row(Ages(unread, NOW)) for share in found]


def values(row: LagRow, *names: str) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in names)


COUNTS = ("partitions", "behind", "uncommitted", "unknown", "ahead", "data_lost")

MIXED = offsets(
    {("t", 0): 90, ("t", 1): 100, ("t", 2): 120, ("t", 3): 5, ("u", 0): 1, ("gone", 0): 3},
    {("t", at): (20, 100) for at in range(6)} | {("u", 0): (0, 2)},
    {"a": [("t", 0), ("t", 4)], "b": [("t", 1)], "idle": []},
    {("gone", 0): "the topic does not exist"},
)
"""t: 10 behind, at the end, 20 ahead, 95 behind and data lost, held but not committed, neither; u: 1; gone: unknown."""


def test_summary_by_group() -> None:
    (row,) = rows(MIXED)
    assert values(row, "group", "state", "members") == ("g", "Stable", 3)
    assert values(row, "total_lag", "max_lag", "max_topic", "max_partition") == (None, 95, "t", 3)
    assert row.known_lag == 10 + 95 + 1
    assert values(row, *COUNTS) == (8, 3, 2, 1, 1, 1)
    unknown = "lag unknown of 1 partition: the topic does not exist; 2 partitions without a committed offset"
    assert row.note == f"lag at least 106; {unknown}"
    assert row.time_lag_ms is None


def test_summary_by_topic() -> None:
    found = [(row.topic, row.total_lag, row.known_lag, *values(row, *COUNTS)) for row in rows(MIXED, By.TOPIC)]
    assert found == [
        ("gone", None, None, 1, 0, 0, 1, 0, 0),
        ("t", None, 105, 6, 2, 2, 0, 1, 1),
        ("u", 1, 1, 1, 1, 0, 0, 0, 0),
    ]


def test_summary_by_member_includes_idle_and_unassigned() -> None:
    found = [(row.consumer_id, row.total_lag, row.known_lag, *values(row, *COUNTS)) for row in rows(MIXED, By.MEMBER)]
    assert found == [
        ("a", None, 10, 2, 1, 1, 0, 0, 0),
        ("b", 0, 0, 1, 0, 0, 0, 0, 0),
        ("idle", None, None, 0, 0, 0, 0, 0, 0),
        (None, None, 96, 5, 2, 1, 1, 1, 1),
    ]


def test_summary_by_partition() -> None:
    found = [(row.topic, row.partition, row.lag, row.behind, row.unknown) for row in rows(MIXED, By.PARTITION)]
    assert found == [
        ("gone", 0, None, 0, 1),
        ("t", 0, 10, 1, 0),
        ("t", 1, 0, 0, 0),
        ("t", 2, -20, 0, 0),
        ("t", 3, 95, 1, 0),
        ("t", 4, None, 0, 0),
        ("t", 5, None, 0, 0),
        ("u", 0, 1, 1, 0),
    ]


def test_summary_counts_partition_claimed_twice_once() -> None:
    claimed = offsets({("t", 0): 4}, {("t", 0): (0, 10)}, {"a": [("t", 0)], "b": [("t", 0)]})
    (row,) = rows(claimed)
    assert (row.total_lag, row.partitions) == (6, 1)
    assert [row.total_lag for row in rows(claimed, By.MEMBER)] == [6, 6]


@pytest.mark.parametrize("by", By)
def test_summary_of_empty_group_is_unknown_not_0(by: By) -> None:
    assert [row.total_lag for row in rows(offsets({}, {}), by)] == ([None] if by is By.GROUP else [])


def test_summary_includes_only_selected_topics() -> None:
    of = offsets({("t", 0): 4}, {("t", 0): (0, 9), ("u", 1): (0, 3)}, {"a": [("u", 0), ("t", 1)]})
    assert {(row.topic, row.partition) for row in rows(of._replace(topics=frozenset({"t"})), By.PARTITION)} == {
        ("t", 0),
        ("t", 1),
    }


# In time.


def two(first: FirstUnread | None, second: FirstUnread | None = None, lags: tuple[int, int] = (5, 5)) -> Any:
    """The row of a group with two partitions so far behind."""
    of = offsets({("t", at): 100 - lag for at, lag in enumerate(lags)}, {("t", 0): (0, 100), ("t", 1): (0, 100)})
    answer = {Position("t", at, 100 - lags[at]): each for at, each in enumerate((first, second)) if each}
    (row,) = rows(of, By.GROUP, answer)
    return row


def aged(age: int) -> FirstUnread:
    return FirstUnread(99, NOW - age)


NOTHING, BROKEN, UNDATED = FirstUnread(), FirstUnread(failed="the broker is gone"), FirstUnread(99)


@pytest.mark.parametrize(
    ("first", "second", "age"),
    [
        (aged(500), aged(200), 500),
        (aged(200), aged(500), 500),
        (aged(500), NOTHING, 500),
        (NOTHING, NOTHING, 0),
        (aged(500), BROKEN, None),
        (NOTHING, BROKEN, None),
        (BROKEN, UNDATED, None),
        (aged(-500), NOTHING, 1),
        (aged(-90_000), NOTHING, None),
    ],
)
def test_summary_time_lag_is_the_largest_and_0_only_if_none_is_unread(
    first: FirstUnread, second: FirstUnread, age: int | None
) -> None:
    assert two(first, second).time_lag_ms == age


def test_summary_time_lag_is_0_without_lag() -> None:
    assert two(None, None, (0, 0)).time_lag_ms == 0
    assert two(aged(7), None, (5, 0)).time_lag_ms == 7


def test_summary_time_lag_beyond_the_log_end_is_unknown() -> None:
    row = two(None, None, (0, -5))
    assert (row.time_lag_ms, row.total_lag, row.ahead) == (None, 0, 1)
    assert row.note == "time lag unknown of 1 partition: committed beyond the end of the log"


def test_summary_notes_why_time_lag_is_unknown() -> None:
    assert two(BROKEN, BROKEN).note == "time lag unknown of 2 partitions: the broker is gone"
    assert two(BROKEN, UNDATED).note == (
        "time lag unknown of 1 partition: the broker is gone; "
        "time lag unknown of 1 partition: the record has no timestamp"
    )
    assert two(NOTHING, NOTHING).note is None
    assert two(aged(500), BROKEN).note == (
        "time lag at least 500ms; time lag unknown of 1 partition: the broker is gone"
    )


def test_summary_total_is_unknown_if_one_partition_is() -> None:
    """The total is not 0 if a log end or a commit is missing, even if the other partitions have no lag."""
    logs = {("t", 0): (0, 100), ("t", 1): (0, 100)}
    down = offsets({("t", 0): 100, ("t", 1): 5}, {("t", 0): (0, 100)}, {"a": [("t", 0), ("t", 1)]})
    never = offsets({("t", 0): 100}, logs, {"a": [("t", 0), ("t", 1)]})
    for of in (down, never):
        (row,) = rows(of)
        assert values(row, "total_lag", "known_lag", "max_lag", "max_partition") == (None, 0, None, None)
        (row,) = rows(of, By.GROUP, {})
        assert row.time_lag_ms is None
    (row,) = rows(offsets({("t", 0): 100}, logs))
    assert (row.total_lag, row.uncommitted) == (None, 1)  # members that start again read it from somewhere
    (row,) = rows(offsets({("t", 0): 100}, logs | {("t", 1): (7, 7)}, {"a": [("t", 0), ("t", 1)]}))
    assert (row.total_lag, row.uncommitted) == (0, 1)  # there is nothing to read
    (row,) = rows(offsets({("t", 0): 60, ("t", 1): 5}, {("t", 0): (0, 100)}))
    assert (row.total_lag, row.note) == (None, "lag at least 40")
    (row,) = rows(offsets({("t", 0): 60}, logs | {("t", 1): (7, 7), ("t", 2): (0, 1), ("t", 3): (0, 1)}))
    assert row.note == "lag at least 40; 2 partitions without a committed offset"  # one has nothing to read


def test_summary_total_is_unknown_with_undecoded_assignment() -> None:
    of = offsets({("t", 0): 60}, {("t", 0): (0, 100)}, {"a": [("t", 0)]})
    odd = Member("odd", "c", "/h", Assignment(raw=Raw(b"?", "it ends too soon")))
    of = of._replace(group=of.group._replace(members=(*(of.group.members or ()), odd)))
    (row,) = rows(of)
    assert (row.total_lag, row.known_lag) == (None, 40)
    assert row.note == "lag at least 40; assignments not decoded: 1"


WHY = "committed offsets on topics without permission DESCRIBE may be hidden (needs DESCRIBE on CLUSTER)"


@pytest.mark.parametrize("seed", range(200))
def test_summary_total_that_hidden_offsets_may_raise_is_unknown(seed: int) -> None:
    """Offsets on some topics are hidden: each total is that of all offsets, or unknown."""
    chance = random.Random(seed)
    logs = {(topic, at): (0, 100) for topic in "tuv" for at in range(2)}
    commits = {place: chance.choice((50, 99, 100)) for place in logs if chance.random() < 0.7}
    held = {"m": [place for place in commits if chance.random() < 0.5]} if chance.random() < 0.5 else {}
    away = set(chance.sample("tuv", chance.randint(0, 2)))
    seen = {place: at for place, at in commits.items() if place[0] not in away}
    open_logs = {place: ends for place, ends in logs.items() if place[0] not in away}
    visible = offsets(seen, open_logs, held)._replace(hidden=WHY if away else None)
    for by in (By.GROUP, By.TOPIC, By.MEMBER):
        truth = {values(row, *NAMES[by]): row.total_lag for row in rows(offsets(commits, logs, held), by)}
        for row in rows(visible, by):
            if row.total_lag is not None:
                assert row.total_lag == truth[values(row, *NAMES[by])], by
            if by is By.GROUP and away:
                assert row.total_lag is None and WHY in row.note
                assert not row.known_lag or f"lag at least {row.known_lag}" in row.note
            if by is By.TOPIC and row.topic not in away:
                assert row.total_lag == truth["g", row.topic]


NAMES = {By.GROUP: ("group",), By.TOPIC: ("group", "topic"), By.MEMBER: ("group", "consumer_id")}


def test_summary_by_partition_has_time_lag_and_note() -> None:
    of = offsets({("t", 0): 5, ("t", 1): 9}, {("t", 0): (7, 10), ("t", 1): (0, 10)})
    first, second = rows(of, By.PARTITION, {Position("t", 0, 7): aged(40), Position("t", 1, 9): NOTHING})
    assert (first.time_lag_ms, first.note) == (40, "data lost: 2 offsets deleted before they were read")
    assert second.time_lag_ms == 0 and "only transaction markers" in second.note


def test_summary_positions_are_only_those_with_unread_records() -> None:
    (share,) = shares(MIXED, By.GROUP)
    assert set(share.positions()) == {Position("t", 0, 90), Position("t", 3, 20), Position("u", 0, 1)}


def test_count_of_partition() -> None:
    at = Position("t", 0, 90)
    ages = Ages({}, NOW, counts={at: UnreadCount(7, 7)})
    row = OffsetRow("g", topic="t", partition=0, current_offset=90, log_start_offset=0, log_end_offset=100, lag=10)
    assert count_of(row, ages) == UnreadCount(7, 7)
    assert count_of(row._replace(current_offset=100, lag=0), ages) == NONE
    assert count_of(row._replace(current_offset=110, lag=-10), ages) == UNKNOWN
    assert count_of(row._replace(current_offset=91), ages) == UNKNOWN


@pytest.mark.parametrize("note", [None, "another note; committed beyond the last stable offset"])
def test_commit_is_ahead_by_the_high_watermark_and_not_by_its_note(note: str | None) -> None:
    row = OffsetRow("g", "t", 0, current_offset=110, log_end_offset=100, lag=-10, high_watermark=110, note=note)
    assert not is_ahead(row)
    assert is_ahead(row._replace(high_watermark=109)) and is_ahead(row._replace(high_watermark=None))


def test_count_of_share_group_is_an_upper_bound() -> None:
    row = OffsetRow("g", topic="t", partition=0, start_offset=90, log_start_offset=0, log_end_offset=100, lag=10)
    ages = Ages({}, NOW, counts={Position("t", 0, 90): UnreadCount(7, 7)})
    assert count_of(row, ages) == UnreadCount(0, 7, FINISHED)
