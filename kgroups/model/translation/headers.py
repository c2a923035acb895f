"""Find an offset in a copy whose records have the source's offset in a header."""

from __future__ import annotations

from collections.abc import Mapping

from .copies import Unplaced, Window
from .method import Impossible, Method, Translation


def place_by_header(
    window: Window, origins: Mapping[int, int], *, from_start: bool, compacted: bool
) -> Translation | Unplaced:
    """Return the offset behind the copy of a read record that the copy of an unread one follows.

    :param origins: the source's offset of each record of a stretch of the copy that has the header, by its own offset.
    :param from_start: whether the stretch begins with the copy's log. ``compacted``: whether
        records of the copy may have been removed by compaction.
    """
    last: tuple[int, int] | None = None
    following: tuple[int, int] | None = None
    for offset, origin in sorted(origins.items()):
        if origin < window.offset:
            last = offset, origin
        elif last is not None or from_start:
            following = offset, origin
            break
    if last is None and following is None:
        return Unplaced(Impossible.NOT_FOUND, "no record with the header was found")
    expected = window.unread[0].offset if window.unread else None
    if following is None:
        assert last is not None
        read = window.read[-1].offset if window.read else window.offset - 1
        if last[1] < read:
            return Unplaced(Impossible.NOT_COPIED_YET, f"the copy ends with the record of offset {last[1]:,}")
        return Translation(last[0] + 1, Method.HEADER, f"the record before has offset {last[1]:,} in its header")
    if expected is not None and following[1] > expected:
        if last is None:
            return Unplaced(Impossible.TRUNCATED, f"the copy begins with the record of offset {following[1]:,}")
        if not compacted:
            return Unplaced(Impossible.NOT_COPIED, f"after offset {last[1]:,}, the copy has {following[1]:,}")
    return Translation(following[0], Method.HEADER, f"the record has offset {following[1]:,} in its header")
