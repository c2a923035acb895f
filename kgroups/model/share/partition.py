"""The known facts about a partition of a share group: its state, its log, and the limits on deliveries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from ..effective_setting import Effective
from ..offsets import LogOffsets
from ..time_lag import FirstUnread
from .batches import DeliveryState, clip
from .state import ShareState

ACQUIRED_UNKNOWN = "the number of records that are acquired by members now is unknown: no API and no record reports it"


class Tally(NamedTuple):
    """The offsets at or after the start offset, by what became of them.

    ``released``: delivered at least once, and available again, or acquired again. ``deliveries``: delivery
    count -> number of released offsets. ``oldest``: the first offset that is not finished; ``None``: all are.
    """

    acknowledged: int
    archived: int
    released: int
    deliveries: Mapping[int, int]
    oldest: int | None

    @property
    def finished(self) -> int:
        return self.acknowledged + self.archived

    @property
    def most_deliveries(self) -> int:
        """The highest delivery count of an offset that is not finished."""
        return max(self.deliveries, default=0)

    def last_attempts(self, limit: int) -> int:
        """Return the number of released offsets whose next delivery is the last."""
        return sum(count for deliveries, count in self.deliveries.items() if deliveries >= limit - 1)


def tally_of(state: ShareState, log: LogOffsets) -> Tally:
    """Count offsets by state. Offsets that are below the log start offset do not exist any more."""
    start = max(state.start_offset, log.start or 0)
    sizes: Counter[int] = Counter()
    deliveries: Counter[int] = Counter()
    oldest = start
    for batch in clip(state.batches, start):
        sizes[batch.state] += batch.size
        if not batch.finished:
            deliveries[batch.deliveries] += batch.size
        elif batch.first == oldest:
            oldest = batch.last + 1
    return Tally(
        acknowledged=sizes[DeliveryState.ACKNOWLEDGED],
        archived=sizes[DeliveryState.ARCHIVED],
        released=sum(deliveries.values()),
        deliveries=dict(sorted(deliveries.items())),
        oldest=None if log.end is not None and oldest >= log.end else oldest,
    )


class SharePartition(NamedTuple):
    """A partition of a share group.

    ``state`` is ``None`` if there is none, or if it is unknown, with the reason in ``unknown``. ``oldest``: the first
    record that is not finished, if it was read.
    """

    topic: str
    partition: int
    log: LogOffsets
    state: ShareState | None = None
    unknown: str | None = None
    oldest: FirstUnread | None = None

    @property
    def tally(self) -> Tally | None:
        return None if self.state is None else tally_of(self.state, self.log)

    @property
    def has_unfinished(self) -> bool:
        """Whether a record is not finished, as far as known: unfinished offsets may have no records."""
        tally = self.tally
        return tally is not None and tally.oldest is not None and self.oldest != FirstUnread()


class ShareSettings(NamedTuple):
    """The settings of a group that limit deliveries."""

    delivery_limit: Effective
    lock_duration: Effective
    dead_letter_topic: Effective


class ShareFacts(NamedTuple):
    """The partitions of a share group, and its settings; ``now`` in milliseconds since 1970.

    ``dead_letters``: the number of offsets in its dead-letter topic, or why it is unknown; ``None`` without a topic.
    """

    partitions: tuple[SharePartition, ...]
    settings: ShareSettings
    now: int
    dead_letters: int | str | None = None
