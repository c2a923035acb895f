"""The sections with tables."""

from __future__ import annotations

from . import words
from .data import Anomaly, Consumer, Expiring, GroupRow, LogPart, ReportData, Stale
from .findings import VERDICTS, WARNING
from .html import Html, join, tag
from .table import Cell, Column, duration, group, moment, name, names, number, table, when, word

_RANKS = ("OK", "UNKNOWN", "WARN", "STOP", "STALL", "REWIND")


def groups(data: ReportData) -> Html:
    columns = (
        Column[GroupRow]("Group", lambda row: group(data, row.group)),
        Column[GroupRow]("Verdict", lambda row: verdict(row.verdict)),
        Column[GroupRow]("Lag", lambda row: number(row.lag, "records"), right=True),
        Column[GroupRow]("Behind", lambda row: duration(row.behind_ms), right=True),
        Column[GroupRow]("Last commit", lambda row: moment(row.last_commit)),
        Column[GroupRow]("State", lambda row: word(row.state)),
        Column[GroupRow]("In it since", lambda row: moment(row.state_since)),
        Column[GroupRow]("Members", lambda row: number(row.members), right=True),
        Column[GroupRow]("Partitions", lambda row: number(row.partitions), right=True),
        Column[GroupRow]("Type", lambda row: word(row.kind)),
    )
    caption = (
        "Groups as they were at the end, worst first. Lag is the sum over partitions, the verdict the worst of them."
    )
    return join(
        _tallies(data), table("groups-table", caption, columns, data.groups.rows, none="No group is known."), by="\n"
    )


def verdict(text: str | None) -> Cell:
    if text is None:
        return Cell(tag("span", "not judged", class_="soft"), -1)
    level = VERDICTS[text][0] if text in VERDICTS else "good" if text == "OK" else "note"
    rank = _RANKS.index(text) if text in _RANKS else len(_RANKS)
    return Cell(tag("span", text, class_=f"verdict {level}"), rank)


def _tallies(data: ReportData) -> Html | None:
    """Render the number of groups by verdict, worst first."""
    if not data.groups.tallies:
        return None
    judged = [(rank, data.groups.number(verdict=rank)) for rank in reversed(_RANKS)]
    items = [tag("li", verdict(text).shown, " ", tag("b", words.exact(found))) for text, found in judged if found]
    unjudged = data.groups.number() - sum(found for _, found in judged)
    if unjudged:
        items.append(tag("li", verdict(None).shown, " ", tag("b", words.exact(unjudged))))
    return tag("ul", *items, class_="tallies") if items else None


def consumers(data: ReportData) -> Html:
    columns = (
        Column[Consumer]("Topic", lambda row: name(row.topic)),
        Column[Consumer]("Group", lambda row: group(data, row.group)),
        Column[Consumer]("Partitions", lambda row: number(row.partitions), right=True),
        Column[Consumer]("Members", lambda row: number(row.members), right=True),
        Column[Consumer]("Who", lambda row: Cell(_clients(row), row.clients[0] if row.clients else None), wide=True),
        Column[Consumer]("Last commit", lambda row: moment(row.last_commit)),
    )
    caption = "Topics, and the groups that hold offsets of them. Members are those of the whole group at the end."
    return table("consumers-table", caption, columns, data.consumers, none="No group holds any offsets.")


def _clients(row: Consumer) -> Html:
    return names(row.clients, row.members) if row.clients else Html(words.ABSENT)


def anomalies(data: ReportData) -> Html:
    columns = (
        Column[Anomaly]("What", lambda row: word(row.anomaly.replace("_", " "))),
        Column[Anomaly]("Group", lambda row: group(data, row.group)),
        Column[Anomaly]("Topic", lambda row: _partition(row.topic, row.partition)),
        Column[Anomaly]("Member", lambda row: name(row.member)),
        Column[Anomaly]("Since", lambda row: moment(row.since)),
        Column[Anomaly]("Until", lambda row: moment(row.until)),
        Column[Anomaly]("In words", lambda row: name(row.note), wide=True),
    )
    return table(
        "anomalies-table", "What should not be, latest first.", columns, data.anomalies.rows, none="There were none."
    )


def _partition(topic: str | None, partition: int | None) -> Cell:
    cell = name(topic)
    return cell if partition is None else Cell(join(cell.shown, f" / {partition}"), cell.key)


