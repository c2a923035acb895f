"""``python -m bench.exporter_age``: measure how old the values are that a scrape of ``kgroups exporter`` returns.

The log end offsets of the simulated brokers are the seconds since 1970, so that each scraped offset shows when it was
read. Scrapes every five seconds, compressed, polls at ``--interval``, and prints the figures of all polls but two.
"""

from __future__ import annotations

import argparse
import gzip
import os
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Sequence
from pathlib import Path

from bench.simulated import LOG_END, ClusterShape, simulated

ROOT = Path(__file__).parents[1]
EVERY = 5.0
"""Seconds from scrape to scrape."""
TIMED = """
import sys, time
from kgroups.exporter.exposition import Exposition
from kgroups.__main__ import main

publish = Exposition.publish

cpu = [0.0]

def timed(exposition, scrape):
    polled, began = time.process_time(), time.perf_counter()
    publish(exposition, scrape)
    rendered = time.process_time()
    figures = scrape.seconds, time.perf_counter() - began, polled - cpu[0], rendered - polled
    print("poll", *figures, file=sys.stderr, flush=True)
    cpu[0] = rendered

Exposition.publish = timed
main()
"""
"""Runs kgroups, and prints the seconds of each poll, and of rendering its result; then both in CPU seconds."""


def main() -> int:
    options = _options()
    shape = ClusterShape(groups=options.groups, partitions=options.partitions, topics=options.topics, moving=True)
    command = [sys.executable, "-c", TIMED, "exporter", "--listen", "127.0.0.1:0", "--interval", options.interval]
    with simulated(shape) as bootstrap:
        environment = {**os.environ, "KGROUPS_BOOTSTRAP_SERVER": bootstrap}
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment) as process:
            try:
                _report(process, options.polls)
            finally:
                process.kill()
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.exporter_age")
    parser.add_argument("--groups", type=int, default=10_000)
    parser.add_argument("--partitions", type=int, default=9)
    parser.add_argument("--topics", type=int, default=10)
    parser.add_argument("--interval", default="15s")
    parser.add_argument("--polls", type=int, default=10)
    return parser.parse_args()


def _report(process: subprocess.Popen[str], polls: int) -> None:
    assert process.stderr is not None
    address, first, ages, times, size = "", None, [], [], 0
    os.set_blocking(process.stderr.fileno(), True)
    while not address:
        found = re.search(r"http://\S+", process.stderr.readline())
        address = found[0] if found else ""
    _scrape(address)  # from now on, polls render this format
    _next_poll(process)
    first = time.monotonic(), _cpu(process.pid)
    for _ in range(polls):
        os.set_blocking(process.stderr.fileno(), False)
        while not (line := process.stderr.readline()):
            scraped = time.monotonic()
            text, size = _scrape(address)
            ages.append((_age(text), _value(text, "kgroups_data_age_seconds"), time.monotonic() - scraped))
            time.sleep(max(0.0, EVERY - time.monotonic() + scraped))
        times.append(tuple(map(float, line.split()[1:])))
        print("poll {:.1f} s, rendering {:.1f} s; CPU: {:.1f} s, {:.1f} s".format(*times[-1]), flush=True)
    seconds, cpu = time.monotonic() - first[0], _cpu(process.pid) - first[1]
    for name, figures in zip(
        ("poll", "rendering", "CPU of poll", "CPU of rendering"), zip(*times, strict=True), strict=True
    ):
        print(f"{name} s: {_summary(figures)}")
    print(f"CPU: {100 * cpu / seconds:.0f} % of one core, {cpu / polls:.1f} s per poll; {_peak(process.pid):.0f} MB")
    print(f"age of the values s: {_summary([each for each, _, _ in ages])}")
    print(f"kgroups_data_age_seconds: {_summary([each for _, each, _ in ages])}")
    print(f"scrape s: {_summary([each for _, _, each in ages])}; {size / 1e6:.1f} MB compressed; {len(ages)} scrapes")
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


def _next_poll(process: subprocess.Popen[str]) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("poll "):
            return


def _scrape(address: str) -> tuple[str, int]:
    request = urllib.request.Request(address, headers={"Accept-Encoding": "gzip"})
    with urllib.request.urlopen(request, timeout=120) as answer:
        body = answer.read()
    return gzip.decompress(body).decode(), len(body)


def _age(text: str) -> float:
    """Return the age of the oldest log end offset in seconds; brokers round it down to a second."""
    ends = re.findall(r"^kafka_topic_partition_current_offset\{.*\} (\S+)$", text, re.MULTILINE)
    return time.time() % 100_000_000 - (min(map(float, ends)) - LOG_END)


def _value(text: str, name: str) -> float:
    found = re.search(rf"^{name} (\S+)$", text, re.MULTILINE)
    assert found
    return float(found[1])


def _summary(values: Sequence[float]) -> str:
    ordered = sorted(values)
    return f"median {ordered[len(ordered) // 2]:.1f}, maximum {ordered[-1]:.1f}"


def _cpu(pid: int) -> float:
    """Return the user and system time of a process in seconds (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _peak(pid: int) -> float:
    """Return the peak resident memory in megabytes (Linux)."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    assert found
    return int(found[1]) * 1024 / 1e6


if __name__ == "__main__":
    sys.exit(main())
