from __future__ import annotations

import pytest

from kgroups.model.offsets import Commit, LogOffsets
from kgroups.model.operations.reset import (
    Clamp,
    Facts,
    FromPlan,
    PlannedOffset,
    Scenario,
    ShiftBy,
    SkipRecords,
    ToCurrent,
    ToEarliest,
    ToLatest,
    ToOffset,
    ToTime,
    needs_log,
    plan_partition,
)
from kgroups.model.outcome import Failure
from kgroups.model.record import NextRecords, RecordDetails

KEY = ("g", "t", 3)
LOG = LogOffsets(40, 100)
AT_70 = Commit(3, 70, 5, "noted")


def planned(scenario: Scenario, before: Commit | None = AT_70, at_time: int | None = None) -> PlannedOffset:
    found = plan_partition(scenario, KEY, Facts(before, LOG, at_time))
    assert isinstance(found, PlannedOffset)
    assert found.key == KEY and found.before == before
    return found


@pytest.mark.parametrize(
    ("scenario", "new"),
    [(ToEarliest(), 40), (ToLatest(), 100), (ToOffset(55), 55), (ShiftBy(-20), 50), (ShiftBy(30), 100)],
)
def test_reset_scenario_sets_offset(scenario: Scenario, new: int) -> None:
    found = planned(scenario)
    assert (found.old, found.new, found.distance, found.clamp, found.note) == (70, new, new - 70, None, None)
    assert found.after == Commit(3, new), "an offset of ours has no epoch and no metadata"


@pytest.mark.parametrize(
    ("scenario", "new", "clamp", "note"),
    [
        (ToOffset(39), 40, Clamp.BELOW_START, "requested offset 39 is below log start"),
        (ToOffset(101), 100, Clamp.BEYOND_END, "requested offset 101 is beyond log end"),
        (ShiftBy(-71), 40, Clamp.BELOW_START, "requested offset -1 is below log start"),
        (ShiftBy(2**70), 100, Clamp.BEYOND_END, f"requested offset {70 + 2**70} is beyond log end"),
        (ToTime(9), 100, Clamp.NO_RECORD, "no record after that time"),
        (FromPlan({KEY: Commit(3, 3)}), 40, Clamp.BELOW_START, "requested offset 3 is below log start"),
    ],
)
def test_reset_outside_the_log_is_clamped_and_noted(scenario: Scenario, new: int, clamp: Clamp, note: str) -> None:
    found = planned(scenario)
    assert (found.new, found.clamp, found.note) == (new, clamp, note)


def test_reset_to_time_uses_the_record_offset() -> None:
    assert planned(ToTime(9), at_time=66)[4:7] == (Commit(3, 66), None, None)
    assert planned(ToTime(9), at_time=101).new == 100, "the log grew between the two questions"


def test_reset_to_current_keeps_the_offset() -> None:
    assert planned(ToCurrent()).after == AT_70, "with its epoch and metadata"
    assert planned(ToCurrent(), None)[4:7] == (Commit(3, 100), None, None)
    assert planned(ToCurrent(), Commit(3, 7))[4:7] == (Commit(3, 7), None, "below log start, not adjusted")
    assert planned(ToCurrent(), Commit(3, 101)).note == "beyond log end, not adjusted"


@pytest.mark.parametrize("scenario", [ToOffset(70), ShiftBy(0), FromPlan({KEY: Commit(3, 70)}), ToTime(1)])
def test_reset_to_the_same_offset_keeps_epoch_and_metadata(scenario: Scenario) -> None:
    assert planned(scenario, at_time=70).after == AT_70


def test_reset_from_plan_uses_its_epoch_and_metadata() -> None:
    theirs = Commit(3, 70, 9, "theirs")
    assert planned(FromPlan({KEY: theirs})).after == theirs


def test_undo_restores_exactly() -> None:
    assert planned(FromPlan({KEY: None}, exact=True)).after is None
    assert planned(FromPlan({KEY: Commit(3, 7)}, exact=True)).after == Commit(3, 7)
    unknown = plan_partition(FromPlan({KEY: Commit(3, 7)}, exact=True), KEY, Facts(None))
    assert isinstance(unknown, PlannedOffset) and unknown.new == 7 and unknown.distance is None
    outside = planned(FromPlan({KEY: Commit(3, 7)}, exact=True))
    assert (outside.clamp, outside.note) == (None, "below log start, not adjusted")
    assert isinstance(unknown, PlannedOffset) and unknown.note is None
    assert not needs_log(FromPlan({}, exact=True)) and needs_log(FromPlan({}))


def test_reset_without_commit_or_log_is_a_failure() -> None:
    no_commit = plan_partition(ShiftBy(1), KEY, Facts(None, LOG))
    no_log = plan_partition(ToOffset(1), KEY, Facts(AT_70))
    assert isinstance(no_commit, Failure) and isinstance(no_log, Failure)
    assert (no_commit.name, no_commit.message) == (
        "t-3",
        "group 'g': cannot shift: the partition has no committed offset",
    )
    assert no_log.message == "group 'g': log start and log end offsets are unknown"


def record(offset: int) -> RecordDetails:
    return RecordDetails(offset, None, None, b"", (), 0, 70, offset, None)


@pytest.mark.parametrize(
    ("found", "new", "note"),
    [
        (NextRecords((record(72), record(75)), 76), 76, "skips 2 records: offset 72, 75"),
        (NextRecords((record(99),), 100), 100, "skips 1 record: offset 99; no others are unread"),
        (NextRecords((record(80),), 81), 81, "skips 1 record: offset 80; an open transaction follows"),
        (NextRecords((), 100), 70, "skips no records: none are unread"),
        (NextRecords((), 70), 70, "skips no records: an open transaction begins here"),
        (None, 70, "skips no records: none are unread"),
    ],
)
def test_skip_records_moves_after_the_last_skipped_record(found: NextRecords | None, new: int, note: str) -> None:
    entry = plan_partition(SkipRecords(2), KEY, Facts(AT_70, LOG, next=found))
    assert isinstance(entry, PlannedOffset)
    assert (entry.new, entry.note, entry.skipped) == (new, note, found.records if found else ())
    assert new != 70 or entry.after == AT_70


def test_skip_records_without_commit_is_a_failure() -> None:
    found = plan_partition(SkipRecords(1), KEY, Facts(None, LOG))
    assert isinstance(found, Failure)
    assert "cannot skip records: the partition has no committed offset" in found.message
