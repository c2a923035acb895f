"""One group and its topics, half a second at a time. The world knows what is true; kgroups sees only its answers."""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Mapping
from typing import NamedTuple

from kgroups.model.assignment import Subscription, assignment_of
from kgroups.model.cluster import Node
from kgroups.model.groups import Group, GroupType, Member
from kgroups.model.offsets import Commit, GroupCommits, LogOffsets, Logs
from kgroups.model.operations.committing import CommitMade
from kgroups.model.rates import Place
from kgroups.model.stays import Presence, Stay
from kgroups.model.time_lag import FirstUnread
from kgroups.model.views.offset_row import GroupOffsets

TICK = 500
"""Milliseconds."""
BEGAN = 1_800_000_000_000
NODE = Node(1, "broker", 9092)
SESSION = 10_000
REBALANCE = 1_500
KEPT = 300
"""Ticks of which the truth is kept."""


class Batch(NamedTuple):
    """Entries of a log; ``readable``: records, unlike transaction markers and aborted records."""

    base: int
    size: int
    appended: int
    stamp: int
    readable: bool
    marker: bool = False


class Log:
    """One partition of one topic that exists."""

    def __init__(self, random_: random.Random, clocks: tuple[int, ...]) -> None:
        self._random = random_
        self.batches: list[Batch] = []
        self.start = self.end = self.produced = 0
        self.rate = random_.choice((0.0, 3.0, 40.0, 400.0))
        self.clocks = clocks
        self.open_at: int | None = None
        """The first offset of the open transaction."""
        self.down = False
        self.blocked = 0
        self.events: list[tuple[str, int, int]] = []
        """What happened to it: ``append``, ``open``, ``commit``, ``abort``, ``trim``; a number; the record's time."""

    @property
    def stable(self) -> int:
        return self.end if self.open_at is None else self.open_at

    def append(self, now: int, size: int, *, readable: bool = True, event: str = "append") -> None:
        if size:
            stamp = now + self._random.choice(self.clocks)
            self.events.append((event, size, stamp - now))
            self.batches.append(Batch(self.end, size, now, stamp, readable, not readable))
            self.end += size
            self.produced += size

    def step(self, now: int) -> None:
        draw = self._random.random()
        if draw < 0.02:
            self.rate = self._random.choice((0.0, 0.0, 3.0, 40.0, 400.0))
        elif draw < 0.025:
            self.append(now, self._random.randrange(1, 5_000))
        self.append(now, int(self.rate * TICK / 1000 * self._random.uniform(0.5, 1.5)))
        opened = None
        if self.open_at is None and draw > 0.99:
            self.open_at = opened = self.end
            self.append(now, self._random.randrange(1, 50), event="open")
        if self.open_at is not None:
            self.blocked = now
        if self.open_at not in (None, opened) and draw > 0.95:
            aborted = draw > 0.975
            if aborted:
                self.batches = [
                    each._replace(readable=False) if each.base == self.open_at else each for each in self.batches
                ]
            self.open_at = None
            self.append(now, 1, readable=False, event="abort" if aborted else "commit")
        if self._random.random() < 0.002:
            self.start = self._random.randrange(self.start, self.end + 1)
            self.events.append(("trim", self.start, 0))
            self.batches = [each for each in self.batches if each.base + each.size > self.start]
        self.down = self._random.random() < (0.8 if self.down else 0.002)

    def first_readable(self, offset: int, *, uncommitted: bool = False) -> FirstUnread:
        """Return the next record for a consumer with ``read_committed``, or ``read_uncommitted``."""
        end = self.end if uncommitted else self.stable
        at = max(0, bisect_right(self.batches, offset, key=lambda each: each.base) - 1)
        for batch in self.batches[at:]:
            first = max(batch.base, offset, self.start)
            is_received = not batch.marker if uncommitted else batch.readable
            if is_received and first < min(batch.base + batch.size, end):
                return FirstUnread(first, batch.stamp)
        return FirstUnread()

    def unread(self, offset: int) -> int:
        """Return how many records a consumer with ``read_committed`` would still read."""
        at = max(0, bisect_right(self.batches, offset, key=lambda each: each.base) - 1)
        return sum(
            max(0, min(each.base + each.size, self.stable) - max(each.base, offset, self.start))
            for each in self.batches[at:]
            if each.readable
        )

    def appended(self, offset: int) -> int | None:
        """Return when the entry at an offset was appended."""
        at = bisect_right(self.batches, offset, key=lambda each: each.base) - 1
        return self.batches[at].appended if at >= 0 and offset < self.end else None


