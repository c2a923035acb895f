from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kgroups.sandbox.assignors import range_assignment


def test_range_gives_first_members_the_remainder_of_every_topic() -> None:
    assert range_assignment(["b", "a", "c"], {"t": 5, "s": 2}) == {
        "a": {"s": [0], "t": [0, 1]},
        "b": {"s": [1], "t": [2, 3]},
        "c": {"t": [4]},
    }


def test_range_gives_one_member_everything() -> None:
    assert range_assignment(["a"], {"t": 3}) == {"a": {"t": [0, 1, 2]}}


@given(
    st.lists(st.text(max_size=3), min_size=1, max_size=7, unique=True),
    st.dictionaries(st.text(max_size=3), st.integers(0, 20), max_size=4),
)
def test_range_assigns_every_partition_once_and_contiguously(members: list[str], topics: dict[str, int]) -> None:
    assigned = range_assignment(members, topics)
    assert sorted(assigned) == sorted(members)
    for topic, partitions in topics.items():
        shares = [assigned[member].get(topic, []) for member in sorted(members)]
        assert [partition for share in shares for partition in share] == list(range(partitions))
        assert max(map(len, shares)) - min(map(len, shares)) <= 1
