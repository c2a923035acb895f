"""Open the tables of a store, and say how old they are, and what is unknown in them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import pyarrow as pa

from kgroups.model.counts import count
from kgroups.model.lag import waiting_remark
from kgroups.model.placement import OFFSETS_TOPIC
from kgroups.model.time_lag import OLDEST

from ..engine import Engine, open_tables
from ..load.manifest import BATCH, Snapshot
from ..load.store import Store
from ..rules import Rules
from ..tables import COVERAGE, HEADS, SWEEPS, Table
from ..transform.definitions import BEGINNING, DERIVED, Span
from .values import plain, rows_of

UNKNOWN_AGE = "the age of the store is unknown: it has no batch of collect, and no sample of log ends"

MAX_STALLS = 5
"""Maximum number of partitions that are named."""

ASSUMED_RETENTION = (
    "expiring: offsets.retention.minutes of the brokers is unknown; 7 days are assumed. Collect with the ACL "
    "DESCRIBE_CONFIGS on the cluster, or set --rule retention=TIME"
)


class Known(NamedTuple):
    """How old tables are, and what is unknown in them; ``incomplete``: the notices about rows that are missing."""

    notices: list[str]
    incomplete: list[str]


def open_known(
    engine: Engine,
    store: Store,
    names: Collection[str],
    span: Span,
    rules: Rules,
    records: int | None = None,
    *,
    is_until_chosen: bool,
) -> Known:
    """Define tables; return how old they are, and what is unknown in them."""
    of_log = set(names) - _NOT_OF_LOG
    is_derived = not DERIVED.keys().isdisjoint(names)
    needed = [
        *names,
        *(["stalls", "read_logs"] if of_log else []),
        *(["undecoded_commits", "undecoded_groups"] if is_derived else []),
        *(["retention"] if "expiring" in names else []),
    ]
    snapshot = open_tables(engine, store, needed, span, rules, records)
    known = Known([age_of(snapshot)], [])
    if "expiring" in names and engine.fetch("select retention_source from retention")[0][0].as_py() == "assumed":
        known.notices.append(ASSUMED_RETENTION)
    if outside := span_remark(snapshot, span):
        known.notices.append(outside)
        known.incomplete.append(outside)
    unread: list[str] = []
    if of_log:
        stalls = rows_of(engine.fetch("select log_partition, hung, unread_since from stalls order by log_partition"))
        unread += _some(_stall(*row) for row in stalls)
    if of_log and not outside:
        until = span.until - rules.stale_after
        read = _read_until(engine)
        every = max(read.values(), default=until)
        if every < until:
            known.notices.append(f"the log was read until {plain(every)}: what happened since then is unknown")
            known.incomplete.extend(known.notices[-1:] if is_until_chosen and of_log - SHOW_UNKNOWN else [])
        else:
            whole = read.pop(None, every if None in read else BEGINNING)
            waiting = {row[0] for row in stalls}
            unread += _some(
                f"{OFFSETS_TOPIC}-{partition} was read until {plain(time)}: its groups are unknown since then"
                for partition, time in read.items()
                if max(time, whole) < until and partition not in waiting
            )
    known.notices.extend(unread)
    known.incomplete.extend(unread if of_log - SHOW_UNKNOWN else [])
    undecoded = _undecoded_commits(engine) if is_derived else []
    known.notices.extend(undecoded)
    known.incomplete.extend(undecoded if _OMIT_UNDECODED.intersection(names) else [])
    undecoded = _undecoded_groups(engine) if is_derived and not _OF_COMMITS.issuperset(names) else []
    known.notices.extend(undecoded)
    known.incomplete.extend(undecoded if not _OF_COMMITS.union({"group_states", "stale"}).issuperset(names) else [])
    return known


_OMIT_UNDECODED = frozenset({"expiring", "commit_rate"})
"""Tables that have no rows of commits that cannot be decoded."""


_OF_COMMITS = frozenset({"latest_offsets", "commit_rate", "lag", "verdicts", "completeness"})
"""Derived tables that do not depend on the records of groups and their members."""


def _undecoded_commits(engine: Engine) -> list[str]:
    """Return a notice if there are commits that this version cannot decode."""
    (found,) = engine.fetch(
        """select count(*) as commits, count(topic) as placed,
            min(concat(`group`, ', ', topic, '-', partition)) as first
        from undecoded_commits"""
    ).to_pylist()
    if not found["commits"]:
        return []
    if found["placed"] < found["commits"]:
        old = count(found["commits"] - found["placed"], "commit")
        return [
            f"{old} could not be decoded by an earlier version, and offsets may be older than shown: kgroups history "
            "upgrade decodes their records again"
        ]
    where = f"table undecoded has {count(found['commits'], 'commit')}, such as of group {found['first']}"
    return [f"this version cannot decode some commits; offsets are unknown from them to the next commit: {where}"]


def _undecoded_groups(engine: Engine) -> list[str]:
    """Return a notice if there are records of groups that this version cannot decode."""
    query = "select count(*) as records, min(`group`) as first from undecoded_groups"
    (found,) = engine.fetch(query).to_pylist()
    if not found["records"]:
        return []
    where = f"table undecoded has {count(found['records'], 'record')}, such as of group {found['first']}"
    return [f"this version cannot decode some records of groups; states and members are unknown from them on: {where}"]


def _read_until(engine: Engine) -> dict[int | None, datetime]:
    """Return until when each partition of the log was read; ``None``: all of them."""
    found = engine.fetch("select log_partition, read_until from read_logs order by log_partition")
    micros = found["read_until"].cast(pa.int64()).to_pylist()  # for datetimes, Arrow imports pandas
    times = (BEGINNING + timedelta(microseconds=each) for each in micros)
    return dict(zip(found["log_partition"].to_pylist(), times, strict=True))


def _some(notices: Iterable[str]) -> list[str]:
    """Return the first notices about partitions, and how many others there are."""
    found = list(notices)
    more = count(len(found) - MAX_STALLS, "further partition")
    return found[:MAX_STALLS] + ([f"{more} of {OFFSETS_TOPIC} likewise"] if len(found) > MAX_STALLS else [])


def span_remark(snapshot: Snapshot, span: Span) -> str | None:
    """Return what is said about a time span of which the store has nothing."""
    first, end = beginning_of(snapshot), end_of(snapshot)
    if first is None or end is None or (span.since <= end and span.until > first):
        return None
    place = "begins after the last data" if span.since > end else "ends before the first data"
    return (
        f"the time span {place}: what happened in it is unknown; the store has the time from {plain(first)} to "
        f"{plain(end)}"
    )


_NOT_OF_LOG = frozenset({"heads", "coverage", "baseline", "sweeps", "share_states", "share_coverage"})
"""Tables that do not depend on how far __consumer_offsets was read."""

SHOW_UNKNOWN = frozenset({"latest_offsets", "group_states", "memberships", "lag", "verdicts", "stale", "completeness"})
"""Tables whose rows show what is unknown about a group; in others, rows are missing."""


def age_of(snapshot: Snapshot) -> str:
    """Return how old the store is: an answer contains nothing later."""
    collected = max((entry.committed_at for entry in snapshot.entries.values() if entry.kind == BATCH), default="")
    read, sampled = _last(snapshot, COVERAGE), _last(snapshot, HEADS)
    if read and not collected:  # the batches are merged
        collected = str(plain(read))
    parts = [f"last batch {collected.replace('+00:00', 'Z')}"] if collected else []
    if sampled:
        parts.append(f"last sample of log ends {plain(sampled)}")
    return f"the store's {', '.join(parts)}" if parts else UNKNOWN_AGE


def beginning_of(snapshot: Snapshot) -> datetime | None:
    """Return the time of the first data of a store; without times in 1970, which are wrong."""
    firsts = (file.first for file in snapshot.all_files() if file.first is not None and file.first >= OLDEST * 1000)
    first = min(firsts, default=None)
    return None if first is None else BEGINNING + timedelta(microseconds=first)


def end_of(snapshot: Snapshot) -> datetime | None:
    """Return the time of the last data of a store: what happened later is unknown. ``None``: it has no data."""
    return max((time for table in (COVERAGE, HEADS, SWEEPS) if (time := _last(snapshot, table))), default=None)


def _last(snapshot: Snapshot, table: Table) -> datetime | None:
    last = max((file.last for file in snapshot.files(table) if file.last is not None), default=None)
    return None if last is None else BEGINNING + timedelta(microseconds=last)


def _stall(log_partition: Any, hung: Any, unread_since: object) -> str:
    since = f"; its groups are unknown since {unread_since}" if unread_since else ""
    return f"{OFFSETS_TOPIC}-{log_partition}: {waiting_remark(hung)}{since}"
