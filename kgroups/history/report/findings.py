"""The findings of a report as sentences, worst first, each with the command that shows more; and the headline."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import Final, NamedTuple

from kgroups.model.health.burrow import Verdict
from kgroups.model.lag import AHEAD
from kgroups.model.status import Status

from . import words
from .commands import explain, history
from .data import GroupRow, LagPoint, LagSeries, ReportData
from .html import Html, join, tag
from .table import name, names, when

CRITICAL, WARNING, NOTE = "critical", "warning", "note"
STATUSES: Final = ("CRITICAL", "WARNING", "UNKNOWN", "OK")
"""Status of a group, the worst first."""
NAMED = 3
"""Maximum number of groups in a sentence, and in its command."""


class Finding(NamedTuple):
    level: str
    text: Html
    section: str
    """ID of the section with the details."""
    command: str


class Problem(NamedTuple):
    level: str
    one: str
    """Predicate for one group."""
    many: str
    """Predicate for several groups."""
    why: str | None
    table: str | None
    """Table of the store with more; ``None``: ``kgroups explain`` shows more."""
    status: Status | None = None
    """The status that says the same of a group in other commands."""

    @property
    def short(self) -> str:
        """What is wrong with a group, in few words."""
        return self.status or self.one


def _problem(status: Status, one: str, many: str, why: str | None, table: str | None) -> Problem:
    """Return a problem with the severity of a status."""
    return Problem(status.severity.name.lower(), one, many, why, table, status)


_WAIT: Final = "while records wait, perhaps behind an open transaction"
"""Samples of log ends do not show open transactions."""

VERDICTS: Final = {
    str(verdict): _problem(verdict.status, *texts)
    for verdict, texts in {
        Verdict.STALL: ("is stuck", "are stuck", f"commits, but of the same offsets, {_WAIT}", None),
        Verdict.STOP: ("is stuck", "are stuck", f"no commits, {_WAIT}", None),
        Verdict.REWIND: (
            "moved back",
            "moved back",
            "committed offsets went back, and have not caught up",
            "anomalies",
        ),
        Verdict.WARN: ("falls behind", "fall behind", "lag grew, and never shrank", "lag"),
    }.items()
}
ANOMALIES: Final = {
    "data_lost": _problem(Status.DATA_LOST, "lost records", "lost records", None, "anomalies"),
    "beyond_end": _problem(
        Status.BEYOND_LOG_END,
        "committed beyond the end of a log",
        "committed beyond the end of a log",
        None,
        "anomalies",
    ),
    "rewind": Problem(WARNING, "had offsets go back", "had offsets go back", None, "anomalies"),
    "rebalance_storm": Problem(WARNING, "rebalanced in storms", "rebalanced in storms", None, "rebalances"),
    "shared_instance_id": Problem(
        CRITICAL,
        "has clients that share a group.instance.id",
        "have clients that share a group.instance.id",
        "each fences the other and takes its partitions",
        "anomalies",
    ),
    "flapping_member": Problem(
        WARNING, "had members that came and went", "had members that came and went", None, "memberships"
    ),
}
_GROWING = _problem(
    Status.FALLING_BEHIND,
    "lags more and more",
    "lag more and more",
    "more in each quarter of this time than before",
    "lag",
)
UNJUDGED: Final = {
    reason: Problem(NOTE, "is unknown", "are unknown", why, table)
    for reason, why, table in (
        ("transaction", "an open transaction hides commits", "verdicts"),
        ("unread", "the log was not read to the end of the data", "stale"),
        ("undecoded", "this version cannot decode their last records", "stale"),
        ("ahead", AHEAD, "anomalies"),
        ("samples", "too few samples of the lag", "verdicts"),
        ("share", "history has no lag of share groups", None),
        ("commits", "no committed offsets", "stale"),
        ("heads", "no sample of the log end offsets", "stale"),
    )
}
"""Why it is unknown whether a group keeps up."""
_STALE = Problem(WARNING, "has members, but does not commit", "have members, but do not commit", None, "stale")
_ORDER = {CRITICAL: 0, WARNING: 1, NOTE: 2}


def findings(data: ReportData) -> list[Finding]:
    """Return the findings; empty if nothing is wrong."""
    found = [
        *_verdicts(data),
        *_growing(data),
        *_anomalies(data),
        *_expiring(data),
        *_stale(data),
        *_unknown(data),
        *completeness_findings(data),
    ]
    return sorted(found, key=lambda each: _ORDER[each.level])


def headline(data: ReportData, found: Sequence[Finding]) -> str:
    """Return the verdict in one sentence: without complete history, it is never that all groups keep up."""
    total, trouble, hidden = data.groups.number(), in_trouble(data), unknown(data)
    rest = f"; {words.exact(hidden)} {'is' if hidden == 1 else 'are'} unknown" if hidden else ""
    groups = "group" if total == 1 else "groups"
    all_groups = "the one group" if total == 1 else f"all {words.exact(total)} groups"
    if trouble:
        need = "needs attention" if trouble == 1 else "need attention"
        incomplete = "; history is incomplete" if data.completeness.has_holes else ""
        return f"{words.exact(trouble)} of {words.exact(total)} {groups} {need}{rest}{incomplete}"
    if hidden == total:
        text = f"{all_groups} {'is' if total == 1 else 'are'} unknown" if total else "no group is known"
    elif data.completeness.has_holes:
        text = f"unknown whether {all_groups} {'keeps' if total == 1 else 'keep'} up: history is incomplete"
    else:
        up = "keeps" if total - hidden == 1 else "keep"
        known = f"{words.exact(total - hidden)} of {words.exact(total)} {groups}" if hidden else all_groups
        since = data.completeness.known_since
        before = f" since {words.moment(since)}, before is unknown" if since and since > data.period.since else ""
        wrong = "" if all(each.level == NOTE for each in found) else ", but not all is well"
        text = f"{known} {up} up{before}{wrong}{rest}"
    return text[0].upper() + text[1:]


def status(data: ReportData, row: GroupRow) -> str:
    """Return CRITICAL, WARNING, UNKNOWN, or OK: the level of the worst finding on a group, the same everywhere."""
    grows = row.status in ("OK", "UNKNOWN") and any(series.group == row.group for series in growing(data))
    return "WARNING" if grows else row.status


def what(data: ReportData, row: GroupRow) -> str:
    """Return what is wrong with a group, worst first: ``stuck; data lost``."""
    found = [VERDICTS[row.verdict]] if row.verdict in VERDICTS else []
    found += [problem for anomaly, problem in ANOMALIES.items() if anomaly in row.anomalies]
    found += [_STALE] if row.use == "STALE" else []
    found += [_GROWING] if any(series.group == row.group for series in growing(data)) else []
    texts = dict.fromkeys(problem.short for problem in sorted(found, key=lambda problem: _ORDER[problem.level]))
    return "; ".join([*texts, *(["its offsets expire soon"] if row.expiring else [])])


def wrong(data: ReportData) -> list[GroupRow]:
    """Return the listed groups with a critical finding or a warning, worst first."""
    bad = [row for row in data.groups.rows.rows if status(data, row) in STATUSES[:2]]
    return sorted(bad, key=lambda row: STATUSES.index(status(data, row)))


def in_trouble(data: ReportData) -> int:
    """Count the groups that are subjects of a critical finding or a warning, or have members that do not commit."""
    return sum(
        each.groups
        for each in data.groups.tallies
        if each.use != "DELETED"
        and (each.verdict in VERDICTS or each.use == "STALE" or each.expiring or each.anomalous)
    ) + sum(not series.flagged for series in growing(data))


def unknown(data: ReportData) -> int:
    """Count the groups of which it is unknown whether they keep up, and about which nothing else is wrong."""
    grows = {series.group for series in growing(data)}
    known = sum(
        row.unjudged in UNJUDGED and row.status == "UNKNOWN" and row.group in grows for row in data.groups.rows.rows
    )
    found = (each for each in data.groups.tallies if each.use != "DELETED" and each.status == "UNKNOWN")
    return sum(each.groups for each in found if each.unjudged in UNJUDGED) - known


def _unjudged(data: ReportData, reason: str) -> int:
    """Count the groups that are unknown for a reason, without groups whose lag is known to grow."""
    grows = {series.group for series in growing(data)}
    known = sum(row.unjudged == reason and row.group in grows for row in data.groups.rows.rows)
    return sum(each.groups for each in data.groups.tallies if each.use != "DELETED" and each.unjudged == reason) - known


def growing(data: ReportData) -> list[LagSeries]:
    """Return the groups with a growing lag but without a bad verdict, because their lag shrinks at times.

    Their median lag is higher in each quarter of the span than in the previous one, at least doubles in all, and their
    lag in time is at least a minute at the end.
    """
    judged_bad = {row.group for row in data.groups.rows.rows if row.verdict in VERDICTS}
    return [
        series
        for series in data.lag.series.rows
        if series.group not in judged_bad and series.verdict not in VERDICTS and _grows(series.points)
    ]


def _grows(points: Sequence[LagPoint]) -> bool:
    lags = [point.lag for point in points if point.lag is not None]
    quarter = len(lags) // 4
    if quarter < 2 or (points[-1].behind_ms or _MINUTE) < _MINUTE:
        return False
    medians = [median(lags[part * quarter : (part + 1) * quarter]) for part in range(4)]
    return all(before < after for before, after in pairwise(medians)) and medians[3] >= 2 * medians[0]


_MINUTE = 60_000
"""Milliseconds."""


def _found(
    data: ReportData, problem: Problem, total: int, groups: Sequence[str], section: str,
    evidence: Iterable[Html | str | None] = (),
) -> Iterator[Finding]:  # fmt: skip
    """Yield ``3 groups fall behind: a (12 M records), b and 1 more``, with the reason; nothing if there are none.

    :param groups: the groups that are known by name, of which the first are shown.
    :param evidence: text after each of these groups.
    """
    if not total:
        return
    shown = groups[:NAMED]
    notes = [*evidence, *[None] * NAMED]
    some = (join(names([group], 1, data), note) for group, note in zip(shown, notes, strict=False))
    more = f" and {words.exact(total - len(shown))} more" if total > len(shown) else None
    listed = join(": ", join(*some, by=", "), more) if shown else None
    subject = join(words.count(total, "group"), " ", problem.one if total == 1 else problem.many)
    text = join(tag("b", subject), listed, f" {words.DASH} {problem.why}" if problem.why else None, ".")
    command = history(problem.table, data.period, shown) if problem.table else explain(shown)
    yield Finding(problem.level, text, section, command)


def _verdicts(data: ReportData) -> Iterator[Finding]:
    for verdict, problem in VERDICTS.items():
        rows = [row for row in data.groups.rows.rows if row.verdict == verdict]
        yield from _found(
            data, problem, data.groups.number(verdict=verdict), _groups(rows), "groups",
            (_lag(row.lag, row.behind_ms) for row in rows),
        )  # fmt: skip


def _growing(data: ReportData) -> Iterator[Finding]:
    found = growing(data)
    lags = (_lag(each.last, each.points[-1].behind_ms) for each in found)
    return _found(data, _GROWING, len(found), [each.group for each in found], "lag", lags)


def _lag(lag: int | None, behind_ms: int | None) -> str | None:
    behind = f", {words.duration(behind_ms)} behind" if behind_ms else ""
    return f" ({words.count(lag, 'record')}{behind})" if lag is not None else None


def _groups(rows: Iterable[GroupRow]) -> list[str]:
    return [row.group for row in rows]


def _anomalies(data: ReportData) -> Iterator[Finding]:
    counts = {each.anomaly: each for each in data.anomalies.counts}
    for anomaly, problem in ANOMALIES.items():
        if each := counts.get(anomaly):
            notes = (_note(data, group, anomaly) for group in each.names)
            yield from _found(data, problem, each.groups, each.names, "anomalies", notes)


def _note(data: ReportData, group: str, anomaly: str) -> Html | None:
    """Render the note on the latest anomaly of this type of a group."""
    rows = (row for row in data.anomalies.rows.rows if (row.group, row.anomaly) == (group, anomaly) and row.note)
    latest = next(rows, None)
    return join(" (", name(latest.note).shown, ")") if latest else None


def _expiring(data: ReportData) -> Iterator[Finding]:
    kept = data.expiring
    if kept.rows:
        groups = list(dict.fromkeys(row.group for row in kept.rows))
        first = kept.rows[0].expires
        least = "at least " if kept.left_out else ""
        subject = tag("b", f"Offsets of {least}{words.count(len(groups), 'group')} expire soon")
        at_first = join(f" {words.DASH} the first ", when(first)) if first else None
        text = join(subject, ": ", names(groups[:NAMED], len(groups), data), at_first, ".")
        yield Finding(WARNING, text, "unused", history("expiring", data.period, groups[:NAMED]))


def _stale(data: ReportData) -> Iterator[Finding]:
    quiet = [row.group for row in data.stale.rows if row.use == "STALE"]
    return _found(data, _STALE, data.groups.number(use="STALE"), quiet, "unused")


def _unknown(data: ReportData) -> Iterator[Finding]:
    grows = {series.group for series in growing(data)}
    for reason, problem in UNJUDGED.items():
        rows = [row for row in data.groups.rows.rows if row.unjudged == reason and row.group not in grows]
        yield from _found(data, problem, _unjudged(data, reason), _groups(rows), "groups")


def completeness_findings(data: ReportData) -> Iterator[Finding]:
    history_of = data.completeness

    def found(level: str, subject: str | Html, rest: Html | str | None, table: str = "completeness") -> Finding:
        return Finding(level, join(tag("b", subject), rest, "."), "completeness", history(table, data.period))

    if history_of.missing:
        subject = f"History has gaps: {words.count(history_of.missing, 'record')} missed at most"
        yield found(WARNING, subject, f" {words.DASH} deleted before they were read", "coverage")
    if history_of.hung:
        subject = f"History waits: {words.count(history_of.hung, 'offset')} behind an open transaction"
        since = history_of.unread_since
        text = "; what the groups in its partitions did is unknown since "
        yield found(WARNING, subject, join(text, when(since)) if since else None, "coverage")
    if history_of.unknown:
        subject = f"History is not whole in {words.count(history_of.unknown, 'partition')} of the log"
        why = " compaction took records before they were read. What is missing is unknown, not zero"
        yield found(NOTE, subject, f" {words.DASH}{why}")
    elif history_of.known_since and history_of.known_since > data.period.since:
        yield found(
            NOTE, join("History is whole since ", when(history_of.known_since)), "; before that unknown"
        )  # fmt: skip
