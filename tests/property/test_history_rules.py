"""Rules that SQL and Python have each, because history runs on Spark, give the same for the same facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from kgroups.history.engine.duck import DuckDB
from kgroups.history.transform.definitions import DERIVED
from kgroups.model.assignment import Raw, Subscription, assignment_of
from kgroups.model.cluster import Node
from kgroups.model.groups import Group, GroupState, GroupType, Member
from kgroups.model.stays import Presence, Stay, StayRecorder, restarts
from kgroups.model.subscriptions import unsubscribed_topics
from tests.fakes.history import RULES, SPAN, History, Row, derived_in

GROUPS = 40
"""Groups of each generated history, which is queried once."""
TOPICS = ("a", "b", "c")
HERE = Node(0, "h", 1)

Moves = list[tuple[int, int, bool]]
"""Seconds, the number of a client, and whether it has an instance ID. A client that is a member leaves."""
Seen = list[tuple[float, dict[str, Presence]]]
"""The members at the times of records."""


def groups_in(rule: str, history: History) -> list[Row]:
    records = history.next_offset(0)
    history.read(0, (0, records), records, (0, 599))
    with DuckDB() as engine:
        rows: list[Row] = derived_in(engine, history, DERIVED, SPAN, RULES)(rule)
    return rows


def play(moves: Moves) -> Seen:
    """Let clients join and leave; of two with one instance ID, the later one replaces the other."""
    present: dict[str, Presence] = {}
    time = 100.0
    seen = [(time, present)]
    for number, (seconds, client, is_static) in enumerate(moves):
        time += seconds + 1
        who = Presence(f"pod-{client // 2}" if is_static else None, f"client-{client}")
        leaves = who in present.values()
        same = {name for name, each in present.items() if each == who or (is_static and each[0] == who.instance_id)}
        present = {name: each for name, each in present.items() if name not in same}
        if not leaves:
            present[f"m{number}"] = who
        seen.append((time, present))
    return seen


@settings(max_examples=25, phases=(Phase.explicit, Phase.generate))  # a query for each step of a shrink takes long
@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4), st.booleans()), max_size=15),
        min_size=GROUPS,
        max_size=GROUPS,
    )
)
def test_clients_come_and_go_by_records_as_in_history(groups: list[Moves]) -> None:
    """Members of two minutes, the window of storms."""
    history = History()
    members = {f"g{number}": play(moves) for number, moves in enumerate(groups)}
    expected = {group for group, seen in members.items() if restarts(recorded(history, group, seen), 0) > 1}
    found = {row["group"] for row in groups_in("returns", history)}
    assert found == expected, [members[group] for group in found ^ expected][:1]


def recorded(history: History, group: str, seen: Seen) -> Sequence[Stay]:
    recorder = StayRecorder()
    for generation, (time, present) in enumerate(seen):
        recorder.snapshot(round(time * 1000), present)
        names = [f"{name}={each.instance_id}" if each.instance_id else name for name, each in present.items()]
        clients = {name: each.client for name, each in present.items()}
        history.snapshot(group, time, generation, names, client=clients, host=None)
    return recorder.stays


class Subscriber(NamedTuple):
    """The topics that a member subscribes to, and those that it owns. ``None``: it cannot be decoded, or a pattern."""

    topics: list[str] | None
    owned: list[str]


@settings(max_examples=10, phases=(Phase.explicit, Phase.generate))
@given(
    st.lists(
        st.tuples(
            st.sampled_from([GroupType.CLASSIC, GroupType.CONSUMER]),
            st.sampled_from(["consumer", "consumer", "connect"]),
            st.booleans(),
            st.lists(
                st.builds(
                    Subscriber,
                    st.none() | st.lists(st.sampled_from(TOPICS), min_size=1, unique=True),
                    st.lists(st.sampled_from(TOPICS), unique=True),
                ),
                max_size=3,
            ),
        ),
        min_size=GROUPS,
        max_size=GROUPS,
    )
)
def test_topics_that_no_member_subscribes_to_are_the_same_in_history(
    groups: list[tuple[str, str, bool, list[Subscriber]]],
) -> None:
    history, expected = History(), set()
    for number, (kind, protocol, stable, subscribers) in enumerate(groups):
        group, members = f"g{number}", [f"m{at}" for at in range(len(subscribers))]
        for topic in TOPICS:
            history.commit(group, 10, 1, topic=topic)
        if kind == GroupType.CLASSIC:
            stable, topics = True, {name: each.topics for name, each in zip(members, subscribers, strict=True)}
            history.snapshot(group, 20, 1, members, topics=topics, protocol_type=protocol)
        else:
            protocol = "consumer"
            for name, each in zip(members, subscribers, strict=True):
                history.member(group, 20, name, topics=each.topics or [], topic_regex=None if each.topics else ".*")
            for subject in ("group", "target", *(members if stable else ())):
                history.epoch(group, 20, subject, 1)
        owned = [assignment_of([(topic, [0]) for topic in each.owned]) for each in subscribers]
        described = [
            Member(name, "c", "/h", held, subscription=seen(kind, each))
            for name, held, each in zip(members, owned, subscribers, strict=True)
        ]
        state = GroupState.STABLE if stable else GroupState.RECONCILING
        known = Group(group, kind, state, protocol, "range", HERE, tuple(described))
        if kind == GroupType.CLASSIC or all(each.topics for each in subscribers):  # history does not evaluate patterns
            expected |= {(group, topic) for topic in unsubscribed_topics(known, TOPICS)}
    assert {(row["group"], row["topic"]) for row in groups_in("left_topics", history)} == expected


def seen(kind: str, each: Subscriber) -> Subscription:
    if each.topics is not None:
        return Subscription(tuple(each.topics))
    return Subscription(raw=Raw(b"?", "is invalid")) if kind == GroupType.CLASSIC else Subscription(regex=".*")
