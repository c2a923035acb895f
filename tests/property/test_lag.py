from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kgroups.model.assignment import assignment_of
from kgroups.model.cluster import Node
from kgroups.model.groups import Group, Member
from kgroups.model.lag import compute_lag, remark
from kgroups.model.offsets import Commit, GroupCommits, LogOffsets, Logs
from kgroups.model.views.offset_row import GroupOffsets
from kgroups.model.views.offsets import offset_rows

offsets = st.integers(0, 2**63 - 1)
maybe = st.none() | offsets
pairs = st.tuples(st.sampled_from("abc"), st.integers(0, 3))


@given(maybe, maybe)
def test_lag_is_known_exactly_if_commit_and_end_are(committed: int | None, end: int | None) -> None:
    lag = compute_lag(committed, end)
    assert (lag is None) == (committed is None or end is None)
    if lag is not None and committed is not None:
        assert committed + lag == end


@given(offsets, offsets, offsets)
def test_remark_is_none_exactly_if_commit_is_in_the_log(committed: int, start: int, length: int) -> None:
    log = LogOffsets(start, start + length)
    assert (remark(committed, log) is None) == (start <= committed <= start + length)
    assert remark(None, log) is None


@given(
    st.dictionaries(pairs, offsets),
    st.dictionaries(pairs, st.tuples(maybe, maybe)),
    st.lists(st.sets(pairs), max_size=4),
    st.dictionaries(pairs, st.text(min_size=1)),
)
def test_every_commit_claim_and_member_has_a_row(
    commits: dict[tuple[str, int], int],
    logs: dict[tuple[str, int], tuple[int | None, int | None]],
    claims: list[set[tuple[str, int]]],
    holes: dict[tuple[str, int], str],
) -> None:
    by_topic: dict[str, tuple[Commit, ...]] = {}
    for (topic, partition), offset in commits.items():
        by_topic[topic] = (*by_topic.get(topic, ()), Commit(partition, offset))
    log_topics: dict[str, dict[int, LogOffsets]] = {}
    for (topic, partition), ends in logs.items():
        log_topics.setdefault(topic, {})[partition] = LogOffsets(*ends)
    members = tuple(
        Member(f"m{at}", "c", "/h", assignment_of((topic, [partition]) for topic, partition in claim))
        for at, claim in enumerate(claims)
    )
    group = Group("g", "Classic", "Stable", "consumer", "range", Node(0, "h", 1), members)
    rows = offset_rows(GroupOffsets(group, GroupCommits("g", by_topic), Logs(log_topics, holes)))

    named = [row for row in rows if row.topic is not None]
    assert {(row.topic, row.partition) for row in named} == {*commits, *(pair for claim in claims for pair in claim)}
    seen = {(row.topic, row.partition, row.consumer_id) for row in rows}
    assert len(seen) == len(rows)
    for at, claim in enumerate(claims):
        assert {(topic, part) for topic, part, who in seen if who == f"m{at}"} == (claim or {(None, None)})
    for row in named:
        pair = (row.topic or "", row.partition or 0)
        assert row.current_offset == commits.get(pair)
        assert row.lag == compute_lag(row.current_offset, row.log_end_offset)
        assert pair not in holes or row.note == holes[pair]
    assert [(row.topic, row.partition) for row in named] == sorted((row.topic, row.partition) for row in named)
    assert rows[len(named) :] == [row for row in rows if row.topic is None]
