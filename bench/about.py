"""What was measured with and on: the line about the machine, and what each contender is."""

from __future__ import annotations

import os
import platform
import re
import subprocess

from kgroups.sandbox import Sandbox

from .lean import Lean
from .processes import memory_floor
from .questions import ADMIN, JAVA_PATIENCE, JSON, PLAIN, QUICK, SHIPPED
from .world import BROKERS, VERSION

_PACKAGES = ("kgroups", "click", "confluent-kafka")


def machine(sandbox: Sandbox | None, lean: Lean, load: float) -> str:
    """Cores and versions, in one line; of Kafka and Java where they took part.

    :param load: the load average before anything of ours ran: what else the machine had to do.
    """
    script = (
        f"import importlib.metadata as m; print(*(f'{{name}} {{m.version(name)}}' for name in {_PACKAGES}), sep=', ')"
    )
    packages = subprocess.run([lean.python, "-c", script], capture_output=True, text=True, check=True).stdout.strip()
    parts = [f"{os.cpu_count()} cores", platform.system(), f"Python {platform.python_version()}", packages]
    if sandbox:
        parts.append(f"Kafka {VERSION}, {BROKERS} brokers on the same cores, Java {_java(sandbox)}")
    parts.append(f"load average {load:.1f} before it began")
    return "; ".join(parts) + "."


def _java(sandbox: Sandbox) -> str:
    said = subprocess.run([sandbox.java_tool_command()[0], "-version"], capture_output=True, text=True, check=True)
    found = re.search(r'"(.+?)"', said.stderr)
    return found[1] if found else "of an unknown version"


def notes() -> str:
    """For who doubts the tables."""
    return f"""\
## What is compared

Whole processes, from before their start to behind their end, with their output in a file. Everything runs on the same
machine as the brokers: compare the ratios, taken round by round, not the seconds. Half of the groups are stable with a
member that is kept alive, half are empty.

- **kgroups**, and **{JSON}**: installed in a virtual environment of its own, with its dependencies and nothing else.
- **{SHIPPED}**: Kafka {VERSION}'s `ConsumerGroupCommand` with the JVM options of Kafka's `kafka-run-class.sh`
  (`-Xmx256M -server -XX:+UseG1GC -XX:MaxGCPauseMillis=20 -XX:InitiatingHeapOccupancyPercent=35
  -XX:+ExplicitGCInvokesConcurrent`) and warnings logged to stderr, as its scripts set it. Java is started directly: the
  time that the shell scripts take before it is not counted, in Java's favour. To describe all groups it is given
  `{" ".join(JAVA_PATIENCE)}`, so that it does not give up half-way.
- **{QUICK}**: the same with `-Xmx256m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC`, with which a JVM
  starts sooner. Nobody runs it so; it is here so that nobody can say that Java was slowed.
- **{ADMIN}**: [`peer_adminclient.py`](peer_adminclient.py) on confluent-kafka; everything is asked at once, or
  before the first answer is awaited. **{PLAIN}**: [`peer_plain.py`](peer_plain.py), as such scripts
  mostly are: one group after the other.
- **The raw floor**: the very request frames of one describe-all, sent once more over plain sockets; the same bytes read
  and forgotten. See [`wire.py`](wire.py).

No peak can read below {memory_floor() / 1e6:.0f} MB, the benchmark's own."""
