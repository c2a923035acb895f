"""Find an offset in a copy whose records have the source's offset in a header."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from .copies import Copy, Unplaced, Window
from .method import Impossible, Method, Translation

Order = Literal["big", "little"]


class Orders(NamedTuple):
    """The byte orders in which all offsets in headers are ones of the source's log."""

    left: tuple[Order, ...] = ("big", "little")

    def within(self, origins: Iterable[int | bytes], end: int) -> Orders:
        """Return the orders in which these are offsets before the end of the log, too."""
        values = [each for each in origins if isinstance(each, bytes)]
        return Orders(tuple(order for order in self.left if all(int.from_bytes(each, order) < end for each in values)))

    def decode(self, origin: int | bytes) -> int:
        """Return an offset; if it is none in any order, it proves nothing."""
        return origin if isinstance(origin, int) else int.from_bytes(origin, self.left[0] if self.left else "big")

    def doubtful(self, origins: Iterable[int | bytes]) -> bool:
        """Return whether both orders are possible, and are different offsets."""
        return len(self.left) > 1 and any(isinstance(each, bytes) and each != each[::-1] for each in origins)


def place_by_header(
    window: Window, copies: Sequence[tuple[Copy, int]], *, from_start: bool, compacted: bool
) -> Translation | Unplaced:
    """Return the offset of the first copy of an unread record.

    Key and value of it, or of the copy before it, must be those of the source: the header may be left from an earlier
    copy.

    :param copies: the records of a stretch of the copy that have the header, each with the source's offset in it; no
        copy of an unread record is before them.
    :param from_start: whether the stretch begins with the copy's log. ``compacted``: whether records of the copy may
        have been removed by compaction.
    """
    at = next((at for at, (_, origin) in enumerate(copies) if origin >= window.offset), len(copies))
    last, following = copies[:at][-1:], copies[at : at + 1]
    if not copies:
        return Unplaced(Impossible.NOT_FOUND, "no record with the header was found")
    if not _confirmed(window, *last, *following):
        return Unplaced(Impossible.AMBIGUOUS, "the records with the header are not those of the source", final=True)
    if not following:
        return _after_last(window, *last[0])
    ((copy, origin),) = following
    if window.unread and origin > window.unread[0].offset and not compacted:
        if not last and from_start:
            return Unplaced(Impossible.TRUNCATED, f"the copy begins with the record of offset {origin:,}")
        return Unplaced(Impossible.NOT_COPIED, f"the first unread record of the copy has offset {origin:,}")
    text = f"the record has offset {origin:,} in its header"
    twice = sum(origin < window.offset for _, origin in copies[at:])
    if twice:
        text += f"; {twice:,} read ones were copied again after it"
    return Translation(copy.offset, Method.HEADER, text, twice=twice)


def _after_last(window: Window, copy: Copy, origin: int) -> Translation | Unplaced:
    """Return the offset after the last read record, which no unread one follows."""
    read = window.read[-1].offset if window.read else window.offset - 1
    if origin < read:
        return Unplaced(Impossible.NOT_COPIED_YET, f"the copy ends with the record of offset {origin:,}")
    return Translation(copy.offset + 1, Method.HEADER, f"the record before has offset {origin:,} in its header")


def _confirmed(window: Window, *found: tuple[Copy, int]) -> bool:
    """Return whether the source has one of these records, and no other one at the offset of any."""
    source = {each.offset: each for each in (*window.before, *window.after)}
    known = [(copy, source[origin]) for copy, origin in found if origin in source]
    return bool(known) and all(copy.has_body_of(record) for copy, record in known)
