"""Invariants of the plan of a reset for any groups, logs, and scenario: no brokers, no event loop."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kgroups.admin.change.plan.decide_reset import (
    Facts,
    compare_with_file,
    draft_offsets,
    epochs_of_draft,
    epochs_of_file,
    finish_plan,
    select_partitions,
)
from kgroups.admin.change.plan.reset_request import ResetRequest
from kgroups.admin.query.select_groups import Selection
from kgroups.model.cluster import Node
from kgroups.model.groups import Group, GroupState, GroupType
from kgroups.model.offsets import Commit, LogOffsets, Logs, Move, PlanKey
from kgroups.model.operations.origin import Origin, Source
from kgroups.model.operations.reset import (
    FromPlan,
    PlannedOffset,
    Scenario,
    ShiftBy,
    ToCurrent,
    ToEarliest,
    ToLatest,
    ToOffset,
    ToTime,
)
from kgroups.model.outcome import NOT_FOUND, Failure, Outcome, Scope
from kgroups.protocol.apis.metadata import TopicLeaders

GROUPS = ("a", "b", "c")
PARTITIONS = [("t", 0), ("t", 1), ("u", 0)]
OFFSETS = st.integers(0, 30)
LOGS = st.tuples(OFFSETS, OFFSETS).map(sorted).map(lambda ends: LogOffsets(*ends))


def commits(partition: int) -> st.SearchStrategy[Commit]:
    return st.builds(
        Commit, st.just(partition), OFFSETS, st.sampled_from([None, 0, 1, 2, 3]), st.sampled_from(["", "noted"])
    )


@st.composite
def moves(draw: st.DrawFn) -> dict[PlanKey, Move]:
    keys = draw(st.lists(st.tuples(st.sampled_from(GROUPS), st.sampled_from(PARTITIONS)), min_size=1, unique=True))
    return {(group, *pair): draw(st.none() | commits(pair[1])) for group, pair in keys}


SCENARIOS: st.SearchStrategy[Scenario] = st.one_of(
    st.just(ToEarliest()),
    st.just(ToLatest()),
    st.just(ToCurrent()),
    st.just(ToTime(7)),
    st.builds(ToOffset, OFFSETS),
    st.builds(ShiftBy, st.integers(-40, 40)),
    st.builds(FromPlan, moves(), st.booleans(), origin=st.none() | st.just(Origin("undo.json", Source()))),
)


STATES = st.sampled_from([GroupState.EMPTY] * 4 + [GroupState.STABLE, None])
"""``None``: the group does not exist."""


@st.composite
def facts(draw: st.DrawFn) -> Facts:
    types = st.sampled_from([GroupType.CLASSIC, GroupType.CONSUMER, GroupType.SHARE])
    states = {name: draw(STATES) for name in GROUPS}
    missing = [Failure(Scope.GROUP, name, "", NOT_FOUND) for name, state in states.items() if not state]
    groups = [
        Group(name, draw(types), state, "consumer", "", Node(1, "b", 1), ()) for name, state in states.items() if state
    ]
    some = st.tuples(*(commits(partition) for _, partition in PARTITIONS)).map(
        lambda made: dict(zip(PARTITIONS, made, strict=True))
    )
    committed = {name: draw(some) if state else {} for name, state in states.items()}
    unread = draw(st.none() | st.sampled_from(PARTITIONS))
    read = {pair: draw(LOGS) for pair in PARTITIONS if pair != unread}
    logs = Logs(
        {topic: {at: log for (name, at), log in read.items() if name == topic} for topic in ("t", "u")},
        {pair: "no response" for pair in PARTITIONS if pair not in read},
    )
    request = ResetRequest(Selection(GROUPS), draw(SCENARIOS), create=draw(st.booleans()))
    topics = {"t": TopicLeaders("t", None, {0: 1, 1: 1}), "u": TopicLeaders("u", None, {0: 1})}
    times = {pair: draw(st.none() | OFFSETS) for pair in PARTITIONS}
    return Facts(request, topics, Outcome(tuple(groups), tuple(missing)), committed, {}, logs=logs, times=times)


InLog = dict[int, bool | None]
EPOCHS: st.SearchStrategy[InLog] = st.fixed_dictionaries({n: st.sampled_from([True, False, None]) for n in range(4)})
"""Whether the logs have each leader epoch."""


def plan(known: Facts, in_log: InLog) -> Outcome[PlannedOffset]:
    """Plan as for a cluster; leader epochs are only known where they are requested."""
    targets = select_partitions(known)
    epochs = {at: in_log[at.epoch] for at in epochs_of_file(known, targets)}
    targets = compare_with_file(known._replace(epochs=epochs), targets)
    draft = draft_offsets(known, targets)
    epochs |= {at: in_log[at.epoch] for at in epochs_of_draft(targets, draft)}
    return finish_plan(known._replace(epochs=epochs), targets, draft)


@given(facts(), EPOCHS)
def test_planned_offsets_are_within_the_log_unless_an_offset_is_kept_or_restored(known: Facts, in_log: InLog) -> None:
    scenario = known.request.scenario
    keeps = isinstance(scenario, ToCurrent) or (isinstance(scenario, FromPlan) and scenario.exact)
    for entry in plan(known, in_log).items:
        log = known.log(entry.key[1:])
        if entry.after and not keeps:
            assert log.start is not None and log.end is not None and log.start <= entry.after.offset <= log.end


@given(facts(), EPOCHS)
def test_planned_epochs_are_those_of_the_log(known: Facts, in_log: InLog) -> None:
    share = {group.group for group in known.groups.items if group.type == GroupType.SHARE}
    for entry in plan(known, in_log).items:
        if entry.after and entry.after.leader_epoch is not None and entry.group not in share:
            assert in_log[entry.after.leader_epoch] is True


@given(facts(), EPOCHS)
def test_only_groups_without_members_are_planned_and_missing_ones_if_created(known: Facts, in_log: InLog) -> None:
    found = plan(known, in_log)
    empty = {group.group for group in known.groups.items if group.state == GroupState.EMPTY}
    missing = {*GROUPS} - {group.group for group in known.groups.items}
    failed = {failure.name for failure in found.failures if failure.scope is Scope.GROUP}
    for name in {entry.group for entry in found.items}:
        assert name in empty or (name in missing and known.request.creates)
    assert failed.isdisjoint(entry.group for entry in found.items)
    assert {*GROUPS} - empty - missing <= failed, "each group with members is a failure"


@given(facts(), EPOCHS)
def test_every_partition_is_planned_once_or_named(known: Facts, in_log: InLog) -> None:
    found = plan(known, in_log)
    keys = [entry.key for entry in found.items]
    assert keys == sorted(set(keys))
    assert {key[1:] for key in keys} <= {*PARTITIONS}
