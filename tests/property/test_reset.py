"""Invariants of a reset for any log, commit, and scenario."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kgroups.model.offsets import Commit, LogOffsets
from kgroups.model.operations.origin import Source
from kgroups.model.operations.plan_file import java_csv, json_plan, parse_plan
from kgroups.model.operations.reset import (
    Facts,
    FromPlan,
    PlannedOffset,
    Scenario,
    ShiftBy,
    ToCurrent,
    ToEarliest,
    ToLatest,
    ToOffset,
    ToTime,
    plan_partition,
)
from kgroups.model.operations.undo_file import undo_lines

KEY = ("g", "t", 0)
OFFSETS = st.integers(0, 2**63 - 1)
SMALL = st.integers(0, 40)


def commits(offsets: st.SearchStrategy[int] = SMALL) -> st.SearchStrategy[Commit]:
    return st.builds(Commit, st.just(0), offsets, st.none() | st.integers(0, 9), st.sampled_from(["", "noted", 'q"\n']))


LOGS = st.tuples(SMALL, SMALL).map(sorted).map(lambda ends: LogOffsets(*ends))
MOVES: st.SearchStrategy[Scenario] = st.one_of(
    st.just(ToEarliest()),
    st.just(ToLatest()),
    st.builds(ToOffset, SMALL | OFFSETS),
    st.builds(ShiftBy, st.integers(-50, 50) | st.integers(-(2**63), 2**63)),
    st.builds(ToTime, SMALL),
    st.builds(lambda commit: FromPlan({KEY: commit}), commits(SMALL | OFFSETS)),
)
"""What goes to a place in the log."""


@st.composite
def facts(draw: st.DrawFn) -> Facts:
    log = draw(LOGS)
    assert log.start is not None and log.end is not None
    return Facts(draw(st.none() | commits()), log, draw(st.none() | st.integers(log.start, log.end + 3)))


def plan(scenario: Scenario, known: Facts) -> PlannedOffset | None:
    found = plan_partition(scenario, KEY, known)
    return found if isinstance(found, PlannedOffset) else None


@given(MOVES, facts())
def test_planned_offset_is_within_the_log(scenario: Scenario, known: Facts) -> None:
    found = plan(scenario, known)
    if found is None:
        assert isinstance(scenario, ShiftBy) and known.before is None
        return
    assert known.log.start is not None and known.log.end is not None and found.new is not None
    assert known.log.start <= found.new <= known.log.end
    if isinstance(scenario, ToOffset):
        assert (found.clamp is None) == (found.new == scenario.offset), "what is not as it was asked for is said"


@given(MOVES | st.just(ToCurrent()), facts())
def test_planning_twice_changes_nothing(scenario: Scenario, known: Facts) -> None:
    first = plan(scenario, known)
    if first is not None and not isinstance(scenario, ShiftBy):
        again = plan(scenario, known._replace(before=first.after))
        assert again is not None and again.after == first.after and again.distance == 0
    assert plan(scenario, known) == first


@given(facts(), MOVES)
def test_to_current_never_moves_a_commit(known: Facts, scenario: Scenario) -> None:
    found = plan(ToCurrent(), known)
    assert found is not None
    assert found.after == (known.before or Commit(0, known.log.end or 0))


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\r"), min_size=1, max_size=30)
NAMES = TEXTS | TEXTS.map("{{{}".format) | TEXTS.map("[{}".format)
"""Some as JSON begins."""
KEYS = st.tuples(NAMES, st.text("abc._-9", min_size=1, max_size=30), st.integers(0, 9))


@st.composite
def plans(draw: st.DrawFn) -> list[PlannedOffset]:
    keys = draw(st.lists(KEYS, min_size=1, max_size=6, unique=True))
    kept = st.none() | commits(OFFSETS)
    made = [PlannedOffset(*key, draw(kept), draw(kept)) for key in sorted(keys)]
    return [_of_its_partition(entry) for entry in made]


def _of_its_partition(entry: PlannedOffset) -> PlannedOffset:
    def placed(commit: Commit | None) -> Commit | None:
        return commit._replace(partition=entry.partition) if commit else None

    return entry._replace(before=placed(entry.before), after=placed(entry.after))


def read(lines: Any, only: str | None = None) -> FromPlan:
    return parse_plan("".join(line + "\n" for line in lines), "file").scenario(only)


@given(plans())
def test_exported_plan_round_trips(planned: list[PlannedOffset]) -> None:
    assert read(json_plan(planned)).moves == {entry.key: entry.after for entry in planned}
    answer = [entry for entry in planned if entry.after]
    if answer:
        offsets = {entry.key: entry.new for entry in answer}
        found = read(java_csv(planned, with_group=True)).moves
        assert {key: move.offset for key, move in found.items() if move} == offsets
        mine = [entry for entry in answer if entry.group == answer[0].group]
        found = read(java_csv(mine, with_group=False), mine[0].group).moves
        assert {key: move.offset for key, move in found.items() if move} == {entry.key: entry.new for entry in mine}


@given(plans(), st.randoms())
def test_undo_restores_exactly(planned: list[PlannedOffset], random: Any) -> None:
    """Whatever was written of a plan when something ended it."""
    before = {entry.key: entry.before for entry in planned}
    now = {entry.key: random.choice((entry.before, entry.after)) for entry in planned}
    undo = read(undo_lines(planned, Source()))
    restored = {key: plan_partition(undo, key, Facts(now[key])) for key in undo.moves}
    assert {key: entry.after for key, entry in restored.items() if isinstance(entry, PlannedOffset)} == before
