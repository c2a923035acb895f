"""``python -m bench.translate``: measure ``kgroups translate`` between two real clusters, each behind a counting proxy.

Two cases, each as whole processes: many groups by MirrorMaker 2's offset syncs (``--mm2 --method sync``), whose records
the benchmark writes itself, and many partitions by the records in them. Prints wall time, CPU time and memory of each
tool, requests and bytes of both sides, and CPU time of the brokers (Linux).

The peer of the first case is Kafka's RemoteClusterUtils.translateOffsets, which reads all checkpoints for each group:
it is measured for a few groups in one JVM, and its offsets are compared. That of the second one is Kafka's own tool,
which copies offsets as they are (``--export``, then ``--from-file``), and compares nothing.

With ``--execute``, the offsets are also written, compared with ``kgroups parity``, and undone.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from struct import pack
from typing import Any, NamedTuple

from confluent_kafka import Consumer, Producer, TopicPartition

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.sandbox import Sandbox
from kgroups.sandbox.jars import ensure_jars, ensure_mirror_jars
from kgroups.sandbox.load import Load, seed_load
from kgroups.sandbox.topics import make_topics
from tests.integration.java_program import java_command

from .lean import WORK
from .load import LISTENER, Proxy, cpu_of, say
from .processes import measure

EARLIER = 17
"""Records of each partition of a copy before those that are copied."""
SYNCS, CHECKPOINTS = "mm2-offset-syncs.west.internal", "east.checkpoints.internal"
SYNC_EVERY = 5
TOPIC = GROUP = "records"
OF_RECORDS = "--regex", f"{GROUP}.*"
RECORDS = 400
BEGAN = 1_760_000_000_000


class Side(NamedTuple):
    """A cluster, and the proxy in front of it."""

    sandbox: Sandbox
    proxy: Proxy

    @property
    def settings(self) -> ClientSettings:
        return ClientSettings(parse_bootstrap(self.sandbox.bootstrap))

    def produce(self, records: Iterator[tuple[str, int, bytes, bytes, int]]) -> None:
        """Write records (topic, partition, key, value, milliseconds since 1970)."""
        producer = Producer({"bootstrap.servers": self.sandbox.bootstrap, "linger.ms": 50})
        for number, (topic, partition, key, value, ms) in enumerate(records):
            producer.produce(topic, value, key, partition, timestamp=ms)
            if not number % 10_000:
                producer.flush(60)
        assert producer.flush(60) == 0


def main() -> int:
    """Measure both cases, and print Markdown."""
    parser = argparse.ArgumentParser(prog="python -m bench.translate", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--groups", type=int, action="append", default=[], help="of the first case; may be repeated")
    parser.add_argument("--offsets", type=int, default=10, help="partitions of each group of the first case")
    parser.add_argument("--peer-groups", type=int, default=5, help="groups that RemoteClusterUtils translates")
    parser.add_argument("--partitions", type=int, default=1_000, help="of the second case; 0 leaves it out")
    parser.add_argument("--record-groups", type=int, default=1, help="of the second case, each at other offsets")
    parser.add_argument("--execute", action="store_true", help="also write the offsets, compare, and undo them")
    parser.add_argument("--runs", type=int, default=3, help="after a warm-up round; 0: that round is measured")
    parser.add_argument("--kgroups", action="append", default=[], help="path of kgroups; may be repeated")
    given = parser.parse_args()
    tools = given.kgroups or [str(Path(sys.executable).with_name("kgroups"))]
    rows = [
        "| case | tool | s | CPU s | peak MB | requests | MB | requests by API | broker CPU s |",
        "| --- | --- | --: | --: | --: | --: | --: | --- | --: |",
    ]
    for groups in given.groups or [10_000]:
        if not groups:
            break
        with _Pair() as sides:
            load = Load(groups, given.offsets, stable=0)
            _seed_syncs(*sides, load)
            words = "--all-groups", "--mm2", "--method", "sync"
            number = load.groups * load.partitions
            contenders = [each for tool in tools for each in _ours(tool, words, sides, number, 1, given.execute)]
            if given.peer_groups:
                contenders.append(_remote_cluster_utils(sides, load, given.peer_groups))
            rows += _rows(f"{groups:,} groups x {given.offsets}, syncs", contenders, sides, given.runs)
    if given.partitions:
        with _Pair() as sides:
            _seed_records(*sides, given.partitions, given.record_groups)
            number = given.partitions * given.record_groups
            contenders = [each for tool in tools for each in _ours(tool, OF_RECORDS, sides, number, 0, given.execute)]
            if given.record_groups == 1:
                contenders.append(_copied(sides, given.partitions))
            rows += _rows(
                f"{number:,} offsets on {given.partitions:,} partitions, records", contenders, sides, given.runs
            )
    print(f"{os.cpu_count()} cores; load average {os.getloadavg()[0]:.1f} at the end.\n")
    print("\n".join(rows))
    return 0


class _Pair:
    """Two clusters of one broker inside the block."""

    def __enter__(self) -> tuple[Side, Side]:
        self._sides: list[Side] = []
        for name in ("east", "west"):
            proxy = Proxy(1)
            sandbox = Sandbox.up(
                brokers=1,
                name=f"bench-translate-{name}-{os.getpid()}",
                listeners={LISTENER: "PLAINTEXT"},
                advertised={LISTENER: proxy.ports},
                progress=say,
            )
            proxy.start(sandbox.brokers)
            self._sides.append(Side(sandbox, proxy))
        east, west = self._sides
        return east, west

    def __exit__(self, *_: object) -> None:
        for side in self._sides:
            side.sandbox.down()


def _seed_syncs(east: Side, west: Side, load: Load) -> None:
    """Create groups, and what MirrorMaker 2 would have recorded about them."""
    seed_load(east.sandbox, load, say)
    now = int(time.time() * 1000)
    topics, ends = [f"load-{number}" for number in range(load.topics)], load.ends()
    copies = {f"east.{topic}": {at: end + EARLIER for at, end in ends.items()} for topic in topics}
    make_topics(west.settings, {**copies, CHECKPOINTS: {0: 0}})
    make_topics(east.settings, {SYNCS: {0: 0}})
    east.produce(
        (SYNCS, 0, _text(topic) + pack(">i", at), pack(">qq", upstream, upstream + EARLIER), now)
        for upstream in range(0, max(ends.values()), SYNC_EVERY)
        for topic in topics
        for at, end in ends.items()
        if upstream < end
    )
    west.produce(
        (CHECKPOINTS, 0, _text(group) + _text(f"east.{load.topic_of(group)}") + pack(">i", at), _checkpoint(offset), 0)
        for group in load.names()
        for at, offset in load.commits_of(group).items()
    )


def _text(name: str) -> bytes:
    return pack(">h", len(name)) + name.encode()


def _checkpoint(offset: int) -> bytes:
    synced = offset // SYNC_EVERY * SYNC_EVERY
    return pack(">hqq", 0, offset, synced + EARLIER + (synced < offset)) + _text("")


def _seed_records(east: Side, west: Side, partitions: int, groups: int) -> None:
    """Create a topic, its copy, and groups: the first one in the middle of the partitions, each other one further."""
    make_topics(east.settings, {TOPIC: dict.fromkeys(range(partitions), 0)})
    make_topics(west.settings, {TOPIC: dict.fromkeys(range(partitions), EARLIER)})
    for side in (east, west):
        side.produce(
            (TOPIC, at, f"key {number}".encode(), f"value {at} {number} ".encode() * 5, BEGAN + number)
            for at in range(partitions)
            for number in range(RECORDS)
        )
    for number in range(groups):
        name, offset = f"{GROUP}-{number}" if number else GROUP, (RECORDS // 2 + number) % (RECORDS + 1)
        consumer = Consumer({"bootstrap.servers": east.sandbox.bootstrap, "group.id": name})
        consumer.commit(offsets=[TopicPartition(TOPIC, at, offset) for at in range(partitions)], asynchronous=False)
        consumer.close()


class _Contender(NamedTuple):
    """A tool: commands to run one after the other, and a function that checks what the last one printed.

    ``share``: by what its figures are multiplied, if it translates only a part of the groups.
    """

    name: str
    commands: tuple[tuple[str, ...], ...]
    check: Callable[[Iterable[str]], None]
    share: float = 1


def _ours(
    tool: str, words: tuple[str, ...], sides: tuple[Side, Side], expected: int, short: int, execute: bool
) -> Iterator[_Contender]:
    """Yield the translation, and with ``execute``, in this order, what writes, compares, and undoes it.

    :param short: by how many records an offset may be before its copy.
    """

    def checked(is_right: Callable[[dict[str, Any]], bool]) -> Callable[[Iterable[str]], None]:
        def check(lines: Iterable[str]) -> None:
            found = Counter(map(is_right, map(json.loads, lines)))
            if found != {True: expected}:
                raise SystemExit(f"{found[True]:,} of {found.total():,} offsets are right, not {expected:,}")

        return check

    def is_translated(item: dict[str, Any]) -> bool:
        again = item["read_again"] if short else 0
        return item["new_offset"] is not None and item["new_offset"] + again == item["source_offset"] + EARLIER

    east, west = (side.proxy.bootstrap for side in sides)
    undo, more = str(WORK / "undo.json"), ("--timeout", "60m", "-q", "-o", "jsonl")
    translate = (tool, "translate", *words, "--from", east, "--to", west, *more)
    yield _Contender(f"`{tool} translate`", (translate,), checked(is_translated))
    if not execute:
        return
    write = (*translate, "--execute", "--yes", "--undo-file", undo)
    yield _Contender(
        f"`{tool} translate --execute`",
        (("/bin/rm", "-f", undo, f"{undo}.2"), write),
        checked(lambda item: is_translated(item) and item["result"] == "applied"),
    )
    # Where more than one offset may be right, the verdict is unknown.
    compare = f"{shlex.join((tool, 'parity', east, west, *words, *more))}; test $? = {3 if short else 0}"
    yield _Contender(
        f"`{tool} parity`",
        (("/bin/sh", "-c", compare),),
        checked(lambda item: item["target_offset"] == item["expected"] and item["verdict"] in ("same", "unknown")),
    )
    # What was just written is not that of a client that goes on.
    back = ("--execute", "--yes", "--undo-file", f"{undo}.2", "--commit-window", "100ms")
    yield _Contender(
        f"`{tool} undo`",
        ((tool, "undo", undo, "-b", west, *back, *more),),
        checked(lambda item: item["new_offset"] is None and item["result"] == "applied"),
    )


def _remote_cluster_utils(sides: tuple[Side, Side], load: Load, number: int) -> _Contender:
    """Return the command that translates some groups, one after the other in one JVM."""
    groups = list(load.names())[:: load.groups // number][:number]
    version = sides[1].sandbox.version
    source = Path(__file__).parents[1] / "tests" / "integration" / "RemoteOffsets.java"
    flow = "east=org.apache.kafka.connect.mirror.DefaultReplicationPolicy"
    jars = ensure_jars(version), ensure_mirror_jars(version)
    command = java_command(source, jars, sides[1].proxy.bootstrap, flow, *groups)

    def check(lines: Iterable[str]) -> None:
        found = 0
        for line in lines:
            found += 1
            _, group, _, partition, offset = line.split("\t")
            ours = load.commits_of(group)[int(partition)] + EARLIER
            if not ours - SYNC_EVERY <= int(offset) <= ours:
                raise SystemExit(f"RemoteClusterUtils: {line}: expected about {ours}")
        if found != number * load.partitions:
            raise SystemExit(f"RemoteClusterUtils: {found:,} offsets")

    return _Contender(f"RemoteClusterUtils, {number} groups", (tuple(command),), check, load.groups / number)


def _copied(sides: tuple[Side, Side], expected: int) -> _Contender:
    """Return the commands that copy offsets as they are."""
    file, patience = WORK / "offsets.csv", ("--timeout", "600000")
    words = ("--group", GROUP, "--reset-offsets", *patience)
    east, west = (
        side.sandbox.java_tool_command(*words, *more, "--bootstrap-server", side.proxy.bootstrap, as_shipped=True)
        for side, more in zip(
            sides,
            (("--all-topics", "--to-current", "--export"), ("--from-file", str(file), "--dry-run")),
            strict=True,
        )
    )
    export = ("/bin/sh", "-c", f"{shlex.join(east)} > {shlex.quote(str(file))}")

    def check(lines: Iterable[str]) -> None:
        found = sum(line.split()[:2] == [GROUP, TOPIC] for line in lines)
        if found != expected:
            raise SystemExit(f"kafka-consumer-groups: {found:,} offsets, not {expected:,}")

    return _Contender("kafka-consumer-groups, copied", (export, tuple(west)), check)


def _rows(name: str, contenders: list[_Contender], sides: tuple[Side, Side], runs: int) -> Iterator[str]:
    """Yield a row for each contender, which run in turn after a warm-up round: the fastest of its runs."""
    found: dict[str, list[_Measured]] = {each.name: [] for each in contenders}
    for number in range(runs + 1):
        for each in contenders:
            say(f"{name}: {each.name}, round {number} of {runs}")
            measured = _measured(each, sides)
            say(f"{measured.wall:.1f} s, {measured.cpu:.1f} CPU s, {measured.rss / 1e6:.0f} MB")  # if it is ended early
            if number or not runs:
                found[each.name].append(measured)
    best = {each.name: min(found[each.name], key=lambda one: one.wall) for each in contenders}
    for each in contenders:
        run = best[each.name]
        apis = ", ".join(f"{_NAMES.get(key, key)} {number:,}" for key, number in run.apis.most_common(5))
        yield (
            f"| {name} | {each.name} | {run.wall:.2f} | {run.cpu:.2f} | {run.rss / 1e6:.0f} | {run.apis.total():,} "
            f"| {run.bytes / 1e6:.1f} | {apis} | {run.broker_cpu:.2f} |"
        )
        if each is not contenders[0]:
            pairs = zip(found[each.name], found[contenders[0].name], strict=True)
            ratio = statistics.median(other.wall / ours.wall for other, ours in pairs)
            whole = f"; of all groups {run.wall * each.share:,.0f} s, {ratio * each.share:,.0f} times as long"
            text = f"{ratio:.1f} times as long" + (whole if each.share > 1 else "")
            yield f"| | {text} | | | | | | | |"


_NAMES = {1: "Fetch", 2: "ListOffsets", 3: "Metadata", 9: "OffsetFetch", 10: "FindCoordinator", 15: "DescribeGroups"}


class _Measured(NamedTuple):
    wall: float
    cpu: float
    rss: int
    apis: Counter[int]
    bytes: int
    broker_cpu: float


def _measured(contender: _Contender, sides: tuple[Side, Side]) -> _Measured:
    """Run the commands of a contender.

    :raises SystemExit: if the result is wrong.
    """
    WORK.mkdir(exist_ok=True)
    pids = [broker.pid for side in sides for broker in side.sandbox.brokers]
    apis, size, cpu = _requests(sides), _bytes(sides), cpu_of(pids)
    runs = [measure(command, WORK / "translate") for command in contender.commands]
    with (WORK / "translate").open() as lines:  # this process stays small: its memory counts as that of the next one
        contender.check(lines)
    return _Measured(
        sum(run.wall for run in runs),
        sum(run.cpu for run in runs),
        max(run.rss for run in runs),
        _requests(sides) - apis,
        _bytes(sides) - size,
        cpu_of(pids) - cpu,
    )


def _requests(sides: tuple[Side, Side]) -> Counter[int]:
    return sides[0].proxy.apis + sides[1].proxy.apis


def _bytes(sides: tuple[Side, Side]) -> int:
    return sum(side.proxy.sent + side.proxy.received for side in sides)


if __name__ == "__main__":
    sys.exit(main())
