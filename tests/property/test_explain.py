"""Every group can be explained, and every what-if is computed or rejected with a reason."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from kgroups.model.assignment import Assignment, Raw, Subscription, assignment_of
from kgroups.model.assignors import OF_BROKERS, OF_CLIENTS
from kgroups.model.assignors.shape import Topic
from kgroups.model.cluster import Node
from kgroups.model.explain import explain
from kgroups.model.explain.change import Change, InvalidChange, parse_change
from kgroups.model.explain.facts import BrokerLimits, GroupFacts, Limit, Placement
from kgroups.model.explain.rows import explained_members
from kgroups.model.explain.what_if import NotEnoughData, simulate
from kgroups.model.groups import Group, GroupState, GroupType, Member
from kgroups.model.outcome import Failure, Scope

st.register_type_strategy(
    Failure, st.sampled_from([Failure(Scope.GROUP, "g", "no"), Failure(Scope.PARTITION, "t-0", "gone")])
)

TOPICS = ("a", "b", "gone", "untold")
_topics = st.sampled_from(TOPICS)
_raw = st.builds(Raw, st.binary(max_size=4), st.just("rubbish"))
_pairs = st.lists(st.tuples(_topics, st.lists(st.integers(0, 6), max_size=4)), max_size=3)
_assignments = _pairs.map(assignment_of) | _raw.map(lambda raw: Assignment(raw=raw))
_subscriptions = st.fixed_dictionaries(
    {
        "topics": st.sets(_topics).map(sorted).map(tuple),
        "regex": st.sampled_from((None, ".*", "^a$")),
        "raw": st.none() | _raw,
        "rack": st.sampled_from((None, "", "r")),
        "version": st.none() | st.integers(0, 9),
        "user_data": st.none() | _raw,
    }
).map(lambda fields: Subscription(**fields))
_members = st.builds(
    Member,
    member_id=st.text(max_size=6),
    client_id=st.text(max_size=3),
    host=st.text(max_size=3),
    assignment=_assignments,
    instance_id=st.none() | st.text(max_size=3),
    subscription=_subscriptions,
    member_epoch=st.none() | st.integers(-1, 3),
    target=st.none() | _assignments,
    upgraded=st.sampled_from((None, True, False)),
    metadata_bytes=st.none() | st.integers(0, 2**31 - 1),
    assignment_bytes=st.none() | st.integers(0, 2**31 - 1),
)
_groups = st.builds(
    Group,
    group=st.text(max_size=4),
    type=st.sampled_from((None, *GroupType.ALL)),
    state=st.sampled_from(GroupState.ALL) | st.text(max_size=3),
    protocol_type=st.sampled_from(("consumer", "", "connect", "share")),
    protocol=st.sampled_from(("", "mine", *OF_CLIENTS, *OF_BROKERS)),
    coordinator=st.just(Node(1, "b", 9092)),
    members=st.none() | st.lists(_members, max_size=5, unique_by=lambda member: member.member_id).map(tuple),
    group_epoch=st.none() | st.integers(0, 3),
)
_limit = st.builds(Limit, st.just("group.max.size"), st.integers(0, 2**31 - 1), st.booleans())
_facts = st.builds(
    GroupFacts,
    group=_groups,
    placement=st.builds(Placement, st.just("ListGroups v5"), st.none() | st.integers(0, 9), st.just(10), st.none()),
    topics=st.fixed_dictionaries({name: st.builds(Topic, st.integers(0, 5), st.integers(0, 9)) for name in TOPICS[:2]}),
    missing=st.just(frozenset({"gone"})),
    undescribed=st.sampled_from((frozenset(), frozenset({"untold"}))),
    limits=st.builds(BrokerLimits, _limit, _limit, _limit, _limit),
)
_changes = st.lists(
    st.sampled_from(
        (
            *("members=+2", "members=-1", "members=3", "member=-a", "partitions=a:+3", "partitions=b:9"),
            *(f"assignor={name}" for name in (*OF_CLIENTS, *OF_BROKERS)),
        )
    ).map(parse_change),
    max_size=3,
)


@given(_facts)
def test_every_group_is_explained(facts: GroupFacts) -> None:
    findings = explain(facts)
    assert findings and all(finding.text for finding in findings)
    assert len(list(explained_members(facts))) == len(facts.members)


@given(_facts, _changes)
def test_what_if_is_computed_or_rejected(facts: GroupFacts, changes: list[Change]) -> None:
    with suppress(InvalidChange, NotEnoughData):
        what_if = simulate(facts, changes)
        assert 0 <= what_if.moved + what_if.taken_over <= what_if.partitions
        assert sum(shift.status != "leaves" for shift in what_if.shifts) == what_if.members


@given(st.text(max_size=20))
def test_change_text_is_parsed_or_rejected(words: str) -> None:
    with suppress(InvalidChange):
        assert parse_change(words).text == words
