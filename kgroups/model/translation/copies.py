"""Find the records around an offset in the copy of a log.

A copier writes records for the first time in the order of the source. It may leave out aborted records, begin in the
middle, and write records again at any time. Compaction removes records from either log, and others may write to the
copy as well. All this keeps one fact: no unread record is before the first copy of an unread record. Therefore the
group continues there, after the copies of read records; at a later place only if nothing in between is lost, because
all of it was written again.

Records are equal if time, key, value, and headers are. Two records of the source can be equal; an equal record on both
sides of the offset proves nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from .method import Impossible

Content = tuple[int, bytes]
"""The time in milliseconds since 1970, and the bytes of key, value, and headers."""


class Copy(NamedTuple):
    """A record, as far as it is compared.

    ``aborted``: whether its transaction was aborted. ``epoch``: the leader epoch of its batch. ``body``: how many of
    the bytes of the content are key and value.
    """

    offset: int
    content: Content
    aborted: bool = False
    epoch: int | None = None
    body: int = 0

    def has_body_of(self, other: Copy) -> bool:
        """Return whether key and value are equal."""
        return self.content[1][: self.body] == other.content[1][: other.body]


class Window(NamedTuple):
    """The records of the source before ``offset`` and from it on, sorted.

    ``from_start`` and ``to_end``: whether they begin with the log's first record, and end with its last one.
    """

    offset: int
    before: tuple[Copy, ...]
    after: tuple[Copy, ...]
    from_start: bool
    to_end: bool

    @property
    def unread(self) -> list[Copy]:
        """The records from the offset on that any consumer reads."""
        return [each for each in self.after if not each.aborted]

    @property
    def next_to_offset(self) -> list[Copy]:
        """The last record before the offset, and the first one from it on."""
        return [*self.before[-1:], *self.after[:1]]

    @property
    def repeats(self) -> bool:
        """Whether a record next to the offset is equal to another one."""
        counts = Counter(each.content for each in (*self.before, *self.after))
        return any(counts[each.content] > 1 for each in self.next_to_offset)

    @property
    def read(self) -> list[Copy]:
        return [each for each in self.before if not each.aborted]


class Scan(NamedTuple):
    """Records of the copy without a gap in between, sorted; ``from_start`` and ``to_end`` as in :class:`Window`."""

    records: Sequence[Copy]
    from_start: bool
    to_end: bool


class Place(NamedTuple):
    """The offset of the copy between read and unread records.

    ``at_most``: how many records before the first unread one may be read again. ``next``: the first unread record in
    the copy, if it has one. ``matched``: how many records of the source were found. ``missing``: how many unread ones
    before ``next`` the copy does not have. ``twice``: how many read records were found again after ``offset``;
    ``surplus``: how many unread ones were, so that read ones that the source no longer has may be there again, too.
    """

    offset: int
    at_most: int
    next: Copy | None
    matched: int
    missing: int = 0
    epoch: int | None = None
    twice: int = 0
    surplus: int = 0
    others: int = 0
    """How many records before the offset were seen that are not copies: the group skips them."""


class Unplaced(NamedTuple):
    """Why the offset was not found. ``final``: whether reading more of the copy cannot change it."""

    why: Impossible
    text: str
    final: bool = False


def same_offsets(window: Window, scan: Scan) -> int | None:
    """Return how many records of the window the copy has at the same offsets; ``None`` if any differs.

    Records of the copy after the end of the source do not count: others may write there.
    """
    source = [*window.before, *window.after]
    if not source:
        return None
    first, last = source[0].offset, source[-1].offset
    there = [each for each in scan.records if first <= each.offset <= last]
    read = {each.content for each in window.before}
    written_again = any(each.content in read for each in scan.records if not first <= each.offset <= last)
    if len(there) != len(source) or written_again:
        return None
    # An aborted copy of a record that is not aborted was written again, at another offset.
    equal = all(a._replace(epoch=None) == b._replace(epoch=None) for a, b in zip(source, there, strict=True))
    return len(source) if equal else None


_READ, _UNREAD, _EITHER, _OTHER = "read", "unread", "either", "other"


TRIED = 4
"""How many of the last places at which a copier may have begun again are looked at."""


class _Labels:
    """The records of a scan, each as a copy of a read record, of an unread one, of either, or of another one."""

    def __init__(self, window: Window, scan: Scan) -> None:
        self.records = scan.records
        self._before = {each.content: at for at, each in enumerate(window.before)}
        self._after = {each.content: at for at, each in reversed(list(enumerate(window.after)))}
        self._next = window.unread[0].content if window.unread else None
        self._newest = max((each.content[0] for each in window.after), default=-1)
        self._equal = Counter(each.content for each in window.unread)
        self.labels = [self._label(each) for each in scan.records]

    def _label(self, record: Copy) -> str:
        read, unread = record.content in self._before, record.content in self._after
        return _EITHER if read and unread else _READ if read else _UNREAD if unread else _OTHER

    def place_before(self, at: int) -> int:
        """Return the index in the source's read records of the record at ``at``."""
        return self._before[self.records[at].content]

    def place_after(self, at: int) -> int:
        return self._after[self.records[at].content]

    def of(self, label: str) -> list[int]:
        return [at for at, each in enumerate(self.labels) if each == label]

    def matched(self) -> int:
        return sum(label != _OTHER for label in self.labels)

    def boundary(self) -> tuple[int, int] | None:
        """Return a copy of a read record, and the copy of an unread one after it; ``None`` if the latter comes first.

        They are the first ones, or later ones if everything in between was written again after these.
        """
        unread = next((at for at, label in enumerate(self.labels) if label == _UNREAD), None)
        if unread is None:
            return None
        maybe = self.labels.index(_EITHER) if _EITHER in self.labels[:unread] else unread
        read = next((at for at in reversed(range(maybe)) if self.labels[at] == _READ), None)
        if read is None:
            return None
        if _EITHER in self.labels:
            return read, unread
        later = (each for each in self._later(unread) if self._is_repeated(unread, each[0] + 1))
        return next(later, (read, unread))

    def _later(self, first: int) -> list[tuple[int, int]]:
        """Return where an unread record follows the last read ones again, the last places first."""
        found: list[tuple[int, int]] = []
        read = None
        for at in range(first + 1, len(self.labels)):
            if self.labels[at] == _READ:
                read = at
            elif self.labels[at] == _UNREAD and read is not None:
                found.append((read, at))
                read = None
        return [each for each in reversed(found[-TRIED:]) if self.follows(each[0])]

    def _is_repeated(self, first: int, end: int) -> bool:
        """Return whether each record from ``first`` to ``end``, if it is not a read one, is also after these.

        Not if some are equal: the later ones may be other records of the source.
        """
        kept = Counter(self.records[at].content for at in range(first, end) if self.labels[at] != _READ)
        if any(number > 1 for number in (*kept.values(), *self._equal.values())):
            return False
        return kept.keys() <= {each.content for each in self.records[end:]}

    def surplus(self, first: int) -> int:
        """Return how many records from ``first`` on equal an unread one, beyond the number of those in the source."""
        found = Counter(self.records[at].content for at in self.of(_UNREAD) if at >= first)
        return sum(max(0, number - self._equal[content]) for content, number in found.items())

    def equal_surplus(self, first: int) -> int:
        """Return how many records after ``first`` equal a read one, beyond the number of unread ones that do."""
        found = Counter(self.records[at].content for at in self.of(_EITHER) if at > first)
        return sum(max(0, number - self._equal[content]) for content, number in found.items())

    def has_later_before(self, at: int) -> bool:
        """Return whether an unknown record before ``at`` has a later time than all unread ones that are known.

        Then the first copies of these may be gone, and those that were found may have been written again.
        """
        known = zip(self.records[:at], self.labels[:at], strict=True)
        return any(each.content[0] > self._newest for each, label in known if label == _OTHER)

    def delay(self, at: int) -> int:
        """Return how many records from ``at`` on are before the first copy of the next record of the source.

        Where later ones come first, equal records may be earlier ones.
        """
        found = (each for each in range(at, len(self.records)) if self.records[each].content == self._next)
        return 0 if self._next is None else next(found, at) - at

    def follows(self, at: int) -> bool:
        """Return whether the record before the copy of a read one is the copy of the one before that."""
        index = self.place_before(at)
        return at > 0 and index > 0 and self._before.get(self.records[at - 1].content) == index - 1

    def is_followed(self, at: int) -> bool:
        """Return whether the record after the copy of an unread one is the copy of one that comes later."""
        return at + 1 < len(self.records) and self._after.get(self.records[at + 1].content, -1) > self.place_after(at)

    def others_before(self, end: int, window: Window) -> int:
        """Return how many unknown records are between copies of two records that follow each other in the source.

        Where the source has no record between them, and lost none, these are not copies. Others may be.
        """
        found, between, last = 0, 0, None
        for at in range(end + 1):
            if self.labels[at] == _OTHER:
                between += 1
                continue
            index = self.place_before(at) if self.labels[at] == _READ else None
            if index and last == index - 1 and window.before[index].offset == window.before[last].offset + 1:
                found += between
            last, between = index, 0
        return found

    def contents(self) -> set[Content]:
        return {each.content for each in self.records}


