"""Properties of every assignor for any group; equality with Kafka's assignors is an integration test."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgroups.model.assignors import OF_BROKERS, OF_CLIENTS
from kgroups.model.assignors.shape import Assigned, Assignor, Participant, Topic, TopicPartition, Topics
from kgroups.model.explain.participants import run_to_fixed_point

ALL = [pytest.param(assign, id=name) for name, assign in {**OF_CLIENTS, **OF_BROKERS}.items()]
EVEN = [OF_CLIENTS["sticky"], OF_CLIENTS["cooperative-sticky"], OF_BROKERS["uniform"]]
NAMES = ("a", "b", "Zürich", "🂡")

Situation = tuple[list[Participant], Topics]


@st.composite
def situations(draw: st.DrawFn, *, equal: bool = False) -> Situation:
    """Members with what they hold, of which no two hold the same."""
    topics = {name: Topic(draw(st.integers(0, 9)), draw(st.integers(0, 2**128 - 1))) for name in NAMES[:3]}
    wishes = st.sets(st.sampled_from(NAMES), min_size=1).map(sorted).map(tuple)
    common = draw(wishes)
    count = draw(st.integers(1, 7))
    wanted = [common if equal else draw(wishes) for _ in range(count)]
    owners: dict[int, list[TopicPartition]] = {number: [] for number in range(count)}
    for name, topic in topics.items():
        for partition in range(topic.partitions):
            owner = draw(st.one_of(st.none(), st.integers(0, count - 1)))
            if owner is not None and name in wanted[owner]:
                owners[owner].append((name, partition))
    ids = draw(st.lists(st.text(max_size=8), min_size=count, max_size=count, unique=True))
    members = [Participant(ids[at], wanted[at], tuple(owners[at]), 3) for at in range(count)]
    return members, topics


def whole(members: list[Participant], topics: Topics) -> set[TopicPartition]:
    wanted = {topic for member in members for topic in member.topics} & topics.keys()
    return {(topic, partition) for topic in wanted for partition in range(topics[topic].partitions)}


def sizes(assigned: Assigned) -> list[int]:
    return sorted(map(len, assigned.values()))


@pytest.mark.parametrize("assign", ALL)
@given(situations())
def test_every_partition_is_assigned_to_one_subscribed_member(assign: Assignor, situation: Situation) -> None:
    members, topics = situation
    assigned, _ = run_to_fixed_point(assign, members, topics)
    assert assigned.keys() == {member.member_id for member in members}
    held = Counter(pair for pairs in assigned.values() for pair in pairs)
    assert held.keys() == whole(members, topics)
    assert set(held.values()) <= {1}
    for member in members:
        assert {topic for topic, _ in assigned[member.member_id]} <= set(member.topics)


@pytest.mark.parametrize("assign", ALL)
@given(situations())
def test_settled_assignment_is_stable(assign: Assignor, situation: Situation) -> None:
    members, topics = situation
    assigned, _ = run_to_fixed_point(assign, members, topics)
    again = [member._replace(owned=tuple(assigned[member.member_id])) for member in members]
    assert {name: set(pairs) for name, pairs in assign(again, topics).items()} == {
        name: set(pairs) for name, pairs in assigned.items()
    }


@pytest.mark.parametrize("assign", EVEN)
@given(situations(equal=True))
def test_equal_subscriptions_are_balanced_with_minimal_moves(assign: Assignor, situation: Situation) -> None:
    members, topics = situation
    assigned, rounds = run_to_fixed_point(assign, members, topics)
    assert sizes(assigned)[-1] - sizes(assigned)[0] <= 1
    # Whoever loses something has more than the even share of it now.
    least = len(whole(members, topics)) // len(members)
    for member in members:
        lost = set(member.owned) - set(assigned[member.member_id])
        assert not lost or len(assigned[member.member_id]) >= least
    assert rounds <= 2


@given(situations())
def test_cooperative_sticky_never_assigns_a_partition_still_owned(situation: Situation) -> None:
    members, topics = situation
    first = OF_CLIENTS["cooperative-sticky"](members, topics)
    owner = {pair: member.member_id for member in members for pair in member.owned}
    for name, pairs in first.items():
        assert {owner.get(pair, name) for pair in pairs} <= {name}
