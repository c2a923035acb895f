"""Random groups of every type, what they did, and the log that a collector reads of it.

A model of the group protocol, as plain Python: each action changes the truth, and writes the records that a coordinator
writes. Then the log is damaged as Kafka does it: compaction, aborted transactions, and a transaction that hangs.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pyarrow as pa

from kgroups.history.arrow import arrow_schema
from kgroups.history.extract.holes import HoleCounter
from kgroups.history.extract.ranges import Range
from kgroups.history.tables import RECORDS
from tests.fakes.history import History, Row, at

START, END = -200, 600
"""Seconds of the log; the end is that of the span, too."""
SAMPLES = range(0, END, 60)
TOPIC_PARTITIONS = 3
WHOLE, COMPACTED, ABORTED, HUNG = "whole", "compacted", "aborted", "hung"
DAMAGES = (WHOLE, COMPACTED, ABORTED, HUNG)
SIMPLE, CLASSIC, CONSUMER, SHARE, STREAMS = "simple", "classic", "consumer", "share", "streams"
LOG_TABLES = ("commits", "group_metadata", "members", "epochs")
TYPES = (SIMPLE, CLASSIC, CONSUMER, SHARE, STREAMS)
SETTLES = 0.25
"""Seconds from an epoch of a newer group until all its members have it."""


class Stay(NamedTuple):
    member: str
    since: float
    until: float | None


class Round(NamedTuple):
    time: float
    generation: int
    joined: frozenset[str]
    left: frozenset[str]


@dataclass
class Group:
    """The truth about one group."""

    name: str
    type: str
    log: int
    commits: list[tuple[float, int, int | None]] = field(default_factory=list)
    """Time, partition, and offset; ``None``: deleted."""
    members: dict[str, float] = field(default_factory=dict)
    """Member -> when it joined. A static member is ``id=instance``."""
    stays: list[Stay] = field(default_factory=list)
    rounds: list[Round] = field(default_factory=list)
    states: list[tuple[float, str]] = field(default_factory=list)
    events: list[float] = field(default_factory=list)
    identities: dict[str, str] = field(default_factory=dict)
    """Member ID -> instance ID, or the same for a dynamic member."""
    generation: int = 0
    exists: bool = False
    by_commit: bool = False
    """Whether a commit created it after its deletion, and it has had no members since."""

    @property
    def topic(self) -> str:
        return f"topic-{self.log}"

    def offsets(self, until: float = END) -> dict[int, int]:
        """Return the committed offsets at a time."""
        last = {partition: offset for time, partition, offset in self.commits if time < until}
        return {partition: offset for partition, offset in last.items() if offset is not None}

    def enter(self, time: float, state: str) -> None:
        if not self.states or self.states[-1][1] != state:
            self.states.append((time, state))


def log_end(second: float) -> int:
    """Return the log end offset of every partition that the groups read."""
    return 1000 + round(2 * (second - START))


class Log(NamedTuple):
    """A partition of ``__consumer_offsets``, and what happened to it."""

    number: int
    damage: str
    cleaned_to: int
    """Offset up to which it was compacted."""
    stable: int
    """Last stable offset."""
    hung_at: float | None


class RandomGroups:
    """Logs with groups of their own."""

    def __init__(self, seed: int, logs: int, groups: int, actions: int) -> None:
        self._random = random.Random(seed)
        self.history = History()
        self.groups: list[Group] = []
        self.logs = [self._simulate(number, DAMAGES[number % len(DAMAGES)], groups, actions) for number in range(logs)]
        for log in self.logs:
            self._cover(log)
            for second in SAMPLES:
                for partition in range(TOPIC_PARTITIONS):
                    self.history.head(second, log_end(second), topic=f"topic-{log.number}", partition=partition)

    # The life of the groups of one log.

    def _simulate(self, number: int, damage: str, groups: int, actions: int) -> Log:
        own = [Group(f"g-{number}-{each}", TYPES[each % len(TYPES)], number) for each in range(groups)]
        self.groups += own
        times = sorted(self._random.sample(range(1, (END - START) * 2), actions))
        damaged_at = self._random.randrange(actions // 4, 3 * actions // 4)
        cleaned_to, stable, hung_at = 0, None, None
        for index, half in enumerate(times):
            time = START + half / 2 + 0.125  # at no sample, and everything that it causes is over before the next
            if index == damaged_at and damage == COMPACTED:
                cleaned_to = self.history.next_offset(number)
            if index == damaged_at and damage == HUNG:
                stable, hung_at = self.history.next_offset(number), time
                self.history.hole(1, number)
            if damage in (ABORTED, COMPACTED) and self._random.random() < 0.3:
                self.history.hole(self._random.randrange(1, 9), number)
            self._act(self._random.choice(own), time)
        end = self.history.next_offset(number)
        log = Log(number, damage, cleaned_to, end if stable is None else stable, hung_at)
        self._damage(log)
        return log

    def _act(self, group: Group, time: float) -> None:
        choices: list[str] = []
        if group.type != SHARE:
            choices += ["commit"] * 4
            if group.offsets():
                choices += ["delete offset"]
        if group.type != SIMPLE:
            choices += ["join"] * 2 if len(group.members) < 4 else []
            choices += ["leave"] * 2 if group.members else []
            choices += ["restart"] if group.type == CLASSIC and any("=" in each for each in group.members) else []
            choices += ["delete group"] if group.exists and not group.members else []
        action = self._random.choice(choices)
        getattr(self, f"_{action.replace(' ', '_')}")(group, time)

    def _commit(self, group: Group, time: float) -> None:
        partition = self._random.randrange(TOPIC_PARTITIONS)
        offset = max(0, log_end(time) - self._random.choice((0, 0, 5, 50, 400)))
        self._write_commit(group, time, partition, offset)

    def _delete_offset(self, group: Group, time: float) -> None:
        self._write_commit(group, time, self._random.choice(sorted(group.offsets())), None)

    def _write_commit(self, group: Group, time: float, partition: int, offset: int | None) -> None:
        group.commits.append((time, partition, offset))
        self.history.commit(group.name, time, offset, topic=group.topic, partition=partition, log_partition=group.log)
        if offset is not None and group.states and not group.exists:
            group.exists = group.by_commit = True
            group.enter(time, "Empty")
        elif group.by_commit and not group.offsets():
            group.exists = group.by_commit = False
            group.enter(time, "Dead")

    def _join(self, group: Group, time: float) -> None:
        static = group.type == CLASSIC and self._random.random() < 0.3
        new = f"{group.name}-m{len(group.stays) + len(group.members)}"
        new += f"={new}-i" if static else ""
        self._rebalance(group, time, joined=(new,))

    def _leave(self, group: Group, time: float) -> None:
        self._rebalance(group, time, left=(self._random.choice(sorted(group.members)),))

    def _restart(self, group: Group, time: float) -> None:
        """A static member returns with another member ID, without a rebalance."""
        old = self._random.choice(sorted(each for each in group.members if "=" in each))
        new = f"{group.name}-m{len(group.stays) + len(group.members)}={old.partition('=')[2]}"
        self._replace_members(group, time, (new,), (old,))
        self._snapshot(group, time)

    def _rebalance(self, group: Group, time: float, joined: tuple[str, ...] = (), left: tuple[str, ...] = ()) -> None:
        self._replace_members(group, time, joined, left)
        group.generation += 1
        group.exists, group.by_commit = True, False
        ids = [frozenset(group.identities[each.partition("=")[0]] for each in names) for names in (joined, left)]
        group.rounds.append(Round(time, group.generation, *ids))
        if group.type == CLASSIC:
            self._snapshot(group, time)
            group.enter(time, "Stable" if group.members else "Empty")
        else:
            self._reconcile(group, time, joined, left)

    def _replace_members(self, group: Group, time: float, joined: tuple[str, ...], left: tuple[str, ...]) -> None:
        for each in left:
            group.stays.append(Stay(each.partition("=")[0], group.members.pop(each), time))
        for each in joined:
            member_id, _, instance = each.partition("=")
            group.identities[member_id] = instance or member_id
            group.members[each] = time

    def _snapshot(self, group: Group, time: float) -> None:
        group.events.append(time)
        self.history.snapshot(group.name, time, group.generation, sorted(group.members), log_partition=group.log)

    def _reconcile(self, group: Group, time: float, joined: tuple[str, ...], left: tuple[str, ...]) -> None:
        where: dict[str, Any] = {"kind": group.type, "log_partition": group.log}
        for each in joined:
            self.history.member(group.name, time, each, **where)
        for each in left:
            self.history.epoch(group.name, time, each, None, **where)
            self.history.member(group.name, time, each, gone=True, **where)
        self.history.epoch(group.name, time, "group", group.generation, **where)
        settled = time + SETTLES
        self.history.epoch(group.name, settled, "target", group.generation, **where)
        for each in sorted(group.members):
            self.history.epoch(group.name, settled, each, group.generation, **where)
        group.events += [time, settled]
        group.enter(time, "Reconciling" if group.members else "Empty")
        if group.members:
            group.enter(settled, "Stable")

    def _delete_group(self, group: Group, time: float) -> None:
        is_classic = group.type == CLASSIC or group.by_commit
        for partition in sorted(group.offsets()):
            self._write_commit(group, time, partition, None)
        if is_classic:
            self.history.snapshot(group.name, time, None, log_partition=group.log)
        else:
            where: dict[str, Any] = {"kind": group.type, "log_partition": group.log}
            self.history.epoch(group.name, time, "target", None, **where)
            self.history.epoch(group.name, time, "group", None, **where)
        group.events.append(time)
        group.enter(time, "Dead")
        group.generation, group.exists, group.by_commit = 0, False, False

    # What is left of the log, and how it was read.

    def _damage(self, log: Log) -> None:
        """Delete what compaction deletes, and what cannot be read."""
        cleaned = sorted(
            (row["log_offset"], repr(key), key) for key, row in self._records(log) if row["log_offset"] < log.cleaned_to
        )
        last = {key: offset for offset, _, key in cleaned}
        kept = {id(row) for key, row in self._records(log) if last.get(key, row["log_offset"]) <= row["log_offset"]}
        for table in LOG_TABLES:
            self.history.rows[table] = [
                row
                for row in self.history.rows[table]
                if row["log_partition"] != log.number or (row["log_offset"] < log.stable and id(row) in kept)
            ]

    def _cover(self, log: Log) -> None:
        """Read the log in two parts, by the reader's own code."""
        places = sorted({row["log_offset"]: (key, row) for key, row in self._records(log)}.items())
        middle = log.stable // 2
        end = self.history.next_offset(log.number)
        for start, stop in ((0, middle), (middle, log.stable)):
            chosen = [(offset, key, row) for offset, (key, row) in places if start <= offset < stop]
            counter = HoleCounter([Range(log.number, start, stop)])
            columns = [
                {
                    "log_partition": log.number,
                    "log_offset": offset,
                    "log_time": row["log_time"],
                    "key": repr(key).encode(),
                }
                for offset, key, row in chosen
            ]
            if columns:
                counter.add(pa.RecordBatch.from_pylist(columns, schema=arrow_schema(RECORDS)))
            cleaned = log.cleaned_to
            found = counter.compacted(
                lambda asked, cleaned=cleaned: {
                    at: max((index for index, hole in enumerate(holes) if hole[0] < cleaned), default=None)
                    for at, holes in asked.items()
                }
            )[log.number]
            since = None if found.whole_since is None else at(0).fromtimestamp(found.whole_since / 1e6, at(0).tzinfo)
            times = [row["log_time"] for _, _, row in chosen] or [None]
            self.history.rows["coverage"].append(
                {
                    "sampled_at": at(END), "log_partition": log.number, "from_offset": start, "to_offset": stop,
                    "records": len(chosen), "first_time": times[0], "last_time": times[-1],
                    "last_stable_offset": log.stable, "high_watermark": end,
                    **found._asdict(), "whole_since": since,
                    "unread_since": None if log.hung_at is None else at(log.hung_at),
                }
            )  # fmt: skip

    def _records(self, log: Log) -> Iterator[tuple[object, Row]]:
        for table in LOG_TABLES:
            for row in self.history.rows[table]:
                if row["log_partition"] == log.number:
                    yield key_of(table, row), row

    def by_damage(self) -> dict[str, list[Group]]:
        found: dict[str, list[Group]] = defaultdict(list)
        for group in self.groups:
            found[self.logs[group.log].damage].append(group)
        return found


def key_of(table: str, row: Row) -> object:
    """Return the key of the record that a row is of. The members of a classic group are in the record of the group."""
    if table == "commits":
        return table, row["group"], row["partition"]
    if table == "group_metadata" or row["kind"] == CLASSIC:
        return "group_metadata", row["group"]
    return table, row["group"], row.get("subject"), row["member_id"]