def place(window: Window, scan: Scan, *, compacted: bool) -> Place | Unplaced:
    """Return the offset of the copy at which a group continues that has read ``window.before``.

    :param scan: no copy of a record of ``window.after`` is before it.
    :param compacted: whether records of the copy may have been removed by compaction.
    """
    labels = _Labels(window, scan)
    read, unread = labels.of(_READ), labels.of(_UNREAD)
    if unread and not window.to_end and labels.has_later_before(unread[0]):
        return Unplaced(Impossible.AMBIGUOUS, "the copy has later records before the first copy of an unread one")
    if boundary := labels.boundary():
        return _between(window, scan, labels, *boundary, compacted)
    if unread:
        return _before_first(window, scan, labels, unread[0])
    if read:
        return _after_last(window, scan, labels, read, compacted)
    if labels.of(_EITHER):
        return Unplaced(Impossible.AMBIGUOUS, "records before and after the offset are equal, with equal times")
    return Unplaced(Impossible.NOT_FOUND, f"none of {len(scan.records)} records is a copy of one near the offset")


def _between(window: Window, scan: Scan, labels: _Labels, read: int, unread: int, compacted: bool) -> Place | Unplaced:
    missing = _missing(window, labels, labels.place_after(unread))
    if missing and not compacted:
        return Unplaced(Impossible.NOT_COPIED, _lacks(missing))
    gone = _gone(window, labels.place_before(read))
    surplus = labels.surplus(unread) if gone else 0
    at_most = unread - read - 1 + min(gone, surplus) + labels.equal_surplus(unread)
    at_most += labels.delay(unread)
    found = _place(scan, read, at_most, unread, labels, len(missing))
    return found._replace(surplus=surplus, others=labels.others_before(read, window))


