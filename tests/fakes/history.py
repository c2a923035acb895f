"""A history of groups, written by hand: rows of the stored tables, in log order."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import pyarrow as pa

from kgroups.history.arrow import arrow_schema
from kgroups.history.engine import derive, open_tables
from kgroups.history.engine.duck import DuckDB
from kgroups.history.load.manifest import BATCH
from kgroups.history.load.store import Identity, Store
from kgroups.history.rules import Rules
from kgroups.history.tables import STORED
from kgroups.history.transform.definitions import BEGINNING, Span

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
Row = dict[str, Any]


def at(seconds: float) -> datetime:
    """So many seconds after noon."""
    return NOON + timedelta(seconds=seconds)


def hours(number: float) -> float:
    """In seconds."""
    return number * 3600


class History:
    """Each method writes one record, behind all those before it in its partition of the log; times are seconds after
    noon."""

    def __init__(self) -> None:
        self.rows: dict[str, list[Row]] = defaultdict(list)
        self._next: dict[int, int] = defaultdict(int)

    def next_offset(self, log_partition: int) -> int:
        return self._next[log_partition]

    def hole(self, offsets: int, log_partition: int = 0) -> None:
        """Compaction, or markers of transactions."""
        self._next[log_partition] += offsets

    def _write(self, table: str, group: str, seconds: float, log_partition: int, **columns: Any) -> Row:
        place = {"log_partition": log_partition, "log_offset": self._next[log_partition], "log_time": at(seconds)}
        self._next[log_partition] += 1
        row = {**place, "group": group, "tombstone": False, **columns}
        self.rows[table].append(row)
        return row

    def commit(
        self,
        group: str,
        seconds: float,
        offset: int | None,
        *,
        topic: str = "orders",
        partition: int = 0,
        committed: float | None = None,
        log_partition: int = 0,
        **columns: Any,
    ) -> None:
        """``committed`` is the coordinator's time, where it is another than the log's; without offset a tombstone."""
        time = at(seconds if committed is None else committed)
        said = {"commit_time": time, "metadata": "", "value_version": 4} if offset is not None else {"tombstone": True}
        said |= {"topic": topic, "partition": partition, "committed_offset": offset}
        self._write("commits", group, seconds, log_partition, **{**said, **columns})

    def undecoded(
        self, group: str, seconds: float, *, topic: str | None = "orders", partition: int = 0, log_partition: int = 0
    ) -> None:
        """A commit in a version of the value that is unknown; without topic, as earlier versions stored it."""
        place = {"topic": topic, "partition": None if topic is None else partition}
        said = {"record_type": 1, "record_name": "OffsetCommit", "value_version": 9, "reason": "version 9 is unknown"}
        self._write("undecoded", group, seconds, log_partition, **place, **said)

    def undecoded_group(self, group: str, seconds: float, record_type: int = 2, *, log_partition: int = 0) -> None:
        """A record of a group or a member, in a version of the value that is unknown."""
        said = {"record_type": record_type, "value_version": 9, "reason": "version 9 is unknown"}
        self._write("undecoded", group, seconds, log_partition, **said)

    def snapshot(
        self,
        group: str,
        seconds: float,
        generation: int | None,
        members: Iterable[str] = (),
        *,
        topics: Mapping[str, Sequence[str] | None] = {},
        client: str | Mapping[str, str] = "app",
        host: str | None = "/10.0.0.1",
        log_partition: int = 0,
        **columns: Any,
    ) -> None:
        """A classic group: members are ``id`` or ``id=instance``; without generation a tombstone.

        ``client``: the client ID of all members, or of each by member ID.
        """
        members = list(members)
        if generation is None:
            self._write("group_metadata", group, seconds, log_partition, tombstone=True)
            return
        said = {"generation": generation, "member_count": len(members), "protocol_type": "consumer"}
        said |= {"state_time": at(seconds)}
        if members:
            said |= {"protocol": "range", "leader": members[0].partition("=")[0]}
        written = self._write("group_metadata", group, seconds, log_partition, **{**said, **columns})
        place = {name: written[name] for name in ("log_partition", "log_offset", "log_time", "group", "tombstone")}
        for member in members:
            member_id, _, instance = member.partition("=")
            self.rows["members"].append(
                {
                    **place,
                    "kind": "classic",
                    "generation": generation,
                    "member_id": member_id,
                    "instance_id": instance or None,
                    "client_id": client if isinstance(client, str) else client[member_id],
                    "client_host": host,
                    "topics": None if (own := topics.get(member_id, ["orders"])) is None else list(own),
                }
            )

    def member(
        self,
        group: str,
        seconds: float,
        member: str,
        *,
        gone: bool = False,
        kind: str = "consumer",
        log_partition: int = 0,
        **columns: Any,
    ) -> None:
        """A member of a newer group, ``id`` or ``id=instance``."""
        member_id, _, instance = member.partition("=")
        said: Row = {"tombstone": True}
        if not gone:
            said = {"instance_id": instance or None, "client_id": "app", "client_host": "/10.0.0.1"}
            said |= {"topics": ["orders"]}
        self._write("members", group, seconds, log_partition, kind=kind, member_id=member_id, **{**said, **columns})

    def epoch(
        self,
        group: str,
        seconds: float,
        subject: str,
        epoch: int | None,
        state: str | None = None,
        *,
        kind: str = "consumer",
        log_partition: int = 0,
    ) -> None:
        """``subject`` is group, target, or a member's id; without epoch a tombstone."""
        member_id = None if subject in ("group", "target") else subject
        self._write(
            "epochs",
            group,
            seconds,
            log_partition,
            kind=kind,
            subject="member" if member_id else subject,
            member_id=member_id,
            epoch=epoch,
            state="stable" if member_id and epoch and state is None else state,
            tombstone=epoch is None,
        )

    def head(
        self, seconds: float, end: int | None, *, start: int | None = 0, topic: str = "orders", partition: int = 0
    ) -> None:
        self.rows["heads"].append(
            {
                "sampled_at": at(seconds),
                "topic": topic,
                "partition": partition,
                "log_start": start,
                "log_end": end,
                "error": "no leader" if end is None else None,
            }
        )

    def read(
        self, log_partition: int, offsets: tuple[int, int], records: int, times: tuple[float, float], **columns: Any
    ) -> None:
        """A range of the log was read; times are those of its first and last record."""
        first, last = times
        self.rows["coverage"].append(
            {
                "sampled_at": at(last),
                "log_partition": log_partition,
                "from_offset": offsets[0],
                "to_offset": offsets[1],
                "records": records,
                "first_time": at(first) if records else None,
                "last_time": at(last) if records else None,
                "last_stable_offset": offsets[1],
                "high_watermark": offsets[1],
                **columns,
            }
        )

    def sweep(
        self,
        seconds: float,
        group: str,
        commits: Mapping[tuple[str, int], int] | None = None,
        *,
        complete: bool = True,
        kind: str = "classic",
        state: str = "Stable",
        **columns: Any,
    ) -> None:
        """Add one group of a sweep; without commits it is one row without a topic."""
        base = {"swept_at": at(seconds), "complete": complete, "group": group, "kind": kind, "state": state, **columns}
        rows = [
            {**base, "topic": topic, "partition": partition, "committed_offset": offset}
            for (topic, partition), offset in (commits or {}).items()
        ]
        self.rows["baseline"] += rows or [base]

    def swept(self, seconds: float, *, complete: bool = True, retention: float | None = None) -> None:
        """Add the summary of a sweep. Retention time of offsets in seconds."""
        known = None if retention is None else round(retention * 1000)
        reason = "not authorized" if retention is None else None
        self.rows["sweeps"].append(
            {"swept_at": at(seconds), "complete": complete, "offsets_retention_ms": known, "reason": reason}
        )

    def arrow(self) -> dict[str, pa.Table]:
        """Every stored table, whether anything was written into it or not."""
        return {
            table.name: pa.Table.from_pylist(self.rows.get(table.name, []), schema=arrow_schema(table))
            for table in STORED
        }

    def stored_in(self, location: object, cluster: str) -> Store:
        """Write every stored table into a store, as its only batch of a cluster; return the store."""
        store = Store(str(location))
        store.create(Identity(cluster, "__consumer_offsets", "2026-03-01"))
        rows = self.arrow()
        store.add(BATCH, {table: rows[table.name] for table in STORED})
        return store


