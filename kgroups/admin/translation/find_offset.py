"""Find the offset in the copy of a log at which a group continues, by the strongest method that the evidence allows."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kgroups.model.counts import count
from kgroups.model.offsets import Isolation, LogOffsets
from kgroups.model.outcome import Failure
from kgroups.model.translation.copies import Content, Copy, Place, Scan, Unplaced, Window, place, same_offsets
from kgroups.model.translation.headers import Orders, place_by_header
from kgroups.model.translation.method import Impossible, Method, Translation

from ..routing.partition_leaders import TopicPartition, partition_name
from .log_reader import SOURCE, TARGET, Chunk, LogReader, Unread

WIDTH = 256
"""The records around an offset that are looked for, in each direction."""
NARROW = 2
"""If records are large."""
FIRST_STRETCH = 64
LEAST_STRETCH = 2
SHARE = 8
"""The part of the limit that may be read before the group's offset."""
GROWTH = 8
"""How many offsets before the group's are read first; if they have no record, so many times as many."""
LEAD = 64
"""The offsets before the first possible copy of the next record that are read: those of the records before it."""
SAMPLES = 3
"""Stretches of logs with equal offsets that are compared besides the one around the group's offset."""


class Position(NamedTuple):
    """An offset to translate, and the partition of the copy."""

    source: TopicPartition
    offset: int
    target: TopicPartition


class Limits(NamedTuple):
    """What may be read for one position, of both logs."""

    bytes: int = 32 * 1024 * 1024
    seconds: float = 20.0


@dataclass
class Spent:
    """What is left of the limits of one position."""

    limits: Limits
    bytes: int = 0
    began: float = field(default_factory=time.monotonic)

    def add(self, size: int) -> None:
        self.bytes += size

    @property
    def over(self) -> str | None:
        """The limit that is reached."""
        if self.bytes >= self.limits.bytes:
            return f"{self.limits.bytes / 2**20:g} MiB were read (--max-mib)"
        if time.monotonic() - self.began >= self.limits.seconds:
            return f"{self.limits.seconds:g} s have passed (--max-seconds)"
        return None


