"""The time until retention deletes a record: by time and by bytes, its bounds, and why it is unknown."""

from __future__ import annotations

from typing import Any

import pytest

from kgroups.model.headroom import (
    ALSO_COMPACTED,
    COMPACTED,
    NO_GROWTH,
    NOTHING_UNREAD,
    RETENTION_BYTES,
    RETENTION_MS,
    TIERED_LOG,
    TIERED_SIZE,
    UNLIMITED,
    Headroom,
    LogFacts,
    Policy,
    Retention,
    headroom,
    policy_of,
    smallest,
)
from kgroups.model.offsets import LogOffsets
from kgroups.model.time_lag import NO_TIMESTAMP, FirstUnread, Position

HOUR = 3_600_000
NOW = 100 * HOUR
UNREAD = FirstUnread(50, NOW - HOUR)
"""In the middle of the log, an hour old."""
BY_TIME = Policy(True, False, 3 * HOUR, None, 2 * HOUR, 1_000)
BY_BYTES = BY_TIME._replace(retention_ms=None, retention_bytes=2_000)


def log(policy: Policy, **facts: Any) -> LogFacts:
    """Offsets 0 to 100, 1,000 bytes, written in the last two hours; the broker checks every 5 minutes."""
    known = {"interval": 300_000, "size": 1_000, "began": NOW - 2 * HOUR, **facts}
    return LogFacts(known.pop("offsets", LogOffsets(0, 100)), policy, **known)


def test_time_is_between_the_age_of_the_record_and_that_of_its_segment() -> None:
    assert headroom(UNREAD, log(BY_TIME), NOW) == Headroom(2 * HOUR, 4 * HOUR + 300_000, RETENTION_MS)


def test_latest_time_is_unknown_without_the_check_interval() -> None:
    assert headroom(UNREAD, log(BY_TIME, interval=None), NOW) == Headroom(2 * HOUR, None, RETENTION_MS)


def test_overdue_record_has_no_negative_headroom() -> None:
    old = FirstUnread(50, NOW - 4 * HOUR)
    assert headroom(old, log(BY_TIME), NOW) == Headroom(0, HOUR + 300_000, RETENTION_MS)
    older = FirstUnread(50, NOW - 6 * HOUR)  # its segment has records with later timestamps than it could have
    assert headroom(older, log(BY_TIME), NOW) == Headroom(0, None, RETENTION_MS)


def test_bytes_grow_at_the_rate_so_far() -> None:
    """500 bytes follow; 1,500 more take three hours, and the rest of the segment, 1,000 bytes, two more."""
    expected = Headroom(3 * HOUR, 5 * HOUR + 300_000, RETENTION_BYTES)
    assert headroom(UNREAD, log(BY_BYTES), NOW) == expected


def test_bytes_use_the_higher_rate_for_the_earliest_and_the_lower_for_the_latest_moment() -> None:
    """250 bytes an hour since the log began, and 500 since the record was written."""
    expected = Headroom(3 * HOUR, 10 * HOUR + 300_000, RETENTION_BYTES)
    assert headroom(UNREAD, log(BY_BYTES, began=NOW - 4 * HOUR), NOW) == expected


