"""Write ``kgroups explain``: sentences and tables, or a JSON document, ``kgroups/explain/v1``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple, TextIO

from kgroups.model.counts import count, some
from kgroups.model.explain.facts import BrokerLimits, GroupFacts
from kgroups.model.explain.findings import Finding, Severity
from kgroups.model.explain.rows import explained_members, share_rows
from kgroups.model.explain.summary import JudgedPartition, Summary
from kgroups.model.explain.what_if import WhatIf
from kgroups.model.outcome import Outcome
from kgroups.model.shell import group_words_in_text
from kgroups.model.verdicts.verdict import Severity as VerdictSeverity
from kgroups.model.visible import escape_message

from .cells import escape
from .color import has_color, severity_style, styled
from .explain_views import MEMBERS, SHARE_PARTITIONS, SHIFTS
from .jsonout import plain_data, write_document
from .plain import write_plain
from .selection import columns_for
from .table import Table
from .views import Row, Tier, View
from .wrapping import write_wrapped


class Explained(NamedTuple):
    """A group, the findings about it, and the result of ``--what-if``."""

    facts: GroupFacts
    findings: tuple[Finding, ...]
    what_if: WhatIf | None = None
    cluster: str | None = None
    """The name of the cluster, if several are queried."""
    summary: Summary | None = None


_MARKS = {
    Severity.PROBLEM: "- PROBLEM: ",
    Severity.WARNING: "- WARNING: ",
    VerdictSeverity.UNKNOWN: "- UNKNOWN: ",
    Severity.INFO: "- ",
}
"""The most severe first: the order of the text."""
_PLUMBING = frozenset({"coordinator", "leader", "weight"})
"""Rules whose facts about a group are shown only with ``-v``."""
_MOST_VERDICTS = 3
"""Different verdicts about partitions that are shown."""


def write_explained(
    items: Iterable[Explained], fmt: str, stream: TextIO, tier: Tier, *, headers: bool
) -> tuple[str, ...]:
    """Write text: for each group the findings, a table of members, and the result of ``--what-if``; the worst first.

    :return: the headers of the columns that a narrow terminal omits.
    """
    omitted: dict[str, None] = {}
    for number, item in enumerate(sorted(items, key=_rank)):
        if number:
            stream.write("\n")
        omitted.update(dict.fromkeys(_write(item, fmt, stream, tier, headers)))
    return tuple(omitted)


def _rank(item: Explained) -> tuple[int, int]:
    return item.summary.status.rank if item.summary else (0, 0)


def _write(item: Explained, fmt: str, stream: TextIO, tier: Tier, headers: bool) -> list[str]:
    """Write one group; return the headers of omitted columns."""
    colored = fmt == "table" and has_color(stream)
    name = escape(f"{item.cluster}: " if item.cluster else "") + escape(item.facts.group.group)
    if item.summary:
        word, rest = _headline(item.summary, colored=colored)
        _write_line(stream, fmt, f"{word}: {rest}", first=f"{name}: ")
        _write_line(stream, fmt, escape(_about(item.facts)))
    else:
        _write_line(stream, fmt, escape(_about(item.facts)), first=f"{name}: ")
    sentences: list[tuple[StrEnum, str]] = [*_of_partitions(item)]
    sentences += [
        (finding.severity, finding.text)
        for finding in item.findings
        if tier > Tier.BASE or finding.severity is not Severity.INFO or finding.rule not in _PLUMBING
    ]
    for severity, mark in _MARKS.items():
        if colored and mark[2:]:
            mark = f"- {styled(mark[2:-1], severity_style(severity))} "
        for found, text in sentences:
            if found == severity:
                _write_line(stream, fmt, escape(text), first=mark)
    omitted: list[str] = []
    rows = tuple(explained_members(item.facts))
    if rows:
        stream.write("\n")
        omitted += _write_table(MEMBERS, rows, fmt, stream, tier, headers)
    partitions = tuple(share_rows(item.facts))
    if partitions:
        stream.write("\n")
        omitted += _write_table(SHARE_PARTITIONS, partitions, fmt, stream, tier, headers)
    if item.what_if:
        stream.write("\n")
        _write_line(stream, fmt, escape(item.what_if.text))
        stream.write("\n")
        omitted += _write_table(SHIFTS, item.what_if.shifts, fmt, stream, tier, headers)
    return omitted


def _write_line(stream: TextIO, fmt: str, text: str, *, first: str = "") -> None:
    """Write a line; a table for a terminal breaks it between words."""
    if fmt == "table":
        write_wrapped(stream, text, first=first)
    else:
        stream.write(f"{first}{text}\n")


def _headline(summary: Summary, *, colored: bool) -> tuple[str, str]:
    """Return the status; and why, the worst partition, and what to do."""
    word = summary.status.status.upper()
    if colored:
        word = styled(word, severity_style(summary.status.severity))
    parts = [escape(summary.status.reason)]
    worst = summary.worst
    if worst and worst.place not in summary.status.reason:
        lag = "unknown" if worst.facts.lag is None else f"{worst.facts.lag:,}"
        parts.append(escape(f"worst partition {worst.place} (lag {lag}): {_words(worst)}"))
    if summary.next:
        parts.append(f"next: {escape_message(summary.next)}")
    return word, "; ".join(parts)


def _words(each: JudgedPartition) -> str:
    return each.verdict.key.value.replace("-", " ")


def _of_partitions(item: Explained) -> Iterator[tuple[StrEnum, str]]:
    """Yield the severity and the text of the worst verdicts, with their partitions, and how many more there are.

    Partitions that are the subject of a problem are not repeated.
    """
    named = {name for each in item.findings if each.severity is Severity.PROBLEM for name in each.subjects}
    alike: dict[tuple[StrEnum, str], list[JudgedPartition]] = {}
    for each in item.summary.partitions if item.summary else ():
        if each.verdict.severity is not VerdictSeverity.INFO and each.place not in named:
            alike.setdefault((each.verdict.severity, f"{_words(each)}: {each.verdict.text}"), []).append(each)
    for (severity, text), found in list(alike.items())[:_MOST_VERDICTS]:
        yield severity, f"{some([each.place for each in found])}: {text}"
    if more := [each for found in list(alike.values())[_MOST_VERDICTS:] for each in found]:
        command = f"kgroups explain {group_words_in_text(more[0].facts.group)} --lagging"
        yield more[0].verdict.severity, f"{count(len(more), 'more partition')}: {command}"


def _about(facts: GroupFacts) -> str:
    group = facts.group
    group_type = group.type or "classic"
    protocol = f" of protocol type '{group.protocol_type}'" if group.protocol_type not in ("", "consumer") else ""
    members = "" if group.members is None else f", {count(len(group.members), 'member')}"
    return f"a {group_type.lower()} group{protocol}, {group.state}{members}"


def _write_table(
    view: View, rows: tuple[Row, ...], fmt: str, stream: TextIO, tier: Tier, headers: bool
) -> tuple[str, ...]:
    table = Table(view, columns_for(view, tier, rows=rows), rows, headers)
    if fmt == "table":
        from .terminal import write_terminal

        return write_terminal(table, stream)
    write_plain(table, stream)
    return ()


def write_json(
    outcome: Outcome[Explained],
    stream: TextIO,
    cluster_id: str | None,
    clusters: Mapping[str, str | None] | None = None,
) -> None:
    """Write the JSON envelope; an item is a group with ``findings``, ``members``, ``limits`` and ``what_if``.

    :param clusters: the IDs of several clusters by their names.
    """
    write_document("explain", map(_group_object, outcome.items), outcome, stream, cluster_id, clusters)


def _group_object(item: Explained) -> dict[str, object]:
    facts, group = item.facts, item.facts.group
    return {
        **({"cluster": item.cluster} if item.cluster else {}),
        "group": group.group,
        "type": group.type,
        "state": group.state,
        "protocol_type": group.protocol_type,
        "protocol": group.protocol,
        "coordinator": plain_data(group.coordinator),
        "placement": facts.placement._asdict(),
        "summary": _summary(item.summary),
        "findings": [
            {"severity": each.severity.value, "rule": each.rule, "text": each.text, "subjects": list(each.subjects)}
            for each in item.findings
        ],
        "members": [_objects(row) for row in explained_members(facts)],
        "share_partitions": None if facts.share is None else [_share_object(row) for row in share_rows(facts)],
        "limits": _limits(facts.limits),
        "what_if": what_if_object(item.what_if),
    }


def _summary(summary: Summary | None) -> dict[str, object] | None:
    if summary is None:
        return None
    status, worst = summary.status, summary.worst
    return {
        "status": status.status.value,
        "severity": status.severity.name,
        "reason": status.reason,
        "total_lag": summary.total_lag,
        "known_lag": summary.known_lag,
        "worst": worst
        and {
            "topic": worst.facts.topic,
            "partition": worst.facts.partition,
            "lag": worst.facts.lag,
            "verdict": worst.verdict.key.value,
            "severity": worst.verdict.severity.value,
            "text": worst.verdict.text,
        },
        "next": summary.next,
    }


def _objects(row: Row) -> dict[str, object]:
    return {name: plain_data(value) for name, value in row._asdict().items()}  # type: ignore[attr-defined]  # a named tuple


def _share_object(row: Row) -> dict[str, object]:
    return {column.key: plain_data(column.value(row)) for column in SHARE_PARTITIONS.columns}


def _limits(limits: BrokerLimits) -> dict[str, object]:
    return {limit.name: {"value": limit.value, "told": limit.reported} for limit in limits}


def what_if_object(what_if: WhatIf | None) -> dict[str, object] | None:
    """Return the result of a simulation as JSON."""
    if what_if is None:
        return None
    found: dict[str, object] = {
        **what_if._asdict(),
        "changes": list(what_if.changes),
        "shifts": [_objects(shift) for shift in what_if.shifts],
    }
    return found