def _after_last(window: Window, scan: Scan, labels: _Labels, read: list[int], compacted: bool) -> Place | Unplaced:
    """Return the place after the last read record: the copy ends there, or goes on with others' records."""
    if not scan.to_end:
        return Unplaced(Impossible.LIMIT, "the copy was not read up to an unread record")
    last = window.before[-1].content
    at = read[-1]
    if sum(each.content == last for each in window.before) == 1:
        at = next((each for each in read if scan.records[each].content == last), at)
    elif _OTHER in labels.labels[read[0] : at]:
        return Unplaced(Impossible.AMBIGUOUS, "the last record before the offset equals an earlier one")
    if _EITHER in labels.labels[:at]:  # those may be unread
        before = [each for each in read if each < labels.labels.index(_EITHER)]
        if not before:
            return Unplaced(Impossible.AMBIGUOUS, "records before and after the offset are equal, with equal times")
        at = before[-1]
    if window.unread and not window.to_end and (not labels.follows(at) or labels.has_later_before(at)):
        return Unplaced(Impossible.AMBIGUOUS, "only one record before the offset was found")
    maybe = labels.of(_EITHER)
    equal = sum(each > at for each in maybe)
    # Before the last record that may be the first unread one, others may be copies of read ones that are further away.
    between = labels.labels[at + 1 : maybe[-1]].count(_OTHER) if equal else 0
    there = labels.contents()
    later = window.before[labels.place_before(at) + 1 :]
    absent = [each for each in later if not each.aborted and each.content not in there]
    if absent and not compacted:
        return Unplaced(
            Impossible.NOT_COPIED_YET,
            f"the copy ends with offset {scan.records[at].offset:,}, {len(absent):,} records before the group's offset",
        )
    gone = _gone(window, labels.place_before(at))
    others = sum(label == _OTHER for label in labels.labels[at + 1 :])
    found = _place(scan, at, equal + len(absent) + max(between, min(gone, others)), None, labels, 0)
    return found._replace(others=labels.others_before(at, window))


