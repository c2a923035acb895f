"""The findings of a report as sentences, worst first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import Final, NamedTuple

from . import words
from .data import GroupRow, LagPoint, LagSeries, ReportData
from .html import Html, join, tag
from .table import name, names, when

CRITICAL, WARNING, NOTE = "critical", "warning", "note"


class Finding(NamedTuple):
    level: str
    text: Html
    section: str
    """ID of the section with the details."""


VERDICTS: Final = {
    "STALL": (CRITICAL, "stands still", "stand still", "commits, but of the same offsets, while records wait"),
    "STOP": (CRITICAL, "has stopped", "have stopped", "no commits, while records wait"),
    "REWIND": (CRITICAL, "went back", "went back", "committed offsets went back, and have not caught up"),
    "WARN": (WARNING, "falls behind", "fall behind", "lag never shrank"),
}
"""Verdict -> level, predicate for one group, predicate for several, explanation."""

ANOMALIES: Final = {
    "data_lost": (CRITICAL, "lost records", "lost records", "deleted before they were read"),
    "beyond_end": (CRITICAL, "committed beyond the end of a log", "committed beyond the end of a log", None),
    "rewind": (WARNING, "had offsets go back", "had offsets go back", None),
    "rebalance_storm": (WARNING, "rebalanced in storms", "rebalanced in storms", None),
    "flapping_member": (WARNING, "had members that came and went", "had members that came and went", None),
}
"""Anomaly -> level, predicate for one group, predicate for several, explanation."""

_ORDER = {CRITICAL: 0, WARNING: 1, NOTE: 2}


def findings(data: ReportData) -> list[Finding]:
    """Return the findings; empty if nothing is wrong."""
    found = [
        *_verdicts(data),
        *_growing(data),
        *_anomalies(data),
        *_expiring(data),
        *_unused(data),
        *_unknown(data),
        *_history(data),
    ]
    return sorted(found, key=lambda each: _ORDER[each.level])


def _verdicts(data: ReportData) -> Iterator[Finding]:
    for verdict, (level, one, many, why) in VERDICTS.items():
        total = data.groups.number(verdict=verdict)
        rows = [row for row in data.groups.rows.rows if row.verdict == verdict][:3]
        if total:
            yield Finding(
                level, _sentence(total, one, many, why, (_with_lag(data, row) for row in rows), len(rows)), "groups"
            )


def in_trouble(data: ReportData) -> int:
    """Count the groups with a bad verdict or a growing lag."""
    return sum(data.groups.number(verdict=each) for each in VERDICTS) + len(growing(data))


def growing(data: ReportData) -> list[LagSeries]:
    """Return the groups with a growing lag but without a bad verdict, because their lag shrinks at times.

    Their median lag is higher in each quarter of the span than in the previous one, at least doubles in all, and their
    lag in time is at least a minute at the end.
    """
    judged_bad = {row.group for row in data.groups.rows.rows if row.verdict in VERDICTS}
    return [series for series in data.lag.series.rows if series.group not in judged_bad and _grows(series.points)]


def _grows(points: Sequence[LagPoint]) -> bool:
    lags = [point.lag for point in points if point.lag is not None]
    quarter = len(lags) // 4
    if quarter < 2 or (points[-1].behind_ms or _MINUTE) < _MINUTE:
        return False
    medians = [median(lags[part * quarter : (part + 1) * quarter]) for part in range(4)]
    return all(before < after for before, after in pairwise(medians)) and medians[3] >= 2 * medians[0]


_MINUTE = 60_000
"""Milliseconds."""


def _growing(data: ReportData) -> Iterator[Finding]:
    found = growing(data)
    some = (join(names([each.group], 1, data), _lag(each.last, each.points[-1].behind_ms)) for each in found[:3])
    why = "more in each quarter of this time than before"
    if found:
        text = _sentence(len(found), "lags more and more", "lag more and more", why, some, len(found[:3]))
        yield Finding(WARNING, text, "lag")


def _with_lag(data: ReportData, row: GroupRow) -> Html:
    return join(names([row.group], 1, data), _lag(row.lag, row.behind_ms))


def _lag(lag: int | None, behind_ms: int | None) -> str | None:
    behind = f", {words.duration(behind_ms)} behind" if behind_ms else ""
    return f" ({words.count(lag, 'record')}{behind})" if lag is not None else None


def _anomalies(data: ReportData) -> Iterator[Finding]:
    counts = {each.anomaly: each for each in data.anomalies.counts}
    for anomaly, (level, one, many, why) in ANOMALIES.items():
        if each := counts.get(anomaly):
            some = (_with_evidence(data, group, anomaly) for group in each.names[:3])
            yield Finding(level, _sentence(each.groups, one, many, why, some, len(each.names[:3])), "anomalies")


def _with_evidence(data: ReportData, group: str, anomaly: str) -> Html:
    """Render a group with the note on its latest anomaly of this type."""
    rows = (row for row in data.anomalies.rows.rows if (row.group, row.anomaly) == (group, anomaly) and row.note)
    latest = next(rows, None)
    return join(names([group], 1, data), join(" (", name(latest.note).shown, ")") if latest else None)


def _sentence(total: int, one: str, many: str, why: str | None, some: Iterable[Html], shown: int) -> Html:
    """Render ``3 groups fall behind: a (12 M records), b and 1 more``, with the reason and a period."""
    subject = join(words.count(total, "group"), " ", one if total == 1 else many)
    more = f" and {words.exact(total - shown)} more" if total > shown else None
    listed = join(": ", join(*some, by=", "), more) if shown else None
    return join(tag("b", subject), listed, f" {words.DASH} {why}" if why else None, ".")


def _expiring(data: ReportData) -> Iterator[Finding]:
    kept = data.expiring
    if kept.rows:
        groups = list(dict.fromkeys(row.group for row in kept.rows))
        first = kept.rows[0].expires
        least = "at least " if kept.left_out else ""
        subject = f"Offsets of {least}{words.count(len(groups), 'group')} expire soon"
        at_first = join(f" {words.DASH} the first ", when(first)) if first else None
        yield Finding(
            WARNING, join(tag("b", subject), ": ", names(groups[:3], len(groups), data), at_first, "."), "unused"
        )


def _unused(data: ReportData) -> Iterator[Finding]:
    stale = data.groups.number(use="STALE")
    if stale:
        quiet = [row.group for row in data.stale.rows if row.use == "STALE"][:3]
        verb = "has members, but does not commit" if stale == 1 else "have members, but do not commit"
        listed = join(": ", names(quiet, stale, data)) if quiet else None
        yield Finding(NOTE, join(tag("b", f"{words.count(stale, 'group')} {verb}"), listed, "."), "unused")


def unknown(data: ReportData) -> int:
    """Count the groups of which it is unknown whether they keep up."""
    judged = {row.group: row.verdict for row in data.groups.rows.rows}
    grows = sum(judged.get(series.group, "OK") in _UNJUDGED for series in growing(data))
    return data.groups.number() - sum(data.groups.number(verdict=each) for each in ("OK", *VERDICTS)) - grows


_UNJUDGED = (None, "UNKNOWN")


def _unknown(data: ReportData) -> Iterator[Finding]:
    found = unknown(data)
    if found:
        grows = {series.group for series in growing(data)}
        rows = [row for row in data.groups.rows.rows if row.verdict in _UNJUDGED and row.group not in grows][:3]
        why = "too few samples of the lag, or an open transaction"
        some = (names([row.group], 1, data) for row in rows)
        yield Finding(NOTE, _sentence(found, "is unknown", "are unknown", why, some, len(rows)), "groups")


def _history(data: ReportData) -> Iterator[Finding]:
    history = data.completeness
    if history.missing:
        subject = tag("b", f"History has gaps: {words.count(history.missing, 'record')} missed at most")
        yield Finding(WARNING, join(subject, f" {words.DASH} deleted before they were read."), "completeness")
    if history.hung:
        subject = tag("b", f"History waits: {words.count(history.hung, 'offset')} behind an open transaction")
        text = "; what the groups in its partitions did is unknown since "
        unknown = join(text, when(history.unread_since)) if history.unread_since else None
        yield Finding(WARNING, join(subject, unknown, "."), "completeness")
    if history.unknown:
        subject = tag("b", f"History is not whole in {words.count(history.unknown, 'partition')} of the log")
        yield Finding(NOTE, join(subject, f" {words.DASH} compaction took what was there before."), "completeness")
    elif history.known_since and history.known_since > data.period.since:
        yield Finding(
            NOTE, join(tag("b", join("History is whole since ", when(history.known_since))), "; before that unknown."),
            "completeness",
        )  # fmt: skip
