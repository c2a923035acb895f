"""Lag summaries by group, topic, and member have the same total."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kgroups.model.assignment import assignment_of
from kgroups.model.cluster import Node
from kgroups.model.groups import Group, Member
from kgroups.model.offsets import Commit, GroupCommits, LogOffsets, Logs
from kgroups.model.time_lag import FirstUnread
from kgroups.model.views.lag_summary import Ages, By, shares
from kgroups.model.views.offset_row import GroupOffsets

pairs = st.tuples(st.sampled_from("abc"), st.integers(0, 4))
numbers = st.integers(0, 50)
COUNTS = ("partitions", "behind", "uncommitted", "unknown", "ahead", "data_lost")


@st.composite
def groups(draw: st.DrawFn) -> GroupOffsets:
    commits: dict[str, tuple[Commit, ...]] = {}
    for (topic, partition), offset in draw(st.dictionaries(pairs, numbers)).items():
        commits[topic] = (*commits.get(topic, ()), Commit(partition, offset))
    logs: dict[str, dict[int, LogOffsets]] = {}
    for (topic, partition), (start, length) in draw(st.dictionaries(pairs, st.tuples(numbers, numbers))).items():
        logs.setdefault(topic, {})[partition] = LogOffsets(start, start + length)
    held = draw(st.lists(pairs, unique=True, max_size=6))
    owners = [draw(st.integers(0, 2)) for _ in held]
    members = tuple(
        Member(
            f"m{who}",
            "c",
            "/h",
            assignment_of((t, [p]) for (t, p), owner in zip(held, owners, strict=True) if owner == who),
        )
        for who in range(3)
    )
    group = Group("g", "Classic", "Stable", "consumer", "range", Node(0, "h", 1), members)
    return GroupOffsets(group, GroupCommits("g", commits), Logs(logs))


@given(groups(), st.data())
def test_lag_summaries_have_the_same_total(offsets: GroupOffsets, data: st.DataObject) -> None:
    (whole,) = shares(offsets, By.GROUP)
    found = st.none() | st.builds(FirstUnread, st.just(1), st.integers(1, 999))
    unread = {place: each for place in whole.positions() if (each := data.draw(found))}
    total: Any = whole.row(Ages(unread, 1000))
    for by in (By.TOPIC, By.MEMBER):
        rows: list[Any] = [share.row(Ages(unread, 1000)) for share in shares(offsets, by)]
        known = [row.known_lag for row in rows if row.known_lag is not None]
        assert total.known_lag == (sum(known) if known else None)
        whole = all(row.total_lag is not None for row in rows if row.known_lag is not None or row.unknown)
        assert whole or total.total_lag is None
        assert total.total_lag in (None, total.known_lag)
        if total.total_lag is not None or (total.max_lag or 0) > 0:
            assert total.max_lag == max((row.max_lag for row in rows if row.max_lag is not None), default=None)
        assert [sum(getattr(row, count) for row in rows) for count in COUNTS] == [getattr(total, c) for c in COUNTS]
        ages = [row.time_lag_ms for row in rows if row.partitions]
        if total.time_lag_ms is not None:
            assert total.time_lag_ms == max(age for age in ages if age is not None)
    lags = [share.row().total_lag for share in shares(offsets, By.PARTITION)]
    assert sum(lag for lag in lags if lag is not None) == (total.known_lag or 0)
    assert len(lags) == total.partitions
    parts = total.behind + total.uncommitted + total.unknown
    assert parts + sum(lag == 0 for lag in lags) == total.partitions
