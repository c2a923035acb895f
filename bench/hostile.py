"""Measure what hostile peers can cost: ``python bench/hostile.py``.

Fake brokers on loopback answer with what an attacker would send, and each command runs in a process of its own. A
command fails the measurement if it takes more than its ``--timeout`` and two seconds, more than 1 GiB, or ends in a
traceback. The cluster of each case is one function.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from kgroups.protocol.compression import Codec
from tests.fakes.broker import FakeCluster, framed
from tests.fakes.cluster_state import FakeMember
from tests.fakes.record_batches import batch
from tests.fakes.serving import serving

MAX_MEMORY_MIB = 1024
SLACK = 2.0


MEASURED = """
import json, resource, subprocess, sys, time
began = time.monotonic()
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
seconds = time.monotonic() - began
print(json.dumps([code, seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024]))
"""
"""A small intermediate process: until it executes a program, a child has the memory size of its parent."""


class Case(NamedTuple):
    name: str
    fill: Callable[[FakeCluster], None]
    command: tuple[str, ...]
    timeout: float


def backtracking(fake: FakeCluster) -> None:
    fake.state.group("a" * 26 + "!", 0)
    fake.state.group("good", 0)


def bombs(fake: FakeCluster) -> None:
    """Add 90 partitions, each with one batch of 2 KB that unpacks to 60 MiB."""
    bomb = batch(0, [(0, 1)], codec=Codec.ZSTD, value=bytes(60 << 20))
    fake.state.topic("t", [0] * 90, end=1, logs={at: [bomb] for at in range(90)})
    fake.state.group("g", 0, commits={("t", at): 0 for at in range(90)})


def deep_bombs(fake: FakeCluster) -> None:
    bombs = [batch(at, [(at, 1)], codec=Codec.ZSTD, value=bytes(60 << 20)) for at in range(8)]
    fake.state.topic("__consumer_offsets", [0], end=8, logs={0: bombs})
    fake.state.group("g", 0, commits={("t", 0): 1})
    fake.state.topic("t", [0], end=1)


def connect(fake: FakeCluster) -> None:
    """Add a member of 1 MB that names the same connector repeatedly."""
    run = b"\0\1c" + (1).to_bytes(4, "big") + bytes(4)
    count = 1_000_000 // len(run)
    work = b"\0\1\0\0\0\1l\0\1u" + bytes(8) + count.to_bytes(4, "big") + run * count
    member = FakeMember("m", garbage=work)
    fake.state.group("evil", 0, state="Stable", protocol_type="connect", members=(member,))
    fake.state.group("good", 0, commits={})


def members(fake: FakeCluster) -> None:
    """Respond with 28 MB: 600,000 members, each with different bytes."""

    def compact(data: bytes) -> bytes:
        return bytes([len(data) + 1]) + data

    def member(at: int) -> bytes:
        held = b"\0\0" + (1).to_bytes(4, "big") + b"\0\1t" + (1).to_bytes(4, "big") + at.to_bytes(4, "big")
        subscription = b"\0\0" + (1).to_bytes(4, "big") + b"\0\4" + at.to_bytes(2, "big").hex().encode() + b"\xff" * 4
        return (
            compact(b"m")
            + b"\0"
            + compact(b"c")
            + compact(b"h")
            + compact(subscription)
            + compact(held + b"\xff" * 4)
            + b"\0"
        )

    count = 600_000
    group = b"\0\0\0" + b"".join(map(compact, (b"evil", b"Stable", b"consumer", b"range")))
    number = bytearray()
    left = count + 1
    while left >= 0x80:
        number.append(left & 0x7F | 0x80)
        left >>= 7
    group += bytes([*number, left]) + b"".join(member(at % 65_536) for at in range(count)) + bytes(4) + b"\0"
    body = bytes(4) + b"\2" + group + b"\0"

    async def answer(writer: asyncio.StreamWriter, real: bytes) -> None:
        writer.write(framed(real[:4] + b"\0" + body))

    fake.state.group("evil", 0, state="Stable")
    fake.brokers[0].fault("DescribeGroups", answer)


CASES = (
    Case(
        "a name that makes a pattern backtrack", backtracking, ("lag", "--regex", "([a-z]+-?)+", "--timeout", "2s"), 2
    ),
    Case("90 batches that unpack to 60 MiB each", bombs, ("lag", "g", "--time", "--timeout", "3s"), 3),
    Case("8 such batches in __consumer_offsets", deep_bombs, ("describe", "g", "--deep", "--timeout", "5s"), 5),
    Case("a Connect assignment of 1 MB", connect, ("describe", "--all-groups", "--members", "--timeout", "2s"), 2),
    Case("600,000 members in one response", members, ("describe", "--all-groups", "--members", "--timeout", "3s"), 3),
)


def main() -> int:
    bad = 0
    print("| case | command | s | MiB | exit code |\n|---|---|--:|--:|--:|")
    for case in CASES:
        fake = FakeCluster(1)
        case.fill(fake)
        with serving(fake), tempfile.TemporaryFile("w+") as stderr:
            server = f"127.0.0.1:{fake.brokers[0].port}"
            words = [sys.executable, "-c", MEASURED, sys.executable, "-m", "kgroups", *case.command, "-b", server]
            output = subprocess.run(words, stdout=subprocess.PIPE, stderr=stderr, check=True).stdout
            code, seconds, size = json.loads(output)
            stderr.seek(0)
            text = stderr.read()
        wrong = seconds > case.timeout + SLACK or size > MAX_MEMORY_MIB or "Traceback" in text
        bad += wrong
        command = " ".join(case.command)
        print(f"| {case.name} | `{command}` | {seconds:.1f} | {size} | {code} |{' FAILED' * wrong}", flush=True)
        if wrong:
            print(text[:2000], file=sys.stderr)
    return bad


if __name__ == "__main__":
    sys.exit(main())
