"""The fields that the state of a share group adds to the rows of its partitions. Times are ISO 8601, UTC."""

from __future__ import annotations

from typing import NamedTuple

from ..moments import moment_text
from ..share.partition import SharePartition, ShareSettings, Tally
from ..share.state import Between
from ..streams import Pairs


class ShareColumns(NamedTuple):
    """The columns of a partition of a share group; ``None``: unknown, or not a share group.

    ``released``: records that were delivered and are available again. ``deliveries``: delivery count -> number of
    released records. ``last_attempts``: released records whose next delivery is the last. ``acquired``: the records
    that members have acquired now, which no API and no record reports.
    """

    acknowledged: int | None = None
    archived: int | None = None
    released: int | None = None
    deliveries: Pairs | None = None
    last_attempts: int | None = None
    acquired: int | None = None
    oldest_unfinished: int | None = None
    oldest_timestamp: str | None = None
    last_progress: str | None = None


NO_COLUMNS = ShareColumns()


class ShareRow(NamedTuple):
    """A partition of a share group; its :class:`ShareColumns` follow in a row."""

    topic: str
    partition: int
    start_offset: int | None
    log_end_offset: int | None
    note: str | None


def share_row(partition: SharePartition) -> ShareRow:
    start = partition.state.start_offset if partition.state else None
    note = "; ".join(share_notes(partition)) or None
    return ShareRow(partition.topic, partition.partition, start, partition.log.end, note)


def share_columns(partition: SharePartition, settings: ShareSettings) -> ShareColumns:
    state, tally = partition.state, partition.tally
    if state is None or tally is None:
        return NO_COLUMNS
    limit, oldest = settings.delivery_limit.number, partition.oldest
    return ShareColumns(
        acknowledged=tally.acknowledged,
        archived=tally.archived,
        released=tally.released,
        deliveries=_histogram(tally),
        last_attempts=None if limit is None else tally.last_attempts(limit),
        oldest_unfinished=tally.oldest if partition.has_unfinished else None,
        oldest_timestamp=moment_text(oldest.timestamp) if oldest and oldest.timestamp is not None else None,
        last_progress=moment_text(state.progress.latest) if state.progress.is_exact else None,
    )


def _histogram(tally: Tally) -> Pairs | None:
    return Pairs((str(deliveries), number) for deliveries, number in tally.deliveries.items()) or None


def share_notes(partition: SharePartition) -> list[str]:
    """Return why values of a partition are unknown."""
    notes = []
    if partition.unknown:
        notes.append(f"state unknown: {partition.unknown}")
    if partition.oldest and partition.oldest.failed:
        notes.append(f"oldest unfinished record unknown: {partition.oldest.failed}")
    if partition.state and not partition.state.progress.is_exact:
        notes.append(f"last progress {between_text(partition.state.progress)}")
    return notes


def between_text(time: Between) -> str:
    """Return a time, or the range in which it is."""
    if time.is_exact:
        return f"at {moment_text(time.latest)}"
    return f"between {moment_text(time.earliest)} and {moment_text(time.latest)}"
