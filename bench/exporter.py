"""``python bench/exporter.py``: measure the memory of ``kgroups exporter`` at 10,000 groups over several scrapes.

Starts the benchmark's brokers and groups (:mod:`bench.cluster`), or reuses running ones, scrapes like Prometheus, with
samples of each partition, and prints the peak memory. Exits with 1 if it exceeds the bound in docs/exporter.md.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[0] = str(ROOT)

from bench.cluster import Size, ensure_cluster, take_down  # noqa: E402
from bench.lean import ensure_lean  # noqa: E402

BOUND = 256
"""Megabytes, at 10,000 groups of 9 partitions."""
PATIENCE = 120


def main() -> int:
    options = _options()
    bootstrap = options.bootstrap
    if bootstrap is None:
        bootstrap = ensure_cluster(Size(options.groups, options.partitions), ensure_lean(_say), _say).bootstrap
    command = [
        sys.executable,
        "-m",
        "kgroups",
        "exporter",
        "-b",
        bootstrap,
        "--listen",
        "127.0.0.1:0",
        "--interval",
        "1s",
    ]
    try:
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT) as process:
            try:
                peak = _scraped(process, options.scrapes)
            finally:
                process.kill()
    finally:
        if options.bootstrap is None and not options.keep:
            take_down()
    word = "kept" if peak <= BOUND else "BROKEN"
    print(f"peak after {options.scrapes} scrapes: {peak:.0f} MB; the bound of {BOUND} MB is {word}")
    return 0 if peak <= BOUND else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python bench/exporter.py")
    parser.add_argument("--groups", type=int, default=10_000)
    parser.add_argument("--partitions", type=int, default=9)
    parser.add_argument("--scrapes", type=int, default=5)
    parser.add_argument("--bootstrap", help="use this running cluster instead")
    parser.add_argument("--keep", action="store_true", help="keep the brokers running for the next run")
    return parser.parse_args()


def _scraped(process: subprocess.Popen[str], scrapes: int) -> float:
    """Scrape the exporter, report each scrape on stderr, and return the peak memory in megabytes."""
    assert process.stderr is not None
    line = process.stderr.readline()
    address = re.search(r"http://\S+", line)
    if address is None:
        raise SystemExit(f"the exporter did not start: {line.strip()}")
    for number in range(1, scrapes + 1):
        began = time.perf_counter()
        with urllib.request.urlopen(address[0], timeout=PATIENCE) as answer:
            text = answer.read()
        groups = len(re.findall(rb"^kafka_consumergroup_info\{", text, re.MULTILINE))
        lags = len(re.findall(rb"^kafka_consumergroup_lag\{", text, re.MULTILINE))
        _say(
            f"scrape {number}: {groups:,} groups, {lags:,} lags, {len(text) / 1e6:.1f} MB in "
            f"{time.perf_counter() - began:.1f} s; {_peak(process.pid):.0f} MB at most"
        )
    return _peak(process.pid)


def _peak(pid: int) -> float:
    """Return the peak resident memory in megabytes (Linux)."""
    kib = re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
    if kib is None:
        raise SystemExit("this needs Linux's /proc")
    return int(kib[1]) * 1024 / 1e6


def _say(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
