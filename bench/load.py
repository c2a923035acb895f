"""``python -m bench.load``: measure the load of each command on brokers, for kgroups and for Kafka's own tool.

Starts three real brokers whose clients connect through a proxy that counts requests and bytes, and reads the CPU time
of the broker processes from ``/proc`` (Linux) before and after each command. Stops the brokers at the end.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shlex
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from kgroups.sandbox import Sandbox
from kgroups.sandbox.load import Load, seed_load
from kgroups.sandbox.state import Broker

from .answers import Answer, Reader, answer, lines, text_rows
from .lean import WORK
from .questions import JAVA_PATIENCE, OURS, SHIPPED

NAME = "bench-load"
LISTENER = "COUNTED"
IDLE = 10.0
"""Seconds for which the CPU time of brokers without clients is measured."""
GROUP = "empty-00000"
API_VERSIONS = 18


class Counts(NamedTuple):
    """Cost of one command: requests, bytes of requests and responses, CPU seconds of brokers, seconds."""

    requests: float
    sent: float
    received: float
    cpu: float
    seconds: float
    handshakes: float
    """ApiVersions requests, one for each connection; part of the requests."""


class Proxy:
    """Counts requests and bytes between clients and brokers."""

    def __init__(self, brokers: int) -> None:
        self._sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(brokers)]
        self.ports = {number: held.getsockname()[1] for number, held in enumerate(self._sockets, 1)}
        self.bootstrap = ",".join(f"127.0.0.1:{port}" for port in self.ports.values())
        self.apis: Counter[int] = Counter()
        self.sent = self.received = 0

    def start(self, brokers: Sequence[Broker]) -> None:
        """Forward each port to its broker from now on, in a thread that ends with this process."""
        ports = {broker.id: broker.listeners[LISTENER] for broker in brokers}
        threading.Thread(target=lambda: asyncio.run(self._serve(ports)), daemon=True).start()

    async def _serve(self, ports: Mapping[int, int]) -> None:
        for number, held in enumerate(self._sockets, 1):

            async def connected(
                reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int = ports[number]
            ) -> None:
                far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
                await asyncio.gather(self._requests(reader, far_writer), self._responses(far_reader, writer))

            await asyncio.start_server(connected, sock=held)
        await asyncio.Event().wait()

    async def _requests(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        pending = bytearray()
        with suppress(ConnectionError):
            while data := await reader.read(1 << 16):
                self.sent += len(data)
                pending += data
                while len(pending) >= 6 and len(pending) >= (size := 4 + int.from_bytes(pending[:4], "big")):
                    self.apis[int.from_bytes(pending[4:6], "big")] += 1
                    del pending[:size]
                writer.write(data)
                await writer.drain()
        writer.close()

    async def _responses(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(1 << 16):
                self.received += len(data)
                writer.write(data)
                await writer.drain()
        writer.close()


class Contender(NamedTuple):
    """A command of one tool."""

    question: str
    name: str
    command: Sequence[str]
    reader: Reader | None = None
    repeat: int = 1
    """Number of consecutive runs: CPU time is counted in steps of 10 ms."""


def cpu_of(pids: Iterable[int]) -> float:
    """Return the CPU seconds of processes (Linux)."""
    ticks = 0
    for pid in pids:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])  # utime, stime
    return ticks / os.sysconf("SC_CLK_TCK")


class Meter:
    """Measures commands by the proxy and by the CPU time of the brokers."""

    def __init__(self, sandbox: Sandbox, proxy: Proxy) -> None:
        self._pids = [broker.pid for broker in sandbox.brokers]
        self._proxy = proxy
        self.idle = 0.0
        """CPU seconds per second that the brokers take without a client."""

    def rest(self) -> None:
        """Measure idle brokers; before the first round they would still be compiling."""
        began, since = self._cpu(), time.monotonic()
        time.sleep(IDLE)
        self.idle = (self._cpu() - began) / (time.monotonic() - since)

    def _cpu(self) -> float:
        return cpu_of(self._pids)

    def run(self, contender: Contender) -> tuple[Counts, Answer | None]:
        """Run a command; CPU seconds are without those of idle brokers.

        :raises SystemExit: if it fails.
        """
        proxy, output = self._proxy, WORK / "load"
        WORK.mkdir(exist_ok=True)
        apis, sent, received, cpu, began = proxy.apis.copy(), proxy.sent, proxy.received, self._cpu(), time.monotonic()
        for _ in range(contender.repeat):
            with output.open("wb") as stream:
                result = subprocess.run(
                    contender.command, stdout=stream, stderr=subprocess.PIPE, text=True, check=False
                )
            if result.returncode:
                raise SystemExit(f"{shlex.join(contender.command)}: exit code {result.returncode}\n{result.stderr}")
        seconds = time.monotonic() - began
        new = proxy.apis - apis
        whole = (
            new.total(),
            proxy.sent - sent,
            proxy.received - received,
            self._cpu() - cpu - self.idle * seconds,
            seconds,
            new[API_VERSIONS],
        )
        read = answer(output, contender.reader) if contender.reader else None
        return Counts(*(each / contender.repeat for each in whole)), read


def contenders(sandbox: Sandbox, kgroups: str, bootstrap: str, peers: Sequence[str]) -> list[Contender]:
    """Return the contenders, sorted by query."""

    def ours(question: str, *words: str, reader: Reader | None = None, repeat: int = 1) -> Contender:
        return Contender(question, OURS, (kgroups, *words, "-b", bootstrap), reader, repeat)

    def java(question: str, *words: str, reader: Reader | None = None) -> Contender:
        where = ("--bootstrap-server", bootstrap, *JAVA_PATIENCE)
        return Contender(question, SHIPPED, sandbox.java_tool_command(*words, *where, as_shipped=True), reader)

    return [
        ours("list", "list", reader=lines, repeat=5),
        java("list", "--list", reader=lines),
        ours("describe all", "describe", "--all-groups", reader=text_rows),
        java("describe all", "--describe", "--all-groups", reader=text_rows),
        ours("describe one", "describe", GROUP, reader=text_rows, repeat=5),
        java("describe one", "--describe", "--group", GROUP, reader=text_rows),
        ours("lag", "lag"),
        *(
            Contender(question, name, shlex.split(command.replace("{bootstrap}", bootstrap)))
            for question, name, command in (peer.split("=", 2) for peer in peers)
        ),
    ]


def table(measured: Mapping[tuple[str, str], Sequence[Counts]]) -> str:
    """Return the medians as a Markdown table; CPU with its smallest and largest value."""
    rows = [
        "| command | tool | requests | of them ApiVersions | bytes sent | bytes received | broker CPU s | s |",
        "| --- | --- | --: | --: | --: | --: | --: | --: |",
    ]
    for (question, name), runs in measured.items():
        middle = Counts(*(statistics.median(column) for column in zip(*runs, strict=True)))
        cpus = [run.cpu for run in runs]
        rows.append(
            f"| {question} | `{name}` | {middle.requests:,.0f} | {middle.handshakes:,.0f} | {middle.sent:,.0f} "
            f"| {middle.received:,.0f} | {middle.cpu:.2f} ({min(cpus):.2f} to {max(cpus):.2f}) | {middle.seconds:.1f} |"
        )
    return "\n".join(rows)


def main() -> int:
    """Measure all commands in turn, and print Markdown."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.load", description="Measure the load of commands on real brokers."
    )
    parser.add_argument("--groups", type=int, default=2_000)
    parser.add_argument("--partitions", type=int, default=10, help="partitions with commits per group")
    parser.add_argument("--stable", type=float, default=0.05, help="fraction of the groups with a member")
    parser.add_argument("--version", default="4.3.1", help="version of Kafka")
    parser.add_argument("--rounds", type=int, default=3, help="number of rounds, after a warm-up round")
    parser.add_argument("--kgroups", default=str(Path(sys.executable).with_name("kgroups")), help="path of kgroups")
    parser.add_argument(
        "--peer",
        action="append",
        default=[],
        metavar="QUESTION=NAME=COMMAND",
        help="additional tool; {bootstrap} is replaced; may be repeated",
    )
    given = parser.parse_args()
    proxy = Proxy(3)
    with Sandbox.up(
        given.version,
        3,
        name=f"{NAME}-{os.getpid()}",
        listeners={LISTENER: "PLAINTEXT"},
        advertised={LISTENER: proxy.ports},
        progress=say,
    ) as sandbox:
        seed_load(sandbox, Load(given.groups, given.partitions, stable=given.stable), say)
        proxy.start(sandbox.brokers)
        meter = Meter(sandbox, proxy)
        chosen = contenders(sandbox, given.kgroups, proxy.bootstrap, given.peer)
        measured: dict[tuple[str, str], list[Counts]] = {(each.question, each.name): [] for each in chosen}
        answers: dict[str, set[Answer]] = {}
        for number in range(given.rounds + 1):
            if number == 1:
                meter.rest()
            for each in chosen:
                say(f"round {number} of {given.rounds}: {each.question}, {each.name}")
                counts, read = meter.run(each)
                if number:
                    measured[each.question, each.name].append(counts)
                if read is not None:
                    answers.setdefault(each.question, set()).add(read)
    same = all(len(found) == 1 for found in answers.values())
    shape = f"{given.groups:,} groups x {given.partitions} partitions, {given.stable:.0%} with a member"
    print(f"Kafka {given.version}, 3 brokers, {shape}; idle brokers take {meter.idle:.3f} CPU seconds per second.\n")
    print(table(measured))
    print(f"\nThe rows are {'the same from each tool' if same else 'DIFFERENT'}.")
    return 0 if same else 1


def say(text: str) -> None:
    """Report progress on stderr."""
    print(f"bench: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
