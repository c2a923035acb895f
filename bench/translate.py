"""``python -m bench.translate``: measure ``kgroups translate`` between two real clusters, each behind a counting proxy.

Two cases, each as whole processes: many groups by MirrorMaker 2's offset syncs (``--mm2 --method sync``), whose records
the benchmark writes itself, and many partitions by the records in them. Prints wall time, CPU time and memory of
kgroups, requests and bytes of both sides, and CPU time of the brokers (Linux). No peer does the same: Kafka's
RemoteClusterUtils returns what MirrorMaker 2 wrote for one group, and compares nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from struct import pack
from typing import NamedTuple

from confluent_kafka import Consumer, Producer, TopicPartition

from kgroups.config.settings import ClientSettings, parse_bootstrap
from kgroups.sandbox import Sandbox
from kgroups.sandbox.load import Load, seed_load
from kgroups.sandbox.topics import make_topics

from .lean import WORK
from .load import LISTENER, Proxy, cpu_of, say
from .processes import Run, measure

EARLIER = 17
"""Records of each partition of a copy before those that are copied."""
SYNCS, CHECKPOINTS = "mm2-offset-syncs.west.internal", "east.checkpoints.internal"
SYNC_EVERY = 5
TOPIC = GROUP = "records"
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
    parser.add_argument("--partitions", type=int, default=1_000, help="of the second case; 0 leaves it out")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--kgroups", action="append", default=[], help="path of kgroups; may be repeated")
    given = parser.parse_args()
    tools = given.kgroups or [str(Path(sys.executable).with_name("kgroups"))]
    rows = [
        "| case | s | CPU s | peak MB | requests | MB | requests by API | broker CPU s |",
        "| --- | --: | --: | --: | --: | --: | --- | --: |",
    ]
    for groups in given.groups or [10_000]:
        with _Pair() as (east, west):
            _seed_syncs(east, west, groups)
            words = ("--all-groups", "--mm2", "--method", "sync")
            rows += _rows(f"{groups:,} groups x 10, syncs", tools, east, west, words, given.runs, groups * 10)
    if given.partitions:
        with _Pair() as (east, west):
            _seed_records(east, west, given.partitions)
            name = f"{given.partitions:,} partitions, records"
            rows += _rows(name, tools, east, west, (GROUP,), given.runs, given.partitions)
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


def _seed_syncs(east: Side, west: Side, groups: int) -> None:
    """Create groups, and what MirrorMaker 2 would have recorded about them."""
    load = Load(groups, 10, stable=0)
    seed_load(east.sandbox, load, say)
    topics, ends = [f"load-{number}" for number in range(load.topics)], load.ends()
    copies = {f"east.{topic}": {at: end + EARLIER for at, end in ends.items()} for topic in topics}
    make_topics(west.settings, {**copies, CHECKPOINTS: {0: 0}})
    make_topics(east.settings, {SYNCS: {0: 0}})
    east.produce(
        (SYNCS, 0, _text(topic) + pack(">i", at), pack(">qq", upstream, upstream + EARLIER), BEGAN)
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


def _seed_records(east: Side, west: Side, partitions: int) -> None:
    """Create a topic, its copy, and a group in the middle of the partitions."""
    make_topics(east.settings, {TOPIC: dict.fromkeys(range(partitions), 0)})
    make_topics(west.settings, {TOPIC: dict.fromkeys(range(partitions), EARLIER)})
    for side in (east, west):
        side.produce(
            (TOPIC, at, f"key {number}".encode(), f"value {at} {number} ".encode() * 5, BEGAN + number)
            for at in range(partitions)
            for number in range(RECORDS)
        )
    consumer = Consumer({"bootstrap.servers": east.sandbox.bootstrap, "group.id": GROUP})
    consumer.commit(offsets=[TopicPartition(TOPIC, at, RECORDS // 2) for at in range(partitions)], asynchronous=False)
    consumer.close()


def _rows(
    name: str, tools: list[str], east: Side, west: Side, words: tuple[str, ...], runs: int, expected: int
) -> Iterator[str]:
    sides = (east, west)
    pids = [broker.pid for side in sides for broker in side.sandbox.brokers]
    for tool in tools:
        clusters = ("--from", east.proxy.bootstrap, "--to", west.proxy.bootstrap, "--timeout", "10m")
        found = [_measured((tool, "translate", *words, *clusters, "-q", "-o", "json"), sides, pids, expected)]
        for _ in range(runs):
            found.append(_measured((tool, "translate", *words, *clusters, "-q", "-o", "json"), sides, pids, expected))
        best = min(found[1:], key=lambda each: each.run.wall)
        apis = ", ".join(f"{_NAMES.get(key, key)} {number:,}" for key, number in best.apis.most_common(5))
        label = name if len(tools) == 1 else f"{name}, `{tool}`"
        yield (
            f"| {label} | {best.run.wall:.2f} | {best.run.cpu:.2f} | {best.run.rss / 1e6:.0f} | {best.apis.total():,} "
            f"| {best.bytes / 1e6:.1f} | {apis} | {best.broker_cpu:.2f} |"
        )


_NAMES = {1: "Fetch", 2: "ListOffsets", 3: "Metadata", 9: "OffsetFetch", 10: "FindCoordinator", 15: "DescribeGroups"}


class _Measured(NamedTuple):
    run: Run
    apis: Counter[int]
    bytes: int
    broker_cpu: float


def _measured(command: tuple[str, ...], sides: tuple[Side, Side], pids: list[int], expected: int) -> _Measured:
    """Run a command.

    :raises SystemExit: if it does not translate each offset.
    """
    WORK.mkdir(exist_ok=True)
    apis, size, cpu = _requests(sides), _bytes(sides), cpu_of(pids)
    run = measure(command, WORK / "translate")
    items = json.loads((WORK / "translate").read_text())["items"]
    if (len(items), sum(item["new_offset"] is not None for item in items)) != (expected, expected):
        raise SystemExit(f"not all {expected:,} offsets were translated")
    return _Measured(run, _requests(sides) - apis, _bytes(sides) - size, cpu_of(pids) - cpu)


def _requests(sides: tuple[Side, Side]) -> Counter[int]:
    return sides[0].proxy.apis + sides[1].proxy.apis


def _bytes(sides: tuple[Side, Side]) -> int:
    return sum(side.proxy.sent + side.proxy.received for side in sides)


if __name__ == "__main__":
    sys.exit(main())
