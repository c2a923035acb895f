"""The scenarios of a reset, and the rules for planning one partition.

A planned offset is within the partition's log; if it differs from the requested one, a :class:`Clamp` is set. Two
scenarios restore or keep offsets outside the log: :class:`ToCurrent`, and a plan that is ``exact``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from kgroups.deprecation import warn_once
from kgroups.errors import Reason

from ..groups import GroupId
from ..offsets import Commit, Isolation, LogOffsets, Move, PlanKey
from ..outcome import Failure, Scope
from ..record import NextRecords, RecordDetails
from .origin import Origin
from .skip import skip_note


class Clamp(StrEnum):
    """Why a planned offset differs from the requested one."""

    BELOW_START = "below log start"
    BEYOND_END = "beyond log end"
    NO_RECORD = "no record after that time"


@dataclass(frozen=True, slots=True)
class ToEarliest:
    """To the log start offset."""


@dataclass(frozen=True, slots=True)
class ToLatest:
    """To the log end offset."""


@dataclass(frozen=True, slots=True)
class ToCurrent:
    """Keep the committed offset; without one, use the log end offset."""


@dataclass(frozen=True, slots=True)
class ToOffset:
    offset: int


@dataclass(frozen=True, slots=True)
class ShiftBy:
    """Move by a number of records forward, or backward if it is negative."""

    by: int


@dataclass(frozen=True, slots=True)
class SkipRecords:
    """Move past the next records that a consumer of this isolation receives; other offsets do not count."""

    count: int
    isolation: Isolation = Isolation.READ_UNCOMMITTED


@dataclass(frozen=True, slots=True)
class ToTime:
    """To the first record with at least this timestamp, in milliseconds since 1970; without one, to the log's end."""

    ms: int


@dataclass(frozen=True, slots=True, init=False)
class FromPlan:
    """To an offset for each group, topic, and partition, as in a plan or undo file; ``None`` deletes the commit.

    An offset is an int, or a :class:`Commit` with metadata: ``FromPlan({("group", "topic", 0): 11})``.

    ``exact``: it is an undo file, which restores old offsets even outside the log. ``where``: file and line of each
    offset, for errors. ``kinds``: the types of the groups to create if they do not exist.
    """

    moves: Mapping[PlanKey, Move]
    exact: bool
    where: Mapping[PlanKey, str]
    kinds: Mapping[GroupId, str]
    origin: Origin | None
    """``None`` unless the offsets come from a file."""
    creates: bool
    """Whether a plan that is ``exact`` creates groups that do not exist, as an undo does."""

    def __init__(
        self,
        moves: Mapping[PlanKey, Move | int],
        exact: bool = False,
        where: Mapping[PlanKey, str] = dict(),  # noqa: C408 not changed
        kinds: Mapping[GroupId, str] = dict(),  # noqa: C408 not changed
        origin: Origin | None = None,
        creates: bool = True,
    ) -> None:
        if isinstance(moves, Mapping) and any(type(value) is int for value in moves.values()):
            moves = {key: _commit(key, value) for key, value in moves.items()}
        for name, value in zip(self.__slots__, (moves, exact, where, kinds, origin, creates), strict=True):
            object.__setattr__(self, name, value)


def _commit(key: PlanKey, value: Move | int) -> Move:
    """Return an offset as a commit; what is invalid stays as it is, for the API to reject."""
    return Commit(key[2], value) if type(value) is int and len(key) == 3 else value  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class ToGroup:
    """To the offsets of another group; its commits are copied, with leader epochs and metadata."""

    source: GroupId


Scenario = ToEarliest | ToLatest | ToCurrent | ToOffset | ShiftBy | SkipRecords | ToTime | FromPlan | ToGroup


class SeenLog(NamedTuple):
    """The log of a partition when its offset was planned; what brokers did not report is ``None``."""

    topic_id: int | None = None
    start: int | None = None
    end: int | None = None
    epoch: int | None = None
    """The leader epoch of the partition."""
    partitions: int | None = None
    """The number of partitions of the topic, if all of them were selected."""


class PlannedOffset(NamedTuple):
    """A planned offset of one partition of one group: the current commit (``before``) and the new one (``after``).

    ``None`` is no commit; an ``after`` of ``None`` deletes the commit.
    """

    group: GroupId
    topic: str
    partition: int
    before: Commit | None
    after: Commit | None
    clamp: Clamp | None = None
    note: str | None = None
    kind: str | None = None
    """The group's type, if the write depends on it; ``None`` if a commit will create the group."""
    beyond_end: bool = False
    """Whether ``before`` is known to be beyond the log end offset."""
    skipped: tuple[RecordDetails, ...] = ()
    """The records of a :class:`SkipRecords`."""
    seen: SeenLog = SeenLog()
    pending: bool = False
    """Whether an open transaction holds an offset, which the change would discard."""

    @property
    def group_id(self) -> GroupId:
        """The group ID; deprecated: use ``group``."""
        warn_once("kgroups.PlannedOffset.group_id", "kgroups.PlannedOffset.group")
        return self.group

    @property
    def old(self) -> int | None:
        return self.before.offset if self.before else None

    @property
    def new(self) -> int | None:
        return self.after.offset if self.after else None

    @property
    def distance(self) -> int | None:
        """The number of records forward (negative: backward); ``None`` unless there is a commit before and after."""
        return self.after.offset - self.before.offset if self.before and self.after else None

    @property
    def key(self) -> PlanKey:
        return self[:3]


