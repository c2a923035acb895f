"""The lists: their columns, once for the overview and the pages of groups, and the sections that consist of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from . import words
from .commands import explain
from .data import GroupRow, Kept, LogPart, ReportData
from .findings import STATUSES, VERDICTS, WARNING, completeness_findings, in_trouble, status, what, wrong
from .html import Html, join, tag
from .migration import COMMAND
from .table import (
    CELL,
    DURATION,
    GROUP,
    ID,
    MOMENT,
    NAME,
    NOTE,
    NUMBER,
    OFFSETS,
    RECORDS,
    WIDE,
    WORD,
    Cell,
    Column,
    Kind,
    List,
    duration,
    full_rows,
    moment,
    names,
    share,
    table,
    when,
)  # fmt: skip

_RANKS = ("OK", "UNKNOWN", "WARN", "STOP", "STALL", "REWIND")


@cache
def verdict(text: str | None) -> Cell:
    if text is None:
        return Cell(tag("span", "not judged", class_="soft"), -1)
    level = VERDICTS[text].level if text in VERDICTS else "good" if text == "OK" else "note"
    rank = _RANKS.index(text) if text in _RANKS else len(_RANKS)
    return Cell(tag("span", text, class_=f"verdict {level}"), rank)


@cache
def level(text: str) -> Cell:
    """Render a status, in words and color; better ones have higher keys."""
    css = {"CRITICAL": "critical", "WARNING": "warning", "OK": "good"}.get(text, "note")
    return Cell(tag("span", text, class_=f"verdict {css}"), -STATUSES.index(text))


class _Judged(NamedTuple):
    """A group with its status; the other values are those of its row."""

    row: GroupRow
    status: str
    what: str

    def __getattr__(self, name: str) -> Any:
        return getattr(self.row, name)


def _judged(data: ReportData, rows: Iterable[GroupRow]) -> tuple[_Judged, ...]:
    return tuple(_Judged(row, status(data, row), what(data, row)) for row in rows)


def _topic(topic: str | None, partition: int | None) -> Cell:
    cell = NAME.full(topic)
    return cell if partition is None else Cell(join(cell.shown, f" / {partition}"))


def _left(ms: int | None) -> Cell:
    return Cell(tag("b", "due"), ms) if ms is not None and ms <= 0 else duration(ms)


def _since(row: LogPart) -> Cell:
    if row.from_birth:
        return Cell(tag("span", "its first record", title=words.exact_moment(row.known_since)), 0)
    if row.known_since is None:
        return Cell(tag("span", "not whole", class_=f"verdict {WARNING}"), 9)
    return moment(row.known_since)


def _share(density: float | None) -> Cell:
    if density is None:
        return Cell(Html(words.ABSENT))
    return Cell(tag("span", f"{100 * density:.3g} %", title=f"{density:.6f}", class_="n"), density)


def _who(number: int | None, some: tuple[str, ...]) -> Cell:
    if number is None:
        return Cell(Html("unknown"))
    return Cell(join(str(number), join(": ", names(some[:2], number)) if some else None), number)


def _clients(some: tuple[str, ...], total: int) -> Cell:
    return Cell(names(some, total)) if some else Cell(Html(words.ABSENT))


def _long(element: str, *texts: str) -> Cell:
    return Cell(join(*(tag(element, words.visible(each, LONGEST_TEXT)) for each in texts), by=" "))


def _kind(text: str) -> str:
    return text.replace("_", " ")


VERDICT = Kind(verdict, lambda text: verdict(text).shown)
RIGHT = CELL._replace(align="right")

STATUS = Kind(level, lambda text: level(text).shown)
WRONG_ROWS = 6
"""Maximum number of groups on the first screen."""

WRONG = List(
    "wrong",
    "Groups in trouble, worst first. Since: the last commit, the first anomaly, or the first of the judged samples; "
    "the cause may be older.",
    (
        Column("Group", "group", GROUP), Column("Status", "status", STATUS), Column("What", "what", NOTE),
        Column("Since", "since", MOMENT), Column("Lag", "lag", RECORDS), Column("Behind", "behind_ms", DURATION),
        Column("Lost", "lost", OFFSETS), Column("Repeated", "reread", OFFSETS),
    ), "Nothing is wrong in this time, as far as it is known.", "verdicts",
)  # fmt: skip
GROUPS = List(
    "groups",
    "Groups as they were at the end, worst first. Lag is the number of records that are not read, and not deleted, of "
    "all partitions; the verdict is the worst of them, the status that of the worst finding.",
    (
        Column("Group", "group", GROUP), Column("Status", "status", STATUS),
        Column("Verdict", "verdict", VERDICT), Column("Lag", "lag", RECORDS),
        Column("Behind", "behind_ms", DURATION), Column("Last commit", "last_commit", MOMENT),
        Column("State", "state", WORD), Column("In it since", "state_since", MOMENT),
        Column("Members", "members", NUMBER), Column("Partitions", "partitions", NUMBER),
        Column("Type", "kind", WORD),
    ), "No group is known.", "verdicts",
)  # fmt: skip
CONSUMERS = List(
    "consumers",
    "Topics, and the groups that hold offsets of them. Members are those of the whole group at the end.",
    (
        Column("Topic", "topic", NAME), Column("Group", "group", GROUP), Column("Partitions", "partitions", NUMBER),
        Column("Members", "members", NUMBER), Column("Who", lambda row: _clients(row.clients, row.members), WIDE),
        Column("Last commit", "last_commit", MOMENT),
    ), "No group holds any offsets.", "latest_offsets",
)  # fmt: skip
ANOMALIES = List(
    "anomalies", "What should not be, latest first.", (
        Column("What", lambda row: _kind(row.anomaly), WORD), Column("Group", "group", GROUP),
        Column("Topic", lambda row: _topic(row.topic, row.partition), CELL), Column("Member", "member", NAME),
        Column("Since", "since", MOMENT), Column("Until", "until", MOMENT), Column("In words", "note", NOTE),
    ), "There were none.", "anomalies",
)  # fmt: skip
EXPIRING = List(
    "expiring", "Offsets of groups without members, and of topics that groups left, by when brokers may delete them.", (
        Column("Group", "group", GROUP), Column("Topic", "topic", NAME), Column("Partitions", "partitions", NUMBER),
        Column("Left", lambda row: _left(row.left_ms), RIGHT), Column("Expires, not before", "expires", MOMENT),
        Column("Empty since", "empty_since", MOMENT),
    ), "None expire soon.", "expiring",
)  # fmt: skip
STALE = List(
    "stale",
    "Groups without members (EMPTY), without commits (STALE), gone (DELETED), or hidden by an open transaction "
    "(UNKNOWN).",
    (
        Column("Group", "group", GROUP), Column("Use", "use", WORD), Column("State", "state", WORD),
        Column("Partitions", "partitions", NUMBER), Column("Quiet for", "commit_age_ms", DURATION),
        Column("Last commit", "last_commit", MOMENT), Column("Deleted before", "gone", MOMENT),
        Column("Type", "kind", WORD),
    ), "All groups are used.", "stale",
)  # fmt: skip
LOG = List(
    "completeness", "Partitions of __consumer_offsets, least whole first.", (
        Column("Partition", "log_partition", ID), Column("Whole since", _since, CELL),
        Column("Last record", "last_time", MOMENT), Column("Records", "records", NUMBER),
        Column("Of offsets read", lambda row: _share(row.density), RIGHT), Column("Missed", "missing", OFFSETS),
        Column("Waiting", "hung", OFFSETS),
    ), "Nothing of __consumer_offsets was read.", "completeness",
)  # fmt: skip
VERDICTS_OF_MIGRATION = List(
    "migration-verdicts", "Groups by whether brokers would convert them.", (
        Column("Verdict", lambda row: row.verdict.replace("-", " ").upper(), WORD),
        Column("To the consumer protocol", "upgrade", NUMBER), Column("And back", "rollback", NUMBER),
    ), "No group is known.", "stale",
)  # fmt: skip
BLOCKED = List(
    "migration-rules",
    "What blocks them, or makes it unknown, most groups first. In words: about the first of the groups.", (
        Column("Rule", "rule", WORD), Column("Blocks", "direction", WORD), Column("Groups", "groups", NUMBER),
        Column("Which", lambda row: Cell(names(row.names, row.groups)), WIDE),
        Column("In words", lambda row: _long("bdi", row.text), WIDE),
        Column("Fix", lambda row: _long("code", *row.fixes), WIDE),
        Column("Next", lambda row: Cell(tag("code", f"{explain(row.names)} --migration")), WIDE),
    ), "No blocker is known.", "stale", f"{explain([])} --migration",
)  # fmt: skip
PARTITIONS = List(
    "partitions", "Partitions", (
        Column("Topic", "topic", NAME), Column("Partition", "partition", ID), Column("Verdict", "verdict", VERDICT),
        Column("Lag", "lag", RECORDS), Column("Committed offset", "committed", NUMBER),
        Column("Last commit", "last_commit", MOMENT), Column("Remark", "remark", NAME),
    ), "No partition has a committed offset.", "verdicts",
)  # fmt: skip
MEMBERS = List(
    "members", "Members", (
        Column("Client", "client", NAME), Column("Since", "since", MOMENT),
    ), "No members at the end.", "memberships",
)  # fmt: skip
REBALANCES = List(
    "rebalances", "Rebalances", (
        Column("Time", "time", MOMENT), Column("Generation", "generation", ID), Column("Members", "members", NUMBER),
        Column("Joined", lambda row: _who(row.joined, row.joined_names), CELL),
        Column("Left", lambda row: _who(row.left, row.left_names), CELL),
        Column("Commits paused", "pause_ms", DURATION),
    ), "None in this time.", "rebalances",
)  # fmt: skip
OF_GROUP = (
    PARTITIONS,
    MEMBERS,
    REBALANCES,
    ANOMALIES._replace(caption="Anomalies", none="None in this time."),
    EXPIRING._replace(caption="Expiring offsets"),
)
"""The lists of a group's page; their names are fields of :class:`kgroups.history.report.data.GroupPage`."""