class Reader:
    """A member of the group, or a client that is none and uses ``assign()``."""

    def __init__(self, name: str, random_: random.Random, topic: str) -> None:
        self.name, self.topic = name, topic
        self.speed = random_.choice((20.0, 80.0, 300.0, 1_500.0))
        self.every = random_.choice((500, 1_000, 5_000, 5_000, 5_000, 12_000))
        self.positions: dict[Place, int] = {}
        self.committed_at = self.began = 0
        self.hangs = False
        self.gone_at: int | None = None


class Event(NamedTuple):
    """What somebody did, in order, so that real clients can repeat it; records are in :attr:`Log.events`.

    ``create`` (with the commits that are there again), ``partition``: ``topic``, ``logs``. ``join``, ``leave``,
    ``move``: ``name``, ``topic``. ``commit``: ``name`` (a member, ``outsider``, or ``operator``), ``offsets``.
    ``pending``, ``applied``, ``dropped``: ``offsets`` of a transaction.
    """

    kind: str
    name: str = ""
    topic: str = ""
    logs: Mapping[int, Log] = {}
    offsets: Mapping[Place, int] = {}


class Truth(NamedTuple):
    """What is true about a partition at one moment.

    ``backlog``: the entries after the position of its reader, or after the committed offset. ``consumed`` and
    ``produced``: by members and producers since the beginning. ``life``: which topic of this name it is. ``moves``: how
    often anything but a member changed the committed offset, or unread records were deleted.
    """

    now: int
    backlog: int
    consumed: int
    produced: int
    life: int
    moves: int
    read: bool
    advanced_at: int
    committed: int | None
    changed_at: int
    end: int
    unread: int
    appended: int | None
    blocked: int
    """The last open transaction ended, or still is open, at this time."""