def _before_first(window: Window, scan: Scan, labels: _Labels, at: int) -> Place | Unplaced:
    """Return the place of the first unread record: the copy has no read one next to it."""
    if _EITHER in labels.labels[:at]:
        return Unplaced(Impossible.AMBIGUOUS, "records before and after the offset are equal, with equal times")
    missing = _missing(window, labels, labels.place_after(at))
    if missing:
        if scan.from_start and at == 0:
            text = f"the copy begins with offset {scan.records[0].offset:,}; {_lacks(missing)}"
            return Unplaced(Impossible.TRUNCATED, text)
        return Unplaced(Impossible.NOT_COPIED, _lacks(missing))
    if at and window.read:
        return Unplaced(Impossible.AMBIGUOUS, "no record before the offset was found")
    whole = window.from_start and window.to_end
    if not whole and not labels.is_followed(at):
        return Unplaced(Impossible.AMBIGUOUS, "only one record from the offset on was found")
    record = scan.records[at]
    gone = window.offset - 1 - window.before[-1].offset if window.before else window.offset
    surplus = labels.surplus(at) if gone else 0
    at_most = min(gone, surplus) + labels.delay(at)
    return Place(record.offset, at_most, record, labels.matched(), twice=len(labels.of(_READ)), surplus=surplus)


def _place(scan: Scan, read: int, at_most: int, unread: int | None, labels: _Labels, missing: int) -> Place:
    last = scan.records[read]
    following = scan.records[unread] if unread is not None else None
    offset = last.offset + 1 if at_most or following is None else following.offset
    twice = sum(label == _READ for label in labels.labels[read + 1 :])
    return Place(offset, at_most, following, labels.matched(), missing, last.epoch, twice)


def _gone(window: Window, read: int) -> int:
    """Return how many offsets between a read record and the group's offset have no record in the source any more.

    The copy may still have their records, or they were markers.
    """
    return window.offset - 1 - window.before[read].offset - len(window.before[read + 1 :])


def _missing(window: Window, labels: _Labels, first: int) -> list[Copy]:
    """Return the unread records before the first one found that the scan does not have."""
    there = labels.contents()
    return [each for each in window.after[:first] if not each.aborted and each.content not in there]


def _lacks(missing: Sequence[Copy]) -> str:
    first, last = missing[0].offset, missing[-1].offset
    if first == last:
        return f"the copy lacks the record at offset {first:,}"
    return f"the copy lacks {len(missing):,} records from offset {first:,} to {last:,}"