def by_group(planned: Iterable[PlannedOffset]) -> Iterator[tuple[GroupId, list[PlannedOffset]]]:
    """Yield the planned offsets of each group, sorted by group ID."""
    groups: dict[GroupId, list[PlannedOffset]] = {}
    for entry in planned:
        groups.setdefault(entry.group, []).append(entry)
    yield from sorted(groups.items())


class Facts(NamedTuple):
    """The facts needed to plan a partition.

    ``at_time``: the first offset with at least the timestamp of a :class:`ToTime`; ``None`` if no record is that
    recent. ``next``: the next records, for :class:`SkipRecords`; ``None`` if nothing is unread.
    """

    before: Commit | None
    log: LogOffsets = LogOffsets()
    at_time: int | None = None
    next: NextRecords | None = None


def needs_log(scenario: Scenario) -> bool:
    """Return whether planning needs the log start offset and the log end offset."""
    return not (isinstance(scenario, FromPlan) and scenario.exact)


def plan_partition(scenario: Scenario, key: PlanKey, facts: Facts) -> PlannedOffset | Failure:
    """Plan one partition; return a failure if the scenario does not apply to it.

    A commit with an unchanged offset keeps its leader epoch and metadata. A :class:`ToGroup` must be converted to a
    :class:`FromPlan` first.
    """
    before, (start, end) = facts.before, facts.log
    if isinstance(scenario, FromPlan) and (scenario.exact or scenario.moves[key] is None):
        move = scenario.moves[key]  # the log offsets may be unknown: see needs_log
        return PlannedOffset(*key, before, move, note=_outside(move, facts.log) if move else None)
    if isinstance(scenario, ToCurrent) and before:
        return PlannedOffset(*key, before, before, note=_outside(before, facts.log))
    if isinstance(scenario, ShiftBy | SkipRecords) and not before:
        verb = "shift" if isinstance(scenario, ShiftBy) else "skip records"
        return _unplanned(key, f"cannot {verb}: the partition has no committed offset")
    if start is None or end is None:
        return _unplanned(key, "log start and log end offsets are unknown")
    if isinstance(scenario, SkipRecords) and before:
        return _after_records(scenario, key, before, facts.next, end)
    return _clamped(key, before, *_requested_commit(scenario, key, facts, start, end), start, end)


def _after_records(
    scenario: SkipRecords, key: PlanKey, before: Commit, found: NextRecords | None, end: int
) -> PlannedOffset:
    """Plan the offset after the skipped records; without any, keep the commit."""
    skipped = found.records if found else ()
    after = Commit(before.partition, skipped[-1].offset + 1) if skipped else before
    note = skip_note(skipped, scenario.count, blocked=found is not None and found.until < end)
    return PlannedOffset(*key, before, after, note=note, skipped=skipped)


def _requested_commit(
    scenario: Scenario, key: PlanKey, facts: Facts, start: int, end: int
) -> tuple[Commit, Clamp | None]:
    """Return the requested commit, and why it already differs from the scenario, if it does."""
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
            # The log may have changed between the two requests; this needs no clamp.
            return Commit(partition, max(start, min(facts.at_time, end))), None
        case FromPlan(moves) if commit := moves[key]:
            return commit, None
    return Commit(partition, end), None


def _clamped(
    key: PlanKey, before: Commit | None, requested: Commit, clamp: Clamp | None, start: int, end: int
) -> PlannedOffset:
    note: str | None = clamp
    if requested.offset < start:
        clamp, after = Clamp.BELOW_START, Commit(requested.partition, start)
        note = f"requested offset {requested.offset} is {clamp}"
    elif requested.offset > end:
        clamp, after = Clamp.BEYOND_END, Commit(requested.partition, end)
        note = f"requested offset {requested.offset} is {clamp}"
    else:
        after = requested
    if before and before.offset == after.offset and after.leader_epoch is None and not after.metadata:
        after = before
    return PlannedOffset(*key, before, after, clamp, note)


def _outside(commit: Commit, log: LogOffsets) -> str | None:
    """Return what is unusual about a commit that is kept as it is, or ``None``."""
    if log.start is not None and commit.offset < log.start:
        return f"{Clamp.BELOW_START}, not adjusted"
    if log.end is not None and commit.offset > log.end:
        return f"{Clamp.BEYOND_END}, not adjusted"
    return None


def _unplanned(key: PlanKey, reason: str) -> Failure:
    group, topic, partition = key
    return Failure(Scope.PARTITION, f"{topic}-{partition}", f"group '{group}': {reason}", reason=Reason.NOT_APPLICABLE)
