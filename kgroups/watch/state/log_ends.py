"""When records were appended, estimated from log end offsets that were sampled repeatedly. Costs no requests."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable, Mapping, Set
from math import inf, isnan, nan
from types import MappingProxyType

Place = tuple[str, int]
"""Topic and partition."""

POINTS = 32
"""Maximum number of samples of one partition. Older samples are thinned out, so that they reach far back."""

GAP = 5
"""Polls without a sample of a partition, after which nothing is known about the records appended meanwhile."""

NO_IDS: Mapping[str, int] = MappingProxyType({})


class LogEnds:
    """Samples of log end offsets, with times in seconds."""

    def __init__(self) -> None:
        self._topic_ids: Mapping[str, int] = {}
        self.recreated: Set[str] = frozenset()
        """The topics that were created again before the last sample."""
        self._samples: dict[Place, tuple[array[float], array[int]]] = {}
        """The times and the offsets of each partition. A record that was appended in a gap has the time NaN."""
        self._polled: deque[float] = deque(maxlen=GAP)
        """The times of the last polls."""

    def add(self, now: float, ends: Iterable[tuple[Place, int]], topic_ids: Mapping[str, int] = NO_IDS) -> None:
        """Add one sample of each partition; start again for a recreated topic, or a lower log end offset."""
        before = self._topic_ids
        self.recreated = {topic for topic, known in topic_ids.items() if before.get(topic, known) != known}
        if self.recreated:
            self._samples = {place: found for place, found in self._samples.items() if place[0] not in self.recreated}
        if self.recreated or topic_ids.keys() != before.keys():
            self._topic_ids = {**before, **topic_ids}
        sampled = 0
        oldest = self._polled[0] if len(self._polled) == GAP else -inf
        self._polled.append(now)
        for place, end in ends:
            sampled += 1
            times, offsets = self._samples.setdefault(place, (array("d"), array("q")))
            if offsets and end < offsets[-1]:
                del times[:], offsets[:]
            elif times and times[-1] < oldest:
                times.append(nan)
                offsets.append(end)
            if len(offsets) >= 2 and offsets[-2] == offsets[-1] == end:
                times[-1] = now  # only the first and the last sample of an idle log are needed
                continue
            times.append(now)
            offsets.append(end)
            if len(offsets) > POINTS:
                del times[1 : POINTS // 2 : 2], offsets[1 : POINTS // 2 : 2]
        if sampled and len(self._samples) > 2 * sampled:  # deleted topics
            self._samples = {place: found for place, found in self._samples.items() if found[0][-1] == now}

    def appended(self, place: Place, offset: int) -> float | None:
        """Return when the record at an offset was appended; ``None`` if it was before the first sample, or unknown.

        Between two samples, records are assumed to arrive at a constant rate, unless a gap is between them.
        """
        times, offsets = self._samples.get(place, ((), ()))
        for at in range(len(offsets) - 1, 0, -1):
            before, after = offsets[at - 1], offsets[at]
            if before <= offset < after:
                time = times[at - 1] + (times[at] - times[at - 1]) * (offset - before + 1) / (after - before)
                return None if isnan(time) else time
        return None
