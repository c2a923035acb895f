"""Write ``kgroups explain``: sentences and tables, or a JSON document, ``kgroups/explain/v1``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, TextIO

from kgroups.model.explain.facts import BrokerLimits, GroupFacts
from kgroups.model.explain.findings import Finding, Severity
from kgroups.model.explain.rows import explained_members, share_rows
from kgroups.model.explain.what_if import WhatIf
from kgroups.model.outcome import Outcome

from .cells import escape
from .color import has_color
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


_MARKS = {Severity.PROBLEM: "- PROBLEM: ", Severity.WARNING: "- WARNING: ", Severity.INFO: "- "}
"""The most severe first: the order of the text."""
_COLORS = {Severity.PROBLEM: "1;31", Severity.WARNING: "1;33"}


def write_explained(
    items: Iterable[Explained], fmt: str, stream: TextIO, tier: Tier, *, headers: bool
) -> tuple[str, ...]:
    """Write text: for each group the findings, a table of members, and the result of ``--what-if``.

    :return: the headers of the columns that a narrow terminal omits.
    """
    omitted: dict[str, None] = {}
    for number, item in enumerate(items):
        if number:
            stream.write("\n")
        omitted.update(dict.fromkeys(_write(item, fmt, stream, tier, headers)))
    return tuple(omitted)


def _write(item: Explained, fmt: str, stream: TextIO, tier: Tier, headers: bool) -> list[str]:
    """Write one group; return the headers of omitted columns."""
    cluster = f"{item.cluster}: " if item.cluster else ""
    group, kind = _head(item.facts)
    _write_line(stream, fmt, kind, first=escape(f"{cluster}{group}: "))
    colored = fmt == "table" and has_color(stream)
    for severity, mark in _MARKS.items():
        if colored and severity in _COLORS:
            mark = f"- \x1b[{_COLORS[severity]}m{mark[2:-1]}\x1b[0m "
        for finding in item.findings:
            if finding.severity is severity:
                _write_line(stream, fmt, escape(finding.text), first=mark)
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


def _head(facts: GroupFacts) -> tuple[str, str]:
    """Return the name of the group, and what it is."""
    group = facts.group
    group_type = group.type or "classic"
    protocol = f" of protocol type '{group.protocol_type}'" if group.protocol_type not in ("", "consumer") else ""
    count = "" if group.members is None else f", {len(group.members):,} member{'s' * (len(group.members) != 1)}"
    return group.group_id, escape(f"a {group_type.lower()} group{protocol}, {group.state}{count}")


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
        "group": group.group_id,
        "type": group.type,
        "state": group.state,
        "protocol_type": group.protocol_type,
        "protocol": group.protocol,
        "coordinator": plain_data(group.coordinator),
        "placement": facts.placement._asdict(),
        "findings": [
            {"severity": each.severity.value, "rule": each.rule, "text": each.text, "subjects": list(each.subjects)}
            for each in item.findings
        ],
        "members": [_objects(row) for row in explained_members(facts)],
        "share_partitions": None if facts.share is None else [_share_object(row) for row in share_rows(facts)],
        "limits": _limits(facts.limits),
        "what_if": _what_if(item.what_if),
    }


def _objects(row: Row) -> dict[str, object]:
    return {name: plain_data(value) for name, value in row._asdict().items()}  # type: ignore[attr-defined]  # a named tuple


def _share_object(row: Row) -> dict[str, object]:
    return {column.key: plain_data(column.value(row)) for column in SHARE_PARTITIONS.columns}


def _limits(limits: BrokerLimits) -> dict[str, object]:
    return {limit.name: {"value": limit.value, "told": limit.reported} for limit in limits}


def _what_if(what_if: WhatIf | None) -> dict[str, object] | None:
    if what_if is None:
        return None
    found: dict[str, object] = {
        **what_if._asdict(),
        "changes": list(what_if.changes),
        "shifts": [_objects(shift) for shift in what_if.shifts],
    }
    return found
