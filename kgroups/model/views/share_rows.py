"""The offsets view of a share group (KIP-932): where it starts in each partition, which its members have in common."""

from __future__ import annotations

from ..lag import compute_lag
from ..offsets import LogOffsets
from .offset_row import GroupOffsets, OffsetRow

UPPER_BOUND = (
    "lag is at most this: the broker does not report how many records after the start offset are already acknowledged"
)
NOWHERE = "not read yet"


def share_rows(offsets: GroupOffsets) -> list[OffsetRow]:
    """Sorted by topic and partition. Members are not in it: which of them reads a record, nobody can say before.

    The lag is what the broker tells (Kafka 4.2). An older one tells none: then it is what lies behind the start, of
    which some records may be done with.
    """
    group, commits = offsets.group.group_id, offsets.commits
    rows = []
    for topic, starts in commits.topics.items():
        for partition, start, epoch, _ in starts:
            log = offsets.logs.offsets.get(topic, {}).get(partition, LogOffsets())
            lag, bound = commits.lags.get((topic, partition)), None
            if lag is None:
                lag = compute_lag(start, log.end)
                bound = UPPER_BOUND if lag else None
            note = offsets.logs.holes.get((topic, partition)) or _remark(start, log) or bound
            row = OffsetRow(
                group,
                topic=topic,
                partition=partition,
                leader_epoch=epoch,
                log_start_offset=log.start,
                log_end_offset=log.end,
                lag=lag,
                note=note,
                start_offset=start,
            )
            rows.append(row)
    for topic, partitions in commits.unset.items():
        for partition in partitions:
            log = offsets.logs.offsets.get(topic, {}).get(partition, LogOffsets())
            failure = commits.failures.get((topic, partition))
            note = failure.message if failure else offsets.logs.holes.get((topic, partition)) or NOWHERE
            row = OffsetRow(
                group,
                topic=topic,
                partition=partition,
                log_start_offset=log.start,
                log_end_offset=log.end,
                note=note,
            )
            rows.append(row)
    rows.sort(key=lambda row: (row.topic or "", row.partition or 0))
    return rows


def _remark(start: int, log: LogOffsets) -> str | None:
    """What is odd about where a group starts."""
    if log.start is not None and start < log.start:
        return f"data lost: {log.start - start} offsets deleted before they were read"
    if log.end is not None and start > log.end:
        return "starts beyond the end of the log"
    return None
