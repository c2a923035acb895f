"""Where a group's offsets are to go: the scenarios, and the one rule that plans a partition.

Rule: a planned offset lies in the partition's log, and where that is not what was asked for, a :class:`Clamp` says so.
Two do not move anything and therefore keep what lies outside: :class:`ToCurrent` and a plan that is ``exact``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from ..groups import GroupId
from ..offsets import Commit, LogOffsets, Move, PlanKey
from ..outcome import Failure, Scope

if TYPE_CHECKING:
    from .origin import Origin


class Clamp(StrEnum):
    """Why a planned offset is not the one that was asked for."""

    BELOW_START = "below log start"
    BEYOND_END = "beyond the end"
    NO_RECORD = "no record after that time"


@dataclass(frozen=True, slots=True)
class ToEarliest:
    """The start of the log."""


@dataclass(frozen=True, slots=True)
class ToLatest:
    """The end of the log."""


@dataclass(frozen=True, slots=True)
class ToCurrent:
    """Where the group is, untouched; the end of the log where it has no commit."""


@dataclass(frozen=True, slots=True)
class ToOffset:
    offset: int


@dataclass(frozen=True, slots=True)
class ShiftBy:
    """So many records forwards, or with a negative number backwards."""

    by: int


@dataclass(frozen=True, slots=True)
class ToTime:
    """The first record of that time or later, in milliseconds since 1970; the end of the log where there is none."""

    ms: int


@dataclass(frozen=True, slots=True)
class FromPlan:
    """What a file says; ``None`` takes the commit away. ``exact``: an undo, which puts back what was, as it was.
    ``where``: file and line of each, for errors. ``kinds``: what groups are made as where they are not there."""

    moves: Mapping[PlanKey, Move]
    exact: bool = False
    where: Mapping[PlanKey, str] = field(default_factory=dict)
    kinds: Mapping[GroupId, str] = field(default_factory=dict)
    origin: Origin | None = None
    """Of a file."""


@dataclass(frozen=True, slots=True)
class ToGroup:
    """Where another group is; its commits are copied, with their epochs and metadata."""

    source: GroupId


Scenario = ToEarliest | ToLatest | ToCurrent | ToOffset | ShiftBy | ToTime | FromPlan | ToGroup


class PlannedOffset(NamedTuple):
    """One partition of one group: what is committed now (``before``) and what shall be (``after``); ``None`` is no
    commit, so that an ``after`` of ``None`` takes the commit away."""

    group_id: GroupId
    topic: str
    partition: int
    before: Commit | None
    after: Commit | None
    clamp: Clamp | None = None
    note: str | None = None
    kind: str | None = None
    """The group's, where it decides how this is written; ``None`` of a group that is yet to be made by a commit."""
    beyond_end: bool = False
    """Whether ``before`` is known to be beyond the log end."""

    @property
    def group(self) -> GroupId:
        """The group ID, by the name that rows and JSON use."""
        return self.group_id

    @property
    def old(self) -> int | None:
        return self.before.offset if self.before else None

    @property
    def new(self) -> int | None:
        return self.after.offset if self.after else None

    @property
    def distance(self) -> int | None:
        """Records forwards (negative: backwards); ``None`` where there was no commit or will be none."""
        return self.after.offset - self.before.offset if self.before and self.after else None

    @property
    def key(self) -> PlanKey:
        return self[:3]


def by_group(planned: Iterable[PlannedOffset]) -> Iterator[tuple[GroupId, list[PlannedOffset]]]:
    """Each group's part of a plan, sorted by name."""
    groups: dict[GroupId, list[PlannedOffset]] = {}
    for entry in planned:
        groups.setdefault(entry.group_id, []).append(entry)
    yield from sorted(groups.items())


class Facts(NamedTuple):
    """What has to be known of a partition to plan it. ``at_time``: the first offset at the time of a
    :class:`ToTime`, ``None`` where no record is that young."""

    before: Commit | None
    log: LogOffsets = LogOffsets()
    at_time: int | None = None


def needs_log(scenario: Scenario) -> bool:
    """Whether both ends of the log have to be known."""
    return not (isinstance(scenario, FromPlan) and scenario.exact)


def plan_partition(scenario: Scenario, key: PlanKey, facts: Facts) -> PlannedOffset | Failure:
    """Plans one partition; a failure where the scenario has no answer for it.

    A commit that stays where it is keeps its leader epoch and metadata. A :class:`ToGroup` is planned as the
    :class:`FromPlan` that it comes to.
    """
    before, (start, end) = facts.before, facts.log
    if isinstance(scenario, FromPlan) and (scenario.exact or scenario.moves[key] is None):
        move = scenario.moves[key]  # the log may be unknown: see needs_log
        return PlannedOffset(*key, before, move, note=_outside(move, facts.log) if move else None)
    if isinstance(scenario, ToCurrent) and before:
        return PlannedOffset(*key, before, before, note=_outside(before, facts.log))
    if isinstance(scenario, ShiftBy) and not before:
        return _unplanned(key, "cannot shift: there is no offset to begin from")
    if start is None or end is None:
        return _unplanned(key, "where the log starts and ends is not known")
    return _clamped(key, before, *_asked(scenario, key, facts, start, end), start, end)


def _asked(scenario: Scenario, key: PlanKey, facts: Facts, start: int, end: int) -> tuple[Commit, Clamp | None]:
    """The commit that is asked for, and what has been said about it already."""
    partition = key[2]
    match scenario:
        case ToEarliest():
            return Commit(partition, start), None
        case ToOffset(offset):
            return Commit(partition, offset), None
        case ShiftBy(by) if facts.before:
            return Commit(partition, facts.before.offset + by), None
        case ToTime() if facts.at_time is None:
            return Commit(partition, end), Clamp.NO_RECORD
        case ToTime() if facts.at_time is not None:
            # The log may have grown between the two questions: no news for anybody.
            return Commit(partition, max(start, min(facts.at_time, end))), None
        case FromPlan(moves) if commit := moves[key]:
            return commit, None
    return Commit(partition, end), None


def _clamped(
    key: PlanKey, before: Commit | None, asked: Commit, clamp: Clamp | None, start: int, end: int
) -> PlannedOffset:
    note: str | None = clamp
    if asked.offset < start:
        clamp, after = Clamp.BELOW_START, Commit(asked.partition, start)
        note = f"{clamp}: {asked.offset} was asked for"
    elif asked.offset > end:
        clamp, after = Clamp.BEYOND_END, Commit(asked.partition, end)
        note = f"{clamp}: {asked.offset} was asked for"
    else:
        after = asked
    if before and before.offset == after.offset and after.leader_epoch is None and not after.metadata:
        after = before
    return PlannedOffset(*key, before, after, clamp, note)


def _outside(commit: Commit, log: LogOffsets) -> str | None:
    """What is odd about a commit that is kept as it is."""
    if log.start is not None and commit.offset < log.start:
        return f"{Clamp.BELOW_START}, and left there"
    if log.end is not None and commit.offset > log.end:
        return f"{Clamp.BEYOND_END}, and left there"
    return None


def _unplanned(key: PlanKey, reason: str) -> Failure:
    group, topic, partition = key
    return Failure(Scope.PARTITION, f"{topic}-{partition}", f"group '{group}': {reason}")
