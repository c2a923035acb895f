"""How complete history is, over all partitions of the log."""

from __future__ import annotations

from ...engine import Engine
from ..data import Bounds, Completeness, Kept, LogPart
from .rows import Row, fetch

_ALL = 0.999
"""Minimum records per offset read without compaction."""


def completeness(engine: Engine, bounds: Bounds) -> Completeness:
    rows = fetch(engine, "select * from completeness")  # one for each partition of one topic
    parts = [_part(row) for row in rows]
    parts.sort(key=_worst_first)
    known = [part.known_since for part in parts if part.known_since and not part.from_birth]
    last = [part.last_time for part in parts if part.last_time]
    return Completeness(
        parts=Kept(tuple(parts[: bounds.rows]), len(parts)),
        records=sum(part.records for part in parts),
        known_since=max(known, default=None),
        unknown=sum(part.known_since is None for part in parts),
        missing=sum(part.missing for part in parts),
        hung=sum(part.hung for part in parts),
        last_time=max(last, default=None),
        unread_since=min((row["unread_since"] for row in rows if row["unread_since"]), default=None),
    )


def _part(row: Row) -> LogPart:
    density, known_since, missing = row["density"], row["known_since"], row["missing"] or 0
    # Read since offset 0: nothing before the first record is unknown, however late it is.
    from_birth = row["from_offset"] == 0 and not missing and known_since is not None and (density or 0) >= _ALL
    return LogPart(
        log_partition=row["log_partition"],
        records=row["records"] or 0,
        density=density,
        missing=missing,
        known_since=known_since,
        last_time=row["last_time"],
        hung=row["hung"] or 0,
        from_birth=from_birth,
    )


def _worst_first(part: LogPart) -> tuple[bool, bool, float, int]:
    since = part.known_since.timestamp() if part.known_since else 0.0
    return part.known_since is not None, part.from_birth, -since, part.log_partition
