"""Derived tables against a model of the group protocol: all that they claim is true, and nothing known is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

import pytest

from kgroups.history.engine.duck import DuckDB
from kgroups.history.rules import Rules
from kgroups.history.transform.definitions import DERIVED, Span
from tests.fakes.group_protocol import (
    ABORTED,
    COMPACTED,
    END,
    HUNG,
    SAMPLES,
    START,
    WHOLE,
    Group,
    RandomGroups,
    log_end,
)
from tests.fakes.history import Row, at, derived_in

RULES = Rules(samples=5, stale_after=timedelta(minutes=2))
Derive = Callable[[str], list[Row]]


@pytest.fixture(scope="module")
def random_groups() -> RandomGroups:
    return RandomGroups(seed=20260301, logs=80, groups=15, actions=120)


@pytest.fixture(scope="module")
def derive(random_groups: RandomGroups) -> Iterator[Derive]:
    with DuckDB() as engine:
        yield derived_in(engine, random_groups.history, DERIVED, Span(at(START), at(END)), RULES)


@pytest.fixture(scope="module")
def known(random_groups: RandomGroups) -> dict[str, list[Group]]:
    found = random_groups.by_damage()
    assert all(len(groups) >= 300 for groups in found.values())
    return found


def seconds(time: datetime | None) -> float | None:
    return None if time is None else (time - at(0)).total_seconds()


def of(rows: list[Row], groups: list[Group]) -> list[Row]:
    names = {group.name for group in groups}
    return [row for row in rows if row["group"] in names]


def read(known: dict[str, list[Group]], *damages: str) -> list[Group]:
    return [group for damage in damages for group in known[damage]]


def known_since(derive: Derive, random_groups: RandomGroups, group: Group) -> float:
    (row,) = (row for row in derive("completeness") if row["log_partition"] == group.log)
    since = seconds(row["known_since"])
    return END if since is None else since


def hung_at(random_groups: RandomGroups, group: Group) -> float:
    at = random_groups.logs[group.log].hung_at
    assert at is not None
    return at


def test_completeness_is_what_happened_to_the_log(derive: Derive, random_groups: RandomGroups) -> None:
    found = {row["log_partition"]: row for row in derive("completeness")}
    for log in random_groups.logs:
        row = found[log.number]
        assert seconds(row["unread_since"]) == log.hung_at
        assert (row["hung"] > 0) == (log.damage == HUNG)
        since = row["known_since"] or at(END)
        assert (since < at(START + 60)) or log.damage == COMPACTED
    late = [log.damage for log in random_groups.logs if (found[log.number]["known_since"] or at(END)) > at(START + 60)]
    assert len(late) > 10 and set(late) == {COMPACTED}


def test_latest_offsets_are_true(derive: Derive, known: dict[str, list[Group]]) -> None:
    groups = read(known, WHOLE, COMPACTED, ABORTED)
    found = {(row["group"], row["partition"]): row["committed_offset"] for row in of(derive("latest_offsets"), groups)}
    assert found == {(group.name, each): offset for group in groups for each, offset in group.offsets().items()}
    assert all(row["unread_since"] for row in of(derive("latest_offsets"), known[HUNG]))


def committed(group: Group, partition: int, sample: int) -> int | None:
    return group.offsets(sample).get(partition)


def test_lag_is_true_or_unknown(derive: Derive, known: dict[str, list[Group]], random_groups: RandomGroups) -> None:
    groups = {group.name: group for each in known.values() for group in each}
    checked = unknown = 0
    for row in derive("lag"):
        group, sample = groups[row["group"]], round(seconds(row["sampled_at"]) or 0)
        log = random_groups.logs[group.log]
        if log.damage == HUNG and sample >= hung_at(random_groups, group):
            assert (row["lag"], row["committed_offset"]) == (None, None) and row["remark"]
            unknown += 1
        elif sample >= known_since(derive, random_groups, group):
            truth = committed(group, row["partition"], sample)
            if row["committed_offset"] is None and log.damage == COMPACTED:
                changes = [time for time, each, _ in group.commits if each == row["partition"] and time < sample]
                assert truth is None or max(changes) < known_since(derive, random_groups, group)
                continue
            assert row["committed_offset"] == truth
            assert row["lag"] == (None if truth is None else log_end(sample) - truth)
            checked += 1
    assert checked > 5000 and unknown > 1000


def test_memberships_are_true_where_complete(
    derive: Derive, known: dict[str, list[Group]], random_groups: RandomGroups
) -> None:
    rows, checked = derive("memberships"), 0
    for group in read(known, WHOLE, ABORTED):
        truth = {(stay.member, stay.since, stay.until) for stay in group.stays}
        truth |= {(member.partition("=")[0], since, None) for member, since in group.members.items()}
        assert stays(of_group(rows, group)) == truth
    for group in read(known, COMPACTED):
        truth = {(stay.member, stay.since, stay.until) for stay in group.stays}
        truth |= {(member.partition("=")[0], since, None) for member, since in group.members.items()}
        complete = stays([row for row in of_group(rows, group) if row["complete"]])
        assert complete <= truth
        checked += len(complete)
    assert checked > 100
    assert all(row["unread_since"] for row in of(rows, known[HUNG]) if row["until"] is None)


def of_group(rows: list[Row], group: Group) -> list[Row]:
    return _by_group(rows).get(group.name, [])


_GROUPED: dict[int, dict[str, list[Row]]] = {}


def _by_group(rows: list[Row]) -> dict[str, list[Row]]:
    if id(rows) not in _GROUPED:
        found: dict[str, list[Row]] = {}
        for row in rows:
            found.setdefault(row["group"], []).append(row)
        _GROUPED[id(rows)] = found
    return _GROUPED[id(rows)]


def stays(rows: list[Row]) -> set[tuple[str, float | None, float | None]]:
    return {(row["member_id"], seconds(row["since"]), seconds(row["until"])) for row in rows}


def test_rebalances_are_true_where_complete(
    derive: Derive, known: dict[str, list[Group]], random_groups: RandomGroups
) -> None:
    rows, checked, undecided = derive("rebalances"), 0, 0
    for group in read(known, WHOLE, ABORTED, COMPACTED, HUNG):
        since, log = known_since(derive, random_groups, group), random_groups.logs[group.log]
        until = END if log.hung_at is None else log.hung_at
        truth = {(each.time, each.generation): each for each in group.rounds if since <= each.time < until}
        found = {(seconds(row["log_time"]), row["generation"]): row for row in of_group(rows, group) if row["complete"]}
        if found.keys() != truth.keys():
            # The first snapshot after compaction, of static members: a rebalance, or a restart of one of them.
            first = of_group(rows, group)[0]
            key = (seconds(first["log_time"]), first["generation"])
            assert log.damage == COMPACTED and group.type == "classic" and not first["complete"]
            assert truth.keys() - found.keys() == {key} and found.keys() < truth.keys()
            assert any(group.identities[each].endswith("-i") for each in group.identities)
            undecided += 1
        for key, row in found.items():
            if row["joined"] is not None:
                changed = [frozenset(group.identities[each] for each in row[name]) for name in ("joined", "left")]
                assert changed == [truth[key].joined, truth[key].left]
                checked += 1
    assert checked > 1000 and 0 < undecided < 100


def test_states_are_true_or_unknown(derive: Derive, known: dict[str, list[Group]], random_groups: RandomGroups) -> None:
    last = {row["group"]: row for row in derive("group_states") if row["until"] is None}
    for group in read(known, WHOLE, ABORTED, COMPACTED):
        if group.states and group.name in last:
            assert last[group.name]["state"] == group.states[-1][1]
        elif group.states:
            pytest.fail(f"{group} has no state")
    created = 0
    for group in read(known, WHOLE, ABORTED):
        if group.states:
            since, row = group.states[-1][0], last[group.name]
            # A group that a commit created is regarded as the same until its last offset is deleted at the end.
            assert row["since"] <= at(since) if group.by_commit else row["since"] == at(since)
            assert row["kind"] == "classic" or not group.by_commit
            created += group.by_commit
    assert created > 5
    hidden = [last[group.name] for group in known[HUNG] if group.name in last]
    assert len(hidden) > 100
    for row in hidden:
        assert (row["state"], row["source"]) == ("Unknown", "unread")


def status(group: Group) -> str | None:
    """The status of a group, from the truth."""
    commits = [time for time, _, offset in group.commits if offset is not None]
    if not group.commits and not group.events:
        return None
    state_since, state = group.states[-1] if group.states else (None, None)
    last = max(commits, default=None)
    active = last if last is not None else max(group.events, default=None)
    fresh = active is not None and END - active <= RULES.stale_after.total_seconds()
    if not group.offsets() and state in (None, "Dead"):
        return "DELETED"
    is_used = last is not None and (state_since is None or last > state_since or group.by_commit)
    if state == "Empty" and not (fresh and is_used):
        return "EMPTY"
    return "LIVE" if fresh or (group.type == "share" and state == "Stable") else "STALE"


def test_stale_status_is_true_or_unknown(derive: Derive, known: dict[str, list[Group]]) -> None:
    found = {row["group"]: row["status"] for row in derive("stale")}
    groups = read(known, WHOLE, ABORTED)
    assert {group.name: found.get(group.name) for group in groups} == {group.name: status(group) for group in groups}
    assert set(found.values()) == {"LIVE", "STALE", "EMPTY", "DELETED", "UNKNOWN"}
    for group in known[HUNG]:
        assert found.get(group.name) in (None, "UNKNOWN", "LIVE")
        if found.get(group.name) == "LIVE":
            assert any(time >= END - 120 for time, _, offset in group.commits if offset is not None)


def test_state_and_deletion_agree_with_the_commits(derive: Derive, known: dict[str, list[Group]]) -> None:
    groups = {group.name: group for group in read(known, WHOLE, ABORTED)}
    deleted = 0
    for row in derive("stale"):
        if row["status"] == "DELETED":
            assert row["deleted_at"] is not None
            assert row["last_commit"] is None or row["last_commit"] <= row["deleted_at"]
            assert row["partitions"] == 0
            deleted += row["state"] == "Dead"
            if group := groups.get(row["group"]):
                gone = [time for time, _, offset in group.commits if offset is None]
                gone += [time for time, state in group.states[-1:] if state == "Dead"]
                assert row["deleted_at"] == at(max(gone))
        else:
            assert row["deleted_at"] is None and row["state"] != "Dead"
    assert deleted > 10


def verdict(group: Group, partition: int) -> str | None:
    """Burrow's rules, from the truth."""
    samples = [(at, committed(group, partition, at)) for at in SAMPLES[-RULES.samples :]]
    if samples[-1][1] is None:
        return None
    known: list[tuple[int, int, int]] = []
    for second, offset in samples:
        # After a deletion, nothing is compared with what was committed before it.
        known = [] if offset is None else [*known, (second, offset, log_end(second) - offset)]
    offsets, lags = [offset for _, offset, _ in known], [lag for _, _, lag in known]
    back = [i for i in range(1, len(known)) if offsets[i] < offsets[i - 1]]
    if back and offsets[-1] < max(offsets):
        return "REWIND"
    if min(lags) <= 0:
        return "OK"
    if len(known) < RULES.samples:
        return "UNKNOWN"
    last = max(time for time, each, _ in group.commits if each == partition and time < SAMPLES[-1])
    if last <= known[0][0]:
        return "STOP"
    if min(offsets) == max(offsets):
        return "STALL"
    since = max(back, default=0)
    if any(lags[i] < lags[i - 1] for i in range(since + 1, len(known))):
        return "OK"
    if since == len(known) - 1:
        return "UNKNOWN"
    consumed = (offsets[-1] - offsets[since]) / (known[-1][0] - known[since][0])
    return "WARN" if lags[-1] > max(lags[since], 10 * consumed) else "OK"


def test_verdicts_are_true_or_unknown(
    derive: Derive, known: dict[str, list[Group]], random_groups: RandomGroups
) -> None:
    found = {(row["group"], row["partition"]): row["status"] for row in derive("verdicts")}
    truth = {
        (group.name, partition): verdict(group, partition)
        for group in read(known, WHOLE, ABORTED)
        for partition in range(3)
    }
    assert {key: found.get(key) for key in truth} == truth
    assert set(found.values()) >= {"OK", "UNKNOWN", "REWIND", "STOP", "WARN"}
    for group in known[HUNG]:
        if hung_at(random_groups, group) <= SAMPLES[-4]:
            assert {found.get((group.name, partition), "UNKNOWN") for partition in range(3)} == {"UNKNOWN"}


def test_commit_rate_is_true_where_complete(derive: Derive, known: dict[str, list[Group]]) -> None:
    groups = {group.name: group for each in known.values() for group in each}
    checked = 0
    for row in derive("commit_rate"):
        if row["complete"]:
            start = seconds(row["bucket"]) or 0
            times = [
                t for t, _, offset in groups[row["group"]].commits if start <= t < start + 60 and offset is not None
            ]
            assert row["commits"] == len(times)
            checked += 1
    assert checked > 1000
