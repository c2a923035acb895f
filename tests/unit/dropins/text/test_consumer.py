"""Text of the Java tools; integration tests compare it byte by byte."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kgroups.dropins.text.consumer import members_text, offsets_text, remark, state_text
from kgroups.dropins.text.lists import groups_text, list_text
from kgroups.dropins.text.text import assignment_text, java_length
from kgroups.model.assignment import Assignment, Raw, TopicPartitions, assignment_of
from kgroups.model.cluster import Node
from kgroups.model.groups import Group, ListedGroup, Member
from kgroups.model.offsets import Commit, GroupCommits, LogOffsets, Logs
from kgroups.model.views.offset_row import GroupOffsets
from kgroups.render.cells import escape

Golden = Callable[[str, str], None]

NODE = Node(1, "127.0.0.1", 19001)
LONG = "a-group-whose-name-is-longer-than-any-column"
LISTED = (
    ListedGroup("billing", "consumer", NODE, "Empty", "Classic"),
    ListedGroup(LONG, "consumer", NODE, "Stable", "Consumer"),
    ListedGroup("東京\U0001f600", "", NODE, None, None),
)
FIRST = Member("m-1", "app", "/127.0.0.1", assignment_of([("t0", [1])]))
SECOND = Member("m-2", "app", "/127.0.0.1", assignment_of([("t0", [0, 2]), ("t-0", [10, 9])]), "inst-2")
IDLE = Member("m-3", "", "/10.0.0.3", Assignment())
CLASSIC = Group(
    "orders", "Classic", "Stable", "consumer", "range", NODE, (FIRST, SECOND._replace(instance_id=None), IDLE)
)
MODERN = Group(
    LONG,
    "Consumer",
    "Reconciling",
    "consumer",
    "uniform",
    Node(2, "a-host-with-a-long-name.example.com", 19002),
    (
        FIRST._replace(member_epoch=2, target=FIRST.assignment, upgraded=False),
        SECOND._replace(member_epoch=3, target=Assignment(), upgraded=True),
    ),
    group_epoch=4,
    target_assignment_epoch=3,
)
EMPTY = Group("idle", "Classic", "Empty", "", "", NODE)
COMMITS = GroupCommits("orders", {"t0": (Commit(0, 100, 3), Commit(1, 160)), "t9": (Commit(0, 5),)})
LOGS = Logs({"t0": {0: LogOffsets(0, 150), 1: LogOffsets(0, 150), 2: LogOffsets(0, 20)}, "t9": {0: LogOffsets(0, 5)}})


@pytest.mark.parametrize("types", [False, True])
@pytest.mark.parametrize("states", [False, True])
def test_list_text_matches_golden(types: bool, states: bool, golden: Golden) -> None:
    name = f"kafka/list{'-type' * types}{'-state' * states}"
    golden(name, "".join(list_text(LISTED, types=types, states=states)))


def test_empty_list_has_a_header() -> None:
    assert "".join(list_text((), types=False, states=True)) == f"{'GROUP':25} {'STATE':20}\n"
    assert "".join(list_text((), types=False, states=False)) == ""
    assert "".join(groups_text(())) == f"{'GROUP':20} {'TYPE':20} {'PROTOCOL':20}\n"


def test_groups_text_matches_golden(golden: Golden) -> None:
    golden("kafka/groups", "".join(groups_text(LISTED)))


@pytest.mark.parametrize("verbose", [False, True])
def test_offsets_text_matches_golden(verbose: bool, golden: Golden) -> None:
    text = "".join(offsets_text(GroupOffsets(CLASSIC, COMMITS, LOGS), verbose=verbose))
    golden(f"kafka/offsets{'-verbose' * verbose}", text)


def test_group_without_rows_has_no_header() -> None:
    idle = CLASSIC._replace(members=(IDLE,))
    assert "".join(offsets_text(GroupOffsets(idle, GroupCommits("orders", {}), LOGS), verbose=False)) == ""


@pytest.mark.parametrize("group", [CLASSIC, MODERN, EMPTY], ids=["classic", "modern", "empty"])
@pytest.mark.parametrize("verbose", [False, True])
def test_members_and_state_text_match_golden(
    group: Group, verbose: bool, golden: Golden, request: pytest.FixtureRequest
) -> None:
    texts = (members_text(group, verbose=verbose), state_text(group, verbose=verbose))
    name = request.node.callspec.id.rpartition("-")[2]
    golden(f"kafka/described-{name}{'-verbose' * verbose}", "".join(map("".join, texts)))


def test_upgraded_column_is_shown_only_if_members_differ() -> None:
    alike = [member._replace(upgraded=True) for member in MODERN.members or ()]
    assert "UPGRADED" not in "".join(members_text(MODERN._replace(members=tuple(alike)), verbose=True))


def test_remark_of_group_state() -> None:
    assert remark(EMPTY) == "Consumer group 'idle' has no active members."
    assert remark(MODERN) == f"Warning: Consumer group '{LONG}' is rebalancing."
    assert remark(CLASSIC) is None


def test_assignment_text_sorts_topics_and_partitions() -> None:
    # '-' and '.' come before ':', letters behind it: "t-0:1" stands before "t:0".
    held = Assignment(tuple(TopicPartitions(topic, (0, 10)) for topic in ("t", "t-0", "t.0", "t0", "ta")))
    assert assignment_text(held) == "t-0:0,10;t.0:0,10;t0:0,10;t:0,10;ta:0,10"
    assert assignment_text(None) == assignment_text(Assignment()) == "-"
    assert assignment_text(Assignment(raw=Raw(b"\1", "?"))) == "1 bytes 0x01"


def test_java_length_counts_utf_16_units() -> None:
    assert java_length("\U0001f600") == 2
    assert java_length("東京") == 2


def test_names_are_escaped_for_a_terminal() -> None:
    evil = ListedGroup("evil\x1b[2J", "consumer", NODE)
    held = assignment_of([("t\x1b[2J", [0])])  # what a client writes into its assignment
    member = FIRST._replace(assignment=held, target=held)
    assert "\x1b" in "".join(list_text((evil,), types=False, states=False))
    harmless = [
        *list_text((evil,), types=False, states=False, show=escape),
        *groups_text((evil,), show=escape),
        *state_text(EMPTY._replace(group="evil\x1b[2J", protocol="\x1b[2J"), verbose=False, show=escape),
        *members_text(CLASSIC._replace(group="evil\x1b[2J", members=(member,)), verbose=True, show=escape),
        *offsets_text(GroupOffsets(CLASSIC._replace(members=(member,)), COMMITS, LOGS), verbose=False, show=escape),
        *offsets_text(GroupOffsets(CLASSIC._replace(group="evil\x1b"), COMMITS, LOGS), verbose=False, show=escape),
        remark(EMPTY._replace(group="evil\x1b[2J"), show=escape) or "",
    ]
    assert "\x1b" not in "".join(harmless)