class World:
    """The group ``g``, its topics, and an operator."""

    def __init__(self, seed: int, *, real: bool = False) -> None:
        self.random = draw = random.Random(seed)
        self.now = BEGAN
        self.real = real
        """Whether only what clients of one real broker can repeat happens."""
        self.events: list[Event] = []
        self.names = 0
        self.clocks = draw.choice(((0,), (0,), (0, -40), (-3_600_000,), (3_600_000,), (0, 3_600_000)))
        self.ids = 0
        self.topics: dict[str, dict[int, Log]] = {}
        self.topic_ids: dict[str, int] = {}
        self.lives: dict[str, int] = {}
        for topic in ("t", "u")[: draw.choice((1, 1, 2))]:
            self._create(topic, draw.randrange(1, 4))
        self.hidden = frozenset({"u"} if "u" in self.topics and not real and draw.random() < 0.2 else ())
        """The topics that ACLs hide."""
        self.pending: dict[Place, int] = {}
        """The offsets of the group in an open transaction."""
        self.pending_since = 0
        self.members: dict[str, Reader] = {}
        self.outsider: Reader | None = None
        self.resets = 0
        self.had_outsider = False
        self.committed: dict[Place, int] = {}
        self.commits: dict[Place, list[CommitMade]] = {}
        self.changes: list[int] = []
        self.left: list[int] = []
        self.stays: dict[str, Stay] = {}
        self.settled = self.now
        self.state = "Empty"
        self.owners: dict[Place, str] = {}
        self.consumed: dict[Place, int] = {}
        self.moves: dict[Place, int] = {}
        self.written: dict[Place, int] = {}
        """What was written to earlier topics of these names."""
        self.advanced: dict[Place, int] = {}
        self.changed: dict[Place, int] = {}
        self.kept: list[dict[Place, Truth]] = []
        self.lost_at = -(10**9)
        """When unread records were deleted the last time: consumers continue elsewhere then."""
        self.unreadable = not real and draw.random() < 0.1
        """Whether ``__consumer_offsets`` cannot be read."""
        self.calm = draw.random() < 0.3 and not real
        """Whether only producers and members act: evidence suffices."""
        for _ in range(draw.choice((0, 1, 1, 2, 3))):
            self._join()

    def _create(self, topic: str, partitions: int) -> None:
        self.ids += 1
        self.topic_ids[topic] = self.ids
        self.lives[topic] = self.lives.get(topic, 0) + 1
        self.topics[topic] = {number: Log(self.random, self.clocks) for number in range(partitions)}
        self.events.append(Event("create", topic=topic, logs=dict(self.topics[topic])))

    def size(self, place: Place) -> int:
        log = self.topics[place[0]][place[1]]
        return log.end - log.start

    def log(self, place: Place) -> Log | None:
        return self.topics.get(place[0], {}).get(place[1])

    @property
    def age(self) -> int:
        return self.now - BEGAN

    @property
    def suffices(self) -> bool:
        """Whether the evidence suffices for each verdict: only producers and members have acted, for a while."""
        used = [
            (topic, number) for topic in {each.topic for each in self.members.values()} for number in self.topics[topic]
        ]
        down = any(log.down for logs in self.topics.values() for log in logs.values())
        committed = all(place in self.committed for place in used)
        return (
            self.calm
            and max(self.clocks) < 1_000
            and bool(self.members)
            and committed
            and not down
            and not self.hidden
            and not self.unreadable
            and self.now >= max(BEGAN, self.lost_at) + 90_000
        )

    # Members

    def _join(self) -> None:
        self.names += 1
        member = Reader(f"m-{self.names}", self.random, self.random.choice(list(self.topics)))
        self.members[member.name] = member
        self.stays[member.name] = Stay(member.name, Presence(None, "client/host"), self.now)
        self.events.append(Event("join", member.name, member.topic))
        self._rebalance()

    def _rebalance(self) -> None:
        for member in self.members.values():
            if member.gone_at is None and not member.hangs:
                self._commit(member)
            member.positions = {}
        self.owners = {}
        self.changes.append(self.now)
        self.resets = 0
        self.settled = self.now + REBALANCE
        self.state = "PreparingRebalance" if self.members else "Empty"

    def _leave(self, member: Reader) -> None:
        if not member.hangs:
            self._commit(member)
        del self.members[member.name]
        self.events.append(Event("leave", member.name))
        self.left.append(self.now)
        self.stays[member.name] = self.stays[member.name]._replace(until=self.now)
        self._rebalance()

    def _assign(self) -> None:
        self.state = "Stable"
        self.changes.append(self.now)
        for topic, logs in self.topics.items():
            subscribed = sorted(name for name, each in self.members.items() if each.topic == topic)
            for number in logs if subscribed else ():
                place = topic, number
                self.owners[place] = owner = subscribed[number % len(subscribed)]
                self.members[owner].positions[place] = self._first(place)

    def _first(self, place: Place) -> int:
        log = self.topics[place[0]][place[1]]
        at = self.committed.get(place)
        return at if at is not None and log.start <= at <= log.end else log.start

    def _read(self, reader: Reader) -> None:
        for place in list(reader.positions):
            log = self.log(place)
            if log is None:
                del reader.positions[place]
                continue
            at = reader.positions[place]
            if not log.start <= at <= log.end:
                at = log.start
                self._moved(place)
            to = min(log.stable, at + int(reader.speed * TICK / 1000)) if not log.down else at
            if to > at:
                self.advanced[place] = self.now
            reader.positions[place] = max(at, to)
        if self.now - reader.committed_at >= reader.every:
            self._commit(reader)

    def _commit(self, reader: Reader) -> None:
        reader.committed_at = self.now
        reader.positions = {place: at for place, at in reader.positions.items() if self.log(place)}
        self.events.append(Event("commit", reader.name, offsets=dict(reader.positions)))
        for place, at in reader.positions.items():
            if reader is self.outsider:
                self._moved(place)
            else:
                self._advance(place, at)
            self._write(place, at)

    def _advance(self, place: Place, at: int) -> None:
        """Count what a client has read: a member, or the application of a transaction."""
        before = self.committed.get(place)
        if before is None or at < before:
            self._moved(place)
        else:
            self.consumed[place] = self.consumed.get(place, 0) + at - before

    def _write(self, place: Place, at: int) -> None:
        if self.committed.get(place) != at:
            self.changed[place] = self.now
        self.committed[place] = at
        self.commits.setdefault(place, []).append((self.now, at))

    def _moved(self, place: Place) -> None:
        self.moves[place] = self.moves.get(place, 0) + 1

    # Operators

    def reset(self) -> None:
        """Set the offsets of most partitions of a topic."""
        topic = self.random.choice(list(self.topics))
        set_to = {}
        for number, log in self.topics[topic].items():
            place = topic, number
            if self.random.random() < 0.8:
                near = self.committed.get(place, log.end) + self.random.randrange(-50, 50)
                to = self.random.choice((log.start, log.end, near, self.random.randrange(log.start, log.end + 1)))
                self._moved(place)
                set_to[place] = min(log.end, max(log.start, to))
                self._write(place, set_to[place])
        self.events.append(Event("commit", "operator", offsets=set_to))

    def _recreate(self) -> None:
        topic = self.random.choice(list(self.topics))
        old = self.topics[topic]
        for number, log in old.items():
            self.written[topic, number] = self.written.get((topic, number), 0) + log.produced
        self._create(topic, self.random.randrange(1, 4))
        for number in {*old, *self.topics[topic]}:
            place = topic, number
            self._moved(place)
            if self.random.random() < 0.7 or number not in self.topics[topic]:
                self.committed.pop(place, None)
                self.commits.pop(place, None)
            self.pending.pop(place, None)
        again = {place: at for place, at in self.committed.items() if place[0] == topic}
        self.events[-1] = self.events[-1]._replace(offsets=again)
        if self.random.random() < 0.5:
            for log in self.topics[topic].values():
                log.append(self.now, self.random.randrange(1, 3_000))
        if self.members:
            self._rebalance()

    def _add_partition(self) -> None:
        self._new_partition(self.random.choice(list(self.topics)))
        if self.members:
            self._rebalance()

    def _new_partition(self, topic: str) -> Log:
        logs, log = self.topics[topic], Log(self.random, self.clocks)
        self.events.append(Event("partition", topic=topic, logs={len(logs): log}))
        logs[len(logs)] = log
        return log

    def _strand(self) -> None:
        """Add partitions with records, and let all members crash before one commits there."""
        topic = self.random.choice(list(self.topics))
        for _ in range(self.random.randrange(1, 3)):
            self._new_partition(topic).append(self.now, self.random.randrange(1, 3_000))
        for member in self.members.values():
            member.gone_at = member.gone_at or self.now + SESSION

    def _begin_pending(self) -> None:
        self.pending = {
            (topic, number): self.random.randrange(log.start, log.end + 1)
            for topic, logs in self.topics.items()
            for number, log in logs.items()
        }
        self.pending_since, self.had_outsider = self.now, True
        self.events.append(Event("pending", offsets=dict(self.pending)))

    def _end_pending(self) -> None:
        """Commit or abort the transaction; brokers drop its offsets where others were committed since."""
        applied = self.random.random() < 0.5
        self.events.append(Event("applied" if applied else "dropped", offsets=dict(self.pending)))
        for place, at in self.pending.items() if applied else ():
            if not any(time >= self.pending_since for time, _ in self.commits.get(place, ())):
                self._advance(place, at)
                self._write(place, at)
        self.pending = {}

    def _operate(self) -> None:
        draw = self.random.random()
        member = self.random.choice(list(self.members.values())) if self.members else None
        if member:
            self._change_members(draw, member)
        elif draw > 0.95 and self.outsider is None and self.resets < 3:
            self.reset()
            self.resets += 1  # a series of more would look like a client: see docs/limits.md
        elif draw > 0.946:
            self.outsider = Reader("outsider", self.random, "")
            self.outsider.began = self.now
            self.had_outsider = True
            self.outsider.positions = {
                (topic, number): self._first((topic, number)) for topic, logs in self.topics.items() for number in logs
            }
        elif draw > 0.94 and self.outsider is None and not self.pending:
            self._begin_pending()
        if self.pending and self.random.random() < 0.05:
            self._end_pending()
        if draw < 0.01 and len(self.members) < 4:
            self._join()
        elif draw < 0.012:
            self._recreate()
        elif draw < 0.014:
            self._add_partition()

    def _change_members(self, draw: float, member: Reader) -> None:
        if 0.02 < draw < 0.024:
            self._leave(member)
        elif 0.024 < draw < 0.027:
            for each in list(self.members.values()):
                self._leave(each)
        elif 0.027 < draw < 0.03:
            member.gone_at = self.now + SESSION
        elif 0.03 < draw < 0.034:
            member.hangs = not member.hangs
        elif 0.034 < draw < 0.036 and len(self.topics) > 1:
            if not member.hangs:
                self._commit(member)
            member.topic = self.random.choice(list(self.topics))
            self.events.append(Event("move", member.name, member.topic))
            self._rebalance()
        elif 0.036 < draw < 0.038:
            self._strand()
        elif 0.038 < draw < 0.042 and len(self.topics) > 1 and self.state == "Stable" and not self.real:
            # A static member that restarts with another topic: the coordinator keeps its assignment.
            member.topic = self.random.choice(list(self.topics))
            member.positions = {place: at for place, at in member.positions.items() if place[0] == member.topic}

    def _write_records(self) -> None:
        for logs in self.topics.values():
            for log in logs.values():
                start = log.start
                log.step(self.now)
                if log.start > start:
                    self._trimmed()

    def step(self) -> None:
        """Let half a second pass."""
        self.now += TICK
        self._write_records()
        if not self.calm:
            self._operate()
        for member in list(self.members.values()):
            if member.gone_at is not None and self.now >= member.gone_at:
                member.hangs = True
                self._leave(member)
        if self.members and self.now >= self.settled and self.state != "Stable":
            self._assign()
        if self.outsider and (self.members or self.random.random() < 0.01):
            self.outsider = None
        for reader in (*self.members.values(), *filter(None, (self.outsider,))):
            if not reader.hangs and reader.gone_at is None:
                self._read(reader)
        self.kept = [*self.kept[1 - KEPT :], self._truth()]

    def _trimmed(self) -> None:
        for place, at in self.committed.items():
            log = self.log(place)
            if log and log.start > at:
                self.lost_at = self.now
                self._moved(place)

    def outsider_commits(self, place: Place) -> list[CommitMade]:
        """Return the commits of the client that is not a member, since it last went back."""
        since = self.outsider.began if self.outsider else self.now
        made = [each for each in self.commits.get(place, ()) if each[0] > since]
        first = max((at for at in range(1, len(made)) if made[at][1] < made[at - 1][1]), default=0)
        return made[first:]

    def is_used(self, topic: str) -> bool:
        """Return whether a topic counts: the group is not known to have left it."""
        if not self.members or self.state != "Stable" or any(each.topic == topic for each in self.members.values()):
            return True
        return any(place[0] == topic for place in self.owners)

    @property
    def visible(self) -> dict[Place, int]:
        """The committed offsets that no ACL hides."""
        return {place: at for place, at in self.committed.items() if place[0] not in self.hidden}

    @property
    def strays(self) -> list[Place]:
        """The partitions whose owner does not subscribe to their topic."""
        return [place for place, owner in self.owners.items() if self.members[owner].topic != place[0]]

    def settle(self) -> None:
        """Let rebalances end, and logs have leaders, and members all partitions of their topics."""
        self.calm = True
        while self.members and self.state != "Stable":
            self.step()
        if self.members:
            self._assign()  # consumers have found new partitions by then
        for log in (log for logs in self.topics.values() for log in logs.values()):
            log.down = False
        self.kept[-1] = self._truth()

    def reader(self, place: Place) -> Reader | None:
        """Return who reads a partition now."""
        reader = self.members.get(self.owners.get(place, "")) or self.outsider
        working = reader and not reader.hangs and reader.gone_at is None and place in reader.positions
        return reader if working else None

    def _truth(self) -> dict[Place, Truth]:
        found = {}
        for topic, logs in self.topics.items():
            for number, log in logs.items():
                place = topic, number
                reader, committed = self.reader(place), self.committed.get(place)
                at = reader.positions[place] if reader else self._first(place)
                unread = log.first_readable(committed or 0)
                found[place] = Truth(
                    self.now,
                    log.end - at,
                    self.consumed.get(place, 0),
                    log.produced + self.written.get(place, 0),
                    self.lives[topic],
                    self.moves.get(place, 0),
                    reader is not None,
                    self.advanced.get(place, BEGAN),
                    committed,
                    self.changed.get(place, BEGAN),
                    log.end,
                    log.unread(committed or 0),
                    None if unread.offset is None else log.appended(unread.offset),
                    log.blocked,
                )
        return found

    # What brokers answer

    def offsets(self) -> GroupOffsets:
        members = tuple(self._member(each) for each in self.members.values())
        by_topic: dict[str, tuple[Commit, ...]] = {}
        for (topic, number), at in sorted(self.visible.items()):
            by_topic[topic] = (*by_topic.get(topic, ()), Commit(number, at, 0))
        used = {*by_topic, *(each.topic for each in self.members.values())} - self.hidden
        logs = {topic: self.topics[topic] for topic in sorted(used & self.topics.keys())}
        return GroupOffsets(
            Group("g", GroupType.CLASSIC, self.state, "consumer", "range", NODE, members),
            GroupCommits("g", by_topic, pending=frozenset(self.pending.keys() & self.visible.keys())),
            Logs(
                {
                    topic: {number: LogOffsets(log.start, log.end) for number, log in some.items() if not log.down}
                    for topic, some in logs.items()
                },
                {(topic, number): "no leader" for topic, some in logs.items() for number in some if some[number].down},
                {topic: dict.fromkeys(some, 0) for topic, some in logs.items()},
                {topic: self.topic_ids[topic] for topic in logs},
            ),
            hidden=f"missing permission DESCRIBE on topics {self.hidden}" if self.hidden else None,
        )

    def _member(self, member: Reader) -> Member:
        mine: dict[str, list[int]] = {}
        for (topic, number), owner in sorted(self.owners.items()):
            if owner == member.name and number in self.topics.get(topic, {}):
                mine.setdefault(topic, []).append(number)
        subscription = Subscription((member.topic,)) if self.state == "Stable" else Subscription()
        return Member(member.name, "client", "/host", assignment_of(mine.items()), subscription=subscription)
