"""Numbers of partitions, held to a limit; and how a sentence tells them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ..duration import Milliseconds
from ..groups import GroupId
from ..lag_summary import reads_on_at, tally_of
from ..rows import OffsetRow
from .findings import Finding, Place
from .severity import Severity, Threshold

_NAMED = 3
"""Partitions that a sentence names."""


def committed(rows: Iterable[OffsetRow]) -> dict[Place, OffsetRow]:
    """The partitions that have a commit, or of a share group a start, each once."""
    return {
        (row.topic, row.partition): row
        for row in rows
        if row.topic is not None and row.partition is not None and reads_on_at(row) is not None
    }


def total(group: GroupId, check: str, rows: Sequence[OffsetRow], limit: Threshold) -> Finding:
    tally = tally_of(rows)
    holes = tally.unknown + tally.uncommitted
    if tally.total_lag is None:
        severity, said = (Severity.UNKNOWN, "lag not known") if tally.unknown else (Severity.OK, "nothing is committed")
        return Finding(group, check, severity, said, limit=limit)
    said = f"lag {tally.total_lag:,}{over(limit, tally.total_lag, '')}"
    if holes:
        said += f"; of {so_many(holes, 'partition')} it is not known"
    severity = _unless_unknown(limit.judge(tally.total_lag), tally.unknown)
    return Finding(group, check, severity, said, tally.total_lag, "", limit)


def largest(group: GroupId, check: str, values: Mapping[Place, int | None], limit: Threshold, unit: str) -> Finding:
    """The worst of some partitions. One that is not known may be worse, so that the limit cannot be said to be kept."""
    known = {place: value for place, value in values.items() if value is not None}
    unknown = len(values) - len(known)
    word = check.replace("-", " ")
    if not known:
        severity = Severity.UNKNOWN if unknown else Severity.OK
        said = f"{word} not known" if unknown else "nothing is committed"
        return Finding(group, check, severity, said, unit=unit, limit=limit)
    topic, partition = place = max(known, key=lambda each: known[each])
    value = known[place]
    said = f"{topic}-{partition}: {word} {number(value, unit)}{over(limit, value, unit)}"
    if unknown:
        said += f"; of {so_many(unknown, 'partition')} it is not known"
    return Finding(group, check, _unless_unknown(limit.judge(value), unknown), said, value, unit, limit)


def _unless_unknown(severity: Severity, unknown: int) -> Severity:
    return Severity.UNKNOWN if unknown and severity is not Severity.CRITICAL else severity


def over(limit: Threshold, value: float, unit: str) -> str:
    broken = limit.limit_broken(value)
    return "" if broken is None else f" is above {number(broken, unit)}"


def number(value: float, unit: str) -> str:
    return str(Milliseconds(value)) if unit == "ms" else f"{value:,g}" if value % 1 else f"{int(value):,}"


def so_many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def some(names: Sequence[str]) -> str:
    rest = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f", … and {rest:,} more" if rest > 0 else "")