def three_commits() -> History:
    """Group ``orders`` commits offsets 100 to 102, one each second."""
    history = History()
    for second in range(3):
        history.commit("orders", second, 100 + second)
    return history


def hide(history: History, chance: random.Random) -> None:
    """Let some commits be of a version that is unknown."""
    commits = history.rows.pop("commits")
    for row in commits:
        is_hidden = row["committed_offset"] is not None and chance.random() < 0.1
        history.rows["undecoded" if is_hidden else "commits"].append(hidden(row) if is_hidden else row)


GROUP_RECORDS = {"group_metadata": 2, "members": 5, "epochs": 3}
"""Table -> a type of its records."""


def hide_groups(history: History, chance: random.Random, share: float = 0.1) -> None:
    """Let some records of groups and members be of a version that is unknown; tombstones have no version."""
    rows = {table: history.rows.pop(table) for table in GROUP_RECORDS}
    written = {(row["log_partition"], row["log_offset"]): row for each in rows.values() for row in each}
    names = {place for place, row in written.items() if not row["tombstone"] and chance.random() < share}
    for table, each in rows.items():
        history.rows[table] = [row for row in each if (row["log_partition"], row["log_offset"]) not in names]
        for row in each if table != "members" else [row for row in each if row["kind"] != "classic"]:
            if (row["log_partition"], row["log_offset"]) in names:
                place = {name: row[name] for name in ("log_partition", "log_offset", "log_time", "group")}
                said = {"tombstone": False, "record_type": GROUP_RECORDS[table], "reason": "version 9 is unknown"}
                history.rows["undecoded"].append(place | said)


