"""``--what-if`` arguments, and their effect on a group."""

from __future__ import annotations

import pytest

from kgroups.model.assignors.shape import Participant, Topic
from kgroups.model.explain.change import Change, InvalidChange, SimulatedGroup, apply, parse_change

GROUP = SimulatedGroup(
    (
        Participant("b-2", ("t",)),
        Participant("a-1", ("t", "u")),
        Participant("a-2", ("t", "u"), instance_id="static"),
    ),
    {"t": Topic(4), "u": Topic(2)},
    "range",
)


def changed(*texts: str) -> SimulatedGroup:
    return apply(GROUP, [parse_change(text) for text in texts])


def ids(group: SimulatedGroup) -> list[str]:
    return [member.member_id for member in group.members]


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("members=+1", ("members", "", 1, True)),
        ("members=-2", ("members", "", -2, True)),
        ("members=5", ("members", "", 5, False)),
        ("member=-a-1", ("member", "a-1", 0, False)),
        ("assignor=cooperative-sticky", ("assignor", "cooperative-sticky", 0, False)),
        ("partitions=t.x:+3", ("partitions", "t.x", 3, True)),
        ("partitions=t:12", ("partitions", "t", 12, False)),
        ("partitions=a:b:1", ("partitions", "a:b", 1, False)),
    ],
)
def test_parse_change_accepts_every_form(text: str, change: tuple[str, str, int, bool]) -> None:
    assert parse_change(text) == Change(text, *change)


@pytest.mark.parametrize(
    "text",
    [
        *("", "members", "members=", "members=x", "members=+", "members=1.5", "members=9999999999", "members=٣"),
        *("member=a", "member=-", "assignor=", "assignor=Range", "topics=+1"),
        *("partitions=t", "partitions=:+1", "partitions=t:"),
    ],
)
def test_parse_change_rejects_other_text(text: str) -> None:
    with pytest.raises(InvalidChange, match=r"use one of members=|unknown assignor"):
        parse_change(text)


def test_added_member_has_the_most_common_subscription_and_comes_last() -> None:
    group = changed("members=+2")
    assert ids(group) == ["b-2", "a-1", "a-2", "~new-1", "~new-2"]
    assert group.members[-1].topics == ("t", "u") and not group.left


def test_removed_members_are_the_last_and_static_members_come_first() -> None:
    group = changed("members=1")
    assert ids(group) == ["a-2"]
    assert [member.member_id for member in group.left] == ["a-1", "b-2"]
    assert ids(changed("members=-1")) == ["a-1", "a-2"]


@pytest.mark.parametrize("name", ["a-2", "static"])
def test_member_is_removed_by_member_or_instance_id(name: str) -> None:
    assert ids(changed(f"member=-{name}")) == ["b-2", "a-1"]


def test_member_is_removed_by_unique_id_prefix() -> None:
    assert ids(changed("member=-b")) == ["a-1", "a-2"]
    with pytest.raises(InvalidChange, match="matches the IDs of 2 members"):
        changed("member=-a")


def test_changes_are_applied_in_order() -> None:
    group = changed(
        "members=+1", "member=-~new-1", "members=+1", "partitions=t:+1", "partitions=t:9", "assignor=sticky"
    )
    assert ids(group)[-1] == "~new-2" and group.topics["t"].partitions == 9 and group.assignor == "sticky"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("members=0", "results in 0 members"),
        ("members=-4", "results in -1 members"),
        ("members=+999999999", "supported are 1 to 10,000"),
        ("member=-zz", "no such member"),
        ("partitions=zz:+1", "no member subscribes to an existing topic 'zz'"),
        ("partitions=t:-1", "the topic has 4 partitions; they cannot be removed"),
        ("partitions=t:3", "the topic has 4 partitions; they cannot be removed"),
        ("partitions=t:+999999999", "supported are at most 200,000"),
    ],
)
def test_invalid_changes_are_rejected_with_reason(text: str, why: str) -> None:
    with pytest.raises(InvalidChange, match=why) as refused:
        changed(text)
    assert str(refused.value).startswith(f"{text}: ")


def test_last_member_cannot_be_removed() -> None:
    with pytest.raises(InvalidChange, match="the group has no other member"):
        changed("members=1", "member=-a-2")