def test_bytes_that_are_exceeded_may_be_deleted_at_the_next_check() -> None:
    full = log(BY_BYTES._replace(retention_bytes=400))
    assert headroom(UNREAD, full, NOW) == Headroom(0, (1_400 - 500) * HOUR // 500 + 300_000, RETENTION_BYTES)
    assert headroom(FirstUnread(50, None), full._replace(began=None), NOW) == Headroom(0, None, RETENTION_BYTES)


def test_first_limit_decides() -> None:
    both = BY_BYTES._replace(retention_ms=3 * HOUR)
    assert headroom(UNREAD, log(both), NOW) == Headroom(2 * HOUR, 4 * HOUR + 300_000, RETENTION_MS)
    both = both._replace(retention_ms=9 * HOUR)
    assert headroom(UNREAD, log(both), NOW) == Headroom(3 * HOUR, 5 * HOUR + 300_000, RETENTION_BYTES)


@pytest.mark.parametrize(
    ("policy", "by"),
    [
        (BY_TIME._replace(retention_ms=None), UNLIMITED),
        (BY_TIME._replace(deletes=False, compacts=True), COMPACTED),
        (BY_TIME._replace(deletes=False), UNLIMITED),
    ],
)
def test_without_limit_there_is_a_label_and_no_time(policy: Policy, by: str) -> None:
    assert headroom(UNREAD, log(policy), NOW) == Headroom(by=by)


@pytest.mark.parametrize("policy", [BY_TIME, BY_BYTES])
def test_log_without_unread_record_has_no_headroom(policy: Policy) -> None:
    assert headroom(FirstUnread(), log(policy), NOW) == Headroom(by=NOTHING_UNREAD)


def test_topics_that_are_compacted_or_tiered_as_well_are_labeled() -> None:
    compacted = headroom(UNREAD, log(BY_TIME._replace(compacts=True)), NOW)
    assert compacted == Headroom(2 * HOUR, None, RETENTION_MS, ALSO_COMPACTED)
    tiered = headroom(UNREAD, log(BY_TIME._replace(tiered=True, local_ms=60_000)), NOW)
    assert (tiered.least, tiered.remark) == (2 * HOUR, f"{TIERED_LOG}; local.retention.ms is 1m")
    assert headroom(UNREAD, log(BY_TIME._replace(tiered=True)), NOW).remark == TIERED_LOG


@pytest.mark.parametrize(
    ("policy", "unread", "facts", "reason"),
    [
        (BY_TIME, FirstUnread(50, None), {}, NO_TIMESTAMP),
        (BY_BYTES, UNREAD, {"size": None, "size_unknown": "no ACL"}, "the size of the log is unknown: no ACL"),
        (
            BY_BYTES,
            UNREAD,
            {"offsets": LogOffsets(None, 100)},
            "the size of the log is unknown: its offsets are unknown",
        ),
        (BY_BYTES, FirstUnread(50, NOW + 1), {"began": None}, NO_GROWTH),
        (BY_BYTES._replace(tiered=True), UNREAD, {}, TIERED_SIZE),
    ],
)
def test_unknown_headroom_has_a_reason(policy: Policy, unread: FirstUnread, facts: Any, reason: str) -> None:
    assert headroom(unread, log(policy, **facts), NOW) == Headroom(remark=reason)


def test_time_is_an_upper_bound_if_the_size_is_unknown() -> None:
    both = BY_BYTES._replace(retention_ms=3 * HOUR)
    reason = "the size of the log is unknown: no ACL; at most 2h by retention.ms"
    assert headroom(UNREAD, log(both, size=None, size_unknown="no ACL"), NOW) == Headroom(remark=reason)


SETTINGS = {
    "cleanup.policy": "delete",
    "retention.ms": "604800000",
    "retention.bytes": "-1",
    "segment.ms": "3600000",
    "segment.bytes": "1073741824",
}


def test_policy_is_read_from_settings() -> None:
    assert policy_of(SETTINGS) == Policy(True, False, 604_800_000, None, 3_600_000, 1 << 30)
    more = {"cleanup.policy": "compact,delete", "remote.storage.enable": "true", "local.retention.ms": "60000"}
    assert policy_of(SETTINGS | more) == Policy(True, True, 604_800_000, None, 3_600_000, 1 << 30, True, 60_000)
    same = policy_of(SETTINGS | {"local.retention.ms": "-2"})
    assert isinstance(same, Policy) and same.local_ms is None


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("value", [None, ""])
def test_policy_is_unknown_without_a_setting(name: str, value: str | None) -> None:
    assert policy_of(SETTINGS | {name: value}) == f"the broker does not report {name}"


AT = Position("t", 0, 50)


def test_retention_uses_the_facts_of_each_partition() -> None:
    retention = Retention({"t": BY_BYTES}, {("t", 0): 1_000}, {("t", 0): 300_000})
    unread = {AT: UNREAD, Position("t", 0, 0): FirstUnread(0, NOW - 2 * HOUR)}
    found = retention.headroom(AT, LogOffsets(0, 100), unread, NOW)
    assert found == Headroom(3 * HOUR, 5 * HOUR + 300_000, RETENTION_BYTES)
    assert retention.needs_size("t") and not retention.needs_size("u")
    assert not Retention({"t": BY_TIME}).needs_size("t")


def test_retention_that_is_unknown_has_a_reason() -> None:
    def remark(retention: Retention, unread: FirstUnread) -> str | None:
        return retention.headroom(AT, LogOffsets(0, 100), {AT: unread}, NOW).remark

    assert remark(Retention(unknown={"t": "no ACL"}), UNREAD) == "no ACL"
    assert remark(Retention({"t": BY_TIME}), FirstUnread(failed="no leader")) == "no leader"


def room(hours: int, most: int | None = None, by: str = RETENTION_MS) -> Headroom:
    return Headroom(hours * HOUR, None if most is None else most * HOUR, by)  # type: ignore[arg-type]  # as Milliseconds


def test_smallest_headroom_counts() -> None:
    several = [room(3, 4), room(2, 9), Headroom(by=UNLIMITED), Headroom(by=NOTHING_UNREAD)]
    assert smallest(several, True) == (room(2, 4), None)
    assert smallest([room(2), room(3)], True) == (room(2), None)


def test_smallest_headroom_is_unknown_if_that_of_a_partition_is() -> None:
    assert smallest([room(3), Headroom(remark="no leader")], True)[0] == Headroom()
    assert smallest([Headroom(by=UNLIMITED)], False) == (Headroom(), None)


def test_smallest_headroom_without_limits_has_the_labels() -> None:
    assert smallest([Headroom(by=UNLIMITED), Headroom(by=COMPACTED)], True) == (
        Headroom(by="compacted, unlimited"),
        None,
    )
    assert smallest([Headroom(by=NOTHING_UNREAD)], True)[0].by == NOTHING_UNREAD
