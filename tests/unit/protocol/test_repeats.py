"""Groups of repeated responses, taken from the previous ones if their bytes are the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgroups.model.offsets import Commit, GroupCommits
from kgroups.protocol.apis.consumer_group_describe import ConsumerGroupDescribe
from kgroups.protocol.apis.describe_groups import DescribeGroups
from kgroups.protocol.apis.offset_fetch import OffsetFetch
from kgroups.protocol.repeats import Repeats
from kgroups.protocol.writer import compact_array, compact_string


def commits(offsets: dict[str, int]) -> bytes:
    groups = []
    for name, offset in offsets.items():
        entry = (0).to_bytes(4, "big") + offset.to_bytes(8, "big") + bytes(4) + compact_string("") + bytes(3)
        groups.append(
            compact_string(name) + compact_array([compact_string("t") + compact_array([entry]) + b"\0"]) + bytes(3)
        )
    return bytes(4) + compact_array(groups) + b"\0"


def described(states: dict[str, str]) -> bytes:
    groups = [
        b"\0\0\0" + compact_string(name) + compact_string(state) + compact_string("consumer") + b"\1\1" + bytes(5)
        for name, state in states.items()
    ]
    return bytes(4) + compact_array(groups) + b"\0"


def test_unchanged_groups_are_the_same_objects_and_changed_ones_are_decoded() -> None:
    repeats = Repeats()
    call = OffsetFetch(("a", "b"), repeats)
    first = call.decode(9, commits({"a": 1, "b": 2}), 0)
    repeats.turn()
    second = call.decode(9, commits({"a": 1, "b": 3}), 0)
    assert second["a"] is first["a"]
    assert second["b"] == GroupCommits("b", {"t": (Commit(0, 3, 0),)})


def test_group_without_response_for_two_polls_is_dropped() -> None:
    repeats = Repeats()
    call = OffsetFetch(("a",), repeats)
    first = call.decode(9, commits({"a": 1}), 0)
    repeats.turn()
    repeats.turn()
    assert call.decode(9, commits({"a": 1}), 0)["a"] is not first["a"]
    assert repeats._before == {}


def test_other_version_or_truncated_bytes_are_not_taken_from_the_previous_response() -> None:
    repeats = Repeats()
    call = OffsetFetch(("a",), repeats)
    first = call.decode(9, commits({"a": 1}), 0)
    repeats.turn()
    assert call.decode(8, commits({"a": 1}), 0)["a"] is not first["a"]
    repeats = Repeats()
    OffsetFetch(("a",), repeats).decode(9, commits({"a": 1}), 0)
    repeats.turn()
    with pytest.raises(Exception, match="undecodable"):
        OffsetFetch(("a",), repeats).decode(9, commits({"a": 1})[:-9], 0)


@given(st.lists(st.dictionaries(st.sampled_from("abcd"), st.integers(0, 3), min_size=1), min_size=1, max_size=5))
def test_repeated_commits_equal_those_that_are_always_decoded(polls: list[dict[str, int]]) -> None:
    repeats = Repeats()
    for offsets in polls:
        names = tuple(offsets)
        body = commits(offsets)
        assert OffsetFetch(names, repeats).decode(9, body, 0) == OffsetFetch(names).decode(9, body, 0)
        repeats.turn()


@given(
    st.lists(st.permutations(["a", "b", "c"]), min_size=2, max_size=4),
    st.lists(st.sampled_from(["Stable", "Empty"]), min_size=12, max_size=12),
)
def test_repeated_descriptions_equal_those_that_are_always_decoded_in_any_order(
    orders: list[list[str]], states: list[str]
) -> None:
    repeats, states = Repeats(), list(states)
    for order in orders:
        body = described({name: states.pop() for name in order})
        call = DescribeGroups(("a", "b", "c"))
        assert call._replace(repeats=repeats).decode(6, body, 0) == call.decode(6, body, 0)
        repeats.turn()


def test_consumer_groups_are_the_same_objects() -> None:
    body = (
        bytes(4)
        + compact_array([b"\0\0\0" + compact_string("a") + compact_string("Empty") + bytes(8) + b"\1\1" + bytes(5)])
        + b"\0"
    )
    repeats = Repeats()
    call = ConsumerGroupDescribe(("a",), repeats)
    first = call.decode(0, body, 0)
    repeats.turn()
    assert call.decode(0, body, 0)["a"] is first["a"]
