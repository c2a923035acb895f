"""Headroom: the time until retention deletes the first record that a group has not consumed.

Retention deletes whole segments, at the next check of the broker (``log.retention.check.interval.ms``). Therefore the
moment of deletion is not known, only an interval:

- By time: not before the record is ``retention.ms`` old, because the largest timestamp of its segment counts, and that
  is not before its own. At the latest, all records of the segment are that old; they span at most ``segment.ms``,
  if timestamps increase.
- By bytes: not before ``retention.bytes`` follow the record, and at the latest when ``segment.bytes`` more do: the rest
  of its segment can have as many. This is an estimate: offsets stand for bytes, and the log keeps growing at the rate
  so far, which is measured from the first unread record and from the start of the log. The bounds use the higher and
  the lower of the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from .duration import Milliseconds
from .offsets import LogOffsets
from .time_lag import CLOCK_SKEW, IN_FUTURE, NO_TIMESTAMP, FirstUnread, Position

CLEANUP, RETENTION_MS, RETENTION_BYTES = "cleanup.policy", "retention.ms", "retention.bytes"
SEGMENT_MS, SEGMENT_BYTES = "segment.ms", "segment.bytes"
TIERED, LOCAL_MS = "remote.storage.enable", "local.retention.ms"
TOPIC_SETTINGS = (CLEANUP, RETENTION_MS, RETENTION_BYTES, SEGMENT_MS, SEGMENT_BYTES, TIERED, LOCAL_MS)
"""The settings of a topic that decide when its records are deleted."""

CHECK_INTERVAL = "log.retention.check.interval.ms"
"""The setting of a broker."""

NOTHING_UNREAD, UNLIMITED, COMPACTED = "nothing unread", "unlimited", "compacted"
"""Why a partition has no headroom, in place of the setting that limits it."""

ALSO_COMPACTED = "compaction can delete records earlier, or merge them into later segments"
TIERED_LOG = "tiered storage: the time until remote storage deletes the record"
TIERED_SIZE = f"the size of a log with tiered storage is not reported by Kafka, so {RETENTION_BYTES} is not included"
NO_GROWTH = f"the rate at which the log grows is unknown, so {RETENTION_BYTES} is not included"

TopicPartition = tuple[str, int]


class Policy(NamedTuple):
    """The retention of a topic; ``None``: unlimited.

    ``tiered``: older segments are in remote storage (KIP-405); ``local_ms`` is how long the broker has them, too, if
    that is not as long.
    """

    deletes: bool
    compacts: bool
    retention_ms: int | None
    retention_bytes: int | None
    segment_ms: int
    segment_bytes: int
    tiered: bool = False
    local_ms: int | None = None

    @property
    def needs_size(self) -> bool:
        return self.deletes and self.retention_bytes is not None and not self.tiered


class Retention(NamedTuple):
    """The known facts about the retention of logs.

    ``sizes``: in bytes, on the leader. ``intervals``: between two checks, in milliseconds, by leader.
    ``unknown``: topic -> why its policy is unknown; ``sizes_unknown``: likewise.
    """

    policies: Mapping[str, Policy] = MappingProxyType({})
    sizes: Mapping[TopicPartition, int] = MappingProxyType({})
    intervals: Mapping[TopicPartition, int] = MappingProxyType({})
    unknown: Mapping[str, str] = MappingProxyType({})
    sizes_unknown: Mapping[TopicPartition, str] = MappingProxyType({})

    def needs_size(self, topic: str) -> bool:
        policy = self.policies.get(topic)
        return policy is not None and policy.needs_size

    def headroom(self, at: Position, log: LogOffsets, unread: Mapping[Position, FirstUnread], now: int) -> Headroom:
        """Return the headroom at a position; see :func:`headroom`.

        :param unread: the first unread records at positions, also at the start of logs whose size matters.
        """
        policy, pair = self.policies.get(at.topic), (at.topic, at.partition)
        found = unread.get(at, FirstUnread(failed="the first unread record is unknown"))
        if policy is None and found.failed is None:
            found = FirstUnread(failed=self.unknown.get(at.topic, "the retention of the topic is unknown"))
        if policy is None or found.failed is not None:
            return Headroom(remark=found.failed)
        first = unread.get(Position(*pair, log.start or 0))
        facts = LogFacts(
            log,
            policy,
            self.intervals.get(pair),
            self.sizes.get(pair),
            first and first.timestamp,
            self.sizes_unknown.get(pair),
        )
        return headroom(found, facts, now)


class Headroom(NamedTuple):
    """The first unread record is deleted after at least ``least`` and at most ``most``; ``None``: unknown.

    ``by``: the setting that limits ``least``, or :data:`NOTHING_UNREAD`, :data:`UNLIMITED`, or :data:`COMPACTED`, which
    have no times; ``None`` if it is unknown whether there is a limit. ``remark``: what to show with it.
    """

    least: Milliseconds | None = None
    most: Milliseconds | None = None
    by: str | None = None
    remark: str | None = None


class LogFacts(NamedTuple):
    """The known facts about the log of one partition: ``began`` is the time of its first record."""

    offsets: LogOffsets
    policy: Policy
    interval: int | None = None
    size: int | None = None
    began: int | None = None
    size_unknown: str | None = None


class _Bounds(NamedTuple):
    least: float
    most: float | None
    by: str


def policy_of(settings: Mapping[str, str | None]) -> Policy | str:
    """Return the retention of a topic with these settings, or why it is unknown."""
    cleanup = settings.get(CLEANUP)
    numbers = {}
    for name in (RETENTION_MS, RETENTION_BYTES, SEGMENT_MS, SEGMENT_BYTES):
        try:
            numbers[name] = int(settings.get(name) or "")
        except ValueError:
            return f"the broker does not report {name}"
    if not cleanup:
        return f"the broker does not report {CLEANUP}"
    policies = {word.strip() for word in cleanup.split(",")}
    local = settings.get(LOCAL_MS) or ""
    return Policy(
        "delete" in policies,
        "compact" in policies,
        _limit(numbers[RETENTION_MS]),
        _limit(numbers[RETENTION_BYTES]),
        numbers[SEGMENT_MS],
        numbers[SEGMENT_BYTES],
        settings.get(TIERED) == "true",
        int(local) if local.isascii() and local.isdigit() else None,
    )


def _limit(value: int) -> int | None:
    return None if value < 0 else value


def headroom(unread: FirstUnread, log: LogFacts, now: int) -> Headroom:
    """Return the time until the first unread record is deleted, at least and at most.

    :param unread: the record, which must not have failed.
    :param now: milliseconds since 1970.
    """
    policy = log.policy
    if unread.offset is None:
        return Headroom(by=NOTHING_UNREAD)
    if not policy.deletes:
        return Headroom(by=COMPACTED if policy.compacts else UNLIMITED)
    if policy.retention_ms is None and policy.retention_bytes is None:
        return Headroom(by=UNLIMITED)
    bounds: list[_Bounds] = []
    if policy.retention_ms is not None:
        if unread.timestamp is None:
            return Headroom(remark=NO_TIMESTAMP)
        if unread.timestamp > now + CLOCK_SKEW:
            return Headroom(remark=f"offset {unread.offset:,}: {IN_FUTURE}")
        bounds.append(_by_time(unread.timestamp, policy, policy.retention_ms, log.interval, now))
    if policy.retention_bytes is not None:
        by_bytes = _by_bytes(unread.offset, unread.timestamp, policy.retention_bytes, log, now)
        if isinstance(by_bytes, str):
            known = f"; at most {Milliseconds(max(0, bounds[0].least))} by {RETENTION_MS}" if bounds else ""
            return Headroom(remark=by_bytes + known)
        bounds.append(by_bytes)
    first = min(bounds, key=lambda bound: bound.least)
    # Compaction merges segments, so that records of any age can be in one.
    most = [bound.most for bound in bounds if bound.most is not None and not policy.compacts]
    labels = [_tiered(policy)] * policy.tiered + [ALSO_COMPACTED] * policy.compacts
    return Headroom(
        Milliseconds(max(0, first.least)),
        # Beyond the latest moment, an assumption does not hold, such as that timestamps increase.
        Milliseconds(min(most)) if most and min(most) > 0 else None,
        first.by,
        "; ".join(labels) or None,
    )


def _tiered(policy: Policy) -> str:
    return TIERED_LOG + ("" if policy.local_ms is None else f"; {LOCAL_MS} is {Milliseconds(policy.local_ms)}")


def _by_time(timestamp: int, policy: Policy, retention: int, interval: int | None, now: int) -> _Bounds:
    least = timestamp + retention - now
    return _Bounds(least, None if interval is None else least + policy.segment_ms + interval, RETENTION_MS)


def _by_bytes(offset: int, timestamp: int | None, retention: int, log: LogFacts, now: int) -> _Bounds | str:
    """Return the bounds by bytes, or why they are unknown."""
    start, end = log.offsets
    if log.policy.tiered:
        return TIERED_SIZE
    if log.size is None or start is None or end is None or end <= start:
        return f"the size of the log is unknown: {log.size_unknown or 'its offsets are unknown'}"
    following = log.size * max(0, end - offset) / (end - start)
    rates = [
        amount / (now - since)
        for amount, since in ((following, timestamp), (log.size, log.began))
        if since is not None and since < now
    ]
    missing = max(0.0, retention - following)
    if not any(rates):
        return NO_GROWTH if missing else _Bounds(0, None, RETENTION_BYTES)
    slowest = min(rates)
    latest = max(0.0, retention + log.policy.segment_bytes - following)
    most = None if log.interval is None or not slowest else latest / slowest + log.interval
    return _Bounds(missing / max(rates), most, RETENTION_BYTES)


def smallest(each: Iterable[Headroom], whole: bool) -> tuple[Headroom, str | None]:
    """Return the headroom of several partitions: the smallest.

    If that of a partition is unknown, so is the smallest; then the second value contains the smallest known one.

    :param whole: whether these are all partitions.
    """
    every = [one for one in each if one.by != NOTHING_UNREAD]
    known = [one for one in every if one.least is not None]
    first = min(known, key=lambda one: one.least or 0, default=None)
    if not whole or any(one.by is None for one in every):
        return Headroom(), first and f"headroom at most {first.least}"
    if first is None:
        return Headroom(by=", ".join(sorted({one.by for one in every if one.by})) or NOTHING_UNREAD), None
    return first._replace(most=min((one.most for one in known if one.most is not None), default=None)), None