class Finder:
    """Finds offsets of one cluster's logs in another's."""

    def __init__(
        self,
        source: LogReader,
        target: LogReader,
        methods: frozenset[Method],
        limits: Limits,
        compacted: Collection[str] = (),
    ) -> None:
        """:param compacted: the topics of the copy that are compacted."""
        self._source, self._target = source, target
        self._methods, self._limits, self._compacted = methods, limits, compacted

    def accepts(self, method: Method) -> bool:
        return method in self._methods

    @property
    def denied(self) -> Iterator[Failure]:
        """The topics whose logs may not be read, on either side."""
        yield from (*self._source.denied.values(), *self._target.denied.values())

    @property
    def reads_records(self) -> bool:
        """Whether any accepted method needs records."""
        return bool(self._methods - {Method.SYNC})

    async def find(self, position: Position, log: LogOffsets, copy: LogOffsets) -> Translation:
        """Return the offset in the copy, by the records of both logs.

        :param log: start and end of the source's log; ``copy``: of the copy's.
        """
        spent = Spent(self._limits)
        try:
            return await self._find(position, log, copy, spent)
        except Unread as error:
            return Translation.impossible(Impossible.UNREADABLE, str(error))

    async def count(self, pair: TopicPartition, low: int, high: int) -> int | None:
        """Return how many records of the copy are from one offset up to another; ``None`` if they are too many to read.

        :raises Unread: if no broker returns them.
        """
        spent, number, at = Spent(self._limits), 0, low
        while at < high:
            if spent.over:
                return None
            chunk = await self._target.read(pair, at)
            spent.add(chunk.size)
            number += sum(each.offset < high and not each.aborted for each in chunk.records)
            if chunk.until == at:
                break
            at = chunk.until
        return number

    async def _find(self, position: Position, log: LogOffsets, copy: LogOffsets, spent: Spent) -> Translation:
        if reason := _outside(position, log, copy):
            return reason
        window = await self._window(position, log, spent)
        if isinstance(window, Translation):
            return window
        if not (window.before or window.after):
            return self._nothing_left(copy)
        failed: list[Unplaced] = []
        if found := await self._by_copies(position, window, log, copy, spent, failed):
            return found
        if Method.TIME in self._methods and (found := await self._by_time(position, window)):
            return found
        worst = max(failed, key=lambda each: _TELLING.index(each.why), default=None)
        if worst is None:
            return Translation.impossible(Impossible.NOT_ALLOWED, "no accepted method applies")
        return Translation.impossible(worst.why, worst.text)

    async def _by_copies(
        self,
        position: Position,
        window: Window,
        log: LogOffsets,
        copy: LogOffsets,
        spent: Spent,
        failed: list[Unplaced],
    ) -> Translation | None:
        """Return the offset by copies of records near the source's offset; the strongest method comes first."""
        if equal := await self._earlier_equal(position, window, spent):
            failed.append(equal)
        unique = not (equal or window.repeats)
        if unique and Method.IDENTICAL in self._methods:
            found = await self._identical(position, window, log, copy, spent)
            if found:
                return found
        if Method.HEADER in self._methods:
            found = await self._by_header(position, window, log, copy, spent, failed)
            if found:
                return found
        if self._methods & {Method.RECORD, Method.END} and not equal:
            found = await self._by_record(position, window, copy, spent, failed)
            if found:
                return found
        return None

    async def _window(self, position: Position, log: LogOffsets, spent: Spent) -> Window | Translation:
        """Return the records of the source around the offset."""
        assert log.start is not None
        stretch, low, records = FIRST_STRETCH, position.offset, list[Copy]()
        isolation, until, stable, high = Isolation.READ_COMMITTED, position.offset, 0, 0
        while not any(each.offset < position.offset for each in records):
            low = max(log.start, position.offset - stretch)
            at, records = low, []
            while True:
                chunk = await self._source.read(position.source, at, isolation)
                spent.add(chunk.size)
                if isolation is Isolation.READ_COMMITTED and position.offset > chunk.stable:
                    # An open transaction began before the offset; which of its records will count is not known yet.
                    isolation = Isolation.READ_UNCOMMITTED
                    continue
                if at == low and (shorter := self._shorter(stretch, chunk)) < stretch and low > log.start:
                    stretch, low, records = shorter, max(log.start, position.offset - shorter), []
                    at = low
                    continue
                records += chunk.records
                at = until = chunk.until
                stable, high = chunk.stable, chunk.high
                end = stable if isolation is Isolation.READ_COMMITTED else high
                following = sum(each.offset >= position.offset for each in records)
                if at >= end or following >= (WIDTH if spent.bytes < self._limits.bytes // SHARE else NARROW):
                    break
                if spent.over:
                    if at > position.offset:
                        break
                    text = f"{partition_name(position.source)}: {spent.over}"
                    return Translation.impossible(Impossible.LIMIT, text)
            if low == log.start:
                break
            stretch *= GROWTH
        before = [each for each in records if each.offset < position.offset]
        after = [each for each in records if each.offset >= position.offset]
        return Window(position.offset, tuple(before), tuple(after), low == log.start, until >= high)

    def _shorter(self, stretch: int, chunk: Chunk) -> int:
        """Return how many offsets before the group's to read, less if records are large."""
        if not chunk.records:
            return stretch
        affordable = self._limits.bytes * len(chunk.records) // (SHARE * max(chunk.size, 1))
        return min(stretch, max(LEAST_STRETCH, affordable))

    async def _identical(
        self, position: Position, window: Window, log: LogOffsets, copy: LogOffsets, spent: Spent
    ) -> Translation | None:
        """Return the same offset if the logs are equal around it, and in samples."""
        assert log.start is not None and copy.start is not None and copy.end is not None
        first = (window.before or window.after)[0].offset
        if first < copy.start or max(first, position.offset) > copy.end:
            return None
        chunk = await self._target.read(position.target, first)
        spent.add(chunk.size)
        there = [each for each in window.after if each.offset < chunk.until]
        compared = window._replace(before=tuple(each for each in window.before if each.offset < chunk.until))
        if len(compared.before) < len(window.before):
            return None  # a large window: not worth a second request, the next method finds it
        compared = compared._replace(after=tuple(there))
        number = same_offsets(compared, Scan(chunk.records, first <= copy.start, chunk.until >= chunk.stable))
        if number is None:
            return None
        samples = 0
        for at in _samples(max(log.start, copy.start), first):
            ours, theirs = await self._source.read(position.source, at), await self._target.read(position.target, at)
            spent.add(ours.size + theirs.size)
            until = min(ours.until, theirs.until)
            if _contents(ours.records, until) != _contents(theirs.records, until):
                return None
            samples += 1
        text = f"{number:,} records around the offset and {samples} samples are equal, at equal offsets"
        epoch = next((each.epoch for each in reversed(chunk.records) if each.offset < position.offset), None)
        return Translation(position.offset, Method.IDENTICAL, text, 0, None, epoch)

    async def _by_record(
        self, position: Position, window: Window, copy: LogOffsets, spent: Spent, failed: list[Unplaced]
    ) -> Translation | None:
        """Return the offset between the copies of read and unread records."""
        assert copy.start is not None and copy.end is not None
        if copy.start == copy.end:
            return None
        start, firsts = copy.end, dict[int, int | None]()
        for ms in _times(window):
            at = firsts[ms] = await self._target.offset_at(position.target, ms) if ms >= 0 else copy.start
            earlier = max(copy.start, (copy.end if at is None else at) - LEAD)
            if earlier >= start:
                continue
            start = earlier
            found = await self._scan(position, window, copy, start, spent)
            if isinstance(found, Place):
                return self._of_place(window, found)
            failed.append(found)
            if spent.over or found.final:
                return None
        if window.before and firsts[window.before[-1].content[0]] is None:  # the whole copy is older
            text = f"the copy has no record of the time of offset {window.before[-1].offset:,} or later"
            failed.append(Unplaced(Impossible.NOT_COPIED_YET, text))
        return None

    async def _earlier_equal(self, position: Position, window: Window, spent: Spent) -> Unplaced | None:
        """Return why an equal record of the copy may be that of an earlier record of the source.

        Equal records after the window are not looked for.
        """
        sought = {each.content for each in window.next_to_offset}
        ms = min(time for time, _ in sought)
        at = await self._source.offset_at(position.source, ms) if ms >= 0 else None
        first = (window.before or window.after)[0].offset
        while at is not None and at < first:
            if spent.over:
                return Unplaced(Impossible.LIMIT, f"whether an earlier record is equal is unknown: {spent.over}")
            chunk = await self._source.read(position.source, at)
            spent.add(chunk.size)
            for each in chunk.records:
                if each.offset < first and each.content in sought:
                    text = f"the record at {each.offset:,} is equal to one next to the offset, also in its time"
                    return Unplaced(Impossible.AMBIGUOUS, text)
            if chunk.until == at:
                break
            at = chunk.until
        return None

    async def _scan(
        self,
        position: Position,
        window: Window,
        copy: LogOffsets,
        start: int,
        spent: Spent,
    ) -> Place | Unplaced:
        assert copy.start is not None
        records: list[Copy] = []
        at, more, append_time = start, 1, False
        sought = {each.content for each in (*window.before, *window.after)}
        while True:
            chunk = await self._target.read(position.target, at)
            spent.add(chunk.size)
            # An aborted copy was written again after it.
            records += (each for each in chunk.records if not each.aborted)
            append_time = append_time or chunk.append_time
            at = chunk.until
            to_end = at >= chunk.stable
            # Other records change nothing until the end.
            if not (to_end or spent.over or any(each.content in sought for each in chunk.records)):
                continue
            scan = Scan(records, start <= copy.start, to_end)
            found = place(window, scan, compacted=position.target[0] in self._compacted)
            if isinstance(found, Place):
                if to_end or not more:
                    return found
                more -= 1  # read on for records that were written again
                continue
            if to_end or spent.over:
                break
        if append_time and found.why is Impossible.NOT_FOUND:
            text = f"{partition_name(position.target)} has the times at which its broker appended, not those of records"
            return Unplaced(Impossible.NOT_FOUND, text, final=True)
        if spent.over and not to_end:
            return Unplaced(Impossible.LIMIT, f"{found.text}; {spent.over}")
        return found

    async def _by_header(
        self,
        position: Position,
        window: Window,
        log: LogOffsets,
        copy: LogOffsets,
        spent: Spent,
        failed: list[Unplaced],
    ) -> Translation | None:
        """Return the offset by the source's offsets in headers of the copy."""
        assert log.end is not None and copy.start is not None and copy.end is not None
        ms = next(_times(window))
        first = await self._target.offset_at(position.target, ms) if ms >= 0 else copy.start
        start = at = max(copy.start, (copy.end if first is None else first) - LEAD)
        orders, with_header = Orders(), list[tuple[Copy, int | bytes]]()
        while at < copy.end:
            chunk = await self._target.read(position.target, at)
            spent.add(chunk.size)
            # An aborted copy was written again after it.
            kept = [each for each in chunk.records if not each.aborted and each.offset in chunk.origins]
            with_header += ((each, chunk.origins[each.offset]) for each in kept)
            known = (chunk.origins[each.offset] for each in kept if each.offset < copy.end)
            orders = orders.within(known, log.end)
            last = (orders.decode(chunk.origins[each.offset]) for each in kept)
            if chunk.until == at or any(origin >= position.offset for origin in last):
                break
            at = chunk.until
            if at < copy.end and spent.over:
                failed.append(Unplaced(Impossible.LIMIT, f"no unread record with the header was found; {spent.over}"))
                return None
        if orders.doubtful(origin for _, origin in with_header):
            failed.append(Unplaced(Impossible.AMBIGUOUS, "the byte order of the offsets in headers is unknown"))
            return None
        copies = [(each, orders.decode(origin)) for each, origin in with_header]
        compacted = position.target[0] in self._compacted
        found = place_by_header(window, copies, from_start=start == copy.start, compacted=compacted)
        if isinstance(found, Translation):
            return found
        failed.append(found)
        return None

    def _nothing_left(self, copy: LogOffsets) -> Translation:
        if copy.start != copy.end:
            text = "the source has no record left to compare, and the copy has some"
            return Translation.impossible(Impossible.NOT_FOUND, text)
        if Method.END not in self._methods:
            return Translation.impossible(Impossible.NOT_ALLOWED, "both logs are empty, and end is not accepted")
        return Translation(copy.end, Method.END, "both logs are empty")

    def _of_place(self, window: Window, found: Place) -> Translation | None:
        at_end = found.next is None and not window.unread and Method.END in self._methods
        method = Method.END if at_end else Method.RECORD
        if method not in self._methods:
            return None
        if at_end:
            text = f"the group has read everything; the last {found.matched:,} records were found"
        elif found.next is None:
            text = f"{found.matched:,} records before the offset were found, and none of those after it"
        else:
            text = f"{found.matched:,} records around the offset were found; the next one is at {found.next.offset:,}"
        if found.missing:
            text += f"; the copy, which is compacted, lacks {found.missing:,} before it"
        if found.twice:
            text += f"; {found.twice:,} read ones were copied again after it"
        elif found.surplus:
            text += f"; {found.surplus:,} were copied again after it, perhaps with read ones that the source lost"
        twice = found.twice or found.surplus
        text += _skips(found)
        return Translation(found.offset, method, text, found.at_most, None, found.epoch, twice, found.others)

    async def _by_time(self, position: Position, window: Window) -> Translation | None:
        if not window.after or min(each.content[0] for each in window.after) < 0:
            return None
        ms = min(each.content[0] for each in window.after)
        at = await self._target.offset_at(position.target, ms)
        if at is None:
            return None
        text = f"the first record of the time of the records from offset {window.after[0].offset:,} on, or later"
        return Translation(at, Method.TIME, text, None)


_TELLING = (
    Impossible.NOT_FOUND,
    Impossible.AMBIGUOUS,
    Impossible.LIMIT,
    Impossible.NOT_COPIED,
    Impossible.NOT_COPIED_YET,
    Impossible.TRUNCATED,
)
"""Reasons of several attempts: the last one says most."""


def _skips(found: Place) -> str:
    return f"; before it are {count(found.others, 'record')} that others wrote" if found.others else ""


def _times(window: Window) -> Iterator[int]:
    """Yield times, in milliseconds since 1970: the copy is read from the first record of each, or of a later time.

    No copy of a record is before the first record of its time, or a later one.
    """
    if window.after:
        yield min(each.content[0] for each in window.after)
    if window.before:
        yield window.before[-1].content[0]
        yield min(each.content[0] for each in window.before[-LEAD:])


def _outside(position: Position, log: LogOffsets, copy: LogOffsets) -> Translation | None:
    if log.start is None or log.end is None:
        text = f"{SOURCE}: {partition_name(position.source)}: its log is unknown"
        return Translation.impossible(Impossible.UNREADABLE, text)
    if copy.start is None or copy.end is None:
        text = f"{TARGET}: {partition_name(position.target)}: its log is unknown"
        return Translation.impossible(Impossible.UNREADABLE, text)
    if position.offset > log.end:
        text = f"the log of {partition_name(position.source)} ends at {log.end:,}"
        return Translation.impossible(Impossible.BEYOND_END, text)
    if position.offset < log.start:
        text = f"the log of {partition_name(position.source)} begins at {log.start:,}: the next record is gone"
        return Translation.impossible(Impossible.DELETED, text)
    return None


def _samples(start: int, end: int) -> Iterator[int]:
    """Yield offsets that are evenly spaced."""
    span = end - start
    if span <= 0:
        return
    yield from dict.fromkeys(start + span * each // SAMPLES for each in range(SAMPLES))


def _contents(records: Iterable[Copy], until: int) -> Mapping[int, Content]:
    return {each.offset: each.content for each in records if each.offset < until and not each.aborted}
