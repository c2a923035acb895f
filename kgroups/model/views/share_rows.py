"""The offsets view of a share group (KIP-932): its start offset in each partition; its members share partitions."""

from __future__ import annotations

from ..lag import compute_lag
from ..offsets import LogOffsets
from ..subscriptions import NOT_SUBSCRIBED, left_topics
from .offset_row import GroupOffsets, OffsetRow

UPPER_BOUND = (
    "lag is at most this: the broker does not report how many records after the start offset are already acknowledged"
)
NOT_READ_YET = "not read yet"


def share_rows(offsets: GroupOffsets) -> list[OffsetRow]:
    """Return the rows of a share group, sorted by topic and partition.

    They contain no members, because any member may receive a record. The lag is that reported by the broker (Kafka
    4.2). Older brokers do not report it: then it is the number of offsets from the start offset to the end of the log,
    of which some records may be acknowledged already.
    """
    group, commits = offsets.group.group, offsets.commits
    left = left_topics(offsets.group, commits.topics)
    rows = []
    for topic, starts in commits.topics.items():
        for partition, start, epoch, _ in starts:
            log = offsets.logs.offsets.get(topic, {}).get(partition, LogOffsets())
            lag, bound = commits.lags.get((topic, partition)), None
            if lag is None:
                lag = compute_lag(start, log.end)
                bound = UPPER_BOUND if lag else None
            note = offsets.logs.holes.get((topic, partition)) or _remark(start, log) or bound
            if topic in left:
                note = "; ".join(filter(None, (note, NOT_SUBSCRIBED)))
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
            note = failure.message if failure else offsets.logs.holes.get((topic, partition)) or NOT_READ_YET
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
    """Return what is wrong with a start offset relative to the log, or ``None``."""
    if log.start is not None and start < log.start:
        return f"data lost: {log.start - start} offsets deleted before they were read"
    if log.end is not None and start > log.end:
        return "starts beyond the end of the log"
    return None
