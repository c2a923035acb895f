"""Moved partitions and pauses of a what-if."""

from __future__ import annotations

import pytest

from kgroups.model.assignment import Assignment, Raw, Subscription, assignment_of
from kgroups.model.explain.change import InvalidChange, parse_change
from kgroups.model.explain.facts import GroupFacts
from kgroups.model.explain.what_if import NotEnoughData, WhatIf, simulate

from .groups import facts, member

RANGE = facts(member("a", {"t": (0, 1)}), member("b", {"t": (2, 3)}))
STICKY = RANGE._replace(group=RANGE.group._replace(protocol="sticky"))
COOPERATIVE = RANGE._replace(group=RANGE.group._replace(protocol="cooperative-sticky"))

ODD = Raw(b"?", "too short")


def modern(*held: tuple[int, ...]) -> GroupFacts:
    targets = [assignment_of({"t": each}.items()) for each in held]
    members = (member(f"m{at}", {"t": held[at]}, target=each, member_epoch=1) for at, each in enumerate(targets))
    return facts(*members, type="Consumer", protocol="uniform", group_epoch=1)


def reported(given: GroupFacts, *texts: str) -> WhatIf:
    return simulate(given, [parse_change(text) for text in texts])


def shifts(what_if: WhatIf) -> dict[str, tuple[str | None, str, str]]:
    return {shift.consumer_id: (shift.status, str(shift.gets), str(shift.gives_up)) for shift in what_if.shifts}


def test_what_if_range_pauses_all_partitions() -> None:
    what_if = reported(RANGE, "members=+1")
    assert shifts(what_if) == {
        "a": (None, "", ""),
        "b": (None, "", "t:3"),
        "~new-1": ("new", "t:3", ""),
    }
    assert (what_if.moved, what_if.paused, what_if.stop_the_world, what_if.rebalances) == (1, 4, True, 1)
    assert "1 partition of 4 would move from members that stay; stop-the-world: no member reads" in what_if.text


def test_what_if_cooperative_pauses_only_moved_partitions() -> None:
    what_if = reported(COOPERATIVE, "members=+1")
    assert (what_if.moved, what_if.paused, what_if.stop_the_world, what_if.rebalances) == (1, 1, False, 2)
    assert "incrementally, in 2 rebalances (KIP-429)" in what_if.text


def test_what_if_removed_member_has_its_partitions_taken_over() -> None:
    what_if = reported(STICKY, "member=-b")
    assert (what_if.moved, what_if.taken_over, what_if.members) == (0, 2, 1)
    assert shifts(what_if) == {"a": (None, "t:2,3", ""), "b": ("leaves", "", "t:2,3")}


def test_what_if_added_partitions_are_counted() -> None:
    what_if = reported(STICKY, "partitions=t:+2")
    assert (what_if.moved, what_if.added, what_if.partitions) == (0, 2, 6)
    assert reported(RANGE, "partitions=t:+2").moved == 1


def test_what_if_combines_changes() -> None:
    what_if = reported(RANGE, "members=+1", "partitions=t:6", "assignor=cooperative-sticky")
    assert what_if.changes == ("members=+1", "partitions=t:6", "assignor=cooperative-sticky")
    assert (what_if.moved, what_if.added, what_if.members) == (0, 2, 3)
    assert "two restarts of all members" in what_if.text


def test_what_if_consumer_protocol_moves_incrementally() -> None:
    what_if = reported(modern((0, 1), (2, 3)), "members=+2")
    assert (what_if.moved, what_if.paused, what_if.stop_the_world) == (2, 2, False)
    assert "(KIP-848)" in what_if.text
    assert reported(modern((0, 1), (2, 3)), "assignor=range").moved == 0


def test_what_if_classic_group_can_be_upgraded() -> None:
    what_if = reported(RANGE, "assignor=uniform")
    assert what_if.moved == 0 and "a restart of all members with group.protocol=consumer" in what_if.text


def test_what_if_regex_subscription_matches_held_topics() -> None:
    regex = Subscription((), regex="^t.*")
    held = assignment_of({"t": (0, 1, 2, 3)}.items())
    given = facts(
        member("a", {"t": (0, 1, 2, 3)}, subscription=regex, target=held), type="Consumer", protocol="uniform"
    )
    assert reported(given, "members=+1").moved == 2


@pytest.mark.parametrize(
    ("given", "text", "why"),
    [
        (modern((0, 1)), "assignor=sticky", "'sticky' is not available in KIP-848 groups"),
        (facts(member("a", {"t": (0,)}), protocol="mine"), "members=+1", "unknown assignor 'mine'"),
    ],
)
def test_what_if_rejects_unavailable_assignors(given: GroupFacts, text: str, why: str) -> None:
    with pytest.raises(InvalidChange, match=why):
        reported(given, text)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (facts(state="Empty", partitions={}), "it has no members"),
        (facts(member("a", topics=()), state="PreparingRebalance", partitions={}), "its state is PreparingRebalance"),
        (facts(member("a"), protocol_type="connect"), "its members are not consumers"),
        (
            facts(member("a", {"t": (0,)}), member("b")._replace(assignment=Assignment(raw=ODD))),
            "the assignment of member 'b' is unknown: too short",
        ),
        (
            facts(member("a", {"t": (0,)}), member("b", subscription=Subscription(raw=ODD))),
            "the subscription of member 'b' is unknown: too short",
        ),
        (
            facts(member("a"), partitions={}, undescribed=frozenset({"t"})),
            "the number of partitions of topic 't' is unknown",
        ),
    ],
)
def test_what_if_with_incomplete_data_cannot_be_computed(given: GroupFacts, why: str) -> None:
    with pytest.raises(NotEnoughData, match=why):
        reported(given, "members=+1")


def test_what_if_handles_a_thousand_members_and_ten_thousand_partitions() -> None:
    members = [member(f"m{at:04}", {"t": tuple(range(at * 10, at * 10 + 10))}) for at in range(1000)]
    what_if = reported(facts(*members, partitions=10_000, protocol="cooperative-sticky"), "members=+1")
    assert (what_if.moved, what_if.members) == (9, 1001)