def unused(data: ReportData) -> Html:
    stale = (
        Column[Stale]("Group", lambda row: group(data, row.group)),
        Column[Stale]("Use", lambda row: word(row.use)),
        Column[Stale]("State", lambda row: word(row.state)),
        Column[Stale]("Partitions", lambda row: number(row.partitions), right=True),
        Column[Stale]("Quiet for", lambda row: duration(row.commit_age_ms), right=True),
        Column[Stale]("Last commit", lambda row: moment(row.last_commit)),
        Column[Stale]("Deleted before", lambda row: moment(row.gone)),
        Column[Stale]("Type", lambda row: word(row.kind)),
    )
    expiring = (
        Column[Expiring]("Group", lambda row: group(data, row.group)),
        Column[Expiring]("Topic", lambda row: name(row.topic)),
        Column[Expiring]("Partitions", lambda row: number(row.partitions), right=True),
        Column[Expiring]("Left", lambda row: _left(row.left_ms), right=True),
        Column[Expiring]("Expires, not before", lambda row: moment(row.expires)),
        Column[Expiring]("Empty since", lambda row: moment(row.empty_since)),
    )
    return join(
        tag("h3", "Offsets that expire soon"),
        table("expiring-table", "Offsets of groups without members, by when brokers may delete them.", expiring,
              data.expiring, none="None expire soon."),
        _retention(data),
        tag("h3", "Unused groups"),
        table(
            "stale-table",
            "Groups without members (EMPTY), without commits (STALE), gone (DELETED), or hidden by an open transaction "
            "(UNKNOWN).",
            stale,
            data.stale,
            none="All groups are used.",
        ),
        by="\n",
    )  # fmt: skip


_RETENTION = {
    "brokers": "as read from a broker.",
    "rule": "as set by --rule retention.",
    "assumed": "assumed: the store does not contain the brokers' offsets.retention.minutes.",
}


def _retention(data: ReportData) -> Html | None:
    if data.retention is None:
        return None
    return tag(
        "p", f"Retention time of offsets: {words.duration(data.retention.ms)}, {_RETENTION[data.retention.source]}"
    )


def _left(ms: int | None) -> Cell:
    return Cell(tag("b", "due"), ms) if ms is not None and ms <= 0 else duration(ms)


def completeness(data: ReportData) -> Html:
    history = data.completeness
    columns = (
        Column[LogPart]("Partition", lambda row: number(row.log_partition), right=True),
        Column[LogPart]("Whole since", lambda row: _since(row)),
        Column[LogPart]("Last record", lambda row: moment(row.last_time)),
        Column[LogPart]("Records", lambda row: number(row.records), right=True),
        Column[LogPart]("Of offsets read", lambda row: _share(row.density), right=True),
        Column[LogPart]("Missed", lambda row: number(row.missing, "offsets"), right=True),
        Column[LogPart]("Waiting", lambda row: number(row.hung, "offsets"), right=True),
    )
    inner = table(
        "completeness-table", "Partitions of __consumer_offsets, least whole first.", columns, history.parts,
        none="Nothing of __consumer_offsets was read.",
    )  # fmt: skip
    if not history.parts.rows:
        return inner
    summary = f"All {words.count(history.parts.total, 'partition')} of __consumer_offsets"
    return join(_summary(data), tag("details", tag("summary", summary), "\n", inner), by="\n")


def _summary(data: ReportData) -> Html:
    history = data.completeness
    sentences: list[Html] = []
    if history.unknown:
        parts = f"{words.exact(history.unknown)} of {words.exact(history.parts.total)} partitions"
        why = ": compaction took records before they were read. What is missing is unknown, not zero."
        sentences.append(join(tag("b", f"History is not whole in {parts}"), why))
    elif history.known_since and history.known_since > data.period.since:
        sentences.append(
            join(tag("b", join("History is whole since ", when(history.known_since))), "; before that unknown.")
        )
    else:
        sentences.append(tag("b", "History is whole for all of this time."))
    gaps = f"{words.count(history.missing, 'offset')} missed" if history.missing else "no gaps"
    sentences.append(join(f"{words.count(history.records, 'record')} read, {gaps}."))
    if history.hung:
        sentences.append(join(f"{words.count(history.hung, 'offset')} wait for an open transaction."))
    if history.last_time:
        sentences.append(join("The last record is of ", when(history.last_time), "."))
    return tag("p", join(*sentences, by=" "))


def _since(row: LogPart) -> Cell:
    if row.from_birth:
        return Cell(tag("span", "its first record", title=words.exact_moment(row.known_since)), 0)
    if row.known_since is None:
        return Cell(tag("span", "not whole", class_=f"verdict {WARNING}"), float("9e12"))
    return moment(row.known_since)


def _share(density: float | None) -> Cell:
    if density is None:
        return Cell(Html(words.ABSENT), None)
    return Cell(tag("span", f"{100 * density:.3g} %", title=f"{density:.6f}", class_="n"), density)
