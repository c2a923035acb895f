"""``python -m bench.watch``: measure CPU and memory of ``kgroups watch`` on a terminal, and the CPU of real brokers.

The command runs in a pseudo-terminal of 120x40, against simulated brokers. With ``--moving``, all offsets change
between two refreshes; with ``--real``, real brokers are started, and their CPU time is read as well (Linux). Exits
with 1 if ``watch`` takes more CPU than :data:`TARGET`.
"""

from __future__ import annotations

import argparse
import os
import pty
import struct
import sys
import termios
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from fcntl import ioctl
from pathlib import Path
from typing import NamedTuple

from .cluster import Size, ensure_cluster, take_down
from .simulated import ClusterShape, simulated

TARGET = 0.30
"""Of one core."""
_TICKS = os.sysconf("SC_CLK_TCK")


class Load(NamedTuple):
    """CPU seconds per second of ``watch`` and of the brokers, without those of idle brokers, and peak megabytes."""

    cpu: float
    brokers: float
    megabytes: float


@contextmanager
def on_terminal(command: Sequence[str]) -> Iterator[int]:
    """Run a command in a pseudo-terminal inside the block; yield its process ID, and end it by ``q``."""
    pid, terminal = pty.fork()
    if not pid:
        os.execvpe(command[0], list(command), {**os.environ, "TERM": "xterm-256color"})
    ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))

    def drain() -> None:
        with suppress(OSError):
            while os.read(terminal, 1 << 16):
                pass

    threading.Thread(target=drain, daemon=True).start()
    try:
        yield pid
    finally:
        os.write(terminal, b"q")
        os.waitpid(pid, 0)


def measure(bootstrap: str, interval: float, seconds: float, brokers: Sequence[int] = ()) -> Load:
    """Measure a running ``watch``, after its first refreshes."""
    before = _cpu(brokers)
    time.sleep(seconds / 2 if brokers else 0)
    idle = (_cpu(brokers) - before) / (seconds / 2)
    command = [sys.executable, "-m", "kgroups", "watch", "-b", bootstrap, "--interval", f"{interval:g}s"]
    with on_terminal(command) as pid:
        time.sleep(4 + 3 * interval)
        ours, theirs, began = _cpu([pid]), _cpu(brokers), time.monotonic()
        time.sleep(seconds)
        passed = time.monotonic() - began
        return Load((_cpu([pid]) - ours) / passed, (_cpu(brokers) - theirs) / passed - idle, _peak(pid))


def _cpu(pids: Sequence[int]) -> float:
    fields = [Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split() for pid in pids]
    return sum(int(each[11]) + int(each[12]) for each in fields) / _TICKS


def _peak(pid: int) -> float:
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(status["VmHWM"].split()[0]) / 1000


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.watch")
    parser.add_argument("--groups", type=int, default=10_000)
    parser.add_argument("--partitions", type=int, default=10)
    parser.add_argument("--interval", type=float, default=2.0, metavar="SECONDS")
    parser.add_argument("--seconds", type=float, default=20.0, help="duration of the measurement")
    parser.add_argument("--moving", action="store_true", help="all log ends and commits increase each second")
    parser.add_argument("--real", action="store_true", help="start real brokers, and measure them as well")
    given = parser.parse_args()
    if given.real:
        from .lean import ensure_lean

        sandbox = ensure_cluster(Size(given.groups, given.partitions), ensure_lean(print), print)
        try:
            pids = [broker.pid for broker in sandbox.brokers]
            load = measure(sandbox.bootstrap, given.interval, given.seconds, pids)
        finally:
            take_down()
    else:
        shape = ClusterShape(groups=given.groups, partitions=given.partitions, moving=given.moving)
        with simulated(shape) as bootstrap:
            load = measure(bootstrap, given.interval, given.seconds)
    brokers = f", three brokers {load.brokers:.0%}" if given.real else ""
    print(
        f"{given.groups:,} groups x {given.partitions} partitions, every {given.interval:g} s: "
        f"watch {load.cpu:.0%} of one core, {load.megabytes:.0f} MB{brokers}"
    )
    return int(load.cpu > TARGET)


if __name__ == "__main__":
    sys.exit(main())
