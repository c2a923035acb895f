"""Simulate a cluster with many brokers, groups, and partitions, with responses that are encoded in advance.

Real brokers share the cores of this machine with the client, and 100 of them do not fit on it. These respond like Kafka
4.3 to the requests of list, describe, lag, check, watch, and exporter, for classic groups, and need little CPU time.

    python -m bench.simulated --groups 101000 --partitions 10 -- kgroups describe --all-groups

runs a command with KGROUPS_BOOTSTRAP_SERVER set, prints its time and memory, and stops the brokers.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from multiprocessing.synchronize import Semaphore
from pathlib import Path
from typing import NamedTuple

from kgroups.protocol.apis import (
    api_versions,
    describe_acls,
    describe_groups,
    find_coordinator,
    list_groups,
    list_offsets,
    metadata,
    offset_fetch,
)
from kgroups.protocol.framing import FrameReader
from kgroups.protocol.reader import FlexibleReader
from kgroups.protocol.writer import compact_array, compact_binary, compact_string

OFFSETS_TOPIC = "__consumer_offsets"
LOG_END = 1_000_000
LOOPBACK = "127.0.0.1"

SPOKEN = {
    api.key: api.newest
    for api in (
        api_versions.API,
        metadata.API,
        find_coordinator.API,
        list_groups.API,
        describe_groups.API,
        offset_fetch.API,
        list_offsets.API,
        describe_acls.API,
    )
}
"""API key -> the only version that these brokers support: the newest that kgroups supports."""

_NONE = b"\0"
_OK = b"\0\0"
_NO_AUTHORIZER = b"\0\x36"
"""SECURITY_DISABLED."""
_THROTTLE = b"\0\0\0\0"


class ClusterShape(NamedTuple):
    """The size and the behavior of the cluster.

    Each of the ``groups`` has commits on all ``partitions`` of one of the ``topics``. The fraction ``stable`` of the
    groups has a member that owns these partitions.
    """

    brokers: int = 3
    groups: int = 1_000
    partitions: int = 10
    topics: int = 10
    stable: float = 0.5
    latency: float = 0.0
    """Seconds before each response."""
    hung: frozenset[int] = frozenset()
    """Brokers (from 1) that accept connections and never respond."""
    offsets_partitions: int = 50
    """Partitions of ``__consumer_offsets``; their leaders are the coordinators."""
    moving: bool = False
    """Whether all log end offsets and all commits increase by one each second."""
    host: str = LOOPBACK
    """The address that all brokers listen on and advertise."""
    cluster_id: str = "simulated"

    def name(self, number: int) -> str:
        return f"{'stable' if number < self.groups * self.stable else 'empty'}-{number:07}"

    def coordinator(self, number: int) -> int:
        return number * 2_654_435_761 % 2**32 % self.offsets_partitions % self.brokers + 1

    def topic(self, number: int) -> str:
        return f"load-{number % self.topics}"

    def committed(self, number: int, partition: int) -> int:
        return LOG_END - (7 * number + 3 * partition) % 1_000

    def leader(self, topic: str, partition: int) -> int:
        number = topic.rpartition("-")[2]
        first = int(number) * self.partitions if number.isdecimal() else 0
        return (first + partition) % self.brokers + 1


def _int32(value: int) -> bytes:
    return value.to_bytes(4, "big", signed=True)


def _int64(value: int) -> bytes:
    return value.to_bytes(8, "big", signed=True)


class Broker:
    """The responses of one broker."""

    def __init__(self, shape: ClusterShape, number: int, ports: Sequence[int]) -> None:
        self._shape = shape
        self._number = number
        self._ports = ports
        self._described: dict[str, bytes] = {}
        self._committed: dict[str, bytes] = {}
        self._numbers: dict[str, int] = {}
        listed = []
        held = _assignment_of(shape)
        for group in range(shape.groups):
            if shape.coordinator(group) == number:
                name = compact_string(shape.name(group))
                stable = group < shape.groups * shape.stable
                state = compact_string("Stable" if stable else "Empty")
                listed.append(name + compact_string("consumer") + state + compact_string("classic") + _NONE)
                key = shape.name(group)
                self._described[key] = _OK + _NONE + name + state + _members(shape, group, stable, held)
                self._numbers[key] = group
                if not shape.moving:
                    self._committed[key] = name + _commits(shape, group)
        self._list = _THROTTLE + _OK + compact_array(listed) + _NONE
        self._metadata: dict[str, bytes] = {}
        self._answers: dict[int, Callable[[FlexibleReader], bytes]] = {
            metadata.API.key: self._of_metadata,
            find_coordinator.API.key: self._coordinators,
            list_groups.API.key: lambda reader: self._list,
            describe_groups.API.key: self._describe,
            offset_fetch.API.key: self._commits,
            list_offsets.API.key: self._offsets,
            describe_acls.API.key: lambda reader: _THROTTLE + _NO_AUTHORIZER + _NONE + compact_array([]) + _NONE,
        }

    def answer(self, frame: bytes) -> bytes:
        """Return the response to a request, including its length."""
        key, version, correlation_id = struct.unpack_from(">hhi", frame)
        if key == api_versions.API.key:
            spoken = [struct.pack(">hhh", each, newest, newest) + _NONE for each, newest in SPOKEN.items()]
            known = version == SPOKEN[key]
            array = compact_array(spoken) + _THROTTLE + _NONE
            old = _int32(len(spoken)) + b"".join(each[:-1] for each in spoken)
            body = _OK + array if known else b"\0\x23" + old
            return _framed(_int32(correlation_id) + body)
        reader = FlexibleReader("request", frame, 8)
        reader.skip(max(0, int.from_bytes(frame[8:10], "big", signed=True)) + 2)
        reader.tags()
        return _framed(_int32(correlation_id) + _NONE + self._answers[key](reader))

    def _of_metadata(self, reader: FlexibleReader) -> bytes:
        topics = []
        for _ in range(reader.count()):
            reader.skip(16)
            topics.append(self._topic(reader.string()))
            reader.tags()
        nodes = compact_array(
            _int32(at + 1) + compact_string(self._shape.host) + _int32(port) + _NONE + _NONE
            for at, port in enumerate(self._ports)
        )
        return (
            _THROTTLE
            + nodes
            + compact_string(self._shape.cluster_id)
            + _int32(1)
            + compact_array(topics)
            + _int32(-1 << 31)
            + _NONE
        )

    def _topic(self, name: str) -> bytes:
        if name not in self._metadata:
            count = self._shape.offsets_partitions if name == OFFSETS_TOPIC else self._shape.partitions
            partitions = []
            for at in range(count):
                leader = _int32(self._shape.leader(name, at))
                alone = compact_array([leader])
                partitions.append(_OK + _int32(at) + leader + _int32(0) + alone + alone + compact_array([]) + _NONE)
            head = _OK + compact_string(name) + bytes(15) + b"\1" + _NONE
            self._metadata[name] = head + compact_array(partitions) + _int32(-1 << 31) + _NONE
        return self._metadata[name]

    def _coordinators(self, reader: FlexibleReader) -> bytes:
        reader.skip(1)
        found = []
        for _ in range(reader.count()):
            name = reader.string()
            number = name.rpartition("-")[2]
            node = self._shape.coordinator(int(number) if number.isdecimal() else 0)
            place = _int32(node) + compact_string(self._shape.host) + _int32(self._ports[node - 1])
            found.append(compact_string(name) + place + _OK + _NONE + _NONE)
        return _THROTTLE + compact_array(found) + _NONE

    def _describe(self, reader: FlexibleReader) -> bytes:
        unknown = b"\0\x45" + _NONE
        names = [reader.string() for _ in range(reader.count())]
        missing = compact_string("Dead") + compact_string("") * 2 + compact_array([]) + _int32(-1 << 31) + _NONE
        return (
            _THROTTLE
            + compact_array(self._described.get(name) or unknown + compact_string(name) + missing for name in names)
            + _NONE
        )

    def _commits(self, reader: FlexibleReader) -> bytes:
        answers = []
        for _ in range(reader.count()):
            name = reader.string()
            if self._shape.moving and name in self._numbers:
                answers.append(compact_string(name) + _commits(self._shape, self._numbers[name], _moved()))
            else:
                answers.append(self._committed.get(name) or compact_string(name) + compact_array([]) + _OK + _NONE)
            reader.nullable_string()  # member id
            reader.skip(4)
            reader.skip(1)  # all topics
            reader.tags()
        return _THROTTLE + compact_array(answers) + _NONE

    def _offsets(self, reader: FlexibleReader) -> bytes:
        reader.skip(5)
        topics = []
        log_end = LOG_END + (_moved() if self._shape.moving else 0)
        for _ in range(reader.count()):
            name = reader.string()
            partitions = []
            for _ in range(reader.count()):
                partition = reader.int32()
                reader.skip(4)
                offset = log_end if reader.int64() == -1 else 0
                partitions.append(_int32(partition) + _OK + _int64(-1) + _int64(offset) + _int32(0) + _NONE)
                reader.tags()
            topics.append(compact_string(name) + compact_array(partitions) + _NONE)
            reader.tags()
        return _THROTTLE + compact_array(topics) + _NONE


def _framed(payload: bytes) -> bytes:
    return _int32(len(payload)) + payload


def _assignment_of(shape: ClusterShape) -> list[bytes]:
    """Return the assignment of all partitions, per topic, in ConsumerProtocol v1."""
    held = b"".join(map(_int32, range(shape.partitions)))
    made = []
    for at in range(shape.topics):
        name = f"load-{at}".encode()
        topic = struct.pack(">h", len(name)) + name + _int32(shape.partitions) + held
        made.append(struct.pack(">h", 1) + _int32(1) + topic + _int32(-1))
    return made


def _members(shape: ClusterShape, group: int, stable: bool, held: Sequence[bytes]) -> bytes:
    """Return the fields after the state of a described group."""
    end = _int32(-1 << 31) + _NONE
    if not stable:
        return compact_string("consumer") + compact_string("") + compact_array([]) + end
    topic = shape.topic(group).encode()
    subscription = struct.pack(">hi", 1, 1) + struct.pack(">h", len(topic)) + topic + _int32(-1) + _int32(0)
    member = (
        compact_string(f"load-{group:08x}-1234-1234-1234-{group:012x}")
        + _NONE
        + compact_string("load")
        + compact_string("/127.0.0.1")
        + compact_binary(subscription)
        + compact_binary(held[group % shape.topics])
        + _NONE
    )
    return compact_string("consumer") + compact_string("range") + compact_array([member]) + end


def _moved() -> int:
    return int(time.time()) % 100_000_000


def _commits(shape: ClusterShape, group: int, moved: int = 0) -> bytes:
    """Return the fields after the group ID in an OffsetFetch response."""
    partitions = compact_array(
        _int32(at) + _int64(shape.committed(group, at) + moved) + _int32(0) + compact_string("") + _OK + _NONE
        for at in range(shape.partitions)
    )
    return compact_array([compact_string(shape.topic(group)) + partitions + _NONE]) + _OK + _NONE


class _Connection(asyncio.Protocol):
    def __init__(self, broker: Broker | None, latency: float) -> None:
        self._broker = broker
        self._latency = latency
        self._frames = FrameReader()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._broker is None:
            return
        for frame in self._frames.feed(data):
            answer = self._broker.answer(frame)
            if self._latency:
                asyncio.get_running_loop().call_later(self._latency, self._write, answer)
            else:
                self._write(answer)

    def _write(self, answer: bytes) -> None:
        assert isinstance(self._transport, asyncio.Transport)
        if not self._transport.is_closing():
            self._transport.write(answer)


def _serve(
    shape: ClusterShape, mine: Sequence[int], ports: Sequence[int], sockets: Sequence[socket.socket], ready: Semaphore
) -> None:
    async def run() -> None:
        loop = asyncio.get_running_loop()
        for number in mine:
            broker = None if number in shape.hung else Broker(shape, number, ports)
            await loop.create_server(partial(_Connection, broker, shape.latency), sock=sockets[number - 1])
        ready.release()
        await asyncio.Event().wait()

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(run())


@contextmanager
def simulated(shape: ClusterShape, processes: int = 3) -> Iterator[str]:
    """Run the brokers inside the block; yield the bootstrap servers."""
    sockets = []
    for _ in range(shape.brokers):
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((shape.host, 0))
        listener.listen(100)
        sockets.append(listener)
    ports = [listener.getsockname()[1] for listener in sockets]
    context = multiprocessing.get_context("fork")
    ready = context.Semaphore(0)
    shares = [range(1 + at, shape.brokers + 1, processes) for at in range(min(processes, shape.brokers))]
    children = [
        context.Process(target=_serve, args=(shape, share, ports, sockets, ready), daemon=True) for share in shares
    ]
    for child in children:
        child.start()
    try:
        for _ in children:
            ready.acquire()
        yield ",".join(f"{shape.host}:{port}" for port in ports[:3])
    finally:
        for child in children:
            child.kill()
            child.join()
        for listener in sockets:
            listener.close()


class Run(NamedTuple):
    """One command: wall clock seconds, CPU seconds, and peak memory in MB."""

    code: int
    seconds: float
    cpu: float
    megabytes: float


def measure(command: Sequence[str], bootstrap: str, output: Path) -> Run:
    """Run a command against the cluster, with its stdout in a file."""
    environment = {**os.environ, "KGROUPS_BOOTSTRAP_SERVER": bootstrap}
    began = time.monotonic()
    with output.open("wb") as stream:
        child = subprocess.Popen(command, env=environment, stdout=stream)
        _, status, used = os.wait4(child.pid, 0)
    seconds = time.monotonic() - began
    child.returncode = os.waitstatus_to_exitcode(status)
    return Run(child.returncode, seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m bench.simulated", description="Run a command against a simulated cluster."
    )
    parser.add_argument("--brokers", type=int, default=3)
    parser.add_argument("--groups", type=int, default=1_000)
    parser.add_argument("--partitions", type=int, default=10, help="partitions per topic and per group")
    parser.add_argument("--topics", type=int, default=10)
    parser.add_argument("--stable", type=float, default=0.5, help="fraction of the groups with a member")
    parser.add_argument("--latency", type=float, default=0.0, metavar="SECONDS", help="delay of each response")
    parser.add_argument(
        "--hung", type=int, action="append", default=[], help="a broker (from 1) that never responds; may be repeated"
    )
    parser.add_argument("--moving", action="store_true", help="log ends and commits increase each second")
    parser.add_argument("--offsets-partitions", type=int, default=50, help="partitions of __consumer_offsets")
    parser.add_argument("--processes", type=int, default=3, help="number of processes that run the brokers")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--output", type=Path, default=Path(os.devnull), help="file for the command's stdout")
    parser.add_argument("command", nargs="+", help="command to run, after --")
    given = parser.parse_args()
    shape = ClusterShape(
        given.brokers,
        given.groups,
        given.partitions,
        given.topics,
        given.stable,
        given.latency,
        frozenset(given.hung),
        given.offsets_partitions,
        given.moving,
    )
    with simulated(shape, given.processes) as bootstrap:
        for _ in range(given.runs):
            run = measure(given.command, bootstrap, given.output)
            print(
                f"exit {run.code}  {run.seconds:.2f} s  {run.cpu:.2f} CPU s  {run.megabytes:.0f} MB",
                file=sys.stderr,
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
