"""Amounts by partition, checked against limits, and the messages about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from .. import counts
from ..duration import Milliseconds
from ..groups import Group, GroupId
from ..lag import AHEAD
from ..offsets import place_name
from ..severity import Minimum, Severity, Threshold
from ..views.lag_summary import is_ahead, lag_is_unknown, reads_on_at, tally_of
from ..views.offset_row import OffsetRow
from .findings import Finding, Place

NO_COMMIT = "no committed offset"
NO_LOG = "no log end offset"


def committed(rows: Iterable[OffsetRow]) -> dict[Place, OffsetRow]:
    """Return the partitions that have a commit, or a start offset of a share group, each once."""
    return {
        (row.topic, row.partition): row
        for row in rows
        if row.topic is not None and row.partition is not None and reads_on_at(row) is not None
    }


class UnknownLag(NamedTuple):
    """The partitions of a group whose lag is unknown, and why, among all its partitions.

    ``undecoded`` is the number of members whose assignment is not decoded. ``allow_uncommitted``: see
    :func:`kgroups.model.views.lag_summary.lag_is_unknown`.
    """

    places: Mapping[Place, str]
    partitions: int
    undecoded: int
    allow_uncommitted: bool

    def among(self, rows: Iterable[OffsetRow]) -> UnknownLag:
        """Keep only the partitions of these rows."""
        kept = {(row.topic, row.partition) for row in rows if row.topic is not None}
        places = {place: why for place, why in self.places.items() if place in kept}
        return self._replace(places=places, partitions=len(kept))

    def text(self, count: int, reasons: Iterable[str], *, short: bool = False) -> str:
        """Return ``unknown on 5 partitions: no committed offset``; for 0 partitions, only the undecoded assignments.

        :param short: omit the word *partitions*.
        """
        if not count and not self.undecoded:  # as for nearly all groups
            return ""
        counted = Counter(reasons)
        amount = f"{count:,}" if short else counts.count(count, "partition")
        named = [why if len(counted) == 1 else f"{why} ({times:,})" for why, times in counted.items()]
        parts = [f"unknown on {amount}" + (f": {', '.join(named)}" if named else "")] if count else []
        if self.undecoded:
            parts.append(f"the assignment of {counts.count(self.undecoded, 'member')} cannot be decoded")
        return "; ".join(parts)


def unknown_lag_of(
    group: Group,
    rows: Sequence[OffsetRow],
    held_back: Mapping[Place, str] = MappingProxyType({}),
    *,
    allow_uncommitted: bool = False,
) -> UnknownLag:
    """Return the partitions of a group whose lag is unknown.

    :param held_back: partitions of which more may be unread than their lag, and why.
    :param allow_uncommitted: the lag of partitions without a committed offset does not count as unknown.
    """
    by_place = {(row.topic, row.partition): row for row in rows if row.topic is not None and row.partition is not None}
    places = {
        place: row.note or NO_LOG if reads_on_at(row) is not None or _is_hole(row) else NO_COMMIT
        for place, row in by_place.items()
        if row.lag is None and lag_is_unknown(row, allow_uncommitted=allow_uncommitted)
    }
    return UnknownLag({**places, **held_back}, len(by_place), undecoded(group), allow_uncommitted)


def _is_hole(row: OffsetRow) -> bool:
    """Return whether the log of a partition is unknown, too, which its note explains."""
    return row.note is not None and row.log_start_offset is None and row.log_end_offset is None


def undecoded(group: Group) -> int:
    """Count the members whose assignment cannot be decoded."""
    return sum(member.assignment.raw is not None for member in group.members or ())


def total(
    group: GroupId, check: str, rows: Sequence[OffsetRow], limit: Threshold, unknown_lag: UnknownLag, damage: str = ""
) -> Finding:
    """Judge the total lag. If the known lag exceeds a limit, the finding is CRITICAL despite unknown partitions.

    :param unknown_lag: of these rows.
    :param damage: what :func:`damage_text` returns about these rows, which is CRITICAL.
    """
    tally = tally_of(rows, allow_uncommitted=unknown_lag.allow_uncommitted)
    unknown = len(unknown_lag.places)
    gap = unknown_lag.text(unknown, unknown_lag.places.values(), short=tally.known_lag is not None)
    if tally.known_lag is None:
        severity, message = without_any("lag", gap, unknown_lag)
        finding = Finding(group, check, severity, message, limit=limit)
        return critical(finding, f"{message}, {damage}") if damage else finding
    known = tally.partitions - tally.uncommitted - tally.unknown
    where = f" on {counts.count(known, 'partition')}" if gap or tally.uncommitted else ""
    message = f"lag {tally.known_lag:,}{where}{over(limit, tally.known_lag, '')}"
    if gap:
        message += f", {gap}"
    elif tally.uncommitted:
        message += f", no committed offset on {tally.uncommitted:,}"
    severity = _unless_unknown(limit.judge(tally.known_lag), bool(gap))
    finding = Finding(group, check, severity, message, None if gap else tally.known_lag, "", limit)
    return critical(finding, f"{message}, {damage}") if damage else finding


def critical(finding: Finding, message: str) -> Finding:
    """Return a finding that is CRITICAL for a reason that its number does not show: a lag of 0 is omitted, and an age.

    They would say that nothing is wrong.
    """
    is_known = finding.severity is not Severity.OK or (finding.value and not finding.unit)
    return finding._replace(severity=Severity.CRITICAL, message=message, value=finding.value if is_known else None)


def ahead_text(rows: Iterable[OffsetRow]) -> str:
    """Return how many partitions have a commit beyond the end of the log; ``""`` if none has."""
    names = [place_name(*place) for place, row in committed(rows).items() if is_ahead(row)]
    return f"{AHEAD} on {counts.count(len(names), 'partition')}: {counts.some(names)}" if names else ""


def lost_text(rows: Iterable[OffsetRow]) -> str:
    """Return how many records were deleted before they were read; ``""`` if none."""
    lost = {
        place_name(*place): row.log_start_offset - at
        for place, row in committed(rows).items()
        if (at := reads_on_at(row)) is not None and row.log_start_offset is not None and at < row.log_start_offset
    }
    if not lost:
        return ""
    where = counts.count(len(lost), "partition")
    return f"data lost: {sum(lost.values()):,} offsets of {where} deleted before they were read: {counts.some(lost)}"


def truncated_text(rows: Iterable[OffsetRow]) -> str:
    """Return how many records were replaced after they were read; ``""`` if none, or if it is unknown."""
    replaced = {
        place_name(*place): (row.current_offset or 0) - row.diverged_at
        for place, row in committed(rows).items()
        if row.diverged_at is not None
    }
    if not replaced:
        return ""
    where = counts.count(len(replaced), "partition")
    read = "replaced after the group read them"
    return f"log truncated: {sum(replaced.values()):,} offsets of {where} {read}: {counts.some(replaced)}"


def damage_text(rows: Iterable[OffsetRow]) -> str:
    """Return what makes a lag CRITICAL, whatever its limit: lost or replaced records, and commits ahead of the log."""
    rows = list(rows)
    return ", ".join(filter(None, (lost_text(rows), truncated_text(rows), ahead_text(rows))))


def unless_lost(finding: Finding, rows: Iterable[OffsetRow]) -> Finding:
    """Return the finding, or a CRITICAL one if records were deleted before they were read, or replaced after it."""
    rows = list(rows)
    lost = ", ".join(filter(None, (lost_text(rows), truncated_text(rows))))
    if not lost:
        return finding
    return critical(finding, f"{lost}; {finding.message}")


def without_any(word: str, gap: str, unknown_lag: UnknownLag) -> tuple[Severity, str]:
    if gap:
        colon = "" if gap.startswith("unknown") else " unknown:"
        return Severity.UNKNOWN, f"{word}{colon} {gap}"
    if unknown_lag.allow_uncommitted:
        return Severity.OK, "no committed offsets"
    empty = unknown_lag.partitions > 0
    return (Severity.OK, "the logs are empty") if empty else (Severity.UNKNOWN, f"{word} unknown: {NO_COMMIT}")


def largest(
    group: GroupId,
    check: str,
    values: Mapping[Place, int | None],
    limit: Threshold,
    unit: str,
    unknown_lag: UnknownLag,
    reasons: Mapping[Place, str] = MappingProxyType({}),
) -> Finding:
    """Judge the largest value of several partitions, or for minimum limits, the smallest; unknown ones might break it.

    :param values: of partitions with a committed offset; the others are in ``unknown_lag``.
    :param reasons: why values are unknown.
    """
    known = {place: value for place, value in values.items() if value is not None}
    missing = [place for place in {**values, **unknown_lag.places} if place not in known or place in unknown_lag.places]
    why = {**unknown_lag.places, **reasons}
    gap = unknown_lag.text(len(missing), [why[place] for place in missing if place in why])
    word = check.replace("-", " ")
    if not known:
        severity, message = without_any(word, gap, unknown_lag)
        return Finding(group, check, severity, message, unit=unit, limit=limit)
    worst = min if isinstance(limit, Minimum) else max
    topic, partition = place = worst(known, key=lambda each: known[each])
    value = known[place]
    message = f"{place_name(topic, partition)}: {word} {number(value, unit)}{over(limit, value, unit)}"
    if gap:
        message += f", {gap}"
    severity = _unless_unknown(limit.judge(value), bool(gap))
    return Finding(group, check, severity, message, value if severity is not Severity.UNKNOWN else None, unit, limit)


def _unless_unknown(severity: Severity, unknown: bool) -> Severity:
    return Severity.UNKNOWN if unknown and severity is not Severity.CRITICAL else severity


def over(limit: Threshold, value: float, unit: str) -> str:
    broken = limit.limit_broken(value)
    return "" if broken is None else f" is {limit.beyond} {number(broken, unit)}"


def number(value: float, unit: str) -> str:
    return str(Milliseconds(value)) if unit == "ms" else f"{value:,g}" if value % 1 else f"{int(value):,}"
