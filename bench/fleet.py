"""Measure commands for many clusters beside the same commands for one: seconds, memory, and sockets.

    python -m bench.fleet               # 100 clusters of 3 brokers and 100 groups x 10 partitions each

The brokers are simulated (:mod:`.simulated`), so that the figures are those of the client. Each figure is the best of
several runs of a whole command.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from .simulated import ClusterShape, Run, measure, simulated

COMMANDS = {
    "list": ("list",),
    "describe": ("describe", "--all-groups"),
    "lag": ("lag", "--all-groups"),
    "check": ("check", "--all-groups", "--max-lag", "100000"),
}


class Measured(NamedTuple):
    run: Run
    sockets: int
    lines: int


def main() -> int:
    """Print the figures; return 1 if a command fails, or lines are missing."""
    parser = argparse.ArgumentParser(prog="python -m bench.fleet", description=__doc__)
    parser.add_argument("--clusters", type=int, default=100)
    parser.add_argument("--groups", type=int, default=100)
    parser.add_argument("--partitions", type=int, default=10)
    parser.add_argument("--latency", type=float, default=0.0, metavar="SECONDS", help="delay of each response")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--kgroups", default=str(Path(sys.executable).with_name("kgroups")), help="path of kgroups")
    given = parser.parse_args()
    missing = False
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        profiles = []
        for number in range(given.clusters):
            shape = ClusterShape(
                groups=given.groups,
                partitions=given.partitions,
                latency=given.latency,
                offsets_partitions=3,
                cluster_id=f"simulated-{number}",
            )
            bootstrap = stack.enter_context(simulated(shape, processes=1))
            profiles.append(f'[profiles.c{number:03}]\nbootstrap = "{bootstrap}"\n')
        config = Path(folder, "config.toml")
        config.write_text("".join(profiles))
        os.environ["KGROUPS_CONFIG"] = str(config)
        print(f"{given.clusters} clusters of 3 brokers and {given.groups} groups x {given.partitions} partitions")
        print("command   one       all      ratio  memory one  all     sockets all")
        for name, words in COMMANDS.items():
            one = _best((given.kgroups, *words, "--profile", "c000"), folder, given.runs)
            every = _best((given.kgroups, *words, "--all-profiles"), folder, given.runs)
            print(
                f"{name:8}  {one.run.seconds:.2f} s  {every.run.seconds:6.2f} s  "
                f"{every.run.seconds / one.run.seconds:4.1f}x  {one.run.megabytes:6.0f} MB  "
                f"{every.run.megabytes:4.0f} MB  {every.sockets:4}"
            )
            heads = 0 if name == "list" else 1  # a header, or the headline of check; the list of one cluster has none
            expected = given.clusters * (one.lines - heads) + 1
            if one.run.code or every.run.code or every.lines != expected:
                print(f"{name}: exit {every.run.code}, {every.lines:,} lines of {expected:,}", file=sys.stderr)
                missing = True
    return int(missing)


def _best(command: Sequence[str], folder: str, runs: int) -> Measured:
    output = Path(folder, "output")
    found = []
    for _ in range(runs):
        peak = _Peak()
        run = measure(command, "", output)
        with output.open("rb") as lines:  # memory of this process would count as that of the command
            found.append(Measured(run, peak.end(), sum(1 for _ in lines)))
    return min(found, key=lambda measured: measured.run.seconds)


class _Peak:
    """The most sockets that the newest child of this process had open at once."""

    def __init__(self) -> None:
        self._known = _children()
        self._most = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        while not self._ended.wait(0.005):
            for child in _children() - self._known:
                self._most = max(self._most, _sockets(child))

    def end(self) -> int:
        self._ended.set()
        self._thread.join()
        return self._most


def _children() -> set[str]:
    return set(Path(f"/proc/self/task/{os.getpid()}/children").read_text().split())


def _sockets(process: str) -> int:
    found = 0
    try:
        for descriptor in Path(f"/proc/{process}/fd").iterdir():
            found += descriptor.readlink().as_posix().startswith("socket:")
    except OSError:  # it ended, or closed one meanwhile
        pass
    return found


if __name__ == "__main__":
    sys.exit(main())