LONGEST_TEXT = 1000
"""Maximum bytes of what blocks a group, and of a fix."""
ROOM = 110_000
"""Maximum bytes of the rows of the overview, without rows of groups."""


def sections(data: ReportData) -> dict[str, Html]:
    lists: dict[List, Kept[Any]] = {
        CONSUMERS: data.consumers, ANOMALIES: data.anomalies.rows, EXPIRING: data.expiring, STALE: data.stale,
        LOG: data.completeness.parts, BLOCKED: data.migrations.blocked,
    }  # fmt: skip
    rows = share([full_rows(listed, data, kept) for listed, kept in lists.items()], ROOM)
    made = {
        listed.name: table(listed, data, kept, some) for (listed, kept), some in zip(lists.items(), rows, strict=True)
    }
    groups = Kept(_judged(data, data.groups.rows.rows), data.groups.rows.total)
    expiring = (tag("h3", "Offsets that expire soon"), made["expiring"], _retention(data))
    return {
        "groups": join(_tallies(data), table(GROUPS, data, groups), by="\n"),
        "consumers": made["consumers"],
        "anomalies": made["anomalies"],
        "unused": join(*expiring, tag("h3", "Unused groups"), made["stale"], by="\n"),
        "completeness": _completeness(data, made["completeness"]),
        "migration": _migration(data, made["migration-rules"]),
    }