def hidden(commit: Row) -> Row:
    """Return the row of a commit that cannot be decoded."""
    kept = {name: commit[name] for name in ("log_partition", "log_offset", "log_time", "group", "topic", "partition")}
    return kept | {"tombstone": False, "record_type": 1, "value_version": 9, "reason": "value: version 9 is unknown"}


SPAN = Span(at(0), at(600))
RULES = Rules(samples=5, storm=4, storm_window=timedelta(minutes=2), flap_window=timedelta(minutes=2))


def derived_in(
    engine: DuckDB, history: History, names: Iterable[str], span: Span, rules: Rules
) -> Callable[[str], list[Row]]:
    """Load a history, and define derived tables; return a function that returns the sorted rows of one."""
    for table, rows in history.arrow().items():
        engine.load_arrow(next(each for each in STORED if each.name == table), rows)
    derive(engine, names, span, rules)
    return cache(lambda name: ordered(engine.fetch(f"select * from {name}").to_pylist()))


def ordered(rows: list[Row]) -> list[Row]:
    """By their columns, from left to right, null first."""
    return sorted(rows, key=lambda row: [(value is not None, value) for value in row.values()])


def rows_of(store: Store, table: str, until: datetime | None = None) -> list[Row]:
    """Return the rows of a stored or derived table of a store, until a minute from now by default."""
    span = Span(BEGINNING, until or datetime.now(UTC) + timedelta(minutes=1))
    with DuckDB() as engine:
        open_tables(engine, store, [table], span, Rules())
        rows: list[Row] = engine.fetch(f"select * from {table}").to_pylist()
        return rows
