"""Random schedules of faults over fake brokers; the same seed gives the same schedule."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from kio.schema.errors import ErrorCode

from kgroups.model.placement import OFFSETS_TOPIC, partition_of

from .broker import (
    FakeBroker,
    FakeCluster,
    Fault,
    close,
    cut_frame,
    dribble,
    framed,
    late,
    raw,
    silence,
    trailing,
    truncated,
    wrong_id,
)
from .cluster_state import FakeGroup, FakeMember, FakeTopic
from .truth import Truth

VERSIONS: Final = ("4.3.1", "4.3.1", "4.3.1", "3.9.1", "2.8.2", "2.5.1", "1.1.1")
READS: Final = ("Metadata", "FindCoordinator", "ListGroups", "DescribeGroups", "OffsetFetch", "ListOffsets")
WRITES: Final = ("OffsetCommit", "OffsetDelete", "DeleteGroups", "LeaveGroup")
APIS: Final = ("ApiVersions", *READS, *READS, "ConsumerGroupDescribe", *WRITES, "*")

MOVED: Final = (
    ErrorCode.not_coordinator,
    ErrorCode.coordinator_load_in_progress,
    ErrorCode.coordinator_not_available,
)
GROUP_ERRORS: Final = (*MOVED, *MOVED, ErrorCode.group_authorization_failed, ErrorCode.unknown_server_error)
LOG_ERRORS: Final = (
    ErrorCode.not_leader_or_follower,
    ErrorCode.leader_not_available,
    ErrorCode.topic_authorization_failed,
    ErrorCode.offset_not_available,
)


@dataclass
class Schedule:
    """A cluster, its scheduled faults, and the arguments of one command."""

    seed: int
    fake: FakeCluster
    command: str
    words: tuple[str, ...]
    wanted: set[str]
    """The groups that the command is about."""
    plot: list[str] = field(default_factory=list)
    """Return the scheduled faults as text."""
    moves: dict[str, set[int]] = field(default_factory=dict)
    """Group -> the brokers that it moves to."""

    def truth(self) -> Truth:
        state = self.fake.state
        return Truth(
            {name: group.coordinator for name, group in state.groups.items()},
            {name: commits_of(group) for name, group in state.groups.items()},
            {(name, at): topic.end for name, topic in state.topics.items() for at in range(len(topic.leaders))},
            {(name, at): leader for name, topic in state.topics.items() for at, leader in enumerate(topic.leaders)},
            self.moves,
        )

    @property
    def logs(self) -> list[FakeTopic]:
        """The topics that groups read."""
        return [topic for name, topic in self.fake.state.topics.items() if name != OFFSETS_TOPIC]

    def __str__(self) -> str:
        return f"seed {self.seed}: {self.command} {' '.join(self.words)}\n  " + "\n  ".join(self.plot)


def commits_of(group: FakeGroup) -> dict[tuple[str, int], int]:
    return {pair: commit if isinstance(commit, int) else commit.offset for pair, commit in group.commits.items()}


def schedule(seed: int) -> Schedule:
    dice = random.Random(seed)
    version = dice.choice(VERSIONS)
    fake = FakeCluster(dice.randint(2, 4), version)
    _populate(dice, fake, new=version == "4.3.1")
    command = dice.choice(list(COMMANDS))
    words, wanted = COMMANDS[command](dice, fake)
    made = Schedule(seed, fake, command, words, wanted, [f"{len(fake.brokers)} brokers of Kafka {version}"])
    for _ in range(dice.randint(1, 4)):
        dice.choice(PLOTS)(dice, made)
    return made


def _populate(dice: random.Random, fake: FakeCluster, new: bool) -> None:
    state = fake.state
    for number in range(dice.randint(1, 3)):
        leaders = [dice.choice(list(fake.brokers)) for _ in range(dice.randint(1, 4))]
        state.topic(f"topic-{number}", leaders, end=dice.randint(50, 90))
    topics = list(state.topics.values())
    keepers = _with_offsets_topic(dice, fake) if dice.random() < 0.5 else []
    for number in range(dice.randint(4, 14)):
        name = f"{'held' if number % 2 else 'idle'}-{number:02}"
        topic = dice.choice(topics)
        commits = {(topic.name, at): dice.randint(0, topic.end) for at in range(len(topic.leaders))}
        keeper = keepers[partition_of(name, len(keepers))] if keepers else dice.choice(list(fake.brokers))
        group = state.group(name, keeper, commits=dict(commits))
        if number % 2:
            group.state = "Stable"
            group.members = (FakeMember(f"member-{number}", {topic.name: tuple(range(len(topic.leaders)))}),)
            group.type = dice.choice(("Classic", "Consumer")) if new else "Classic"


def _with_offsets_topic(dice: random.Random, fake: FakeCluster) -> list[int]:
    """Who coordinates follows from who leads, as in a real cluster. The leader of each partition."""
    leaders = [dice.choice(list(fake.brokers)) for _ in range(dice.randint(2, 5))]
    fake.state.topic(OFFSETS_TOPIC, leaders)
    fake.state.coordinators = dict(enumerate(leaders))
    return leaders


# Commands: their words, and the groups that they are about.

Made = tuple[tuple[str, ...], set[str]]


def _all(*words: str) -> Callable[[random.Random, FakeCluster], Made]:
    return lambda dice, fake: (words, set(fake.state.groups))


def _some(*words: str) -> Callable[[random.Random, FakeCluster], Made]:
    def made(dice: random.Random, fake: FakeCluster) -> Made:
        names = dice.sample(sorted(fake.state.groups), dice.randint(1, 4))
        return (*words, *names), set(names)

    return made


def _idle(*words: str) -> Callable[[random.Random, FakeCluster], Made]:
    def made(dice: random.Random, fake: FakeCluster) -> Made:
        names = {name for name in fake.state.groups if name.startswith("idle")}
        chosen = ("--regex", "idle-.*") if dice.random() < 0.5 else tuple(sorted(names))
        return (*words, *chosen, "--execute", "--yes"), names

    return made


def _delete_offsets(dice: random.Random, fake: FakeCluster) -> Made:
    words, names = _idle("-o", "json")(dice, fake)
    topics = (word for name in fake.state.topics if name != OFFSETS_TOPIC for word in ("--topic", name))
    return (*words, *topics), names


def _remove_members(dice: random.Random, fake: FakeCluster) -> Made:
    names = {name for name in fake.state.groups if name.startswith("held")}
    return ("--regex", "held-.*", "--all-members", "-o", "json", "--execute", "--yes"), names


COMMANDS: Final[Mapping[str, Callable[[random.Random, FakeCluster], Made]]] = {
    "list": _all("-o", "json"),
    "describe": _some("-o", "json"),
    "describe-all": _all("--all-groups", "-o", "json"),
    "describe-state": _all("--all-groups", "--state", "-o", "json"),
    "lag": _all("-o", "json"),
    "check": _all("--all-groups", "--max-lag", "100000", "-o", "json"),
    "watch": _all("--count", "2", "--interval", "50ms"),
    "explain": _some("-o", "json"),
    "dropin-list": _all("--list"),
    "dropin-describe": _all("--describe", "--all-groups"),
    "reset-offsets": _idle("--all-topics", "--to-offset", "7", "-o", "json"),
    "delete": _idle("-o", "json"),
    "delete-offsets": _delete_offsets,
    "remove-members": _remove_members,
}


# What goes wrong.


def _times(dice: random.Random) -> int | None:
    return dice.choice((1, 1, 2, None))


def _broken_answer(dice: random.Random, made: Schedule) -> None:
    broker, api, times = dice.choice(list(made.fake.brokers.values())), dice.choice(APIS), _times(dice)
    size = dice.randint(0, 40)
    kinds: Mapping[str, Fault] = {
        "never comes": silence,
        "is a closed connection": close,
        "is cut inside the frame": cut_frame,
        "is garbage": raw(dice.randbytes(size) + b"\0" * 8),
        "is of a huge frame": raw(b"\x7f\xff\xff\xff" + dice.randbytes(size)),
        "is of a negative length": raw(b"\xff\xff\xff\xf0" + dice.randbytes(size)),
        "has another correlation ID": wrong_id,
        "has bytes too many": trailing,
        f"ends after {size} bytes": truncated(size),
        "ends 3 bytes early": truncated(-3),
        "comes late": late(dice.choice((0.02, 0.1, 0.4))),
        "comes byte by byte": dribble,
    }
    kind = dice.choice(list(kinds))
    broker.fault(api, kinds[kind], times)
    made.plot.append(f"broker {broker.id}: the answer to {api} {kind}, {times or 'any number of'} times")


def _group_error(dice: random.Random, made: Schedule) -> None:
    api = dice.choice(("FindCoordinator", "DescribeGroups", "OffsetFetch", "ConsumerGroupDescribe", *WRITES))
    name, code, times = dice.choice(sorted(made.fake.state.groups)), dice.choice(GROUP_ERRORS), _times(dice)
    made.fake.state.fail(api, name, code, times)
    made.plot.append(f"{api} of {name} gives {code.name}, {times or 'any number of'} times")


def _log_error(dice: random.Random, made: Schedule) -> None:
    topic = dice.choice(made.logs)
    code, times = dice.choice(LOG_ERRORS), _times(dice)
    if dice.random() < 0.3:
        api, name = "Metadata", topic.name
    else:
        api, name = dice.choice(("ListOffsets", "OffsetCommit")), f"{topic.name}-{dice.randrange(len(topic.leaders))}"
    made.fake.state.fail(api, name, code, times)
    made.plot.append(f"{api} of {name} gives {code.name}, {times or 'any number of'} times")


def _list_error(dice: random.Random, made: Schedule) -> None:
    broker, code, times = dice.choice(list(made.fake.brokers)), dice.choice(MOVED[1:]), _times(dice)
    made.fake.state.fail("ListGroups", str(broker), code, times)
    made.plot.append(f"ListGroups of broker {broker} gives {code.name}, {times or 'any number of'} times")


def _dead_broker(dice: random.Random, made: Schedule) -> None:
    broker = dice.choice(list(made.fake.brokers.values()))
    broker.alive = False
    made.plot.append(f"broker {broker.id} is dead, and still in the metadata")


def _no_leader(dice: random.Random, made: Schedule) -> None:
    topic = dice.choice(made.logs)
    at = dice.randrange(len(topic.leaders))
    topic.leaders[at] = -1
    made.plot.append(f"{topic.name}-{at} has no leader")


def _stale_leader(dice: random.Random, made: Schedule) -> None:
    topic = dice.choice(made.logs)
    at = dice.randrange(len(topic.leaders))
    topic.leader_seen[at] = [dice.choice(list(made.fake.brokers)) for _ in range(dice.randint(1, 2))]
    made.plot.append(f"{topic.name}-{at}: Metadata names {topic.leader_seen[at]} as its leader first")


def _moving_group(dice: random.Random, made: Schedule) -> None:
    name = dice.choice(sorted(made.fake.state.groups))
    group = made.fake.state.groups[name]
    at, to = made.fake.brokers[group.coordinator], dice.choice(list(made.fake.brokers))
    api = dice.choice(("DescribeGroups", "OffsetFetch", "ConsumerGroupDescribe", *WRITES))
    at.fault(api, _move(group, to), 1)
    made.moves.setdefault(name, set()).add(to)
    made.plot.append(f"{name} moves from broker {at.id} to {to} after an answer to {api}")


def _moving(dice: random.Random, made: Schedule) -> None:
    move = _moving_group if made.fake.state.coordinators is None else _moving_partition
    move(dice, made)


def _moving_partition(dice: random.Random, made: Schedule) -> None:
    """One broker resigns, and another takes over a little later; meanwhile neither lists the groups, nor fails."""
    state, brokers = made.fake.state, list(made.fake.brokers)
    topic, keepers = state.topics[OFFSETS_TOPIC], state.coordinators
    assert keepers is not None
    at, to = dice.randrange(len(keepers)), dice.choice(brokers)
    pause, stale = dice.choice((0.0, 0.0, 0.01, 0.1, 0.5)), dice.choice((0, 0, 1, 2))
    groups = [group for name, group in state.groups.items() if partition_of(name, len(keepers)) == at]
    for group in groups:
        made.moves.setdefault(group.name, set()).add(to)

    def over() -> None:
        keepers[at] = to

    async def fault(writer: asyncio.StreamWriter, answer: bytes) -> None:
        topic.leader_seen[at] = [topic.leaders[at]] * stale
        topic.leaders[at], keepers[at] = to, None
        topic.epochs[at] = topic.epochs.get(at, 0) + 1
        for group in groups:
            group.coordinator = to
        if pause:
            asyncio.get_running_loop().call_later(pause, over)
        else:
            over()
        writer.write(framed(answer))

    broker, api = (
        dice.choice(brokers),
        dice.choice(("Metadata", "ListGroups", "ListGroups", "DescribeGroups", "OffsetFetch")),
    )
    made.fake.brokers[broker].fault(api, fault, 1)
    made.plot.append(
        f"partition {at} of {OFFSETS_TOPIC} moves to broker {to} after an answer of broker {broker} to {api}: "
        f"{pause} s until it is loaded, {stale} stale answers to Metadata"
    )


def _move(group: FakeGroup, to: int) -> Fault:
    async def fault(writer: asyncio.StreamWriter, answer: bytes) -> None:
        group.coordinator = to
        writer.write(framed(answer))

    return fault


def _all_silent(dice: random.Random, made: Schedule) -> None:
    if dice.random() < 0.2:
        broker: FakeBroker
        for broker in made.fake.brokers.values():
            broker.fault("*", silence)
        made.plot.append("no broker answers anything")


PLOTS: Final = (
    *(_broken_answer,) * 6,
    *(_group_error,) * 2,
    _log_error,
    _list_error,
    _dead_broker,
    _no_leader,
    _stale_leader,
    *(_moving,) * 5,
    _all_silent,
)
