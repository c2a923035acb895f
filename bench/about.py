"""Describe the machine and the contenders, for the report."""

from __future__ import annotations

import os
import platform
import re
import subprocess

from kgroups.sandbox import Sandbox

from .cluster import BROKERS, VERSION
from .lean import Lean
from .processes import memory_floor
from .questions import ADMIN, JAVA_PATIENCE, JSON, PLAIN, QUICK, SHIPPED

_PACKAGES = ("kgroups", "click", "confluent-kafka")


def machine(sandbox: Sandbox | None, lean: Lean, load: float) -> str:
    """Return cores and versions in one line, with Kafka and Java if there is a sandbox.

    :param load: the load average before the benchmark, caused by other processes.
    """
    script = (
        f"import importlib.metadata as m; print(*(f'{{name}} {{m.version(name)}}' for name in {_PACKAGES}), sep=', ')"
    )
    packages = subprocess.run([lean.python, "-c", script], capture_output=True, text=True, check=True).stdout.strip()
    parts = [f"{os.cpu_count()} cores", platform.system(), f"Python {platform.python_version()}", packages]
    if sandbox:
        parts.append(f"Kafka {VERSION}, {BROKERS} brokers on the same cores, Java {_java(sandbox)}")
    parts.append(f"load average {load:.1f} before the start")
    return "; ".join(parts) + "."


def _java(sandbox: Sandbox) -> str:
    result = subprocess.run([sandbox.java_tool_command()[0], "-version"], capture_output=True, text=True, check=True)
    found = re.search(r'"(.+?)"', result.stderr)
    return found[1] if found else "of an unknown version"


def notes() -> str:
    """Return the section of the report that explains the comparison."""
    return f"""\
## What is compared

Whole processes, from start to exit, with their output in a file. Everything runs on the same machine as the brokers:
compare the ratios, which are computed per round, not the seconds. Half of the groups are stable with a live member,
half are empty.

- **kgroups**, and **{JSON}**: installed in a separate virtual environment with its dependencies only.
- **{SHIPPED}**: Kafka {VERSION}'s `ConsumerGroupCommand` with the JVM options of Kafka's `kafka-run-class.sh`
  (`-Xmx256M -server -XX:+UseG1GC -XX:MaxGCPauseMillis=20 -XX:InitiatingHeapOccupancyPercent=35
  -XX:+ExplicitGCInvokesConcurrent`) and warnings logged to stderr, as in its scripts. Java is started directly: the
  time of the shell scripts is not counted, in Java's favor. To describe all groups, it runs with
  `{" ".join(JAVA_PATIENCE)}`, so that it does not time out.
- **{QUICK}**: the same with `-Xmx256m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC`, with which a JVM
  starts faster. It is not used in practice; it shows that the JVM options do not put Java at a disadvantage.
- **{ADMIN}**: [`peer_adminclient.py`](peer_adminclient.py) on confluent-kafka; all requests are batched, or sent
  before the first response is awaited. **{PLAIN}**: [`peer_plain.py`](peer_plain.py), a typical
  script: one group after the other.
- **The raw floor**: the same request frames as one describe-all, sent again over plain sockets; the same bytes are read
  and discarded. See [`wire.py`](wire.py).

No peak can be below {memory_floor() / 1e6:.0f} MB, the memory of the benchmark process."""