def _migration(data: ReportData, blocked: Html) -> Html:
    """Render the verdicts about migrations, with their source: history does not contain what decides."""
    found = data.migrations
    verdicts = tuple(each for each in found.verdicts if each.upgrade or each.rollback)
    counted = table(VERDICTS_OF_MIGRATION, data, Kept(verdicts, len(verdicts)))
    if found.written is None:
        how = join(
            "Whether brokers would convert a group (KIP-848) is unknown: history contains neither their settings nor "
            "the user data of assignments. To add the verdicts, write them to a file, and give it to this report: ",
            tag("code", f"{COMMAND} > FILE; kgroups history report --migration FILE"),
        )
        return join(tag("p", how), counted, by="\n")
    are = "is" if found.missing == 1 else "are"
    source = join(
        "The verdicts are not from history, but from the file ",
        tag("bdi", words.visible(found.file or "")),
        ", written at ",
        when(found.written),
        f" with {COMMAND}.",
        f" {words.count(found.missing, 'group')} of history {are} not in it, and unknown." if found.missing else "",
    )
    return join(tag("p", source), counted, blocked, by="\n")


def worst(data: ReportData) -> Html:
    """Render the groups in trouble for the first screen."""
    bad = wrong(data)[:WRONG_ROWS]
    made = table(WRONG, data, Kept(_judged(data, bad), len(bad)))
    more = in_trouble(data) - len(bad)
    rest = tag("p", tag("a", f"and {words.count(more, 'more group')}", href="#groups"), class_="left-out")
    return join(made, rest if more > 0 and bad else None, by="\n")


def _tallies(data: ReportData) -> Html | None:
    """Render the number of groups by status, worst first."""
    counts = Counter[str]()
    for each in data.groups.tallies:
        counts[each.status] += each.groups if each.use != "DELETED" else 0
    for row in data.groups.rows.rows:  # groups whose lag grows
        counts[row.status] -= 1
        counts[status(data, row)] += 1
    items = [
        tag("li", level(text).shown, " ", tag("b", words.exact(counts[text]))) for text in STATUSES if counts[text] > 0
    ]
    return tag("ul", *items, class_="tallies") if items else None


_RETENTION = {
    "brokers": "as read from a broker.",
    "rule": "as set by --rule retention.",
    "assumed": "assumed: the store does not contain the brokers' offsets.retention.minutes.",
}


def _retention(data: ReportData) -> Html | None:
    if data.retention is None:
        return None
    kept = words.duration(data.retention.ms)
    return tag("p", f"Retention time of offsets: {kept}, {_RETENTION[data.retention.source]}")


def _completeness(data: ReportData, listed: Html) -> Html:
    history = data.completeness
    if not history.parts.rows:
        return listed
    found = [each.text for each in completeness_findings(data)]
    sentences = found or [tag("b", "History is whole for all of this time.")]
    sentences.append(join(f"{words.count(history.records, 'record')} read."))
    if history.last_time:
        sentences.append(join("The last record is of ", when(history.last_time), "."))
    summary = f"All {words.count(history.parts.total, 'partition')} of __consumer_offsets"
    return join(tag("p", join(*sentences, by=" ")), tag("details", tag("summary", summary), "\n", listed), by="\n")
