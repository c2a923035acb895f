from __future__ import annotations

from kgroups.model.assignment import assignment_of
from kgroups.model.cluster import Node
from kgroups.model.groups import Group, Member
from kgroups.model.offsets import Commit, GroupCommits, LogOffsets, Logs
from kgroups.model.views.offset_row import GroupOffsets
from kgroups.sandbox.expected_state import end_of, unmet_expectations
from kgroups.sandbox.seed_data import LOG_STARTS, RECORDS, KnownGroup, known_groups
from kgroups.sandbox.versions import kafka_version

GROUPS = {group.name: group for group in known_groups(kafka_version("4.3.1"))}
STATIC, AHEAD = GROUPS["orders-static"], GROUPS["ahead"]


def as_promised(known: KnownGroup) -> GroupOffsets:
    halves = sorted(known.assigned)
    members = tuple(
        Member(
            f"m{number}",
            "c",
            "/127.0.0.1",
            assignment_of((topic, [partition]) for topic, partition in halves[number :: known.members]),
            instance_id=known.instances[number] if known.static else None,
        )
        for number in range(known.members)
    )
    group = Group(
        known.name, known.type, known.state, known.protocol_type, known.protocol, Node(1, "127.0.0.1", 1), members
    )
    commits = {
        topic: tuple(Commit(partition, offset) for partition, offset in offsets.items())
        for topic, offsets in known.commits.items()
    }
    logs = {
        topic: {
            partition: LogOffsets(LOG_STARTS.get(topic, {}).get(partition, 0), end_of(topic, partition))
            for partition in RECORDS[topic]
        }
        for topic in commits
    }
    return GroupOffsets(group, GroupCommits(known.name, commits), Logs(logs))


def missing(known: KnownGroup, found: GroupOffsets) -> list[str]:
    return unmet_expectations([known], {known.name: found})


def test_expectations_are_met_by_the_promised_state() -> None:
    assert unmet_expectations(GROUPS.values(), {name: as_promised(known) for name, known in GROUPS.items()}) == []


def test_expectations_name_missing_group() -> None:
    assert unmet_expectations([AHEAD], {}) == ["ahead: does not exist"]


def test_expectations_name_wrong_members() -> None:
    found = as_promised(STATIC)
    first = found.group.members[:1] if found.group.members else ()
    half = missing(STATIC, found._replace(group=found.group._replace(members=first, state="PreparingRebalance")))
    assert [line.split()[1] for line in half] == ["state", "members", "instances", "assigned"]


def test_expectations_name_wrong_offsets() -> None:
    found = as_promised(AHEAD)
    nothing = found._replace(commits=GroupCommits("ahead", {}))
    assert missing(AHEAD, nothing) == ["ahead: committed {}, not {'clicks': {0: 150}}"]
    whole = found._replace(logs=Logs({"clicks": {0: LogOffsets(0, 100)}}))
    assert missing(AHEAD, whole) == ["ahead: clicks-0 starts and ends at (0, 100), not (40, 100)"]
